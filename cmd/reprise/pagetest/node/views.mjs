import { accessible, browse, check, config, must, open, until } from './browser.mjs';

const widths = [420, 1280, 2560], schemes = ['light', 'dark'];

// axe-core takes longer than all else. Colours differ by the scheme, and what is there by the width: each of these is looked at, and with screenshots all
// six.
const looked = (width, scheme) => config.shots || (width === 1280 ? 'light' : 'dark') === scheme;

await browse(async (browser) => {
  for (const [kind, site] of Object.entries(config.sites)) {
    const page = await open(browser, site);
    await page.goto(`${site}/`);
    const views = await page.$$eval('nav a', (all) => all.map((a) => a.getAttribute('href')));
    await check(`${kind}: the views are there`, () => must(views.length >= 3, views.join()));
    if (kind === 'full') await until(page, async () => (await (await fetch('/admin/history')).json()).totals.requests_together > 0); // the first step has ended
    for (const view of views) {
      await page.goto('about:blank');
      await page.goto(`${site}/${view}`);
      await check(`${kind}, ${view.slice(2)}: it is shown`, async () => {
        await until(page, () => document.querySelector('#link.live') && document.querySelector('#foot').textContent);
        await until(page, () => document.querySelector('.view .card') && !document.querySelector('.view[aria-busy]'));
        must(!(await page.$('.failed')), 'a failure is shown');
      });
      for (const width of widths) for (const scheme of schemes) await check(`${kind}, ${view.slice(2)}, ${width} px, ${scheme}`, async () => {
        await page.setViewport({ width, height: width > 2000 ? 1440 : 900 });
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
        await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))); // charts are drawn again
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        must(wide <= 0, `${wide} px wider than the window`);
        if (config.shots) await page.screenshot({ path: `${config.shots}/${kind}-${view.slice(2)}-${width}-${scheme}.png`, fullPage: true });
        const found = looked(width, scheme) ? await accessible(page) : [];
        must(!found.length, found.join('\n'));
        must(!page.faults.length, page.faults.splice(0).join('\n'));
      });
    }
    await check(`${kind}: at 420 px the navigation shows which view is open`, async () => {
      await page.setViewport({ width: 420, height: 900 });
      for (const view of views) {
        await page.evaluate((to) => { location.hash = to; }, view);
        await until(page, (to) => document.querySelector('#views [aria-current]').getAttribute('href') === to, view);
        const at = await page.$eval('#views [aria-current]', (a) => { const { left, right } = a.getBoundingClientRect(); return [left, right]; });
        must(at[0] >= 0 && at[1] <= 420, `${view} is from ${at[0]} to ${at[1]} px`);
      }
    });
    await page.close();
  }
});
