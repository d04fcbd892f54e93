// What all scripts share: the browser, pages whose faults are kept, and lines of output.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import puppeteer from 'puppeteer-core';

export const config = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

export const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Asks the test to do something, and returns its answer. */
export async function ask(what) {
  print({ ask: what });
  return (await input.next()).value;
}

/** Runs f, and prints what it throws. */
export async function check(name, f) {
  const start = Date.now();
  try {
    await f();
    print({ check: name, took: Date.now() - start });
  } catch (e) {
    print({ check: name, wrong: String(e.message ?? e).slice(0, 2000) });
  }
}

export function must(ok, wrong) {
  if (!ok) throw new Error(wrong);
}

export async function browse(f) {
  const browser = await puppeteer.launch({ executablePath: config.chromium, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-prefers-reduced-motion'] });
  try {
    await f(browser);
  } finally {
    await browser.close();
  }
  process.exit(0);
}

/** A page whose faults, and requests to other hosts than the site's, are in page.faults. quiet: messages of the network are none. */
export async function open(browser, site, { quiet = false } = {}) {
  const page = await browser.newPage();
  await page.emulateTimezone('America/St_Johns'); // half an hour beside others, and west of Greenwich
  page.faults = [];
  page.on('pageerror', (e) => page.faults.push(`error: ${e.message}`));
  page.on('console', (m) => {
    if (['error', 'warn'].includes(m.type()) && !(quiet && m.text().startsWith('Failed to load'))) page.faults.push(`console: ${m.text()}`);
  });
  page.on('request', (r) => { if (!r.url().startsWith(`${site}/`) && !r.url().startsWith('about:')) page.faults.push(`request to ${r.url()}`); });
  page.on('dialog', (d) => { page.faults.push('a dialog'); d.dismiss(); });
  return page;
}

/** Clicks what is there at that moment: the page may draw it again between a look and a click of the mouse. */
export const click = (page, selector) => until(page, (s) => {
  const found = document.querySelector(s);
  found?.click();
  return !!found;
}, selector);

/** Waits until f, which runs in the page, is true. */
export const until = (page, f, ...args) => page.waitForFunction(f, { timeout: 60000, polling: 50 }, ...args);

/** Copies a text by its button, with the keyboard, and reads what was copied. A window that has no focus yet has no clipboard: then the key is pressed again. */
export async function copied(page, view, text) {
  const said = (v, t) => document.querySelector(`#view-${v} .said`).textContent.startsWith(`Copied ${t}.`);
  for (let left = 5, done = false; !done; left--) {
    await page.bringToFront();
    await page.focus(`[aria-label="copy ${text}"]`);
    await page.keyboard.press('Enter');
    done = await page.waitForFunction(said, { timeout: 10000, polling: 50 }, view, text).then(() => true, (e) => { if (left === 0) throw e; });
  }
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Serious findings of axe-core, as text. */
export async function accessible(page) {
  const session = await page.createCDPSession();
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id }); // the policy of the page forbids other scripts
  const evaluate = async (expression) => {
    const r = await session.send('Runtime.evaluate', { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true });
    if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
    return r.result.value;
  };
  await evaluate(axe);
  const found = await evaluate(`axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.filter((v) => ['serious', 'critical', 'moderate'].includes(v.impact))
    .map((v) => v.id + ' (' + v.impact + '): ' + v.nodes.slice(0, 3).map((n) => n.target + ' ' + n.failureSummary).join(' | ')))`);
  await session.detach();
  return found;
}
