import { accessible, browse, check, config, must, open, until } from './browser.mjs';

await browse(async (browser) => {
  const page = await open(browser, config.site, { quiet: true });
  await page.setViewport({ width: 420, height: 800 });
  await page.goto(`${config.site}/`);
  await until(page, () => document.querySelector('dialog[open]'));
  await check('nothing is shown before the token', async () => must(!(await page.$('.tile')), 'there are numbers'));
  await check('the form is accessible', async () => {
    const found = await accessible(page);
    must(!found.length, found.join('\n'));
  });
  await check('Escape does not close the form', async () => {
    await page.keyboard.press('Escape');
    must(await page.$('dialog[open]'), 'it is closed');
  });
  await check('a wrong token is refused', async () => {
    await page.type('#ask-token', 'wrong-token');
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelector('dialog[open] #ask-error')?.textContent);
  });
  await check('the right one opens the page', async () => {
    await page.type('#ask-token', config.token);
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelector('.tile') && document.querySelector('#link.live') && !document.querySelector('dialog[open]'));
  });
  await check('it is in this tab only, and not in the address', async () => {
    const [here, kept, cookie] = await page.evaluate(() => [location.href, localStorage.length, document.cookie]);
    must(!here.includes(config.token) && kept === 0 && cookie === '', here);
  });
  await check('the commands name a variable, not the token', async () => {
    await page.$eval('details.curl summary', (s) => s.click());
    await until(page, () => document.querySelector('details.curl code').textContent.includes('$REPRISE_ADMIN_TOKEN'));
    must(!(await page.content()).includes(config.token), 'the token is in the page');
  });
  await check('a reload keeps it', async () => {
    await page.reload();
    await until(page, () => document.querySelector('.tile'));
  });
  await check('no fault in the console', () => must(!page.faults.length, page.faults.join('\n')));
});
