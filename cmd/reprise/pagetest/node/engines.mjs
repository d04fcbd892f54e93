import { accessible, ask, browse, check, config, must, open, until } from './browser.mjs';

const widths = [420, 1280, 2560], schemes = ['light', 'dark'];

/** Screenshots at all widths, light and dark: nothing is wider than the window, and axe-core finds nothing. */
async function looks(page, name) {
  for (const width of widths) for (const scheme of schemes) await check(`${name}, ${width} px, ${scheme}`, async () => {
    await page.setViewport({ width, height: width > 2000 ? 1440 : 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))); // charts are drawn again
    if (config.shots) await page.screenshot({ path: `${config.shots}/engines-${name}-${width}-${scheme}.png`, fullPage: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    must(wide <= 0, `${wide} px wider than the window`);
    const found = await accessible(page);
    must(!found.length, found.join('\n'));
  });
}

const text = (page, selector) => page.$eval(selector, (e) => e.textContent);
const commandOf = (page, card) => page.evaluate(async (id) => {
  const d = document.querySelector(`[aria-labelledby="${id}"] details.curl`);
  d.open = true;
  await new Promise((r) => setTimeout(r));
  const line = d.querySelector('code').textContent;
  d.open = false;
  return line;
}, card);

async function replicas(page) {
  await check('a dead replica has its state in words', async () => {
    const row = await text(page, '#view-engines tbody tr:nth-child(3)');
    must(/gpu-spare.*(downits health checks fail|ejected\d+ failures in a rowuntil )/.test(row), row);
  });
  await check('a refused hint says for which model it is left out, and until when', async () => {
    const notes = await text(page, '[aria-label="Hints that are left out"]'), iso = await page.$eval('[aria-label="Hints that are left out"] time', (e) => e.dateTime);
    must(/gpu-west-1 refused cache_salt\. It is left out for not-at-west until /.test(notes), notes);
    must(Math.abs(Date.parse(iso) - Date.now() - 3600e3) < 600e3, iso);
  });
  await check('the figures are those of the admin API', async () => {
    const [shown, api] = await page.evaluate(async () => [[...document.querySelectorAll('#view-engines table')[0].querySelectorAll('tbody tr')].map((r) => r.children[6].textContent),
      (await (await fetch('/admin/upstreams')).json()).upstreams.map((u) => u.capacity_tokens)]);
    must(shown.join() === '2M,400K,2M' && api.join() === '2000000,400000,2000000', `${shown} and ${api}`);
  });
  await check('the command of the card Redis is none that fails', async () => {
    const line = await commandOf(page, 'card-redis');
    must(line.includes('/admin/overview'), line);
  });
  await check('a replica is drained with the keyboard, and keeps focus and place', async () => {
    await page.setViewport({ width: 420, height: 900 });
    await page.focus('[aria-label="drain gpu-east-1"]');
    const place = await page.$eval('[aria-label="Table: Replicas"]', (e) => e.scrollLeft);
    must(place > 0, 'the button is in sight without scrolling: the test shows nothing');
    const state = async () => (await (await fetch('/admin/upstreams')).json()).upstreams[0].health;
    await page.keyboard.press('Enter');
    await until(page, () => /^drainingno new conversations/.test(document.querySelector('#view-engines tbody td').textContent));
    must((await page.evaluate(state)) === 'draining', 'the proxy does not drain it');
    const [focus, now] = await page.evaluate(() => [document.activeElement.getAttribute('aria-label'), document.querySelector('[aria-label="Table: Replicas"]').scrollLeft]);
    must(focus === 'undrain gpu-east-1' && now === place, `focus on ${focus}, scrolled from ${place} to ${now}`);
    must((await text(page, '#view-engines .said')) === 'gpu-east-1 gets no new conversations.', await text(page, '#view-engines .said'));
    await looks(page, 'draining');
    await page.focus('[aria-label="undrain gpu-east-1"]');
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelector('[aria-label="drain gpu-east-1"]'));
    must((await page.evaluate(state)) !== 'draining', 'it is still drained');
  });
}

async function shared(page) {
  await check('both members are shown, and their keeper', async () => {
    const rows = await page.$$eval('[aria-label="Table: Members"] tbody tr', (all) => all.map((r) => r.textContent));
    must(rows.length === 2 && rows.filter((r) => r.includes('keeper')).length === 1 && rows.filter((r) => r.includes('(this one)')).length === 1, rows.join(' | '));
    must(/^shared/.test(await text(page, '#view-engines .state')), await text(page, '#view-engines .state'));
  });
  await check('the command of the card Redis shows it', async () => {
    const line = await commandOf(page, 'card-redis');
    must(line.includes('/admin/shared'), line);
  });
  await looks(page, 'shared');
  await check('Redis that is away is shown', async () => {
    await ask('kill redis');
    await until(page, () => /^away/.test(document.querySelector('#view-engines .state').textContent));
  });
  await looks(page, 'away');
}

await browse(async (browser) => {
  const page = await open(browser, config.site);
  await page.goto(`${config.site}/#/engines`);
  await until(page, async () => (await (await fetch('/admin/history')).json()).totals.requests_together > 0); // the first step has ended
  await page.reload();
  await until(page, () => document.querySelector('#link.live') && document.querySelector('.view .card') && !document.querySelector('.view[aria-busy]'));
  if (config.name === 'replicas') await replicas(page);
  else await shared(page);
  await check('no fault in the console', () => must(!page.faults.length, page.faults.join('\n')));
});
