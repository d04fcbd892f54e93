// Engines: the replicas behind the proxy, what their caches should hold and did, hints, and Redis.
import { h, put, card, table, number, compact, percent, seconds, none } from '../dom.js';
import { sinceStart } from './overview.js';
import { line } from '../chart.js';

export function show(root, page) {
  const replicas = h('div'), shared = h('div'), prompts = h('div');
  const load = line('Upstream calls'), prefix = line('Prompt tokens that were cached', { format: percent });
  root.append(
    card('Replicas', { wide: true, asks: ['/admin/upstreams'], hint: 'Tokens held are an estimate of what the KV cache of each has.' }, replicas),
    card('Load', { asks: ['/admin/history?window=1h'], hint: 'At the end of each step.' }, load.element),
    card('Prefix hits', { asks: ['/admin/history?window=1h'], hint: 'Share of the prompt tokens that the upstream read from its cache, of answers that report it.' }, prefix.element),
    card('Redis', { wide: true, asks: ['/admin/shared'] }, shared),
    card('Prompts that part', { wide: true, asks: ['/admin/alignment'], hint: 'Where the prompts of an application differ although what follows is the same: an engine reads that again.' }, prompts));

  page.keep(async () => {
    const [up, all, overview, aligned] = await Promise.all(['/admin/upstreams', '/admin/history?window=1h', '/admin/overview', '/admin/alignment'].map(page.get));
    const redis = overview.shared ? await page.get('/admin/shared') : null, history = all.times ? sinceStart(all) : all;
    put(replicas, up.upstreams.length === 0 ? h('p.none', {}, 'Nothing is known of them.') : table('State of the replicas',
      ['Name', 'Health', 'In flight', 'Share', 'To prefill', 'Held', 'Capacity', 'Dialect', 'Address'],
      up.upstreams.map((u) => [u.name, h('span', { class: `pill ${u.health === 'up' ? 'r-exact' : 'r-error'}` }, u.health), number(u.in_flight), percent(u.share), compact(u.pending_tokens), compact(u.held_tokens),
        u.capacity_tokens ? compact(u.capacity_tokens) : none, u.dialect, h('bdi', {}, u.url)]), { right: [2, 3, 4, 5, 6] }));
    if (history.times) {
      load.set({ times: history.times, series: [{ label: 'in flight', cls: 'r-exact', values: history.gauges.in_flight }, { label: 'waiting', cls: 'r-stale', values: history.gauges.queued }] });
      prefix.set({ times: history.times, series: [{ label: 'cached', cls: 'r-semantic', values: history.sums.cached_tokens.map((c, i) => (history.sums.prompt_tokens[i] ? c / history.sums.prompt_tokens[i] : null)) }] });
    }
    put(shared, redis ? sharedOf(redis) : h('p.none', {}, 'The store belongs to this process alone. REPRISE_STORE with the URL of a Redis server shares it.'));
    put(prompts, alignmentOf(aligned));
  });
}

function sharedOf(r) {
  return [h('p', {}, h('span', { class: `pill ${r.state === 'shared' ? 'r-exact' : 'r-error'}` }, r.state), ` ${r.store}`),
    table('Members', ['Member', 'Name', 'Applied', 'Silent for', 'Role'], r.members.map((m) => [m.process + (m.self ? ' (this one)' : ''), h('bdi', {}, m.name), number(m.applied), seconds(m.silent_seconds), m.keeper ? 'keeper' : 'follower']), { right: [2, 3] }),
    table('Queue', ['What waits', 'Number'], [['events', number(r.queue.events)], ['purges', number(r.queue.purges)], ['batches behind', number(r.lag_batches)], ['answers at hand', number(r.near.entries)]], { right: [1] })];
}

function alignmentOf(a) {
  const apps = a.applications ?? [];
  if (!apps.length) return h('p.none', {}, 'No requests have been compared yet.');
  return h('pre.json', { tabindex: 0, 'aria-label': 'Report' }, JSON.stringify(apps, null, 1));
}
