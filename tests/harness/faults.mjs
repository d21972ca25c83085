/* What a process of the project may not do without failing its test: end by itself, end badly when it is asked to
 * end, or print a sanitizer's report. Also at the very end of a test file, when no assertion runs any more: then the
 * file's process ends with 1. */

/* What the sanitizers and our own assertions print. */
const words = ['ERROR: (Address|Leak)Sanitizer', 'WARNING: ThreadSanitizer', 'ThreadSanitizer:', 'runtime error:',
  'SUMMARY: \\w+Sanitizer', 'Assertion .* failed'];
const REPORT = new RegExp(`^.*(${words.join('|')}).*$`, 'm');
const SANITIZER_EXIT = 99; // tools/run-tests

const faults = [];
const children = new Set();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  if (faults.length === 0) return;
  for (const fault of faults) console.error(`a process of this test is at fault: ${fault}`);
  process.exitCode = 1;
});

/* A child that is still there when the test file ends is killed. */
export function adopt(child) {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/* Why an exit is a fault, or null. isAsked: somebody sent it a signal to end; mayRefuse: it has not started to
 * serve, and may say why not. */
export function exitFault({ code, signal }, output, { isAsked, mayRefuse = false }) {
  const report = output.match(REPORT);
  if (report) return report[0];
  if (code === SANITIZER_EXIT) return 'a sanitizer ended it (exit status 99)';
  if (signal) return signal === 'SIGKILL' && isAsked ? null : `it ended by ${signal}`;
  if (mayRefuse || (isAsked && code === 0)) return null;
  return isAsked ? `it ended with ${code}` : `it ended by itself with ${code}`;
}

/* Fails the test file, whatever its tests say. */
export function fail(who, why, output) {
  faults.push(`${who}: ${why}`);
  console.error(`${who}: ${why}\n${output.slice(-8000)}`);
}
