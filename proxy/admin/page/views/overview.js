// Overview: how requests were answered over time, what was saved, how long answers took, what is in force and what is degraded.
import { h, put, card, choice, number, compact, percent, seconds, money, bytes, none } from '../dom.js';
import { stacked, line, heat } from '../chart.js';

export const results = ['exact', 'semantic', 'shared', 'stale', 'miss', 'bypass', 'error', 'client-gone'];
const windows = [['2m', '2 min'], ['10m', '10 min'], ['1h', '1 h'], ['6h', '6 h'], ['24h', '24 h']];

/** The shortest window that has the whole life of the proxy, up to an hour. */
export function windowFor({ now, started }) {
  const minutes = (Date.parse(now) - Date.parse(started)) / 60000;
  return minutes <= 2 ? '2m' : minutes <= 10 ? '10m' : '1h';
}

/** Whether a window has steps of seconds, and so something new every second. */
export const bySeconds = (span) => ['2m', '10m'].includes(span);

export function show(root, page) {
  let span = page.params.get('window'), unit = 'share', saving = 'tokens', side = 'hit', history = null, overview = null;
  const path = () => `/admin/history?window=${encodeURIComponent(span ?? '1h')}`;
  const tiles = h('dl.tiles'), faults = h('div.faults'), bar = h('div.bar'), force = h('dl.force'), quiet = h('p.hint', { hidden: true }, 'No requests in this time. Applications send them to the API listener (REPRISE_LISTEN), whose base URL ends in /v1.');
  const pick = (legend, values, now, set) => choice(legend, values, now, (v) => { set(v); draw(); });

  const answers = stacked('Requests by how they were answered', { format: (v) => (unit === 'share' ? percent(v) : v == null ? none : `${compact(v)}/s`) });
  const saved = line('What the cache has saved', { format: (v) => ({ tokens: compact, time: seconds, money: (n) => money(n, overview?.currency) })[saving](v) });
  const times = line('Time of answers', { format: seconds, scale: 'log' });
  const map = heat('Answers by the time that they took', { bound: seconds });

  root.append(
    bar, faults, quiet, tiles,
    card('How requests were answered', { wide: true, asks: [path], tools: pick('Unit', [['share', 'share'], ['rate', 'per second']], unit, (v) => { unit = v; }) }, answers.element),
    card('Saved', { asks: [path], tools: pick('What was saved', [['tokens', 'tokens'], ['money', 'money'], ['time', 'upstream time']], saving, (v) => { saving = v; }),
      hint: 'In each step: what the upstream did not have to read and make again.' }, saved.element),
    card('Time of answers', { asks: [path], hint: 'From the arrival to the last byte, within 10 %: stored answers (hit) and those of the upstream (miss).' }, times.element),
    card('Spread of times', { wide: true, asks: [path], tools: pick('Answers', [['hit', 'hits'], ['miss', 'misses']], side, (v) => { side = v; }),
      hint: 'Each cell has the answers of a step that took so long.' }, map.element),
    card('In force', { wide: true, asks: ['/admin/overview', '/admin/config'] }, force));

  const rate = (values) => values.map((v, i) => (v == null || !history.seconds[i] ? null : v / history.seconds[i]));

  function draw() {
    if (!history) return;
    const t = history.totals, all = history.times.map((_, i) => results.reduce((sum, r) => sum + (history.requests[r][i] ?? 0), 0));
    answers.set({ times: history.times, series: results.map((r) => ({ label: r, cls: `r-${r}`, value: compact(t.requests[r]),
      values: unit === 'rate' ? rate(history.requests[r]) : history.requests[r].map((v, i) => (v == null ? null : all[i] ? v / all[i] : null)) })) });
    const name = { tokens: 'tokens_saved', money: 'money_saved', time: 'upstream_seconds_saved' }[saving];
    saved.set({ times: history.times, series: [{ label: { tokens: 'tokens', money: 'money', time: 'upstream time' }[saving], cls: 'r-exact', values: history.sums[name] }] });
    const l = history.latency_seconds;
    times.set({ times: history.times, series: [['hit p50', l.hit.p50, 'r-exact'], ['hit p99', l.hit.p99, 'r-exact dash'], ['miss p50', l.miss.p50, 'r-semantic'], ['miss p99', l.miss.p99, 'r-semantic dash']]
      .map(([label, values, cls]) => ({ label, values, cls })) });
    const m = history.latency_counts[side];
    map.set({ times: history.times, bounds: m.lower_bounds_seconds, counts: m.counts });
    drawTiles(t);
  }

  function drawTiles(t) {
    quiet.hidden = t.requests_together > 0;
    const tile = (name, value, note) => h('div.tile', {}, h('dt', {}, name), h('dd', {}, h('span.value', {}, value), note && h('span.note', {}, note)));
    const served = t.looked_for - (t.requests.miss ?? 0), quick = t.latency_seconds;
    put(tiles,
      tile('Hit ratio', percent(t.hit_ratio), `${number(served)} of ${number(t.looked_for)}`),
      tile('Requests', compact(t.requests_together), `${compact((t.requests.bypass ?? 0))} passed by, ${compact(t.requests.error ?? 0)} errors`),
      tile('Tokens saved', compact(t.sums.tokens_saved), `${compact(t.sums.stored)} answers kept`),
      tile('Money saved', money(t.sums.money_saved, overview?.currency), overview?.currency ? `${money(t.sums.money_spent, overview.currency)} spent` : 'no prices: REPRISE_PRICES'),
      tile('Upstream time saved', seconds(t.sums.upstream_seconds_saved), `${compact(t.sums.evictions)} evictions`),
      tile('Time of a hit', seconds(quick.hit.p50), `p99 ${seconds(quick.hit.p99)}`),
      tile('Time of a miss', seconds(quick.miss.p50), `p99 ${seconds(quick.miss.p99)}`),
      tile('Stored now', compact(last(history.gauges.entries)), bytes(last(history.gauges.bytes))));
  }

  function drawOverview() {
    put(force, overview.in_force.map((f) => h('div', {}, h('dt', {}, f.name), h('dd', {}, h('b', {}, f.value), f.in_words && h('span', {}, f.in_words), f.settings && h('code', {}, f.settings)))));
    put(faults, overview.degraded.length === 0 ? h('p.well', {}, 'All parts work.') :
      h('ul', { 'aria-label': 'Degraded' }, overview.degraded.map((d) => h(d.urgent ? 'li.urgent' : 'li', {}, h('strong', {}, d.part), h('span', {}, d.in_words), d.repair && h('span.repair', {}, d.repair)))));
  }

  async function refresh() {
    if (!span) open(windowFor(await page.get('/admin/overview')));
    const wanted = span;
    const [o, x] = await Promise.all([page.get('/admin/overview'), page.get(path())]);
    if (wanted !== span) return;
    overview = o;
    history = x.times ? sinceStart(x) : null;
    drawOverview();
    draw();
  }

  function open(window) {
    span = window;
    put(bar, choice('Window', windows, span, (v) => { span = v; page.remember({ window: v }); again(); }));
  }

  if (span) open(span);
  const again = page.keep(refresh, () => bySeconds(span));
}

/** Without the steps before the proxy began, but for a few. */
export function sinceStart(x) {
  const first = x.seconds.findIndex((n) => n > 0), cut = first < 0 ? x.times.length : Math.min(first, x.times.length - 12);
  if (cut <= 0) return x;
  const rest = (column) => column.slice(first < 0 ? -12 : cut);
  const each = (columns) => Object.fromEntries(Object.entries(columns).map(([k, v]) => [k, rest(v)]));
  return { ...x, times: rest(x.times), seconds: rest(x.seconds), requests: each(x.requests), sums: each(x.sums), gauges: each(x.gauges),
    latency_seconds: Object.fromEntries(Object.entries(x.latency_seconds).map(([k, v]) => [k, each(v)])),
    latency_counts: Object.fromEntries(Object.entries(x.latency_counts).map(([k, v]) => [k, { ...v, counts: rest(v.counts) }])) };
}

const last = (column) => column.findLast((v) => v != null) ?? null;
