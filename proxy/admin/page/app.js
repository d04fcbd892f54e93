// The frame: which view is shown, the stream of events, and the form for the token.
import { h, put, when, zone } from './dom.js';
import { get, onToken, setToken, stream } from './api.js';
import { views } from './views/views.js';

const main = document.getElementById('main'), link = document.getElementById('link'), dialog = document.getElementById('ask');
let leave = new AbortController();
let started = ''; // of the proxy: another time is another process
let born = -Infinity; // when that was on the clock of this page, in milliseconds

const OFTEN = 2000, NEW = 30000; // milliseconds: between two readings of what changes by the second, and for how long a proxy is new

/** The view and its parameters in the address: #/live?result=miss. */
function place() {
  const [id, query] = location.hash.replace(/^#\/?/, '').split('?');
  return { view: views.find((v) => v.id === id) ?? views[0], params: new URLSearchParams(query) };
}

function nav(current) {
  put(document.getElementById('views'), views.map((v) =>
    h('li', {}, h('a', { href: `#/${v.id}`, 'aria-current': v === current ? 'page' : null }, v.title))));
  document.querySelector('#views [aria-current]').scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/** Shows the view of the address. A view gets a place to draw in, and these: */
function open(focus) {
  leave.abort();
  leave = new AbortController();
  const { view, params } = place(), signal = leave.signal, listeners = [];
  nav(view);
  document.title = `${view.title} – reprise`;
  const root = h('div.view', { id: `view-${view.id}` });
  put(main, h('h1', { tabindex: -1 }, view.title), root);
  if (focus) main.querySelector('h1').focus();
  let watching = null;
  const watch = (path) => {
    watching?.abort();
    watching = new AbortController();
    stream(path, { signal: AbortSignal.any([signal, watching.signal]), state: connected, event: (kind, data) => {
      if (kind === 'hello') hello(data);
      for (const [wanted, f] of listeners) if (wanted === kind) f(data);
    } });
  };
  view.show(root, {
    params,
    signal, // aborts when the view is left
    get: (path) => get(path, signal),
    on: (kind, f) => listeners.push([kind, f]), // hello, step or request
    watch, // opens the stream with another filter
    /**
     * Runs f now, at each step of the history, when the proxy has restarted, and every two seconds while often() is true or the proxy is new and the page
     * is seen; what f throws is shown. Returns what runs it again.
     */
    keep(f, often = () => false) {
      let running = 0;
      root.setAttribute('aria-busy', 'true');
      const run = () => {
        running++;
        f().then(() => root.querySelector(':scope > .failed')?.remove(), (e) => failed(root, e, signal)).finally(() => { running--; root.removeAttribute('aria-busy'); });
      };
      for (const kind of ['hello', 'step']) listeners.push([kind, run]);
      const timer = setInterval(() => {
        if (!running && !document.hidden && link.classList.contains('live') && (often() || performance.now() - born < NEW)) run();
      }, OFTEN);
      signal.addEventListener('abort', () => clearInterval(timer));
      run();
      return run;
    },
    /** Puts parameters into the address without another entry in the history of the browser. */
    remember(values) {
      for (const [k, v] of Object.entries(values)) v ? params.set(k, v) : params.delete(k);
      history.replaceState(null, '', `#/${view.id}${params.size ? `?${params}` : ''}`);
    },
  });
  if (!watching) watch('/admin/events?requests=no');
}

function failed(root, e, signal) {
  if (signal.aborted) return;
  const old = root.querySelector(':scope > .failed');
  const text = e instanceof TypeError ? 'The proxy does not answer. This page asks again by itself.' : e.message;
  if (old) old.textContent = text;
  else root.prepend(h('p.failed', { role: 'alert' }, text));
}

function connected(state) {
  const live = state === 'live';
  link.className = live ? 'link live' : 'link';
  link.textContent = state;
}

function hello({ started: now }) {
  started = now;
  foot();
}

async function foot() {
  const o = await get('/admin/overview').catch(() => null);
  if (!o) return;
  born = performance.now() - (Date.parse(o.now) - Date.parse(o.started));
  const e = document.getElementById('foot');
  e.dataset.started = started;
  put(e, `reprise ${o.version} · started `, when(o.started), ` · times are of this browser, ${zone()} · this page asks this proxy only`);
}

onToken((wrong) => {
  document.getElementById('ask-error').textContent = wrong ? 'This is not the admin token.' : '';
  connected('waits for the token');
  if (!dialog.open) dialog.showModal();
});
document.getElementById('ask-form').addEventListener('submit', (e) => {
  e.preventDefault();
  const input = document.getElementById('ask-token');
  dialog.close();
  setToken(input.value.trim());
  input.value = '';
});
dialog.addEventListener('cancel', (e) => e.preventDefault());
addEventListener('hashchange', () => open(true));
addEventListener('pagehide', () => leave.abort()); // a page that is kept for the back button must not keep a viewer's place
addEventListener('pageshow', (e) => { if (e.persisted) open(false); });
document.querySelector('.skip').addEventListener('click', (e) => { e.preventDefault(); main.focus(); });
open(false);
