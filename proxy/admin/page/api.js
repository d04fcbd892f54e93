// The admin API. The token is kept for this tab, and is sent as a header: a browser never sends it by itself.

const KEY = 'reprise-token';

export class Failure extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

const waiting = new Set(); // of those who want the token
let asking = () => {};

/** f is called when a token is needed; wrong: the one that was given is not the right one. */
export function onToken(f) { asking = f; }

/** Keeps a token, and repeats what was waiting for it. */
export function setToken(token) {
  sessionStorage.setItem(KEY, token);
  for (const again of [...waiting]) again();
  waiting.clear();
}

async function ask(path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(KEY);
    const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
    const r = await fetch(path, { ...options, headers, cache: 'no-store', credentials: 'omit', redirect: 'error' });
    if (r.status !== 401) return r;
    if (sessionStorage.getItem(KEY) !== token) continue; // it has changed meanwhile
    asking(token !== null);
    await new Promise((resolve, reject) => {
      waiting.add(resolve);
      options.signal?.addEventListener('abort', () => { waiting.delete(resolve); reject(options.signal.reason); });
    });
  }
}

async function failureOf(r) {
  const body = await r.json().catch(() => null);
  return new Failure(r.status, body?.error?.code ?? '', body?.error?.message ?? `The admin API answered with status ${r.status}.`);
}

/** The JSON at a path of the admin API. */
export async function get(path, signal) {
  const r = await ask(path, { signal });
  if (!r.ok) throw await failureOf(r);
  return r.json();
}

/** Sends JSON to a path of the admin API. */
export async function post(path, body, signal) {
  const r = await ask(path, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' }, signal });
  if (!r.ok) throw await failureOf(r);
  return r.json();
}

const pause = (ms, signal) => new Promise((resolve) => {
  const t = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => { clearTimeout(t); resolve(); }, { once: true });
});

/**
 * Reads the stream of events until signal aborts, and opens it again when it ends: the proxy may restart under an open page.
 * event(kind, data) gets each event, state(text) "live", or why there is no stream.
 */
export async function stream(path, { event, state, signal }) {
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 8000)) {
    try {
      const r = await ask(path, { signal, headers: { Accept: 'text/event-stream' } });
      if (!r.ok) throw await failureOf(r);
      state('live');
      for await (const [kind, data] of eventsOf(r.body)) {
        wait = 500;
        event(kind, data);
      }
      state('reconnecting');
    } catch (e) {
      if (signal.aborted) return;
      state(e instanceof Failure ? e.message : 'reconnecting');
    }
    await pause(wait, signal);
  }
}

/** Events of text/event-stream, as the admin API writes them: two lines each. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      const kind = /^event: (.*)$/m.exec(block)?.[1], data = /^data: (.*)$/m.exec(block)?.[1];
      if (kind && data) yield [kind, JSON.parse(data)];
    }
  }
}
