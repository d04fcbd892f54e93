// Review: answers that were found by meaning, and those that almost were: both prompts aligned, why, and what the operator says of them.
import { h, put, card, table, number, percent, seconds, at, none } from '../dom.js';
import { post } from '../api.js';
import { differences } from '../words.js';

const kinds = [['', 'All'], ['served', 'Served'], ['compared', 'Compared'], ['refused', 'Kept back'], ['below', 'Below the threshold'], ['shadow', 'Shadow mode']];
const colours = { served: 'r-semantic', compared: 'r-exact', refused: 'r-miss', below: 'r-bypass', shadow: 'r-shared' };
const names = Object.fromEntries(kinds);
const rows = 20;

export function show(root, page) {
  let kind = page.params.get('kind') ?? '', newest = 0, next = 0, undo = 10;
  const path = (limit = rows) => `/admin/reviews?${kind ? `kind=${encodeURIComponent(kind)}&` : ''}limit=${limit}`;
  const list = h('ol.pairs'), found = h('p.hint', { role: 'status' }), kept = h('p.hint');
  const fresh = h('button.plain', { type: 'button', hidden: true, onclick: () => load().catch(failed) }, 'Show newer ones'), more = h('button.plain', { type: 'button', hidden: true, onclick: () => load(next).catch(failed) }, 'More');
  const choices = kinds.map(([id, title]) => ({ id, count: h('b'), title }));
  const choose = h('fieldset.choice.wraps', {}, h('legend.hidden', {}, 'Kind of pairs'), choices.map((c) => h('label', {},
    h('input', { type: 'radio', name: 'kind', value: c.id, checked: c.id === kind, onchange: () => { kind = c.id; page.remember({ kind }); load().catch(failed); } }), h('span', {}, c.title, ' ', c.count))));

  root.append(card('Answers for other words', { wide: true, asks: [() => path(), () => `/admin/reviews/${newest || 1}`],
    hint: 'Requests that met a stored answer for another prompt than their own. With the focus in a pair: y is right, n is wrong, u takes it back, j and k go to the next and the one before.' },
    choose, h('div.head', {}, found, fresh), list, more, kept));
  const scopes = h('div');
  root.append(card('Trust', { wide: true, asks: [() => '/admin/trust?limit=20'],
    hint: 'What each scope (a system message with what stands before the prompt) has shown of answers to other words. None is served before five pairs came out the same; one that is different ends it.' }, scopes));
  list.addEventListener('keydown', keys);

  const counted = (r) => {
    for (const c of choices) put(c.count, number(c.id ? r.kinds[c.id] : Object.values(r.kinds).reduce((sum, n) => sum + n, 0)));
    undo = r.undo_seconds;
  };

  const failed = (e) => { if (!page.signal.aborted) found.textContent = e.message; };

  /** Shows the newest pairs, or adds those before an id. */
  async function load(before) {
    const r = await page.get(path() + (before ? `&before=${before}` : '')), items = r.pairs.map((p) => pair(p, r.prompts_may_be_shown));
    counted(r);
    if (before) list.append(...items);
    else {
      put(list, items);
      newest = r.pairs[0]?.id ?? 0;
      fresh.hidden = true;
    }
    const shown = list.children.length;
    next = r.next;
    more.hidden = !next;
    found.textContent = r.total === 0 ? empty(kind) : `${number(shown)} of ${number(r.total)}, the newest first.`;
    kept.textContent = r.prompts_may_be_shown ? '' : 'Prompts and answers are not shown: REPRISE_LOG_PROMPTS is false.';
    list.hidden = !shown;
    if (before) (items[0]?.querySelector('button') ?? more).focus();
  }

  /** A pair, whose buttons say what the operator thinks of it. */
  function pair(p, texts) {
    const said = h('p.hint', { role: 'status' }), buttons = h('div.buttons'), id = `pair-${p.id}`;
    const facts = [at.day(Date.parse(p.time) / 1000), h('bdi', {}, p.model), `entry ${p.entry}`, p.topic ? `topic ${p.topic}` : null, p.similarity ? `similarity ${p.similarity.toFixed(4)}` : null,
      p.p ? `P ${p.p.toFixed(4)}` : null, p.explained ? `δ ${percent(p.explained.max_error_rate)}` : null, p.times > 1 ? `${number(p.times)} times` : null, `tenant ${p.tenant.slice(0, 12)}`];
    const item = h('li', { 'aria-labelledby': id }, h('article', {},
      h('h3', { id }, h('span', { class: `pill ${colours[p.kind]}` }, names[p.kind] ?? p.kind), h('span.hidden', {}, ` ${p.id}`), p.outcome && p.outcome !== 'unknown' ? h('span', { class: `tag ${p.outcome}` }, p.outcome === 'same' ? 'same answer' : 'another answer') : null),
      h('p', {}, p.in_words),
      p.explained ? prompts(p) : h('p.hint', {}, `Prompts of ${number(p.stored_prompt_bytes)} and ${number(p.prompt_bytes)} bytes.`),
      h('p.numbers', {}, facts.filter(Boolean).map((f, i) => [i ? ' · ' : null, f])),
      p.explained?.edits.length ? edits(p) : null,
      texts ? answers(p) : null,
      buttons, said));
    item.actions = { y: () => say('right'), n: () => say('wrong'), u: () => buttons.querySelector('.undo')?.click() };
    drawn(p);

    function drawn(now) {
      change(now.verdict ? tagOf(now.verdict) : [
        h('button.plain', { type: 'button', onclick: () => say('right') }, 'Right'), h('button.plain', { type: 'button', onclick: () => say('wrong') }, 'Wrong')],
      h('button.plain', { type: 'button', onclick: purge }, `Purge entry ${p.entry}`));
    }

    /** Changes the buttons, and keeps the focus among them. */
    function change(...all) {
      const had = buttons.contains(document.activeElement);
      put(buttons, all);
      if (had) (buttons.querySelector('.undo') ?? buttons.querySelector('button'))?.focus();
    }

    /** Shows what was done, and for some seconds a button that takes it back. */
    function undoable(words, tag, back, after, time = undo) {
      const timer = setTimeout(after, 1000 * time);
      page.signal.addEventListener('abort', () => clearTimeout(timer));
      said.textContent = words;
      change(tag, h('button.undo', { type: 'button', onclick: () => { clearTimeout(timer); run(back); } }, 'Undo'));
    }

    const run = (f) => f().catch((e) => { if (!page.signal.aborted) said.textContent = e.message; });

    function say(verdict) {
      if (!buttons.querySelector('.plain') || buttons.querySelector('.undo')) return;
      run(async () => {
        const r = await post(`/admin/reviews/${p.id}`, { verdict }, page.signal);
        undoable(r.effect, tagOf(verdict), async () => {
          const back = await post(`/admin/reviews/${p.id}`, { verdict: 'undo' }, page.signal);
          said.textContent = back.effect;
          drawn(back);
        }, () => { said.textContent = `Counted as ${verdict}.`; drawn(r); });
      });
    }

    function purge() {
      run(async () => {
        const r = await post('/admin/purge', { entry: p.entry, dry_run: false, undo: true }, page.signal);
        if (!r.undo) { said.textContent = `Entry ${p.entry} has left already.`; return; }
        item.classList.add('gone');
        undoable(`Entry ${p.entry} is purged, and nothing serves it any more.`, null, async () => {
          const back = await post('/admin/purge/undo', { undo: r.undo }, page.signal);
          said.textContent = `The answer is back, as entry ${back.entry}. Its pairs are not listed any more.`;
          item.classList.remove('gone');
          change();
        }, () => { said.textContent = `Entry ${p.entry} is purged.`; change(); }, r.undo_seconds);
      });
    }
    return item;
  }

  function answers(p) {
    const place = h('div'), d = h('details.data', {}, h('summary', {}, 'Both answers', h('span.hidden', {}, ` of pair ${p.id}`)), place);
    d.addEventListener('toggle', async () => {
      if (!d.open || place.firstChild) return;
      try {
        const r = await page.get(`/admin/reviews/${p.id}`);
        put(place, compared(r));
      } catch (e) {
        if (!page.signal.aborted) put(place, h('p.none', {}, e.message));
      }
    });
    return d;
  }

  async function trusted() {
    const r = await page.get('/admin/trust?limit=20');
    put(scopes, r.scopes.length ? table('Scopes by trust', ['Scope', 'Model', 'Found by', 'State', 'Same', 'Needed', 'Different', 'Undecided', 'Ended by'], r.scopes.flatMap((s) => s.trust.map((t) =>
      [s.id.slice(0, 8), h('bdi', {}, s.model ?? ''), t.kind, t.state, number(t.same), number(t.needed), number(t.different), number(t.undecided), s.ended_by && t.different ? `pair ${s.ended_by}` : ''])), { right: [4, 5, 6, 7] })
      : h('p.hint', {}, 'Nothing was compared yet.'));
  }

  page.keep(async () => {
    await trusted();
    if (!list.firstChild) return load();
    const r = await page.get(path(1));
    counted(r);
    fresh.hidden = !r.pairs.length || r.pairs[0].id <= newest;
  });
}

