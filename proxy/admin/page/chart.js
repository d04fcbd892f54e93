// Charts as SVG: line, stacked area, bars, heat map. Each can be read with the pointer, with the arrow keys (it is a slider over time, whose value
// is text), and as a table.
import { h, s, put, at, compact, when, zone } from './dom.js';

const writes = (all) => (all[1] - all[0] < 60 ? at.daySecond : at.day);

/** What the charts are over; a curve may be over something else. title writes a value alone, cell one in a table, both of all those; write one of many
 * below the plot. */
const time = { name: 'Time', moves: 'over time', title: (t, all) => writes(all)(t), cell: (t, all) => when(t, writes(all)) };

const PAD = { left: 52, right: 12, top: 10, bottom: 24 };

/** A figure with what all charts have: it draws again when its size changes, and moves a cursor. */
function figure({ label, height = 220, x: across = time, draw, tip, rows, heads, legend }) {
  const svg = s('svg', { 'aria-hidden': 'true', focusable: 'false', height });
  const note = h('div.tip', { 'aria-hidden': 'true', hidden: true });
  const plot = h('div.plot', { role: 'slider', tabindex: 0, 'aria-label': `${label}: arrow keys move ${across.moves}`, 'aria-valuemin': 0, 'aria-valuemax': 0, 'aria-valuenow': 0, 'aria-valuetext': 'no data yet' }, svg, note);
  const keys = h('ul.legend', {}), details = h('details.data', {}, h('summary', {}, 'Table', h('span.hidden', {}, ` of ${label}`)), h('div'));
  const element = h('figure.chart', {}, plot, keys, details);
  let data = null, cursor = -1, row = 0, scale = null;

  function redraw() {
    const width = Math.round(plot.clientWidth);
    if (!data || width < 40) return;
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.setAttribute('width', width);
    scale = frameOf(width, height, data.times.length);
    put(svg, axis(scale, data.times, across.write), draw(scale, data), s('g', { class: 'cursor' }));
    show();
  }

  function show() {
    const on = cursor >= 0 && data && cursor < data.times.length;
    note.hidden = !on;
    const mark = svg.querySelector('.cursor');
    if (mark) put(mark);
    if (!on) return;
    const { title, lines } = tip(data, cursor, row);
    put(note, h('strong', {}, title), h('dl', {}, lines.map(([name, value, cls]) => h('div', {}, h('dt', cls ? { class: `key ${cls}` } : {}, name), h('dd', {}, value)))));
    plot.setAttribute('aria-valuenow', cursor);
    plot.setAttribute('aria-valuetext', `${title}: ${lines.map(([n, v]) => `${n} ${v}`).join(', ')}`);
    if (!scale || !mark) return;
    const x = scale.x(cursor);
    mark.append(s('line', { x1: x, x2: x, y1: PAD.top, y2: scale.bottom }));
    if (data.counts) mark.append(s('rect', { x: scale.left(cursor), y: rowTop(scale, data, row), width: scale.band, height: rowHeight(scale, data) }));
    const half = x > scale.width / 2;
    note.style.left = half ? '' : `${x + 12}px`;
    note.style.right = half ? `${scale.width - x + 12}px` : '';
  }

  plot.addEventListener('pointermove', (e) => {
    if (!scale || !data?.times.length) return;
    const box = plot.getBoundingClientRect();
    cursor = clamp(Math.floor((e.clientX - box.left - PAD.left) / scale.band), 0, data.times.length - 1);
    if (data.counts) row = clamp(Math.floor((scale.bottom - (e.clientY - box.top)) / rowHeight(scale, data)), 0, data.bounds.length - 1);
    show();
  });
  plot.addEventListener('pointerleave', () => { cursor = -1; show(); });
  plot.addEventListener('blur', () => { cursor = -1; show(); });
  plot.addEventListener('focus', () => { if (cursor < 0 && data) { cursor = data.times.length - 1; show(); } });
  plot.addEventListener('keydown', (e) => {
    const last = (data?.times.length ?? 0) - 1, rowBy = { ArrowUp: 1, ArrowDown: -1 }[e.key];
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity }[e.key];
    if (by === undefined && rowBy === undefined && e.key !== 'Escape') return;
    e.preventDefault();
    if (e.key === 'Escape') cursor = -1;
    else if (rowBy && data?.counts) row = clamp(row + rowBy, 0, Math.max(data.bounds.length - 1, 0));
    else cursor = clamp((cursor < 0 ? last : cursor) + (by ?? rowBy), 0, last);
    show();
  });
  const list = () => { if (details.open && data) put(details.lastChild, dataTable(label, heads(data), rows(data))); };
  details.addEventListener('toggle', list);
  new ResizeObserver(redraw).observe(plot);
  return {
    element,
    set(next) {
      if (cursor >= 0 && data) cursor = clamp(next.times.indexOf(data.times[cursor]), 0, next.times.length - 1); // it stays where it is, and the steps move
      data = next;
      plot.setAttribute('aria-valuemax', Math.max(data.times.length - 1, 0));
      put(keys, legend(data).map(([name, cls, value]) => h('li', { class: `key ${cls}` }, name, value && h('b', {}, value))));
      redraw();
      list();
    },
  };
}

