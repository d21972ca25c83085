/* The walk (walk.mjs) in headless Chromium. */
import { openBrowser } from '../harness/browser.mjs';
import { walk } from './walk.mjs';

walk(async ({ voice }) => {
  const context = await openBrowser({ microphone: voice });
  const page = await context.newPage();
  await page.setViewportSize({ width: 1280, height: 860 });
  const found = async (element) => (await page.evaluateHandle(element)).asElement();
  return {
    goto: (url) => page.goto(url),
    evaluate: (expression) => page.evaluate(expression),
    click: async (element) => (await found(element)).click(),
    type: async (element, text) => (await found(element)).fill(text),
    choose: async (element, path) => (await found(element)).setInputFiles(path),
    close: () => context.close(),
  };
});