/** y, n and u act on the pair that has the focus; j and k go on. */
function keys(e) {
  const item = e.target.closest('li');
  if (!item || e.ctrlKey || e.metaKey || e.altKey || e.target.matches('input, textarea, select')) return;
  const to = { j: item.nextElementSibling, k: item.previousElementSibling }[e.key];
  if (to) {
    (to.querySelector('.buttons button') ?? to.querySelector('summary'))?.focus();
    to.scrollIntoView({ block: 'nearest' });
  } else if (item.actions[e.key]) item.actions[e.key]();
  else return;
  e.preventDefault();
}

/** Both prompts, one below the other, with what differs marked: edits, and what the normal form takes off. */
function prompts({ id, explained: x }) {
  const sides = [[], []];
  for (const part of x.aligned) {
    const edit = part.edit == null ? null : x.edits[part.edit];
    const [stored, asked] = edit ? [[[part.stored, true]], [[part.asked, true]]] : differences(part.stored, part.asked);
    const cls = edit ? (edit.class ? 'listed' : 'unlisted') : 'form';
    [stored, asked].forEach((texts, side) => sides[side].push(texts.map(([text, differs]) => (differs && text.trim() ? h(`mark.${cls}`, {}, text) : text))));
  }
  return h('div.aligned', { tabindex: 0, role: 'region', 'aria-label': `Both prompts of pair ${id}` }, h('dl', {}, [['Stored', sides[0]], ['Asked', sides[1]]].map(([name, texts]) => h('div', {}, h('dt', {}, name), h('dd', {}, h('bdi', {}, texts))))));
}

