import { ask, browse, check, click, config, must, open, until } from './browser.mjs';

const focus = (page) => page.evaluate(() => { const e = document.activeElement; return e.getAttribute('aria-label') || e.textContent.trim() || e.tagName; });

/** Presses Tab until f, which gets what has the focus, is true. */
async function tabTo(page, f, most = 120) {
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab');
    const now = await focus(page);
    if (f(now)) return now;
  }
  throw new Error('Tab does not lead there');
}

await browse(async (browser) => {
  const page = await open(browser, config.site);
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(`${config.site}/`);
  await until(page, () => document.querySelector('#link.live'));
  await until(page, () => document.querySelector('.tile .value')?.textContent.includes('%'));

  await check('keyboard: the first stop leads to the view', async () => {
    await page.keyboard.press('Tab');
    must((await focus(page)) === 'Skip to the view', await focus(page));
    await page.keyboard.press('Enter');
    must((await page.evaluate(() => document.activeElement.id)) === 'main', 'the view has no focus');
  });
  await check('keyboard: arrow keys read a chart', async () => {
    await tabTo(page, (n) => n.startsWith('Requests by how they were answered'));
    const text = () => page.evaluate(() => document.activeElement.getAttribute('aria-valuetext'));
    const last = await text();
    must(/exact .*semantic .*miss/.test(last), last);
    await page.keyboard.press('ArrowLeft');
    must((await text()) !== last, 'the value has not changed');
    must(await page.$eval('.plot:focus .tip', (e) => !e.hidden && e.textContent.includes('exact')), 'no tip');
    await page.keyboard.press('Escape');
    must(await page.$eval('.plot:focus .tip', (e) => e.hidden), 'the tip stays');
  });
  await check('keyboard: a chart has a table', async () => {
    await tabTo(page, (n) => n.startsWith('Table of Requests by'));
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelector('details.data[open] td'));
    await page.keyboard.press('Enter');
  });
  await check('the page opens with the shortest window that has the life of the proxy', async () => {
    const [shown, minutes] = await page.evaluate(async () => {
      const o = await (await fetch('/admin/overview')).json();
      return [document.querySelector('.bar input:checked').parentElement.textContent, (Date.parse(o.now) - Date.parse(o.started)) / 60000];
    });
    must(shown === '2 min' || minutes > 2, `${shown} after ${minutes} minutes`);
  });
  await check('keyboard: the window is chosen', async () => {
    await page.focus('.bar input[value="2m"]');
    await page.keyboard.press('ArrowRight');
    await until(page, () => location.hash.includes('window=10m'));
    await until(page, () => document.querySelector('.bar input:checked').value === '10m');
  });
  await check('keyboard: another view opens, and its title has the focus', async () => {
    await page.focus('.brand');
    await tabTo(page, (n) => n === 'Engines');
    await page.keyboard.press('Enter');
    await until(page, () => document.activeElement.tagName === 'H1' && document.activeElement.textContent === 'Engines' && document.title.startsWith('Engines'));
  });

  await check('live: what clients send is shown as text', async () => {
    const stream = page.waitForResponse((r) => r.url().includes('/admin/events?model=onerror')); // one filter for one result: a sample of all need not have it
    await page.goto(`${config.site}/#/live?model=onerror`);
    await stream;
    await ask('requests');
    await until(page, () => document.querySelector('#view-live tbody')?.textContent.includes('<img src=x'));
    const [head, iso, shown] = await page.evaluate(() => [document.querySelector('#view-live th').textContent, document.querySelector('#view-live time').dateTime, document.querySelector('#view-live time').textContent]);
    must(head === 'Time, UTC-3:30' && Math.abs(Date.parse(iso) - Date.now()) < 600e3 && /^\d\d:\d\d:\d\d$/.test(shown), `${head} ${iso} ${shown}`);
    must(await page.evaluate(() => window.pwned === undefined && !document.querySelector('main img, main script')), 'a text became an element');
  });
  await check('live: a result is chosen', async () => {
    const stream = page.waitForResponse((r) => r.url().includes('result=miss'));
    await page.goto(`${config.site}/#/overview`);
    await page.goto(`${config.site}/#/live`);
    await page.select('#view-live select', 'miss');
    await stream;
    await ask('requests');
    await until(page, () => document.querySelectorAll('#view-live tbody tr').length > 0);
    const shown = await page.$$eval('#view-live tbody .pill', (all) => [...new Set(all.map((e) => e.textContent))]);
    must(shown.join() === 'miss', shown.join());
  });
  await check('live: it can be stopped', async () => {
    await click(page, '#view-live button');
    must(await page.$eval('#view-live button', (b) => b.getAttribute('aria-pressed') === 'true'), 'not pressed');
  });

  const commands = new Set();
  for (const view of await page.$$eval('nav a', (all) => all.map((a) => a.getAttribute('href')))) {
    await page.goto('about:blank');
    await page.goto(`${config.site}/${view}`);
    await until(page, () => document.querySelector('details.curl'));
    for (const one of await page.$$('details.curl')) {
      await one.$eval('summary', (s) => s.click());
      for (const line of (await page.waitForFunction((d) => d.querySelector('code').textContent, {}, one).then((v) => v.jsonValue())).split('\n')) commands.add(line);
    }
  }
  for (const command of commands) await check(`the command ${command}`, async () => {
    const out = await ask(`run ${command}`);
    must(/^<nil> (\{|\[|event: )/.test(out) && !out.includes('"error"'), out);
  });
  await check('no fault in the console', () => must(!page.faults.length, page.faults.join('\n')));
});
