// Topics: the largest as a map and a table, one of them with its members, all entries with a search, and what is evicted next.
import { h, put, renew, card, setButton, choice, table, number, compact, bytes, percent, seconds, none } from '../dom.js';
import { tree } from '../chart.js';

const most = 200, rows = 50, soon = 20;
const sizes = [['entries', 'Entries'], ['prevalence', 'Prevalence'], ['hits', 'Hits'], ['tokens_saved', 'Tokens saved']];
const orders = [['newest', 'Newest first'], ['hits', 'Most hits first'], ['tokens_saved', 'Most tokens saved first'], ['last_used', 'Last hit first'], ['size', 'Largest first'], ['evicts-next', 'Evicted next first']];
const filters = ['q', 'topic', 'model', 'tenant', 'namespace'];
const shades = [0, 0.5, 1, 2, 5]; // of the map: from these multiples of the mean prevalence on

const ago = (time) => (time == null ? none : seconds(Math.max((Date.now() - new Date(time)) / 1000, 0)));
const known = (text) => text || none;
const names = (text) => known(text && h('bdi', {}, text));
const tenant = (text) => known(text && h('code', {}, text.slice(0, 12)));

export function show(root, page) {
  let prompts = false, shown = [], topics = null, open = 0;
  const value = (name) => page.params.get(name) ?? '';
  const by = () => sizes.find(([id]) => id === value('by'))?.[0] ?? 'entries';
  const say = (place) => (e) => { if (!page.signal.aborted) place.textContent = e.message; };
  const text = (prompt) => (prompts && prompt ? h('bdi.prompt', {}, prompt) : none);
  const map = tree(), legend = h('ul.legend'), summary = h('p.hint', { role: 'status' }), list = h('div'), tables = h('details.data', {}, h('summary', {}, 'Table of topics'), list);
  const one = h('div'), found = h('p.hint', { role: 'status' }), members = h('div'), more = h('button.plain', { type: 'button', hidden: true, onclick: () => load(more.value).catch(say(found)) }, 'More');
  const why = h('p.hint'), next = h('div'), said = h('p.said', { role: 'status' }), framed = h('p.hint'), frames = h('ol.causes', {});

  const topicsPath = () => `/admin/topics?${new URLSearchParams({ limit: most, sort: by() })}`;
  const entriesPath = (before) => {
    const q = new URLSearchParams({ limit: rows });
    for (const name of [...filters, 'sort']) if (value(name)) q.set(name, value(name));
    if (before) q.set('before', before);
    return `/admin/entries?${q}`;
  };
  const nextPath = `/admin/entries?sort=evicts-next&limit=${soon}`;

  const field = (name, label) => h('label.field', {}, h('span', {}, label), h('input', { type: 'search', name, value: value(name), maxlength: 512, autocomplete: 'off', spellcheck: 'false' }));
  const search = field('q', 'Part of the prompt');
  search.hidden = true;
  const order = h('label.field', {}, h('span', {}, 'Order'), h('select', { name: 'sort', onchange: () => form.requestSubmit() }, orders.map(([id, words]) => h('option', { value: id, selected: id === value('sort') }, words))));
  const form = h('form.filters', { onsubmit: (e) => { e.preventDefault(); page.remember(Object.fromEntries(new FormData(form))); Promise.all([load(), choose()]).catch(say(found)); } },
    search, field('topic', 'Topic'), field('model', 'Model'), field('tenant', 'Tenant'), field('namespace', 'Namespace'), order, h('button', { type: 'submit' }, 'Search'));
  const select = (topic) => { for (const name of ['q', 'model', 'tenant', 'namespace']) form.elements[name].value = ''; form.elements.topic.value = topic; if (form.elements.sort.value === 'evicts-next') form.elements.sort.value = 'newest'; form.requestSubmit(); chosen.scrollIntoView({ block: 'nearest' }); };
  const chosen = card('Topic', { wide: true, asks: [() => `/admin/topics?topic=${value('topic')}`] }, one);
  chosen.hidden = true;

  const largest = (id) => { page.remember({ by: id }); refresh(true).catch(say(summary)); };
  const chooser = () => choice('Size of the rectangles', sizes, by(), largest);
  const tools = h('div', {}, chooser());
  root.append(
    card('Map of topics', { wide: true, asks: [topicsPath], tools, hint: 'Each rectangle is a topic: its area is the figure chosen here, its shade the prevalence, the share of the recent requests. A click shows it with its members.' },
      map.element, legend, summary, tables),
    chosen,
    card('Frames', { wide: true, asks: ['/admin/frames'], hint: 'A frame is the text that many prompts of a scope share. What asks in it is compared by meaning; all else must be equal. A rule with ask says which part asks.' }, said, framed, frames),
    card('Entries', { wide: true, asks: [() => entriesPath()] }, form, found, members, more),
    card('What is evicted next', { wide: true, asks: [nextPath] }, why, next));

  function drawTopics() {
    const x = topics, all = x.topics, what = sizes.find(([id]) => id === by())[1].toLowerCase(), mean = 1 / Math.max(x.total, 1);
    const shade = (p) => shades.findLastIndex((from) => (p ?? 0) >= from * mean);
    const figure = (t) => (by() === 'prevalence' ? percent(t.prevalence) : by() === 'entries' ? number(t.entries) : compact(t[by()]));
    map.set(all.map((t) => {
      const prompt = prompts ? t.anchor_prompt || t.sample : '', name = prompt ? prompt.slice(0, 80) : `topic ${t.topic}`;
      const note = by() === 'prevalence' ? figure(t) : `${figure(t)} · ${percent(t.prevalence)}`;
      return { name, note, brief: figure(t), title: `topic ${t.topic}: ${number(t.entries)} entries, prevalence ${percent(t.prevalence)}, ${number(t.hits)} hits, ${number(t.tokens_saved)} tokens saved`, value: t[by()] ?? 0, cls: `p${shade(t.prevalence)}`, open: () => select(t.topic) };
    }));
    const flat = !all.some((t) => t[by()] > 0);
    map.element.hidden = flat;
    put(legend, flat ? [] : [h('li', {}, `Prevalence, by its mean of ${percent(mean)}:`), ...shades.filter((from) => from * mean <= 1).map((from, i) => h('li', { class: `key p${i}` }, i === 0 ? `less than ${shades[1]} ×` : `${from} × and more`))]);
    put(summary, words(x, what, flat));
    tables.hidden = all.length === 0;
    if (!list.contains(document.activeElement)) drawTable();
  }

  function words(x, what, flat) {
    if (x.total === 0) return 'No topics yet: they come with the first answers that are kept.';
    const r = x.rest, part = r.topics === 0 ? `All ${number(x.total)} topics.` : `The ${number(x.topics.length)} largest of ${number(x.total)} topics, by ${what}. The other ${number(r.topics)} have ` +
      `${number(r.entries)} entries, ${percent(r.prevalence)} of the recent requests, ${number(r.hits)} hits and ${compact(r.tokens_saved)} tokens saved.`;
    return `${part}${flat ? ` No ${what} are counted yet, so there is no map.` : ''}`;
  }

  function drawTable() {
    put(list, table(`Topics, by ${by().replace('_', ' ')}`, ['Topic', 'Entries', 'Prevalence', 'Hits', 'Tokens saved', 'Last hit', 'Newest', 'Model', 'Tenant', 'Anchor'], topics.topics.map((t) => [
      h('button.copy', { type: 'button', 'aria-label': `Topic ${t.topic}`, onclick: () => select(t.topic) }, String(t.topic)), number(t.entries), percent(t.prevalence), number(t.hits), compact(t.tokens_saved), ago(t.last_used), ago(t.newest),
      names(t.model), tenant(t.tenant), prompts ? text(t.anchor_prompt || t.sample) : String(t.anchor || none)]), { right: [1, 2, 3, 4, 5, 6], tall: true,
      sorted: { by: by(), columns: { 1: 'entries', 2: 'prevalence', 3: 'hits', 4: 'tokens_saved' }, change: (id) => {
        put(tools, choice('Size of the rectangles', sizes, id, largest));
        page.remember({ by: id });
        refresh(true).then(() => { drawTable(); list.querySelector('[aria-sort] button')?.focus(); }).catch(say(summary));
      } } }));
  }

  /** Shows the topic of the address alone. */
  async function choose() {
    const id = value('topic');
    chosen.hidden = !/^[1-9]\d*$/.test(id);
    if (chosen.hidden) return;
    const x = await page.get(`/admin/topics?topic=${id}`), t = x.topics[0];
    if (id !== value('topic')) return;
    chosen.querySelector('h2').textContent = `Topic ${id}`;
    if (!t) return put(one, h('p.none', {}, 'There is no such topic, or none of its entries is compared by meaning.'));
    const fact = (name, ...what) => h('div', {}, h('dt', {}, name), h('dd', {}, h('b', {}, ...what)));
    put(one, h('dl.force', {}, fact('Entries', number(t.entries)), fact('Size of the answers', bytes(t.bytes)), fact('Prevalence', percent(t.prevalence)), fact('Hits', number(t.hits)), fact('Tokens saved', number(t.tokens_saved)),
      fact('Last hit', t.last_used ? `${ago(t.last_used)} ago` : none), fact('Answers stored', t.oldest === t.newest ? `${ago(t.newest)} ago` : `${ago(t.oldest)} to ${ago(t.newest)} ago`), fact('Model', names(t.model)), fact('Tenant', tenant(t.tenant)),
      fact('Anchor', t.anchor ? `entry ${t.anchor}` : none), prompts && (t.anchor_prompt || t.sample) && h('div', {}, h('dt', {}, t.anchor_prompt ? 'Prompt of the anchor' : 'Oldest prompt'), h('dd', {}, h('bdi', {}, (t.anchor_prompt || t.sample).slice(0, 400))))),
    h('p.hint', {}, 'The anchor is the member whose vector routes requests here. The members are listed under Entries.'));
  }

  async function load(before) {
    const asked = entriesPath(before), r = await page.get(asked);
    if (asked !== entriesPath(before)) return; // another search has begun
    shown = before ? [...shown, ...r.entries] : r.entries;
    const order = (orders.find(([id]) => id === value('sort')) ?? orders[0])[1].toLowerCase();
    found.textContent = `${r.total === 0 ? (value('sort') === 'evicts-next' ? 'None of those that are foreseen fits.' : filters.some(value) ? 'No entry fits.' : 'The cache is empty.') : `${number(shown.length)} of ${number(r.total)} shown, ${order}.`}${value('sort') === 'evicts-next' && r.in_words ? ` ${r.in_words}` : ''}${prompts ? '' : ' Prompts are not shown: REPRISE_LOG_PROMPTS is false.'}`;
    more.hidden = !r.next;
    more.value = r.next ?? '';
    const whys = value('sort') === 'evicts-next';
    put(members, shown.length === 0 ? [] : table('Entries', ['Entry', 'Topic', 'Hits', 'Last hit', 'Tokens saved', 'Age', 'Left', 'Size', 'Tokens', 'Model', 'Tenant', ...(whys ? ['Why'] : []), ...(prompts ? ['Prompt'] : [])], shown.map((e) => [
      String(e.id), topicOf(e), number(e.hits), ago(e.last_used), compact(e.tokens_saved), ago(e.created), left(e), bytes(e.bytes),
      compact(e.input_tokens + e.output_tokens), names(e.model), tenant(e.tenant), ...(whys ? [h('span.wrap.reason', {}, e.why)] : []), ...(prompts ? [text(e.prompt)] : [])]), { right: [2, 3, 4, 5, 6, 7, 8] }));
  }

  const left = (e) => (new Date(e.expires).getFullYear() <= 1 ? none : Date.parse(e.expires) <= Date.now() ? 'expired' : seconds((Date.parse(e.expires) - Date.now()) / 1000));
  const topicOf = (e) => (e.topic ? h('button.copy', { type: 'button', 'aria-label': `Topic ${e.topic}`, onclick: () => select(e.topic) }, String(e.topic)) : none);

  async function drawNext() {
    const r = await page.get(nextPath);
    put(why, r.in_words ?? '');
    if (next.contains(document.activeElement)) return;
    put(next, r.entries.length === 0 ? h('p.none', {}, r.in_words?.includes('does not say') ? 'This policy does not say.' : 'Nothing is stored yet.') :
      table('What is evicted next', ['Place', 'Entry', 'Topic', 'Why', 'Hits', 'Last hit', 'Age', 'Size', ...(prompts ? ['Prompt'] : [])], r.entries.map((e) => [
        String(e.evicts_next), String(e.id), topicOf(e), h('span.wrap.reason', {}, e.why), number(e.hits), ago(e.last_used), ago(e.created), bytes(e.bytes), ...(prompts ? [text(e.prompt)] : [])]), { right: [4, 5, 6, 7] }));
  }

  function drawFrames(x) {
    const all = x.frames ?? [];
    framed.textContent = all.length === 0 ? 'No frames yet: they come with prompts that share much of their text.' : `${number(all.length)} of ${number(x.total)} shown, those with the most entries first.${prompts ? '' : ' Texts are not shown: REPRISE_LOG_PROMPTS is false.'}`;
    renew(frames, all.map((f) => h('li', {}, h('p.numbers', {}, `${number(f.entries)} entries · `, names(f.model), ' · tenant ', tenant(f.tenant), f.namespace && [' · namespace ', names(f.namespace)], f.by === 'rule' ? ' · declared by a rule' : ` · ${bytes(f.constant_bytes)} of constants`),
      f.in_words && h('p', {}, f.in_words),
      f.constants && h('pre.text', { tabindex: 0, 'aria-label': `Constants of frame ${f.scope.slice(0, 12)}` }, h('bdi', {}, f.constants.join('\n…\n'))),
      f.rule_to_ask && h('p.sets', {}, h('code', {}, h('bdi', {}, f.rule_to_ask)), ' ', f.by === 'frame' && setButton(f.rule_to_ask, said, ' It is a line for a rule in the YAML file.')))));
  }

  let took = 0, at = 0;
  /** Asks for all that changes: of a large store it costs the proxy a part of a second, so an open page takes 2 % of its time at most. */
  async function refresh(wanted) {
    const start = performance.now(), path = topicsPath();
    if (!wanted && start - at < 50 * took) return;
    prompts = (await page.get('/admin/overview')).prompts_may_be_shown;
    search.hidden = !prompts;
    const [x, f] = await Promise.all([page.get(path), page.get('/admin/frames'), drawNext()]);
    at = performance.now();
    took = at - start;
    if (path !== topicsPath()) return;
    topics = x;
    drawTopics();
    drawFrames(f);
  }
  let first = true;
  page.keep(async () => {
    await refresh(first);
    if (!first) return;
    await Promise.all([load(), choose()]);
    first = false;
  });
}
