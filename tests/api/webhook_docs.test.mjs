/* The functions of docs/webhooks.md verify what Earshot's own signature says, and nothing else. Each is cut out of the
 * page and run by a driver that reads cases (secret, timestamp, signature, body) and prints true or false for each. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../harness/service.mjs';
import { sign } from '../harness/receiver.mjs';

const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8');
const SECRET = 'whsec_of_the_docs';
const BODY = '{"id":"evt_1","data":{"text":"Grüße"}}';

function cases() {
  const now = Math.floor(Date.now() / 1000);
  const at = (seconds) => String(now + seconds);
  const good = [SECRET, at(0), sign(SECRET, at(0), BODY), BODY];
  return [
    [good, true],
    [[SECRET, at(-290), sign(SECRET, at(-290), BODY), BODY], true],
    [[SECRET, at(-310), sign(SECRET, at(-310), BODY), BODY], false],
    [[SECRET, at(310), sign(SECRET, at(310), BODY), BODY], false],
    [['another secret', ...good.slice(1)], false],
    [[SECRET, at(1), ...good.slice(2)], false],
    [[...good.slice(0, 3), `${BODY} `], false],
    [[SECRET, at(0), 'sha256=00', BODY], false],
    [[SECRET, at(0), '', BODY], false],
    [[SECRET, 'soon', sign(SECRET, 'soon', BODY), BODY], false],
  ];
}

function snippet(language) {
  const found = page.match(new RegExp(`\n\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``));
  assert.ok(found, `docs/webhooks.md has ${language}`);
  return found[1] + '\n';
}

const has = (program) => spawnSync(program, [program === 'go' ? 'version' : '--version']).status === 0;

/* How each language's function is called once: arguments secret, timestamp, signature, body; prints true or false. */
const languages = {
  js: { needs: 'node', build: (dir) => {
    writeFileSync(join(dir, 'verify.cjs'),
      `${snippet('js')}const [, , s, t, g, b] = process.argv;\nconsole.log(verify(s, t, g, Buffer.from(b)));\n`);
    return [process.execPath, join(dir, 'verify.cjs')];
  } },
  python: { needs: 'python3', build: (dir) => {
    writeFileSync(join(dir, 'verify.py'),
      `${snippet('python')}\nimport sys\nprint(str(verify(*sys.argv[1:4], sys.argv[4].encode())).lower())\n`);
    return ['python3', join(dir, 'verify.py')];
  } },
  go: { needs: 'go', build: (dir) => {
    mkdirSync(join(dir, 'webhook'));
    writeFileSync(join(dir, 'go.mod'), 'module example\n\ngo 1.19\n');
    writeFileSync(join(dir, 'webhook/webhook.go'), snippet('go'));
    writeFileSync(join(dir, 'main.go'),
      'package main\n\nimport (\n\t"example/webhook"\n\t"fmt"\n\t"os"\n)\n\nfunc main() {\n'
      + '\ta := os.Args\n\tfmt.Println(webhook.Verify(a[1], a[2], a[3], []byte(a[4])))\n}\n');
    execFileSync('go', ['build', '-o', 'verify', '.'], { cwd: dir,
      env: { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'off' } });
    return [join(dir, 'verify')];
  } },
  c: { needs: 'cc', build: (dir) => {
    writeFileSync(join(dir, 'verify.c'),
      `${snippet('c')}\nint main(int argc, char **argv)\n{\n    if (argc != 5)\n        return 2;\n`
      + '    puts(verify(argv[1], argv[2], argv[3], argv[4], strlen(argv[4])) ? "true" : "false");\n'
      + '    return 0;\n}\n');
    execFileSync('cc', ['-Wall', '-Wextra', '-Werror', '-o', 'verify', 'verify.c', '-lcrypto'], { cwd: dir });
    return [join(dir, 'verify')];
  } },
};

for (const [language, { needs, build }] of Object.entries(languages)) {
  test(`docs: ${language} verifies`, { skip: process.env.TEST_DATABASE === 'postgresql'
    ? 'no database is in it' : !has(needs) && `no ${needs} here` }, () => {
    const dir = mkdtempSync(join(tmpdir(), 'earshot-docs-'));
    try {
      const [program, ...first] = build(dir);
      cases().forEach(([given, wanted], number) => {
        const said = execFileSync(program, [...first, ...given], { encoding: 'utf8' }).trim();
        assert.equal(said, String(wanted), `case ${number}: ${given}`);
      });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
}