const clamp = (v, low, high) => Math.min(Math.max(v, low), high);

function frameOf(width, height, count) {
  const inner = width - PAD.left - PAD.right, band = inner / Math.max(count, 1), bottom = height - PAD.bottom;
  return { width, band, bottom, height: bottom - PAD.top, left: (i) => PAD.left + i * band, x: (i) => PAD.left + (i + 0.5) * band };
}

/** Times below the plot, as many as have room, and their zone. */
function axis(scale, times, writes) {
  const g = s('g', { class: 'axis' }, writes ? null : s('text', { x: 0, y: scale.bottom + 17 }, zone())), span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const write = writes ?? (span > 36000 ? at.hour : span < 900 ? at.second : at.hour);
  const most = Math.max(Math.floor((scale.width - PAD.left) / 90), 1), every = Math.max(Math.ceil(times.length / most), 1);
  for (let i = times.length - 1; i >= 0; i -= every) {
    const x = scale.x(i);
    if (x < PAD.left + 20) break;
    g.append(s('text', { x: Math.min(x, scale.width - 24), y: scale.bottom + 17, 'text-anchor': 'middle' }, write(times[i])));
  }
  return g;
}

/** Round steps from 0 to most. */
export function ticks(most, wanted = 4) {
  if (!(most > 0)) return [0, 1];
  const rough = most / wanted, unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * unit).find((v) => v >= rough * 0.999);
  const all = [];
  for (let i = 0; i * step < most * 1.0001 + step * 0.999; i++) all.push(i * step);
  return all;
}

function grid(scale, marks, y, write) {
  return s('g', { class: 'grid' }, marks.map((v) => [s('line', { x1: PAD.left, x2: scale.width - PAD.right, y1: y(v), y2: y(v) }),
    s('text', { x: PAD.left - 8, y: y(v) + 4, 'text-anchor': 'end' }, write(v))]).flat());
}

/** Runs of indexes in which f has a value. */
function runs(count, f) {
  const all = [];
  for (let i = 0, from = -1; i <= count; i++) {
    const has = i < count && f(i) != null;
    if (has && from < 0) from = i;
    if (!has && from >= 0) { all.push([from, i - 1]); from = -1; }
  }
  return all;
}

const p = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;

function columns(label, format, x = time) {
  return {
    tip: (d, i) => ({ title: x.title(d.times[i], d.times), lines: d.series.map((one) => [one.label, format(one.values[i]), one.cls]) }),
    heads: (d) => [x.name, ...d.series.map((one) => one.label)],
    rows: (d) => { const all = d.times.map((t, i) => [(x.cell ?? x.title)(t, d.times), ...d.series.map((one) => format(one.values[i]))]); return x === time ? all.reverse() : all; },
    legend: (d) => d.series.map((one) => [one.label, one.cls, one.value]),
  };
}

/** Lines over time, or over what x describes; scale "log" for values that differ by powers of ten. d.mark is a place, d.marked its name. */
export function line(label, { format = compact, height, scale: kind = 'linear', x } = {}) {
  return figure({ label, height, x, ...columns(label, format, x), draw(scale, d) {
    const values = d.series.flatMap((one) => one.values).filter((v) => v != null && (kind !== 'log' || v > 0));
    let y, marks;
    if (kind === 'log') {
      const low = Math.floor(Math.log10(Math.min(...values, 1))), high = Math.max(Math.ceil(Math.log10(Math.max(...values, 1e-9))), low + 1);
      y = (v) => scale.bottom - ((Math.log10(v) - low) / (high - low)) * scale.height;
      marks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
    } else {
      marks = ticks(Math.max(...values, 0));
      y = (v) => scale.bottom - (v / marks.at(-1)) * scale.height;
    }
    const usable = (v) => (v == null || (kind === 'log' && v <= 0) ? null : v);
    return [grid(scale, marks, y, format), d.mark >= 0 && markAt(scale, scale.x(d.mark), d.marked), ...d.series.map((one) => s('g', { class: one.cls },
      runs(d.times.length, (i) => usable(one.values[i])).map(([from, to]) => {
        if (from === to) return s('circle', { class: 'dot', cx: scale.x(from), cy: y(one.values[from]), r: 2.5 });
        let path = '';
        for (let i = from; i <= to; i++) path += `${i === from ? 'M' : 'L'}${p(scale.x(i), y(one.values[i]))}`;
        return s('path', { class: 'line', d: path });
      })))];
  } });
}

