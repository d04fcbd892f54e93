import { accessible, browse, check, config, must, open, until } from './browser.mjs';

const looks = [[420, 'dark'], [1280, 'light']]; // views.mjs has them all

/** What has no data in the view that is shown, each with the title of its card. It runs in the page. */
function empty(allowed) {
  const seen = (e) => e.checkVisibility();
  const found = [...document.querySelectorAll('.tile')].filter((t) => t.querySelector('.value').textContent === '–').map((t) => `${t.querySelector('dt').textContent}: –`);
  const cards = [...document.querySelectorAll('.view .card')].filter(seen); // that of one topic is there once it is chosen
  if (!cards.length || document.querySelector('.view[aria-busy]')) found.push('the view is not there yet');
  for (const card of cards) {
    const title = card.querySelector('h2').textContent, add = (what) => found.push(`${title}: ${what}`);
    if (title in allowed || !seen(card)) continue; // the card of a topic is there once one is chosen
    if (![...card.querySelectorAll('tbody tr, .line, .area, .heat rect, li, dd')].some(seen)) add('nothing is shown');
    for (const e of card.querySelectorAll('.none')) if (seen(e)) add(e.textContent);
    for (const e of card.querySelectorAll('[role=status]')) if (/^(Waiting|No )/.test(e.textContent)) add(e.textContent);
    for (const e of card.querySelectorAll('.plot')) if (seen(e) && !e.querySelector('.line, .dot, .area, .heat rect')) add(`nothing is drawn in ${e.getAttribute('aria-label')}`);
    for (const e of card.querySelectorAll('tbody')) if (seen(e) && !e.rows.length) add('a table without rows');
    for (const e of card.querySelectorAll('.tree, ol, dl')) if (seen(e) && !e.children.length) add(`an empty ${e.className || e.tagName}`);
  }
  return found;
}

await browse(async (browser) => {
  const page = await open(browser, config.site);
  await page.goto(`${config.site}/`);
  for (const view of await page.$$eval('nav a', (all) => all.map((a) => a.getAttribute('href')))) {
    await page.goto(`${config.site}/${view}`);
    await page.reload(); // another fragment alone loads nothing
    const name = view.slice(2);
    await check(`${name}: every card has data`, async () => {
      await until(page, `!(${empty})(${JSON.stringify(config.empty)}).length`).catch(() => {});
      const wrong = await page.evaluate(empty, config.empty);
      must(!wrong.length, wrong.join('\n'));
      must(!(await page.$('.failed')), 'a failure is shown');
    });
    for (const [width, scheme] of looks) await check(`${name}, ${width} px, ${scheme}`, async () => {
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))); // charts are drawn again
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      must(wide <= 0, `${wide} px wider than the window`);
      if (config.shots) await page.screenshot({ path: `${config.shots}/demo-${name}-${width}-${scheme}.png`, fullPage: true });
      const found = await accessible(page);
      must(!found.length, found.join('\n'));
    });
    if (name === 'topics') await check('topics: prompts are shown, because they are those of the demo', async () =>
      must(await page.$$eval('#view-topics td:last-child', (all) => all.some((e) => e.textContent === 'Can I automate that?' || e.textContent.startsWith('How do I '))), 'no prompt of the demo'));
  }
  await check('misses: the time in a system prompt is found, and what repairs it', async () => {
    await page.goto(`${config.site}/#/misses`);
    await until(page, () => [...document.querySelectorAll('.causes li')].some((e) => e.textContent.includes('system@') && e.textContent.includes('REPRISE_IGNORE_PATTERN')));
  });
  await check('no fault in the console', () => must(!page.faults.length, page.faults.join('\n')));
});
