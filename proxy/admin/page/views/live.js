// Live: requests as they pass, as many as ten a second of each result.
import { h, put, card, compact, seconds, none, number, at, when, zone } from '../dom.js';
import { results } from './overview.js';

const most = 200; // rows

export function show(root, page) {
  let paused = false, seen = 0;
  const value = (name) => page.params.get(name) ?? '';
  const rows = h('tbody'), count = h('p.hint', { role: 'status' }, 'Waiting for requests.');
  const path = () => {
    const q = new URLSearchParams();
    for (const name of ['result', 'model', 'tenant']) if (value(name)) q.set(name, value(name));
    return `/admin/events${q.size ? `?${q}` : ''}`;
  };
  const again = () => { put(rows); seen = 0; counted(); page.watch(path()); };
  const change = (name, wait) => {
    let timer;
    return (e) => { clearTimeout(timer); timer = setTimeout(() => { page.remember({ [name]: e.target.value.trim() }); again(); }, wait); };
  };
  const field = (name, label) => h('label.field', {}, h('span', {}, label), h('input', { type: 'search', value: value(name), maxlength: 128, autocomplete: 'off', spellcheck: 'false', oninput: change(name, 300) }));
  const pause = h('button.plain', { type: 'button', 'aria-pressed': 'false', onclick: () => { paused = !paused; pause.setAttribute('aria-pressed', paused); pause.textContent = paused ? 'Go on' : 'Pause'; counted(); } }, 'Pause');
  const choose = h('select', { onchange: change('result', 0) }, h('option', { value: '' }, 'all'), results.map((r) => h('option', { value: r, selected: value('result') === r }, r)));

  function counted() { count.textContent = paused ? 'Paused.' : seen ? `${number(seen)} requests shown, the newest first.` : 'Waiting for requests.'; }

  root.append(card('Requests as they pass', { wide: true, asks: [() => path()], hint: 'A sample: at most ten a second of each result, and the last ones before this view was opened. Neither prompts nor answers are shown; a tenant is a digest.' },
    h('form.filters', { onsubmit: (e) => e.preventDefault() }, h('label.field', {}, h('span', {}, 'Result'), choose), field('model', 'Model contains'), field('tenant', 'Tenant begins with'), pause),
    count,
    h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Requests' }, h('table.live', {}, h('caption.hidden', {}, 'Requests, the newest first'),
      h('thead', {}, h('tr', {}, [`Time, ${zone()}`, 'Result', 'Model', 'Took', 'Why', 'Tenant', 'Endpoint', 'Upstream', 'Tokens saved', 'Status'].map((t, i) => h([3, 8, 9].includes(i) ? 'th.right' : 'th', { scope: 'col' }, t)))), rows))));

  page.on('hello', () => { if (!paused) { put(rows); seen = 0; counted(); } }); // a stream begins with the last requests
  page.on('request', (r) => {
    if (paused) return;
    seen++;
    rows.prepend(h('tr', {}, h('th', { scope: 'row' }, when(r.at, at.second)),
      h('td', {}, h('span', { class: `pill r-${results.includes(r.result) ? r.result : 'bypass'}` }, r.result)), h('td', {}, h('bdi', {}, r.model || none)), h('td.right', {}, seconds(r.took_seconds)),
      h('td.why', {}, h('bdi', {}, r.why || none)), h('td', {}, h('code', {}, r.tenant ? r.tenant.slice(0, 12) : none)), h('td', {}, h('bdi', {}, r.endpoint)), h('td', {}, h('bdi', {}, r.upstream || none)),
      h('td.right', {}, r.tokens_saved ? compact(r.tokens_saved) : none), h('td.right', {}, r.status || none)));
    if (rows.children.length > most) rows.lastChild.remove();
    counted();
  });
  page.watch(path());
}
