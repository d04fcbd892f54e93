// Engines: the replicas behind the proxy, what their caches should hold and did, hints, and Redis.
import { h, put, renew, card, table, number, compact, bytes, percent, seconds, settings, when, none } from '../dom.js';
import { post } from '../api.js';
import { bySeconds, sinceStart, windowFor } from './overview.js';
import { line } from '../chart.js';

export function show(root, page) {
  const replicas = h('div'), hits = h('div'), hints = h('div'), shared = h('div'), prompts = h('div'), said = h('p.said', { role: 'status' });
  let span = null;
  const path = () => `/admin/history?window=${span ?? '1h'}`;
  const load = line('Upstream calls'), prefix = line('Prompt tokens that were cached', { format: percent });
  let redis = null;
  root.append(
    said,
    card('Replicas', { wide: true, asks: ['/admin/upstreams'], hint: 'Tokens held are an estimate of what the KV cache of each has. Admitted is the part of its usual requests that it gets, which grows after a fault.' }, replicas),
    card('Load', { asks: [path], hint: 'At the end of each step.' }, load.element),
    card('Prefix hits', { asks: [path], hint: 'Share of the prompt tokens that the upstream read from its cache, of answers that report it.' }, prefix.element),
    card('Prefix hits, predicted and real', { asks: ['/admin/upstreams'], hint: 'Since the start, as shares of the prompt tokens of answers for which there was a prediction.' }, hits),
    card('Hints', { asks: ['/admin/upstreams'], hint: 'Fields that the proxy adds for an engine. One that an engine refuses is left out there for an hour.' }, hints),
    card('Prompts that part', { wide: true, asks: ['/admin/alignment'], hint: 'Where the prompts of an application differ although what follows is the same: an engine reads that again.' }, prompts),
    card('Redis', { wide: true, asks: [() => (redis ? '/admin/shared' : '/admin/overview')] }, shared));

  const again = page.keep(async () => {
    const overview = await page.get('/admin/overview');
    span ??= windowFor(overview);
    const [up, all, aligned] = await Promise.all(['/admin/upstreams', path(), '/admin/alignment'].map(page.get));
    redis = overview.shared ? await page.get('/admin/shared') : null;
    const history = all.times ? sinceStart(all) : all;
    renew(replicas, up.upstreams.length === 0 ? h('p.none', {}, 'Nothing is known of them.') : replicasOf(up.upstreams, drain));
    renew(hits, up.upstreams.some((u) => u.foreseen_prompt_tokens) ? table('Prefix hits', ['Replica', 'Predicted', 'Real', 'Prompt tokens'], up.upstreams.map((u) => [h('bdi', {}, u.name),
      share(u.foreseen_predicted_tokens, u.foreseen_prompt_tokens), share(u.foreseen_cached_tokens, u.foreseen_prompt_tokens), compact(u.foreseen_prompt_tokens)]), { right: [1, 2, 3] })
      : h('p.none', {}, 'No prediction yet: prefixes are followed where there are several replicas, or hints, and answers report their cached tokens.'));
    renew(hints, hintsOf(up.upstreams));
    if (history.times) {
      load.set({ times: history.times, series: [{ label: 'in flight', cls: 'r-exact', values: history.gauges.in_flight }, { label: 'waiting', cls: 'r-stale', values: history.gauges.queued }] });
      prefix.set({ times: history.times, series: [{ label: 'cached', cls: 'r-semantic', values: history.sums.cached_tokens.map((c, i) => (history.sums.prompt_tokens[i] ? c / history.sums.prompt_tokens[i] : null)) }] });
    }
    renew(shared, redis ? sharedOf(redis) : h('p.none', {}, 'The store belongs to this process alone. ', settings('REPRISE_STORE'), ' with the URL of a Redis server shares it.'));
    renew(prompts, alignmentOf(aligned));
  }, () => bySeconds(span));

  async function drain(name, drained) {
    try {
      await post(`/admin/upstreams/${encodeURIComponent(name)}/${drained ? 'drain' : 'undrain'}`, {}, page.signal);
      put(said, h('bdi', {}, name), drained ? ' gets no new conversations.' : ' gets all requests again.');
      await again();
    } catch (e) {
      if (!page.signal.aborted) said.textContent = e.message;
    }
  }
}

const healths = { up: ['r-exact'], starting: ['r-stale', () => 'its share grows'], draining: ['r-stale', () => 'no new conversations'], aside: ['r-stale', () => 'it asked to be left alone'],
  failing: ['r-error', (u) => `${u.failures_in_a_row ? `${number(u.failures_in_a_row)} failures in a row` : 'nothing listens there'}; it gets requests still`],
  ejected: ['r-error', (u) => `${number(u.failures_in_a_row)} failures in a row`], down: ['r-error', () => 'its health checks fail'] };

function healthOf(u) {
  const [cls, words] = healths[u.health] ?? ['r-error'], notes = [words?.(u), u.until && ['until ', when(u.until)],
    u.limited_tenants_and_models && `set aside for ${number(u.limited_tenants_and_models)} tenants and models`].filter(Boolean);
  return [h('span', { class: `pill ${cls}` }, u.health), ...notes.map((n) => h('span.note', {}, n)), u.last_failure && h('span.note.wrap', {}, 'the last: ', h('bdi', {}, u.last_failure))];
}

