/* The studio's texts: every language has every text with the same places to fill, every text that a page asks for is
 * there. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/service.mjs';

const app = join(root, 'studio/app');
const load = async (id) =>
  (await import(`data:text/javascript,${encodeURIComponent(readFileSync(join(app, `texts/${id}.js`), 'utf8'))}`))
    .default;
const places = (text) => [...new Set(text.match(/\{\d\}/g) ?? [])].sort().join();

test('every language has every text, with the same places to fill', async () => {
  const en = await load('en');
  for (const file of readdirSync(join(app, 'texts'))) {
    const texts = await load(file.replace('.js', ''));
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(en).sort(), file);
    for (const [name, text] of Object.entries(texts)) assert.equal(places(text), places(en[name]), `${file} ${name}`);
  }
});

test('every text that a page asks for is there', async () => {
  const en = await load('en');
  for (const file of readdirSync(app, { recursive: true }).filter(
    (name) => name.endsWith('.js') && !name.startsWith('texts'),
  )) {
    const source = readFileSync(join(app, file), 'utf8').replace(/\/\*.*?\*\//gs, '');
    for (const [, name] of source.matchAll(/\bt\('([A-Za-z.]+)'/g)) assert.ok(name in en, `${file} asks for ${name}`);
  }
});

test('turns are told by the states of the agent and the words of the caller', async () => {
  const { TurnClock } = await import(
    `data:text/javascript,${encodeURIComponent(readFileSync(join(app, 'room.js'), 'utf8'))}`
  );
  const clock = new TurnClock();
  for (const [state, now] of [['speaking', 100], ['speaking', 150], ['listening', 1100]]) clock.move(state, now);
  clock.heard(3000);
  clock.move('thinking', 3100);
  clock.move('speaking', 3400);
  clock.heard(3500); // while it speaks: of the next turn nothing is known yet
  clock.move('listening', 5400);
  assert.deepEqual(clock.turns, [{ at: 100, thinkMs: 0, speakMs: 1000 }, { at: 3400, thinkMs: 400, speakMs: 2000 }]);
});