function markAt(scale, x, name) {
  const left = x > scale.width * 0.7;
  return s('g', { class: 'mark' }, s('line', { x1: x, x2: x, y1: PAD.top, y2: scale.bottom }), s('text', { x: x + (left ? -6 : 6), y: PAD.top + 9, 'text-anchor': left ? 'end' : 'start' }, name));
}

/** Areas on top of each other, the first series at the bottom. */
export function stacked(label, { format = compact, height = 260, top } = {}) {
  return figure({ label, height, ...columns(label, format), draw(scale, d) {
    const n = d.times.length, base = new Float64Array(n), sums = d.times.map((_, i) => d.series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0));
    const marks = top ? ticks(top) : ticks(Math.max(...sums, 0)), most = marks.at(-1);
    const y = (v) => scale.bottom - (v / most) * scale.height;
    const areas = d.series.map((one) => {
      const g = s('g', { class: one.cls });
      for (const [from, to] of runs(n, (i) => one.values[i])) {
        let up = '', down = '';
        for (let i = from; i <= to; i++) {
          const low = y(base[i]), high = y(base[i] + one.values[i]);
          const [l, r] = from === to ? [scale.left(i), scale.left(i + 1)] : [scale.x(i), scale.x(i)];
          up += `${up ? 'L' : 'M'}${p(l, high)}${l === r ? '' : `L${p(r, high)}`}`;
          down = `${l === r ? '' : `L${p(r, low)}`}L${p(l, low)}${down}`;
          base[i] += one.values[i];
        }
        g.append(s('path', { class: 'area', d: `${up}${down}Z` }));
      }
      return g;
    });
    return [...areas, grid(scale, marks, y, format)];
  } });
}

const rowHeight = (scale, d) => scale.height / Math.max(d.bounds.length, 1);
const rowTop = (scale, d, row) => scale.bottom - (row + 1) * rowHeight(scale, d);

/** A heat map over time: d.counts[i][row] of what is at least d.bounds[row]. */
export function heat(label, { format = compact, bound, height = 240, cls = 'heat' } = {}) {
  const between = (d, row) => (row + 1 < d.bounds.length ? `${bound(d.bounds[row])} to ${bound(d.bounds[row + 1])}` : `${bound(d.bounds[row])} or more`);
  return figure({ label, height,
    tip: (d, i, row) => ({ title: time.title(d.times[i], d.times), lines: d.bounds.length ? [[between(d, row), format(d.counts[i]?.[row] ?? 0), '']] : [['answers', '0', '']] }),
    heads: (d) => ['Time', ...d.bounds.map((b, i) => between(d, i))],
    rows: (d) => d.times.map((t, i) => [time.cell(t, d.times), ...d.bounds.map((_, r) => format(d.counts[i]?.[r] ?? 0))]).filter((_, i) => d.counts[i]?.length).reverse(),
    legend: (d) => [['few', `${cls} q1`], ['many', `${cls} q6`]],
    draw(scale, d) {
      let most = 1;
      for (const c of d.counts) for (const n of c) most = Math.max(most, n);
      const cells = s('g', { class: cls }), high = rowHeight(scale, d);
      d.counts.forEach((c, i) => c.forEach((n, row) => {
        if (n > 0) cells.append(s('rect', { class: `q${Math.ceil(6 * Math.sqrt(n / most))}`, x: scale.left(i).toFixed(1), y: rowTop(scale, d, row).toFixed(1), width: Math.max(scale.band - 0.5, 0.8).toFixed(1), height: Math.max(high - 0.5, 1).toFixed(1) }));
      }));
      const every = Math.max(Math.ceil(d.bounds.length / 6), 1);
      const marks = d.bounds.map((_, r) => r).filter((r) => r % every === 0);
      return [cells, s('g', { class: 'grid' }, marks.map((r) => s('text', { x: PAD.left - 8, y: rowTop(scale, d, r) + high + 4, 'text-anchor': 'end' }, bound(d.bounds[r]))))];
    } });
}