function edits(p) {
  return h('details.data', {}, h('summary', {}, 'Edits and bounds', h('span.hidden', {}, ` of pair ${p.id}`)), table(`Edits of pair ${p.id}`,
    ['Edit', 'Stored', 'Asked', 'Bound', 'Pairs', 'P here', 'Seen here', 'Source'],
    p.explained.edits.map((e) => [e.class || 'not listed', h('bdi', {}, e.stored || none), h('bdi', {}, e.asked || none), e.bound ? e.bound.toFixed(4) : none, e.pairs ? number(e.pairs) : none,
      e.p_here ? e.p_here.toFixed(4) : none, number(e.seen_here), h('span.wrap', {}, e.source || none)]), { right: [3, 4, 5, 6] }));
}

function compared(r) {
  const { stored, own, compared_by_text: now } = r.answers ?? {};
  if (stored == null && own == null) return h('p.none', {}, 'Neither answer is there any more.');
  const [left, right] = stored != null && own != null ? differences(stored, own) : [[[stored ?? '', false]], [[own ?? '', false]]];
  const text = (parts) => parts.map(([t, differs]) => (differs && t.trim() ? h('mark.form', {}, t) : t));
  const side = (title, there, parts, missing) => h('div', {}, h('h4', {}, title), there == null ? h('p.none', {}, missing) : h('p.answer', { tabindex: 0 }, h('bdi', {}, text(parts))));
  return [now ? h('p.hint', {}, { same: 'By their texts, both answers say the same.', different: 'By their texts, the answers contradict each other.', unknown: 'Their texts do not decide whether they say the same.' }[now]) : null,
    h('div.both', {}, side(`Stored: entry ${r.entry}`, stored, left, 'It is not stored any more, or has no text.'),
      side(r.own_entry ? `The upstream's: entry ${r.own_entry}` : "The upstream's", own, right, r.kind === 'served' ? 'The upstream was not asked.' : 'It was not kept, or is not there any more.')),
    r.upstream_seconds ? h('p.hint', {}, `The upstream took ${seconds(r.upstream_seconds)}.`) : null];
}

const tagOf = (verdict) => h('span', { class: `tag ${verdict === 'right' ? 'same' : 'different'}` }, verdict);

const empty = (kind) => (kind ? 'No pair of this kind yet.' : 'No pairs yet: they come when a prompt meets a stored answer for other words.');
