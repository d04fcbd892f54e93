import { accessible, browse, check, click, config, copied, must, open, until } from './browser.mjs';

const widths = [420, 1280, 2560], schemes = ['light', 'dark'];
const shown = (page) => until(page, () => document.querySelector('#view-misses .examples'));

await browse(async (browser) => {
  await browser.defaultBrowserContext().overridePermissions(config.sites.prompts, ['clipboard-read', 'clipboard-sanitized-write']);
  for (const [kind, site] of Object.entries(config.sites)) {
    const page = await open(browser, site);
    await page.goto(`${site}/#/misses`);
    await shown(page);
    await check(`${kind}: examples are closed, and open with the keyboard`, async () => {
      must(!(await page.$('#view-misses details.examples[open]')), 'one is open');
      const closed = () => page.$$eval('#view-misses details.examples:not([open])', (all) => all.length);
      for (let left = await closed(); left; left = await closed()) { // looked for each time: a step of the history draws them again
        await page.focus('#view-misses details.examples:not([open]) > summary');
        await page.keyboard.press('Enter');
        await until(page, (n) => document.querySelectorAll('#view-misses details.examples:not([open])').length < n, left);
      }
    });
    await check(`${kind}: prompts only where they may be shown`, async () => {
      const texts = await page.$$eval('#view-misses pre.text', (all) => all.map((e) => e.textContent)), all = await page.$eval('#view-misses', (e) => e.textContent);
      if (kind === 'prompts') must(texts.some((t) => t.includes('<img src=x')) && texts.length > 4, texts.join(' | '));
      else must(texts.length === 0 && !all.includes('password') && all.includes('REPRISE_LOG_PROMPTS is false'), texts.join(' | ') || all);
      must(await page.evaluate(() => window.pwned === undefined && !document.querySelector('main img, main script')), 'a text became an element');
    });
    await check(`${kind}: the nearest answer of another scope is named`, async () => {
      const cause = await page.$$eval('#view-misses .causes > li', (all) => all.find((e) => e.querySelector('h3').textContent === 'scope: user').textContent);
      must(/Entry \d+, which nearly served it/.test(cause) && (kind !== 'prompts' || cause.includes('The same prompt.')) && /\d\d:\d\d:\d\d · llama-3/.test(cause), cause);
      const iso = await page.$$eval('#view-misses .examples time', (all) => all.every((e) => Math.abs(Date.parse(e.dateTime) - Date.now()) < 600e3));
      must(iso, 'a time without its date');
    });
    await check(`${kind}: the zone of times is said`, async () => {
      const foot = await page.$eval('#foot', (e) => e.textContent);
      must(foot.includes('times are of this browser, UTC-3:30'), foot);
    });
    for (const width of widths) for (const scheme of schemes) await check(`${kind}, ${width} px, ${scheme}`, async () => {
      await page.setViewport({ width, height: width > 2000 ? 1440 : 900 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))); // charts are drawn again
      if (config.shots) await page.screenshot({ path: `${config.shots}/misses-${kind}-${width}-${scheme}.png`, fullPage: true });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      must(wide <= 0, `${wide} px wider than the window`);
      const found = await accessible(page);
      must(!found.length, found.join('\n'));
    });
    if (kind === 'prompts') await clipboard(page);
    await check(`${kind}: a purge of one entry leaves the counts, one of all says when it emptied them`, async () => {
      const purge = (what) => fetch(`${site}/admin/purge`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ ...what, dry_run: false }) });
      await purge({ entry: 1 });
      await until(page, () => /misses\. A purge of one entry at \d\d:\d\d:\d\d left the counts/.test(document.querySelector('#view-misses .lead').textContent) && !document.querySelector('#view-misses .examples'));
      must(await page.$$eval('#view-misses .causes > li', (all) => all.length > 1), 'no causes');
      await purge({ all: true });
      await until(page, () => /^No misses since the last purge\. A purge emptied this view at \d\d:\d\d:\d\d\.$/.test(document.querySelector('#view-misses .lead').textContent));
      await page.goto(`${site}/#/engines`);
      await until(page, () => /No requests have been compared since .*, when a purge emptied this\./.test(document.querySelector('#view-engines').textContent));
    });
    await check(`${kind}: no fault in the console`, () => must(!page.faults.length, page.faults.join('\n')));
    await page.close();
  }
});

async function clipboard(page) {
  const set = 'REPRISE_IGNORE_FIELDS=metadata,user';
  await check('the button copies the variable with what is set already', async () => {
    const got = await copied(page, 'misses', set);
    must(got === set, got);
  });
  await check('what is open stays open when the figures change', async () => {
    const open = await page.$$eval('#view-misses details.examples[open]', (all) => all.length), first = await page.$('#view-misses .causes > li');
    await page.focus('#view-misses details.examples summary');
    await until(page, (e) => !e.isConnected, first); // the next step has come
    const [still, focus] = await page.evaluate(() => [document.querySelectorAll('#view-misses details.examples[open]').length, document.activeElement.tagName]);
    must(still === open && open > 1 && focus === 'SUMMARY', `${still} of ${open} are open, the focus is on ${focus}`);
  });
  await check('without a clipboard the text is shown and selected', async () => {
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }));
    await click(page, `[aria-label="copy ${set}"]`);
    await until(page, (t) => document.activeElement.value === t && getSelection().toString() === t, set);
    const name = await page.$$eval('#view-misses .causes button.copy', (all) => all[0]?.textContent);
    await click(page, '#view-misses .causes button.copy');
    await until(page, (t) => document.activeElement.value === t && document.activeElement.closest('.repair') && getSelection().toString() === t, name);
    await page.keyboard.press('Tab');
    await until(page, (t) => document.querySelector('#view-misses .causes button.copy')?.textContent === t, name);
  });
}
