import { ask, browse, check, config, must, open, until } from './browser.mjs';

await browse(async (browser) => {
  const page = await open(browser, config.site, { quiet: true });
  await page.goto(`${config.site}/`);
  await until(page, () => document.querySelector('#link.live') && document.querySelector('#foot').textContent);
  const before = await page.$eval('#foot', (e) => e.dataset.started);
  await check('the page shows that the proxy is gone', async () => {
    await ask('kill');
    await until(page, () => document.querySelector('#link').textContent === 'reconnecting');
  });
  await check('the page shows the proxy that has come back', async () => {
    await ask('start');
    await until(page, (was) => document.querySelector('#link.live') && document.querySelector('#foot').dataset.started !== was, before);
    await until(page, () => !document.querySelector('.failed') && document.querySelector('.tile'));
  });
  await check('no fault in the console', () => must(!page.faults.length, page.faults.join('\n')));
});
