/* What axe-core finds on a page as it stands. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/* A line for each rule that is broken; name: of what is looked at. */
export async function faults(page, name = new URL(page.url()).pathname) {
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return violations.map((v) => `${name} ${v.id}: ${v.nodes.map((n) => n.html).join(' | ')}`);
}
