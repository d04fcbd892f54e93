// Why misses miss: the misses of the last hour by cause, what a repair of each would bring, and the setting to change.
import { h, put, card, number, percent } from '../dom.js';
import { bars } from '../chart.js';

export function show(root, page) {
  const head = h('p.lead', { role: 'status' }), counts = bars('Misses by cause', ['Cause', 'Misses', 'Share', 'Would bring']), causes = h('ol.causes', {}), note = h('p.hint');
  root.append(
    card('Misses of the last hour, by cause', { wide: true, asks: ['/admin/misses'] }, head, counts.element),
    card('What to change', { wide: true, asks: ['/admin/misses'], hint: 'The cause with the most hits to win comes first. “Would bring” is the share of all requests that a repair of this cause alone would have turned into hits.' }, causes, note));

  page.keep(async () => {
    const r = await page.get('/admin/misses'), groups = [...(r.groups ?? [])].sort((a, b) => b.would_bring - a.would_bring || b.count - a.count);
    put(head, groups.length ? `${number(r.misses)} of ${number(r.requests)} requests that were looked for were misses.` : 'No misses in the last hour.');
    counts.element.hidden = groups.length === 0;
    counts.set(groups.map((g) => ({ label: nameOf(g), value: g.count, cells: [number(g.count), percent(g.share), percent(g.would_bring)], cls: g.would_have_hit ? 'r-semantic' : 'r-miss' })));
    put(causes, groups.map((g) => h('li', {}, h('h3', {}, nameOf(g)), h('p', {}, g.in_words),
      g.repair ? h('p.repair', {}, settings(g.repair)) : h('p.hint', {}, 'There is nothing to change.'),
      h('p.numbers', {}, `${number(g.count)} misses, of which ${number(g.would_have_hit)} would have been hits: ${percent(g.would_bring)} of the requests.`))));
    note.textContent = r.how_it_is_counted ?? '';
  });
}

const nameOf = (g) => h('bdi', {}, g.differs?.length ? `${g.why}: ${g.differs.join(', ')}` : g.why);

/** A text with names of settings as buttons that copy them. */
export function settings(text) {
  return text.split(/(REPRISE_[A-Z_]+(?:=[^\s,;.)]+)?)/).map((part, i) => (i % 2 === 0 ? part : copied(part)));
}

function copied(name) {
  const button = h('button.copy', { type: 'button', title: `Copy ${name}`, onclick: () => navigator.clipboard?.writeText(name).then(() => {
    button.classList.add('done');
    setTimeout(() => button.classList.remove('done'), 1500);
  }, () => {}) }, name);
  return button;
}
