// Policy and what-if: hit ratios at other capacities and policies, other thresholds and error rates, and which expert of the policy led.
import { h, put, card, table, setButton, number, compact, bytes, percent, seconds, when, none } from '../dom.js';
import { line } from '../chart.js';

const ask = '/admin/whatif', colours = ['r-exact', 'r-semantic', 'r-stale', 'r-shared'];
const points = (x) => (x == null ? none : `${x > 0 ? '+' : ''}${(100 * x).toFixed(2)}`);

export function show(root, page) {
  let unit = 'entries';
  const write = (n) => (unit === 'bytes' ? bytes(n) : compact(n));
  const curve = line('Hit ratio by capacity', { format: percent, height: 320, x: { name: 'Capacity', moves: 'along the capacity', title: (n) => `${write(n)}${unit === 'bytes' ? '' : ' entries'}`, write } });
  const state = h('p.hint', { role: 'status' }), again = h('button.plain', { type: 'button', hidden: true, onclick: () => compute() }, 'Compute again');
  const said = h('p.said', { role: 'status' }), notes = h('ul.notes'), plot = h('div', { hidden: true }, curve.element);
  const capacities = h('div'), policies = h('div'), thresholds = h('div'), rates = h('div'), reuse = h('ul.notes'), led = h('div'), changes = h('div');
  const ratios = line('Hit ratio of the cache and its experts', { format: percent });

  root.append(
    said,
    card('Hit ratio by capacity', { wide: true, asks: [`${ask}?wait=30s`], tools: again, hint: 'Of the last requests, as they would have been answered with another capacity or another policy.' }, state, plot, notes),
    card('Capacities', { asks: [ask], hint: 'The present policy with other capacities.' }, capacities),
    card('Policies', { asks: [ask], hint: 'Other policies with the present capacity.' }, policies),
    card('Thresholds', { wide: true, asks: [ask], hint: 'Hits by meaning at other similarities from which an answer may serve another prompt.' }, thresholds),
    card('Error rates', { wide: true, asks: [ask], hint: 'Hits by meaning at other shares of wrong answers that may be expected among them (δ).' }, rates),
    card('What these figures rest on', { wide: true, asks: [ask] }, reuse),
    card('Who led', { wide: true, asks: ['/admin/policy'], hint: 'The hit ratio minute by minute, beside those that the experts of the policy would have had.' }, ratios.element, led, changes));

  const set = (text) => setButton(text, said);

  function drawCurves(r) {
    const c = r.curves;
    state.textContent = stateOf(r);
    again.hidden = r.state !== 'ready' && r.state !== 'failed';
    plot.hidden = !c;
    for (const part of [capacities, policies]) if (!c) put(part, h('p.none', {}, 'No figures yet.'));
    if (!c) return put(notes);
    unit = c.unit;
    const now = c.capacities.findIndex((x) => x.factor === 1), own = c.policies.findIndex((p) => p.present), present = c.policies[own].hit_ratio[now];
    curve.set({ times: c.capacities.map((x) => x.capacity), mark: now, marked: 'now',
      series: c.policies.map((p, i) => ({ label: p.policy, cls: `${colours[i]}${p.present ? '' : ' dash'}`, values: p.hit_ratio, value: percent(p.hit_ratio[now]) })) });
    put(capacities, table('Capacities with the present policy', ['Capacity', 'Of the present one', 'Hit ratio', 'Points', ''], c.capacities.map((x, i) => {
      const y = c.policies[own].hit_ratio[i];
      return [write(x.capacity), `${+x.factor.toFixed(3)} ×`, percent(y), i === now ? 'now' : y == null || present == null ? none : points(y - present), i === now ? '' : set(x.set)];
    }), { right: [1, 2, 3] }));
    put(policies, table('Policies with the present capacity', ['Policy', 'Hit ratio', 'Points', ''], c.policies.map((p) => {
      const y = p.hit_ratio[now];
      return [p.policy, percent(y), p.present ? 'now' : y == null || present == null ? none : points(y - present), p.present ? '' : set(p.set)];
    }).concat([['measured', percent(c.measured_hit_ratio), '', ''], ['without a limit', percent(c.hit_ratio_infinite), '', '']]), { right: [1, 2] }));
    put(notes, c.notes.map((n) => h('li', {}, n)));
  }

  function drawReuse(x) {
    const empty = (words) => h('p.none', {}, words);
    const rows = (caption, head, list, value) => (!list?.length ? empty(x ? x.notes[0] : 'Nothing is compared by meaning: REPRISE_MODE is exact or off.') :
      table(caption, [head, 'Hits of 1,000', 'Change', 'Expected error', 'At most', 'Pairs', 'Compared', ''], list.map((o) => [value(o.value), compact(o.hits_per_1000), o.present ? 'now' : change(o.change_per_1000),
        percent(o.expected_error), o.compared ? percent(o.error_bound) : none, number(o.pairs), `${number(o.compared)}, ${number(o.different)} different`, o.present ? '' : set(o.set)]), { right: [1, 2, 3, 4, 5] }));
    put(thresholds, rows('Other thresholds', 'Threshold', x?.thresholds, (v) => String(+v.toFixed(4))));
    put(rates, rows('Other error rates', 'Error rate', x?.error_rates, percent));
    put(reuse, x?.thresholds.length ? [`The last ${number(x.pairs)} stored answers that some settings would serve, found in ${number(x.requests)} requests; ${number(x.compared)} of them were compared with the upstream's. ` +
      '“At most” is the upper end of the 95 % interval of what comparisons have shown; without one there is no such figure.', ...x.notes].map((n) => h('li', {}, n)) : h('li', {}, x ? x.notes[0] : 'Nothing is compared by meaning.'));
  }

  function drawPolicy(p) {
    const all = (p.windows ?? []).filter((w) => w.requests > 0), experts = p.experts ?? [];
    ratios.set({ times: all.map((w) => Date.parse(w.from) / 1000), series: [{ label: 'the cache', cls: colours[0], values: all.map((w) => w.hit_ratio) },
      ...experts.map((x, i) => ({ label: x.name, cls: `${colours[i + 1] ?? 'r-bypass'} dash`, values: all.map((w) => w.panel?.experts?.find((e) => e.name === x.name)?.hit_ratio ?? null) }))] });
    ratios.element.hidden = all.length < 2; // one minute is no curve, and its figures are in the table
    put(led, h('p', {}, p.leader ? ['The policy is ', h('b', {}, p.policy), '; ', h('b', {}, p.leader), ` leads. Changes of the leader: ${number(p.changed)}.`] : ['The policy is ', h('b', {}, p.policy), ', which has no experts.']),
      experts.length ? table('Experts', ['Expert', 'Hit ratio since the start', 'Entries', ''], experts.map((x) => [x.name, percent(x.hit_ratio), number(x.entries), x.name === p.leader ? 'leads' : '']), { right: [1, 2] }) : null);
    put(changes, !p.changes?.length ? null : table('Changes of the leader', ['Time', 'From', 'To', 'Why'],
      p.changes.toReversed().map((c) => [when(c.at), c.from, c.to, h('span.wrap', {}, c.why)])));
  }

  /** Asks for curves, until there are new ones: each time costs the proxy some seconds of half a processor, so an open page does not repeat it. */
  async function compute() {
    again.hidden = true;
    for (let r; !page.signal.aborted && r?.state !== 'ready'; ) {
      r = await page.get(`${ask}?wait=2s`);
      drawCurves(r);
      drawReuse(r.reuse);
      if (r.state === 'too short' || r.state === 'failed') return;
    }
  }

  compute().catch((e) => { if (!page.signal.aborted) state.textContent = e.message; });
  page.keep(async () => drawPolicy(await page.get('/admin/policy')));
}

function change(n) {
  const text = compact(n);
  return n > 0 ? `+${text}` : text;
}

function stateOf(r) {
  const c = r.curves, w = c?.window;
  if (!c || r.state === 'failed') return r.in_words ?? `Computing: ${percent(r.progress)}`;
  const rests = `${number(w.requests)} requests in ${seconds(w.seconds)}, of which the last ${number(w.counted)} are counted${w.sampled_share < 1 ? `; 1 of ${number(1 / w.sampled_share)} identities` : ''}`;
  return `${rests}. ${r.state === 'computing' ? `Computing again: ${percent(r.progress)}.` : `Computed ${seconds(Math.max(Math.round(r.age_seconds), 0))} ago, in ${seconds(r.took_seconds)}.`}`;
}
