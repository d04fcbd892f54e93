// Elements, and how numbers and times are written. Texts become text nodes: nothing is ever read as HTML.

const SVG = 'http://www.w3.org/2000/svg';

/** Makes an element: h('p.note', {title: 'x'}, 'text', child). Functions of attributes beginning with "on" are listeners; null and false are left out. */
export function h(name, attributes, ...children) {
  const [tag, ...classes] = name.split('.');
  const e = document.createElement(tag);
  if (classes.length) e.className = classes.join(' ');
  return fill(e, attributes, children);
}

/** Makes an element of SVG. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(e, attributes, children) {
  for (const [k, v] of Object.entries(attributes ?? {})) {
    if (v === null || v === undefined || v === false) continue;
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? '' : v);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** Replaces all children. */
export function put(e, ...children) {
  e.replaceChildren(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/**
 * Replaces all children by newer ones. What the reader has opened, scrolled or focused stays so, if it has the same data-key or label. While text in
 * it is selected, or to be copied by hand, it stays as it is.
 */
export function renew(e, ...children) {
  const chosen = getSelection(), key = (x) => x.dataset.key ?? x.getAttribute('aria-label'), all = (s) => [...e.querySelectorAll(s)];
  if (e.contains(document.activeElement) && document.activeElement.matches('input') || !chosen.isCollapsed && e.contains(chosen.anchorNode)) return;
  const open = new Set(all('details[open]').map(key)), places = new Map(all('.scroll').map((x) => [key(x), x.scrollLeft]));
  const focus = e.contains(document.activeElement) ? key(document.activeElement) : null;
  put(e, ...children);
  for (const d of all('details')) d.open = open.has(key(d));
  for (const x of all('.scroll')) x.scrollLeft = places.get(key(x)) ?? 0;
  if (focus !== null) all('[data-key], [aria-label]').find((x) => key(x) === focus && x.tagName !== 'DETAILS')?.focus({ preventScroll: true });
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const three = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

export const none = '–'; // where there is no number: not 0

export const number = (n) => (n == null ? none : whole.format(n));
export const compact = (n) => (n == null ? none : Math.abs(n) < 10000 ? (Number.isInteger(n) ? whole : three).format(n) : short.format(n));
export const percent = (x) => (x == null ? none : `${(100 * x).toFixed(x > 0 && x < 0.1 ? 2 : 1)} %`);

export function bytes(n) {
  if (n == null) return none;
  for (const [unit, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]]) if (n >= size) return `${three.format(n / size)} ${unit}`;
  return `${whole.format(n)} B`;
}

/** A time in seconds, in the unit that reads best. */
export function seconds(t) {
  if (t == null) return none;
  if (t === 0) return '0 s';
  if (t < 0.001) return `${three.format(t * 1e6)} µs`;
  if (t < 1) return `${three.format(t * 1e3)} ms`;
  if (t < 120) return `${three.format(t)} s`;
  if (t < 7200) return `${three.format(t / 60)} min`;
  if (t < 172800) return `${three.format(t / 3600)} h`;
  return `${three.format(t / 86400)} d`;
}

export function money(n, currency) {
  if (n == null || !currency) return none;
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency, maximumFractionDigits: n !== 0 && Math.abs(n) < 1 ? 4 : 2 }).format(n);
  } catch {
    return `${three.format(n)} ${currency}`; // a currency that the browser does not have
  }
}

const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const hour = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const second = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const daySecond = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
export const at = { daySecond: (u) => daySecond.format(u * 1000), day: (u) => day.format(u * 1000), hour: (u) => hour.format(u * 1000), second: (u) => second.format(u * 1000) };

