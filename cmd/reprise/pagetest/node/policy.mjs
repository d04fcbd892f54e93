import { accessible, browse, check, click, config, copied, must, open, until } from './browser.mjs';

const widths = [420, 1280, 2560], schemes = ['light', 'dark'];

await browse(async (browser) => {
  await browser.defaultBrowserContext().overridePermissions(config.site, ['clipboard-read', 'clipboard-sanitized-write']);
  const page = await open(browser, config.site);
  await page.goto(`${config.site}/#/policy`);
  await check('the curves are computed and drawn', async () => {
    await until(page, () => document.querySelectorAll('#view-policy .mark line').length === 1 && /are counted\. Computed/.test(document.querySelector('#view-policy .hint[role=status]').textContent));
    const lines = await page.$$eval('#view-policy .plot:first-of-type svg', (all) => all[0].querySelectorAll('.line').length);
    must(lines === 4, `${lines} lines`);
  });
  await check('the figures are those of the admin API', async () => {
    const [shown, api] = await page.evaluate(async () => {
      const x = await (await fetch('/admin/whatif')).json(), i = x.curves.capacities.findIndex((c) => c.factor === 1);
      return [[...document.querySelectorAll('#view-policy .legend:first-of-type b')].slice(0, 4).map((e) => e.textContent), x.curves.policies.map((p) => p.hit_ratio[i])];
    });
    must(shown.length === 4 && shown.every((text, i) => Math.abs(parseFloat(text) - 100 * api[i]) < 0.06), `${shown} and ${api}`);
  });
  await check('the curve is read with the arrow keys', async () => {
    await page.focus('#view-policy .plot');
    await page.keyboard.press('Home');
    const first = await page.evaluate(() => document.activeElement.getAttribute('aria-valuetext'));
    must(/^\d+ entries: rac\+ [\d.]+ %, lru [\d.]+ %, w-tinylfu .*s3fifo/.test(first), first);
    await page.keyboard.press('ArrowRight');
    must((await page.evaluate(() => document.activeElement.getAttribute('aria-valuetext'))) !== first, 'the value has not changed');
    await page.keyboard.press('Escape');
  });
  for (const [kind, text] of [['Capacities', 'REPRISE_CAPACITY_ENTRIES=120'], ['Policies', 'REPRISE_POLICY=lru'], ['Error rates', 'REPRISE_MAX_ERROR_RATE=0.02'], ['Thresholds', 'REPRISE_HIT_THRESHOLD=0.95']])
    await check(`${kind}: set copies the variable, with the keyboard`, async () => {
      const got = await copied(page, 'policy', text);
      must(got === text, got);
    });
  await check('without a clipboard the text is shown and selected', async () => {
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }));
    await click(page, '[aria-label="copy REPRISE_POLICY=lru"]');
    await until(page, () => document.activeElement.value === 'REPRISE_POLICY=lru' && getSelection().toString() === 'REPRISE_POLICY=lru');
  });
  for (const width of widths) for (const scheme of schemes) await check(`${width} px, ${scheme}`, async () => {
    await page.setViewport({ width, height: width > 2000 ? 1440 : 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))); // charts are drawn again
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    must(wide <= 0, `${wide} px wider than the window`);
    if (config.shots) await page.screenshot({ path: `${config.shots}/whatif-${width}-${scheme}.png`, fullPage: true });
    const found = await accessible(page);
    must(!found.length, found.join('\n'));
  });
  await check('no fault in the console', () => must(!page.faults.length, page.faults.join('\n')));
});
