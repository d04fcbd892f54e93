// Topics: the largest topics as a map, their members, and all entries with a search.
import { h, put, card, table, number, compact, bytes, seconds, none } from '../dom.js';
import { tree } from '../chart.js';

const most = 200, rows = 50;

export function show(root, page) {
  const map = tree(), list = h('div'), members = h('div'), found = h('p.hint', { role: 'status' }), more = h('button.plain', { type: 'button', hidden: true }, 'More');
  const value = (name) => page.params.get(name) ?? '';
  let prompts = false, shown = [];
  const path = (before) => {
    const q = new URLSearchParams({ limit: rows });
    for (const name of ['topic', 'model', 'tenant', 'namespace']) if (value(name)) q.set(name, value(name));
    if (before) q.set('before', before);
    return `/admin/entries?${q}`;
  };
  const field = (name, label) => h('label.field', {}, h('span', {}, label), h('input', { type: 'search', name, value: value(name), maxlength: 128, autocomplete: 'off', spellcheck: 'false' }));
  const form = h('form.filters', { onsubmit: (e) => { e.preventDefault(); page.remember(Object.fromEntries(new FormData(form))); again(); } },
    field('topic', 'Topic'), field('model', 'Model'), field('tenant', 'Tenant'), field('namespace', 'Namespace'), h('button', { type: 'submit' }, 'Search'));
  const open = (topic) => { form.elements.topic.value = topic; form.requestSubmit(); members.scrollIntoView({ block: 'nearest' }); };
  const text = (prompt) => (prompts && prompt ? h('bdi.prompt', {}, prompt) : none);

  root.append(
    card('Map of topics', { wide: true, asks: [`/admin/topics?limit=${most}`], hint: 'By size: each rectangle is a topic, its area the number of its entries. A click lists its members.' }, map.element, list),
    card('Entries', { wide: true, asks: [() => path()] }, form, found, members, more));

  page.keep(async () => {
    const [overview, topics] = await Promise.all([page.get('/admin/overview'), page.get(`/admin/topics?limit=${most}`)]);
    prompts = overview.prompts_may_be_shown;
    map.set(topics.topics.map((t, i) => ({ label: `${prompts && t.sample ? t.sample.slice(0, 80) : `topic ${t.topic}`} · ${number(t.entries)}`, value: t.entries, cls: `t${i % 6}`, open: () => open(t.topic) })));
    put(list, topics.total === 0 ? h('p.none', {}, 'No topics yet: they come with the first answers that are kept.') : h('details.data', { open: list.querySelector('details')?.open },
      h('summary', {}, `Table of ${topics.total > most ? `the ${most} largest of ` : ''}${number(topics.total)} topics`),
      table('Topics, the largest first', ['Topic', 'Entries', 'Model', 'Tenant', 'Oldest prompt'], topics.topics.map((t) => [
        h('button.copy', { type: 'button', onclick: () => open(t.topic) }, String(t.topic)), number(t.entries), h('bdi', {}, t.model), h('code', {}, t.tenant.slice(0, 12)), text(t.sample)]), { right: [1] })));
    if (!shown.length) await load();
  });

  async function load(before) {
    const r = await page.get(path(before)), now = Date.now();
    shown = before ? [...shown, ...r.entries] : r.entries;
    found.textContent = r.total === 0 && !before ? 'No entry fits.' : `${number(shown.length)} shown${before ? '' : ` of ${number(r.total)}`}, the newest first.${prompts ? '' : ' Prompts are not shown: REPRISE_LOG_PROMPTS is false.'}`;
    more.hidden = r.total <= r.entries.length;
    put(members, shown.length === 0 ? [] : table('Entries', ['Entry', 'Topic', 'Model', 'Age', 'Left', 'Size', 'Tokens', 'Tenant', 'Prompt'], shown.map((e) => [
      String(e.id), String(e.topic || none), h('bdi', {}, e.model), seconds((now - new Date(e.created)) / 1000), seconds(Math.max((new Date(e.expires) - now) / 1000, 0)), bytes(e.bytes),
      compact(e.input_tokens + e.output_tokens), h('code', {}, e.tenant.slice(0, 12)), text(e.prompt)]), { right: [3, 4, 5, 6] }));
  }
  const again = () => load().catch((e) => { if (!page.signal.aborted) found.textContent = e.message; });
  more.addEventListener('click', () => load(shown.at(-1).id).catch((e) => { if (!page.signal.aborted) found.textContent = e.message; }));
}