/** Bars beside each other's numbers: a table whose last column is drawn. rows: {label, value, text, cls, more}. */
export function bars(caption, heads) {
  const element = h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': `Table: ${caption}` });
  return { element, set(rows) {
    const most = Math.max(...rows.map((r) => r.value), 0) || 1;
    put(element, h('table.bars', {}, h('caption.hidden', {}, caption), h('thead', {}, h('tr', {}, heads.map((t, i) => h(i ? 'th.right' : 'th', { scope: 'col' }, t)), h('td', { 'aria-hidden': 'true' }))),
      h('tbody', {}, rows.map((r) => h('tr', {}, h('th', { scope: 'row' }, r.label), (r.cells ?? [r.text]).map((c) => h('td.right', {}, c)),
        h('td.strip', { 'aria-hidden': 'true' }, s('svg', { class: r.cls ?? '', width: '100%', height: 12, preserveAspectRatio: 'none', viewBox: '0 0 100 12' },
          s('rect', { class: 'track', width: 100, height: 12, rx: 2 }), s('rect', { class: 'area', width: (100 * r.value) / most, height: 12, rx: 2 }))))))));
  } };
}

function dataTable(caption, heads, rows) {
  return h('div.scroll.tall', { tabindex: 0, role: 'region', 'aria-label': `Table of ${caption}` }, h('table', {}, h('caption.hidden', {}, caption),
    h('thead', {}, h('tr', {}, heads.map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', {}, rows.map((r) => h('tr', {}, r.map((c, i) => h(i ? 'td' : 'th', i ? {} : { scope: 'row' }, c)))))));
}

/** A map of rectangles by size: for the pointer only, beside a table with the same. items: {label, value, cls, open}. */
export function tree(height = 280) {
  const element = h('div.tree', { 'aria-hidden': 'true' });
  let items = [];
  const redraw = () => {
    const width = element.clientWidth;
    if (width < 40) return;
    const row = 0.975 * parseFloat(getComputedStyle(document.documentElement).fontSize); // of a label: its size times its line height
    element.style.height = `${height}px`;
    put(element, squares(items, 0, 0, width, height).map(([item, x, y, w, hi]) => {
      const name = w > 54 && hi > 38 && h('bdi', {}, item.name);
      const cell = h(`div.${item.cls}`, { title: item.title, onclick: item.open }, w > 54 && hi > 20 && h('span', {}, w > 110 ? item.note : item.brief), name);
      if (name) name.style.webkitLineClamp = Math.max(Math.floor((hi - 8) / row) - 1, 1); // whole lines only
      Object.assign(cell.style, { left: `${x}px`, top: `${y}px`, width: `${Math.max(w - 2, 1)}px`, height: `${Math.max(hi - 2, 1)}px` });
      return cell;
    }));
  };
  new ResizeObserver(redraw).observe(element);
  return { element, set(next) { items = next.filter((i) => i.value > 0); redraw(); } };
}

/** Places items in a rectangle, the largest first, in rows along its shorter side that are as square as they can be (Bruls et al., 2000). */
function squares(items, x, y, w, hi) {
  const placed = [];
  let rest = items, left = items.reduce((sum, i) => sum + i.value, 0);
  while (rest.length) {
    const side = Math.min(w, hi), scale = (w * hi) / left;
    let row = 0, sum = 0, worst = Infinity;
    while (row < rest.length) {
      const next = sum + rest[row].value, thick = (next * scale) / side;
      const ratio = Math.max(...[rest[0], rest[row]].map((i) => { const long = (i.value * scale) / thick; return Math.max(long / thick, thick / long); }));
      if (ratio > worst) break;
      worst = ratio;
      sum = next;
      row++;
    }
    const thick = (sum * scale) / side;
    let along = 0;
    for (const item of rest.slice(0, row)) {
      const long = (item.value * scale) / thick;
      placed.push(w >= hi ? [item, x, y + along, thick, long] : [item, x + along, y, long, thick]);
      along += long;
    }
    if (w >= hi) { x += thick; w -= thick; } else { y += thick; hi -= thick; }
    left -= sum;
    rest = rest.slice(row);
  }
  return placed;
}
