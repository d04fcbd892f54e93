import { accessible, browse, check, click, config, must, open, until } from './browser.mjs';

await browse(async (browser) => {
  const page = await open(browser, config.site);
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(`${config.site}/#/topics`);
  const text = (css) => page.$eval(css, (e) => e.textContent);
  const card = (title) => `section[aria-labelledby="card-${title}"]`;
  const ready = () => until(page, () => document.querySelector('#link.live') && document.querySelector('.tree div') && !document.querySelector('.view[aria-busy]'));

  await check('10,000 topics: the largest are there, and the rest in words', async () => {
    await ready();
    const cells = await page.$$eval('.tree div', (all) => all.length), elements = await page.$$eval('*', (all) => all.length);
    must(cells === 200, `${cells} rectangles`);
    must(elements < 8000, `${elements} elements`);
    const said = await text(`${card('map-of-topics')} .hint[role=status]`);
    must(said.startsWith('The 200 largest of 10,000 topics, by entries. The other 9,800 have 19,600 entries'), said);
    must((await page.$$('.legend .key')).length >= 5, 'no legend');
  });
  await check('the size is chosen by the keyboard', async () => {
    await page.focus(`${card('map-of-topics')} input:checked`);
    await page.keyboard.press('ArrowRight');
    await until(page, () => location.hash.includes('by=prevalence') && document.querySelector('.view .hint[role=status]').textContent.includes('by prevalence'));
    const [first, cls] = await page.$eval('.tree div', (e) => [e.title, e.className]);
    must(first.startsWith('topic 1: 2 entries') && cls === 'p4', `${first} ${cls}`);
  });
  await check('the table is sorted by the keyboard, and keeps the focus', async () => {
    await page.focus(`${card('map-of-topics')} details.data summary`);
    await page.keyboard.press('Enter');
    await page.focus('[aria-sort=descending] button');
    for (let i = 0; i < 2; i++) await page.keyboard.press('Tab');
    must((await page.evaluate(() => document.activeElement.textContent)) === 'Tokens saved', 'Tab does not lead there');
    await page.keyboard.press('Enter');
    await until(page, () => location.hash.includes('by=tokens_saved') && document.activeElement.closest('[aria-sort=descending]')?.textContent === 'Tokens saved');
    must(await page.$eval('fieldset.choice input:checked', (e) => e.value === 'tokens_saved'), 'the choice of the map differs');
    must((await page.$$(`${card('map-of-topics')} tbody tr`)).length === 200, 'not 200 rows');
  });
  await check('a topic is opened by the keyboard: its figures, its anchor, its members', async () => {
    await page.focus(`${card('map-of-topics')} tbody button`);
    await page.keyboard.press('Enter');
    await until(page, () => document.querySelector('section:not([hidden]) > .head h2#card-topic')?.textContent === 'Topic 1');
    await until(page, () => document.querySelector('section[aria-labelledby=card-entries] .hint[role=status]').textContent.startsWith('2 of 2 shown'));
    await until(page, () => document.querySelector('section[aria-labelledby=card-topic] dl'));
    const figures = await text(`${card('topic')} dl`);
    must(/Entries2.*Hits600.*Tokens saved42,000.*Anchorentry \d+.*password in release/.test(figures), figures);
  });
  await check('entries: a part of a prompt in any case, by hits, and the next page', async () => {
    await page.$eval('input[name=topic]', (e) => { e.value = ''; });
    await page.type('input[name=q]', 'IN RELEASE 1');
    await page.select('select[name=sort]', 'hits');
    await until(page, () => /^50 of 11,111 shown, most hits first\./.test(document.querySelector('section[aria-labelledby=card-entries] .hint[role=status]').textContent));
    await click(page, `${card('entries')} > button`);
    await until(page, () => document.querySelectorAll('section[aria-labelledby=card-entries] tbody tr').length === 100);
    const rows = await page.$$eval(`${card('entries')} tbody tr`, (all) => all.map((r) => [r.cells[0].textContent, Number(r.cells[2].textContent.replace(',', ''))]));
    must(new Set(rows.map(([id]) => id)).size === 100, 'an entry comes twice');
    must(rows.every(([, hits], i) => i === 0 || rows[i - 1][1] >= hits) && rows[0][1] > 0, JSON.stringify(rows));
  });
  await check('what is evicted next has its reasons', async () => {
    const rows = await page.$$eval(`${card('what-is-evicted-next')} tbody tr`, (all) => all.map((r) => [...r.cells].map((c) => c.textContent)));
    must(rows.length === 20 && rows.every((r, i) => r[0] === String(i + 1) && /haz/.test(r[3])), JSON.stringify(rows.slice(0, 2)));
    await page.select('select[name=sort]', 'evicts-next');
    await until(page, () => [...document.querySelectorAll('section[aria-labelledby=card-entries] th')].some((e) => e.textContent === 'Why'));
  });
  for (const width of [420, 1280]) for (const scheme of ['light', 'dark']) await check(`${width} px, ${scheme}`, async () => {
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    must(wide <= 0, `${wide} px wider than the window`);
    if (config.shots) await page.screenshot({ path: `${config.shots}/many-topics-${width}-${scheme}.png`, fullPage: true });
    const found = await accessible(page);
    must(!found.length, found.join('\n'));
  });
  await check('no fault, and nothing that clients sent was run', async () => {
    must(!page.faults.length, page.faults.join('\n'));
    must(!(await page.evaluate(() => window.pwned)), 'a prompt was run');
  });
});
