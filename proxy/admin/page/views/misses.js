// Why misses miss: the misses of the last hour by cause, what a repair of each would bring, the setting to change, and examples.
import { h, put, renew, card, number, percent, settings, setButton, when, at } from '../dom.js';
import { bars } from '../chart.js';

const most = 50; // causes that are shown: clients can invent names of fields
const cut = 1000; // bytes of a prompt that the proxy keeps

export function show(root, page) {
  const head = h('p.lead', { role: 'status' }), counts = bars('Misses by cause', ['Cause', 'Misses', 'Share', 'Would bring']), causes = h('ol.causes', {}), more = h('p.hint'), note = h('p.hint');
  const said = h('p.said', { role: 'status' });
  root.append(
    said,
    card('Misses of the last hour, by cause', { wide: true, asks: ['/admin/misses'] }, head, counts.element),
    card('What to change', { wide: true, asks: ['/admin/misses'], hint: 'The cause with the most hits to win comes first. “Would bring” is the share of all requests that a repair of this cause alone would have turned into hits.' }, causes, more, note));

  page.keep(async () => {
    const [r, overview] = await Promise.all([page.get('/admin/misses'), page.get('/admin/overview')]);
    const all = [...(r.groups ?? [])].sort((a, b) => b.would_bring - a.would_bring || b.count - a.count), groups = all.slice(0, most);
    put(head, all.length ? `${number(r.misses)} of ${number(r.requests)} requests that were looked for were misses.` : r.emptied ? 'No misses since the last purge.' : 'No misses in the last hour.',
      r.emptied && [' A purge emptied this view at ', when(r.emptied, at.second), '.'], r.forgotten && [' A purge of one entry at ', when(r.forgotten, at.second), ' left the counts and took the examples.']);
    counts.element.hidden = all.length === 0;
    counts.set(groups.map((g) => ({ label: h('bdi', {}, nameOf(g)), value: g.count, cells: [number(g.count), percent(g.share), percent(g.would_bring)], cls: g.would_have_hit ? 'r-semantic' : 'r-miss' })));
    renew(causes, groups.map((g) => causeOf(g, said, overview.prompts_may_be_shown)));
    more.textContent = all.length > most ? `${number(all.length - most)} more causes are in GET /admin/misses.` : '';
    note.textContent = r.how_it_is_counted ?? '';
  });
}

const reviews = { veto: 'refused', explore: 'compared', shadow: 'shadow' }; // kinds of pairs by the cause

const nameOf = (g) => (g.differs?.length ? `${g.why}: ${g.differs.join(', ')}` : g.why);

function causeOf(g, said, prompts) {
  const name = nameOf(g), examples = g.examples ?? [];
  return h('li', {}, h('h3', {}, h('bdi', {}, name)), h('p', {}, h('bdi', {}, g.in_words)),
    g.repair ? h('p.repair', {}, g.set ? g.repair : settings(g.repair)) : h('p.hint', {}, 'There is nothing to change.'),
    reviews[g.why.split(':')[0]] && h('p', {}, h('a', { href: `#/review?kind=${reviews[g.why.split(':')[0]]}` }, 'The latest of these, side by side')),
    (g.set ?? []).map((text) => h('p.sets', {}, h('code', {}, text), ' ', setButton(text, said))),
    h('p.numbers', {}, `${number(g.count)} misses, of which ${number(g.would_have_hit)} would have been hits: ${percent(g.would_bring)} of the requests.`),
    examples.length ? h('details.examples', { 'data-key': name }, h('summary', { 'data-key': `${name} examples` }, examples.length === 1 ? 'The latest one' : `The latest ${examples.length}`, h('span.hidden', {}, ` of ${name}`)),
      !prompts && h('p.hint', {}, 'Prompts are not shown: REPRISE_LOG_PROMPTS is false.'), h('ol', {}, examples.map(exampleOf))) : null);
}

function exampleOf(e) {
  const entry = e.nearest_entry && `Entry ${e.nearest_entry}, which nearly served it${e.nearest_is_stored ? '' : ', has left'}`;
  return h('li', {}, h('p.numbers', {}, when(e.at, at.second), ' · ', h('bdi', {}, e.model), ' · tenant ', h('code', {}, e.tenant.slice(0, 12)), e.namespace && [' · namespace ', h('bdi', {}, e.namespace)]),
    h('dl', {}, textOf('Prompt', e.prompt, e.prompt_bytes), entry ? textOf(entry, e.nearest_prompt, e.nearest_prompt_bytes, e.nearest_is_stored, e.prompt) : null));
}

/** A prompt, or what is known of it; same is another one that has just been shown. */
function textOf(name, text, bytes, there = true, same = '') {
  const length = `${number(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;
  if (text && text === same) return [h('dt', {}, name), h('dd', {}, bytes > cut ? `The same beginning, of ${length}.` : 'The same prompt.')];
  const none = !there ? null : !bytes ? 'It has no text of its own.' : length;
  return [h('dt', {}, name), text ? h('dd', {}, h('pre.text', { tabindex: 0, 'aria-label': name }, h('bdi', {}, text)), bytes > cut && h('span.numbers', {}, `The beginning of ${length}.`)) : none && h('dd', {}, none)];
}
