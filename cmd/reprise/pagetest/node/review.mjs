import { accessible, ask, browse, check, click, config, must, open, until } from './browser.mjs';

const widths = [420, 1280, 2560], schemes = ['light', 'dark'];

await browse(async (browser) => {
  const page = await open(browser, config.site);
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(`${config.site}/#/review`);
  await until(page, () => document.querySelectorAll('.pairs > li').length > 2);

  await check('both prompts are aligned, and what differs is marked', async () => {
    const served = await page.$$eval('.pairs > li', (all) => all.filter((e) => e.querySelector('.pill').textContent === 'Served').map((e) => [...e.querySelectorAll('.aligned dd')].map((d) => d.textContent)));
    must(served.some(([stored, asked]) => stored.startsWith('How do I reset') && asked.startsWith('Hello')), JSON.stringify(served));
    must(await page.$('.pairs mark.form'), 'nothing is marked');
  });
  await check('texts of clients are shown as text', async () => must(await page.evaluate(() => window.pwned === undefined && !document.querySelector('main img, main script') &&
    [...document.querySelectorAll('.aligned dd')].some((e) => e.textContent.includes('<img src=x'))), 'a text became an element, or is missing'));
  for (const width of widths) for (const scheme of schemes) await check(`with prompts, ${width} px, ${scheme}`, async () => {
    await page.setViewport({ width, height: width > 2000 ? 1440 : 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.$$eval('.pairs details', (all) => all.slice(0, 4).forEach((d) => { d.open = true; }));
    await until(page, () => [...document.querySelectorAll('.pairs details[open]')].every((d) => d.querySelector('p, table')));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    must(wide <= 0, `${wide} px wider than the window`);
    if (config.shots) await page.screenshot({ path: `${config.shots}/review-${width}-${scheme}.png` });
    const findings = await accessible(page);
    must(!findings.length, findings.join('\n'));
  });
  await page.setViewport({ width: 1280, height: 900 });

  await check('more pairs are added', async () => {
    const before = await page.$$eval('.pairs > li', (all) => all.length);
    await page.evaluate(() => [...document.querySelectorAll('button')].find((b) => b.textContent === 'More').click());
    await until(page, (n) => document.querySelectorAll('.pairs > li').length > n, before);
    const ids = await page.$$eval('.pairs h3', (all) => all.map((e) => +e.id.slice(5)));
    must(ids.length > 20 && ids.every((id, i) => i === 0 || id < ids[i - 1]), ids.join());
    must(await page.evaluate((n) => document.activeElement.closest('li') === document.querySelectorAll('.pairs > li')[n], before), 'the focus is elsewhere');
  });
  await check('a kind is chosen', async () => {
    await page.$eval('input[name=kind][value=refused]', (e) => e.click());
    await until(page, () => { const all = [...document.querySelectorAll('.pairs h3 .pill')]; return all.length && all.every((e) => e.textContent === 'Kept back'); });
    must((await page.evaluate(() => location.hash)).includes('kind=refused'), 'it is not in the address');
    await page.$eval('input[name=kind][value=served]', (e) => e.click());
    await until(page, () => { const all = [...document.querySelectorAll('.pairs h3 .pill')]; return all.length && all.every((e) => e.textContent === 'Served'); });
  });
  await check('keyboard: a verdict is given, and taken back', async () => {
    await page.focus('.pairs > li:first-child .buttons button');
    await page.keyboard.press('n');
    await until(page, () => document.querySelector('.pairs > li:first-child .undo') && document.querySelector('.pairs > li:first-child [role=status]').textContent.includes('does not answer this request any more'));
    await page.keyboard.press('u');
    await until(page, () => document.querySelector('.pairs > li:first-child [role=status]').textContent.includes('taken back') && !document.querySelector('.pairs > li:first-child .tag'));
    must(await page.evaluate(() => document.activeElement.textContent === 'Right'), 'the focus is lost');
  });
  await check('keyboard: j leads to the next pair', async () => {
    await page.keyboard.press('j');
    must(await page.evaluate(() => document.activeElement.closest('li') === document.querySelectorAll('.pairs > li')[1]), 'it does not');
  });
  await check('a verdict counts after its time', async () => {
    await page.keyboard.press('y');
    await until(page, () => document.querySelectorAll('.pairs > li')[1].querySelector('[role=status]').textContent === 'Counted as right.');
    const counted = await page.evaluate(async () => (await (await fetch('/admin/stats')).json()).reuse.feedback.right);
    must(counted === 1, `${counted} verdicts`);
  });
  await check('an entry is purged, and put back', async () => {
    const entry = await page.$eval('.pairs > li:last-child .buttons button:last-child', (b) => { b.click(); return b.textContent.match(/\d+/)[0]; });
    await until(page, () => document.querySelector('.pairs > li.gone:last-child .undo'));
    must((await page.evaluate(async (id) => (await fetch(`/admin/entries?entry=${id}`)).json(), entry)).total === 0, 'it is still there');
    await click(page, '.pairs > li:last-child .undo');
    await until(page, () => /The answer is back, as entry \d+/.test(document.querySelector('.pairs > li:last-child [role=status]').textContent));
    must((await page.evaluate(async (id) => (await fetch(`/admin/entries?entry=${id}`)).json(), await page.$eval('.pairs > li:last-child [role=status]', (e) => e.textContent.match(/\d+/)[0]))).total === 1, 'it is not back');
  });
  await check('newer pairs are announced, and shown when asked for', async () => {
    await ask('requests');
    await until(page, () => [...document.querySelectorAll('button')].some((b) => b.textContent === 'Show newer ones' && !b.hidden));
    const before = await page.$eval('.pairs > li h3', (e) => e.id);
    await page.evaluate(() => [...document.querySelectorAll('button')].find((b) => b.textContent === 'Show newer ones').click());
    await until(page, (was) => document.querySelector('.pairs > li h3').id !== was, before);
  });
  await check('no fault in the console', () => must(!page.faults.length, page.faults.join('\n')));
});