function replicasOf(all, drain) {
  const served = (u) => (u.models ?? []).map((m) => (m.mapped ? `${m.name} as ${m.mapped}` : m.name)).join(', ');
  const button = (u) => {
    const drained = u.health === 'draining', word = drained ? 'undrain' : 'drain';
    return h('button.plain.set', { type: 'button', 'aria-label': `${word} ${u.name}`, 'data-key': `drain ${u.name}`, onclick: () => drain(u.name, !drained) }, word);
  };
  return table('Replicas', ['Name', 'Health', 'In flight', 'Admitted', 'Tokens to prefill', 'Tokens held', 'Of tokens', 'Dialect', 'Models', 'Address', ...(all.length > 1 ? [h('span.hidden', {}, 'Drain')] : [])],
    all.map((u) => [[h('bdi', {}, u.name), u.fallback && h('span.note', {}, 'fallback')], healthOf(u), number(u.in_flight), percent(u.share), compact(u.pending_tokens), compact(u.held_tokens),
      u.capacity_tokens ? compact(u.capacity_tokens) : none, `${u.dialect} ${u.version ?? ''}`, h('bdi.names', {}, served(u) || 'all'), h('bdi', {}, u.url), ...(all.length > 1 ? [button(u)] : [])]), { right: [2, 3, 4, 5, 6], fixed: true });
}

function hintsOf(all) {
  const sent = all.flatMap((u) => (u.hints ?? []).map((x) => ({ ...x, of: u.name })));
  if (!sent.length) return h('p.none', {}, 'None were sent: ', settings('REPRISE_HINTS'), '.');
  const out = sent.filter((x) => x.left_out_models);
  return [table('Hints', ['Replica', 'Field', 'Sent', 'Refused', 'Not expressible'], sent.map((x) => [h('bdi', {}, x.of), x.field, number(x.sent), number(x.refused), number(x.not_expressible)]), { right: [2, 3, 4], fixed: true }),
    out.length ? h('ul.notes', { 'aria-label': 'Hints that are left out' }, out.map((x) => h('li', {}, h('bdi', {}, x.of), ' refused ', h('code', {}, x.field), '. It is left out for ',
      x.left_out.map((m, i) => [i ? ', ' : '', h('bdi', {}, m.model), ' until ', when(m.until)]), x.left_out_models > x.left_out.length ? `, and ${number(x.left_out_models - x.left_out.length)} more models.` : '.'))) : null];
}

const states = { shared: ['r-exact', 'It follows what the others do.'], loading: ['r-stale', 'The entries of the others are being loaded.'],
  away: ['r-error', 'Redis does not answer: this proxy goes on with the answers that it has at hand.'],
  behind: ['r-error', 'The log is not followed: answers of others are not served, because a purge could have been missed.'] };

function sharedOf(r) {
  const [cls, words] = states[r.state] ?? ['r-error', ''], n = r.counts, last = Math.max(...r.members.map((m) => m.applied), r.applied);
  const fact = (name, value, note) => h('div', {}, h('dt', {}, name), h('dd', {}, value, note && h('span', {}, note)));
  const dropped = n.dropped_inserts + n.dropped_hints + n.dropped_other, keeper = r.members.find((m) => m.keeper);
  return [h('p.state', {}, h('span', { class: `pill ${cls}` }, r.state), h('span.note', {}, words, ' ', h('bdi', {}, r.store))),
    h('dl.facts', {}, fact('Behind', r.state === 'shared' ? `${number(r.lag_batches)} batches` : none, `the last ${seconds(r.behind_seconds)} may be missing`), fact('Keeper', keeper ? String(keeper.process) : none, 'decides evictions'),
      fact('Waits to be sent', `${number(r.queue.events)} events`, `${bytes(r.queue.bytes)}, ${number(r.queue.purges)} purges`), fact('Answers at hand', number(r.near.entries), bytes(r.near.bytes)),
      fact('Faults', number(n.faults), `${number(n.timeouts)} answers came too late`), fact('Lost', number(dropped), `events; ${number(n.gaps)} gaps in the log`)),
    r.state !== 'shared' && h('p.hint', {}, 'The members, as they were when Redis answered the last time:'),
    r.members.length ? table('Members', ['Member', 'Role', 'Silent for', 'Applied', 'Behind the first', 'Process'], r.members.map((m) => [m.process + (m.self ? ' (this one)' : ''), m.keeper ? 'keeper' : 'follower',
      seconds(m.silent_seconds), number(m.applied), number(last - m.applied), h('bdi', {}, m.name)]), { right: [2, 3, 4], fixed: true }) : h('p.none', {}, 'No member is known.')];
}

const share = (part, all) => percent(all ? part / all : null);

function alignmentOf(a) {
  const apps = a.applications ?? [];
  if (!apps.length) return h('p.none', {}, a.emptied ? ['No requests have been compared since ', when(a.emptied), ', when a purge emptied this.'] : 'No requests have been compared yet.');
  const places = apps.flatMap((x) => x.places.map((p) => ({ ...p, of: x }))).sort((x, y) => y.again - x.again).slice(0, 50);
  return [h('p.hint', {}, `${number(apps.length)} ${apps.length === 1 ? 'application' : 'applications'}, ${number(apps.reduce((n, x) => n + x.compared, 0))} requests compared: ${share(apps.reduce((n, x) => n + x.again, 0), apps.reduce((n, x) => n + x.tokens, 0))} of their prompt tokens are read again because prompts part.`),
    places.length ? h('ol.causes', {}, places.map((p) => h('li', {}, h('h3', {}, h('bdi', {}, p.of.model), ` · ${p.looks_like} in ${p.segment}`), h('p', {}, h('bdi', {}, p.repair ? p.in_words.replace(`; ${p.repair}`, '') : p.in_words)),
      p.repair && h('p.repair', {}, settings(p.repair)), h('p.numbers', {}, `${number(p.requests)} requests, ${compact(p.again)} tokens again`)))) : null];
}