/** The zone in which the browser writes times now: UTC, UTC+2, UTC-3:30. */
export function zone() {
  const minutes = -new Date().getTimezoneOffset(), [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${hours}${rest ? `:${String(rest).padStart(2, '0')}` : ''}`;
}

/** A time, of seconds since 1970 or of text as JSON has it. */
export function when(time, write = at.day) {
  const t = new Date(typeof time === 'number' ? time * 1000 : time);
  return h('time', { datetime: t.toISOString() }, write(t / 1000));
}

/** A part of a view under a heading. asks are paths of the admin API that have its numbers, shown with curl. */
export function card(title, { hint, asks = [], wide, tools } = {}, ...body) {
  const id = `card-${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
  return h(wide ? 'section.card.wide' : 'section.card', { 'aria-labelledby': id },
    h('div.head', {}, h('h2', { id }, title), tools),
    hint && h('p.hint', {}, hint), ...body, asks.length ? curl(title, asks) : null);
}

/** How to get the same numbers without this page. */
export function curl(title, asks) {
  const lines = () => asks.map((ask) => command(typeof ask === 'function' ? ask() : ask)).join('\n');
  const code = h('code');
  const d = h('details.curl', {}, h('summary', {}, 'curl', h('span.hidden', {}, ` for ${title}`)), h('pre', { tabindex: 0, 'aria-label': `Command for ${title}` }, code));
  d.addEventListener('toggle', () => { code.textContent = lines(); });
  return d;
}

function command(path) {
  const token = sessionStorage.getItem('reprise-token') ? '-H "Authorization: Bearer $REPRISE_ADMIN_TOKEN" ' : '';
  return `curl -s${path.startsWith('/admin/events') ? 'N' : ''} ${token}'${location.origin}${path}'`;
}

/** Copies a text. Where the browser has no clipboard, as over plain HTTP, show gets a field with the text, which is then selected to be copied by hand. */
async function copy(text, done, show) {
  try {
    await navigator.clipboard.writeText(text);
    done();
  } catch {
    const field = h('input.copy', { readonly: true, value: text, 'aria-label': 'To copy by hand', size: text.length });
    show(field);
    field.select();
  }
}

/** A button that copies a setting: a variable and its value, or another one with a note of where it belongs. */
export function setButton(text, said, note = ' It is in force once the proxy is started with it.') {
  return h('button.plain.set', { type: 'button', 'aria-label': `copy ${text}`, title: text, onclick: () =>
    copy(text, () => put(said, 'Copied ', h('code', {}, text), `.${note}`), (field) => put(said, 'Copy this: ', field, note)) }, 'copy');
}

/** A text with names of settings as buttons that copy them. */
export function settings(text) {
  return text.split(/(REPRISE_[A-Z_]+(?:=[^\s,;.)]+)?)/).map((part, i) => (i % 2 === 0 ? part : copied(part)));
}

function copied(name) {
  const button = h('button.copy', { type: 'button', title: `Copy ${name}`, onclick: () => copy(name, () => {
    button.classList.add('done');
    setTimeout(() => button.classList.remove('done'), 1500);
  }, (field) => {
    field.addEventListener('blur', () => field.replaceWith(button), { once: true });
    button.replaceWith(field);
  }) }, name);
  return button;
}

/** A choice between a few values, as a group of radio buttons. */
export function choice(legend, values, chosen, change) {
  const name = `choice-${Math.random().toString(36).slice(2)}`;
  return h('fieldset.choice', {}, h('legend.hidden', {}, legend), values.map(([value, label]) => h('label', {},
    h('input', { type: 'radio', name, value, checked: value === chosen, onchange: () => change(value) }), h('span', {}, label))));
}

/** A table with headings; rows are lists of texts or elements. fixed: its first column stays in sight. sorted: the columns by which it can be sorted,
 * and by which it is. */
export function table(caption, heads, rows, { right = [], fixed, tall, sorted } = {}) {
  const head = (t, i) => {
    const id = sorted?.columns[i];
    return h(right.includes(i) ? 'th.right' : 'th', { scope: 'col', 'aria-sort': id && id === sorted.by ? 'descending' : null }, id ? h('button.sort', { type: 'button', onclick: () => sorted.change(id) }, t) : t);
  };
  return h(`div.scroll${fixed ? '.fixed' : ''}${tall ? '.tall' : ''}`, { tabindex: 0, role: 'region', 'aria-label': `Table: ${caption}` }, h('table', {}, h('caption.hidden', {}, caption),
    h('thead', {}, h('tr', {}, heads.map(head))),
    h('tbody', {}, rows.map((r) => h('tr', {}, r.map((c, i) => h(i === 0 ? 'th' : right.includes(i) ? 'td.right' : 'td', i === 0 ? { scope: 'row' } : {}, c)))))));
}
