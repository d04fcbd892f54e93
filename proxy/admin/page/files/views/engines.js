// Engines: the replicas behind the proxy, what their caches should hold and did, hints, and Redis.
import { h, put, card, table, number, compact, percent, seconds, none } from '../dom.js';
import { bySeconds, sinceStart, windowFor } from './overview.js';
import { settings } from './misses.js';
import { line } from '../chart.js';

export function show(root, page) {
  const replicas = h('div'), hits = h('div'), hints = h('div'), shared = h('div'), prompts = h('div');
  let span = null;
  const path = () => `/admin/history?window=${span ?? '1h'}`;
  const load = line('Upstream calls'), prefix = line('Prompt tokens that were cached', { format: percent });
  root.append(
    card('Replicas', { wide: true, asks: ['/admin/upstreams'], hint: 'Tokens held are an estimate of what the KV cache of each has.' }, replicas),
    card('Load', { asks: [path], hint: 'At the end of each step.' }, load.element),
    card('Prefix hits', { asks: [path], hint: 'Share of the prompt tokens that the upstream read from its cache, of answers that report it.' }, prefix.element),
    card('Prefix hits, predicted and real', { asks: ['/admin/upstreams'], hint: 'Since the start, as shares of the prompt tokens of answers for which there was a prediction.' }, hits),
    card('Hints', { asks: ['/admin/upstreams'], hint: 'Fields that the proxy adds for an engine. One that an engine refuses is left out there for an hour.' }, hints),
    card('Prompts that part', { wide: true, asks: ['/admin/alignment'], hint: 'Where the prompts of an application differ although what follows is the same: an engine reads that again.' }, prompts),
    card('Redis', { wide: true, asks: ['/admin/shared'] }, shared));

  page.keep(async () => {
    const overview = await page.get('/admin/overview');
    span ??= windowFor(overview);
    const [up, all, aligned] = await Promise.all(['/admin/upstreams', path(), '/admin/alignment'].map(page.get));
    const redis = overview.shared ? await page.get('/admin/shared') : null, history = all.times ? sinceStart(all) : all;
    put(replicas, up.upstreams.length === 0 ? h('p.none', {}, 'Nothing is known of them.') : table('Replicas',
      ['Name', 'Health', 'In flight', 'Share', 'To prefill', 'Held', 'Capacity', 'Dialect', 'Address'],
      up.upstreams.map((u) => [u.name, h('span', { class: `pill ${u.health === 'up' ? 'r-exact' : 'r-error'}` }, u.health), number(u.in_flight), percent(u.share), compact(u.pending_tokens), compact(u.held_tokens),
        u.capacity_tokens ? compact(u.capacity_tokens) : none, u.dialect, h('bdi', {}, u.url)]), { right: [2, 3, 4, 5, 6] }));
    put(hits, up.upstreams.some((u) => u.foreseen_prompt_tokens) ? table('Prefix hits', ['Replica', 'Predicted', 'Real', 'Prompt tokens'], up.upstreams.map((u) => [u.name,
      share(u.foreseen_predicted_tokens, u.foreseen_prompt_tokens), share(u.foreseen_cached_tokens, u.foreseen_prompt_tokens), compact(u.foreseen_prompt_tokens)]), { right: [1, 2, 3] })
      : h('p.none', {}, 'No prediction yet: prefixes are followed where there are several replicas, or hints, and answers report their cached tokens.'));
    const sent = up.upstreams.flatMap((u) => (u.hints ?? []).map((x) => [u.name, x.field, number(x.sent), number(x.refused), number(x.not_expressible)]));
    put(hints, sent.length ? table('Hints', ['Replica', 'Field', 'Sent', 'Refused', 'Not expressible'], sent, { right: [2, 3, 4] }) : h('p.none', {}, 'None were sent: REPRISE_HINTS.'));
    if (history.times) {
      load.set({ times: history.times, series: [{ label: 'in flight', cls: 'r-exact', values: history.gauges.in_flight }, { label: 'waiting', cls: 'r-stale', values: history.gauges.queued }] });
      prefix.set({ times: history.times, series: [{ label: 'cached', cls: 'r-semantic', values: history.sums.cached_tokens.map((c, i) => (history.sums.prompt_tokens[i] ? c / history.sums.prompt_tokens[i] : null)) }] });
    }
    put(shared, redis ? sharedOf(redis) : h('p.none', {}, 'The store belongs to this process alone. REPRISE_STORE with the URL of a Redis server shares it.'));
    put(prompts, alignmentOf(aligned));
  }, () => bySeconds(span));
}

function sharedOf(r) {
  return [h('p', {}, h('span', { class: `pill ${r.state === 'shared' ? 'r-exact' : 'r-error'}` }, r.state), ` ${r.store}`),
    table('Members', ['Member', 'Name', 'Applied', 'Silent for', 'Role'], r.members.map((m) => [m.process + (m.self ? ' (this one)' : ''), h('bdi', {}, m.name), number(m.applied), seconds(m.silent_seconds), m.keeper ? 'keeper' : 'follower']), { right: [2, 3] }),
    table('Queue', ['What waits', 'Number'], [['events', number(r.queue.events)], ['purges', number(r.queue.purges)], ['batches behind', number(r.lag_batches)], ['answers at hand', number(r.near.entries)]], { right: [1] })];
}

const share = (part, all) => percent(all ? part / all : null);

function alignmentOf(a) {
  const apps = a.applications ?? [];
  if (!apps.length) return h('p.none', {}, 'No requests have been compared yet.');
  const places = apps.flatMap((x) => x.places.map((p) => ({ ...p, of: x }))).sort((x, y) => y.again - x.again).slice(0, 50);
  return [h('p.hint', {}, `${number(apps.length)} applications, ${number(apps.reduce((n, x) => n + x.compared, 0))} requests compared: ${share(apps.reduce((n, x) => n + x.again, 0), apps.reduce((n, x) => n + x.tokens, 0))} of their prompt tokens are read again because prompts part.`),
    places.length ? h('ol.causes', {}, places.map((p) => h('li', {}, h('h3', {}, h('bdi', {}, p.of.model), ` · ${p.segment} ${p.index}: ${p.looks_like}`), h('p', {}, h('bdi', {}, p.in_words.replace(`; ${p.repair}`, ''))),
      p.repair && h('p.repair', {}, settings(p.repair)), h('p.numbers', {}, `${number(p.requests)} requests, ${compact(p.again)} tokens again`)))) : null];
}
