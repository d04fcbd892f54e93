package align

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"reprise/proxy/observe"
	"reprise/proxy/upstream/prefix"
	"reprise/store"
)

// limits bound what a Watch keeps.
type limits struct {
	apps  int // applications, of which the least recently seen goes
	head  int // bytes of a prompt that are kept as text, the rest as hashes
	bytes int // of all applications in memory, most of them texts
}

var defaultLimits = limits{apps: 256, head: 64 << 10, bytes: 16 << 20}

// Watch observes requests and reports what keeps them from sharing KV blocks. It is safe for concurrent use.
type Watch struct {
	limits limits
	now    func() time.Time
	seed   maphash.Seed
	clock  atomic.Int64
	bytes  atomic.Int64
	totals totals

	segments sync.Pool // of *[]Segment

	mu      sync.RWMutex // protects what follows
	apps    map[App]*app
	emptied time.Time // by the last purge of more than one entry; zero: there was none
}

// NewWatch returns a Watch that has observed nothing. It takes 16 MiB of memory at most, or the bytes given where these are fewer and above 0; now
// is the clock.
func NewWatch(bytes int64, now func() time.Time) *Watch {
	l := defaultLimits
	if bytes > 0 {
		l.bytes = int(min(bytes, int64(l.bytes)))
	}
	return &Watch{limits: l, now: now, seed: maphash.MakeSeed(), apps: map[App]*app{}, segments: sync.Pool{New: func() any { return new([]Segment) }}}
}

// maxName is the longest member of an App in bytes; requests with longer ones are not observed.
const maxName = 256

// observe compares a request that was forwarded with the latest of its application, and keeps it in their place. Segments are
// in the order of an engine's template: tools, system, messages; nothing of them is referred to later. It costs some microseconds for a
// prompt of 4 KB, most of which are spent on hashes and on the copy of the text, and does not allocate once an application has been seen
// a few times. It never waits: while another request of the same application is compared, this one is only counted.
func (w *Watch) observe(came observe.Stamp, name App, segments []Segment) {
	if len(segments) == 0 || max(len(name.Tenant), len(name.Model), len(name.Path), len(name.Namespace)) > maxName {
		return
	}
	a := w.app(came, name)
	if a == nil {
		return
	}
	a.requests.Add(1)
	if !a.mu.TryLock() {
		return
	}
	grown := 0
	if !came.Stale() {
		grown = a.observe(segments, w.limits.head, &w.totals)
	}
	a.mu.Unlock()
	if grown != 0 && w.bytes.Add(int64(grown)) > int64(w.limits.bytes) {
		w.shrink(a)
	}
}

// app returns the application, a new one where it has not been seen; nil where that would be one of before a purge.
func (w *Watch) app(came observe.Stamp, name App) *app {
	w.mu.RLock()
	a := w.apps[name]
	w.mu.RUnlock()
	if a == nil {
		if a = w.add(came, name); a == nil {
			return nil
		}
	}
	a.seen.Store(w.clock.Add(1))
	return a
}

func (w *Watch) add(came observe.Stamp, name App) *app {
	name = App{strings.Clone(name.Tenant), strings.Clone(name.Model), strings.Clone(name.Path), strings.Clone(name.Namespace)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if a := w.apps[name]; a != nil {
		return a
	}
	if came.Stale() {
		return nil
	}
	if len(w.apps) >= w.limits.apps {
		w.dropLocked(nil)
	}
	a := &app{name: name, seed: w.seed}
	a.seen.Store(w.clock.Add(1))
	w.apps[name] = a
	return a
}

// shrink drops applications until the others fit, but never the last one or keep.
func (w *Watch) shrink(keep *app) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.bytes.Load() > int64(w.limits.bytes) && len(w.apps) > 1 {
		w.dropLocked(keep)
	}
}

// dropLocked drops the application that was not seen for the longest time, other than keep.
func (w *Watch) dropLocked(keep *app) {
	var oldest *app
	for _, a := range w.apps {
		if a != keep && (oldest == nil || a.seen.Load() < oldest.seen.Load()) {
			oldest = a
		}
	}
	if oldest != nil {
		w.bytes.Add(-int64(oldest.end()))
		delete(w.apps, oldest.name)
	}
}

// Ended compares what was sent to an upstream that keeps prefixes.
func (w *Watch) Ended(o *observe.Outcome) {
	if len(o.Segments) == 0 {
		return
	}
	buf := w.segments.Get().(*[]Segment)
	all := (*buf)[:0]
	for _, s := range o.Segments {
		all = append(all, Segment{Kind: prefix.Kind(s.Kind), Text: s.Of(o.Body)})
	}
	w.observe(o.Came, App{Tenant: o.Tenant, Model: o.Model, Path: o.Route, Namespace: o.Namespace}, all)
	clear(all)
	*buf = all
	w.segments.Put(buf)
}

// Forget drops all applications with their texts and figures, but not the totals. For a purge of one entry it drops the texts, and the hashes
// of what prompts began with, alone: a look at one wrong answer must not cost the figures of the last hour.
func (w *Watch) Forget(f store.Filter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.apps {
		if f.Entry != 0 {
			w.bytes.Add(-int64(a.forget()))
		} else {
			w.bytes.Add(-int64(a.end()))
		}
	}
	if f.Entry == 0 {
		clear(w.apps)
		w.emptied = w.now().UTC()
	}
}

// slots is how many prompts of an application are kept: conversations of one application interleave.
const slots = 8

// app is one application.
type app struct {
	name     App
	seed     maphash.Seed
	seen     atomic.Int64 // by the clock of the Watch
	requests atomic.Int64

	mu      sync.Mutex // protects what follows
	ended   bool       // it was dropped, and must not grow
	counted int        // its bytes, as they were added to those of the Watch
	clock   int64
	latest  [slots]prompt
	next    prompt             // the memory of the next one
	heads   []head             // of the last one
	sent    [beginnings]uint32 // the upper halves of hashes of beginnings of requests, in buckets by the lowest bits
	figures figures
}

// beginnings is how many beginnings of requests are remembered by their hashes, a power of two. A request that begins like one that is
// older than the latest has lost nothing of that: an engine holds more than a few prompts.
const beginnings = 4096

// end ends the application and returns its bytes.
func (a *app) end() (size int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	size, a.counted = a.counted, 0
	a.ended, a.latest, a.next, a.heads = true, [slots]prompt{}, prompt{}, nil
	return size
}

// forget forgets what requests had, and returns by how many bytes the application has shrunk.
func (a *app) forget() (shrunk int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.counted
	a.latest, a.next, a.heads, a.sent = [slots]prompt{}, prompt{}, nil, [beginnings]uint32{}
	if before > 0 { // else it is new, and its first request adds all of it
		a.counted = a.size()
	}
	return before - a.counted
}

// size is the memory of the application.
func (a *app) size() int {
	size := int(unsafe.Sizeof(*a)) + a.next.size() + cap(a.heads)*headBytes
	for i := range a.latest {
		size += a.latest[i].size()
	}
	return size
}

// observe compares a request with the latest prompts and keeps it, with at most limit bytes of text, and returns by how much the
// application has grown.
func (a *app) observe(segments []Segment, limit int, t *totals) (grown int) {
	if a.ended {
		return 0
	}
	before := a.counted
	a.clock++
	p := &a.next
	a.heads = p.read(a.seed, segments, limit, a.heads)
	p.used = a.clock
	to := a.compare(p, t)
	a.remember()
	*to, *p = *p, *to
	a.counted = a.size()
	return a.counted - before
}

// compare finds where p parts from the latest prompts, and returns the one that it replaces.
func (a *app) compare(p *prompt, t *totals) *prompt {
	reach := a.reach()
	oldest, best, most, full := &a.latest[0], (*prompt)(nil), -1, false
	for i := range a.latest {
		q := &a.latest[i]
		if q.used < oldest.used {
			oldest = q
		}
		if q.used == 0 || len(p.kind(prefix.System)) != len(q.kind(prefix.System)) { // another kind of prompt, such as that of another agent
			continue
		}
		shared, equal, end := p.common(q)
		reach = max(reach, shared)
		if end && (!full || equal > most) || !full && (equal > most || equal == most && q.used > best.used) {
			best, most, full = q, equal, full || end
		}
	}
	switch {
	case best == nil:
		return oldest
	case full: // p goes on where best ends, or the reverse
		a.figures.count(p, nil, t)
		return best
	}
	w := walk{p: p, q: best, reach: reach, seed: a.seed}
	w.run()
	a.figures.count(p, &w, t)
	if w.messages > 0 { // an earlier turn of the same conversation
		return best
	}
	return oldest
}

// reach is how many bytes of the next prompt some earlier request has begun with.
func (a *app) reach() (bytes int) {
	for _, h := range a.heads {
		if !slices.Contains(a.bucket(h.hash), uint32(h.hash>>32)) {
			break
		}
		bytes = h.end
	}
	return bytes
}

// remember adds the beginnings of the next prompt, each in the place of that of its bucket which was not used for the longest time.
func (a *app) remember() {
	for _, h := range a.heads {
		b := a.bucket(h.hash)
		i := slices.Index(b, uint32(h.hash>>32))
		if i < 0 {
			i = len(b) - 1
		}
		copy(b[1:i+1], b[:i])
		b[0] = uint32(h.hash >> 32)
	}
}

// bucket is the entries of sent among which a hash may be, the one that was used last first.
func (a *app) bucket(hash uint64) []uint32 {
	const size = 8
	return a.sent[hash%(beginnings/size)*size:][:size]
}

// mix chains a hash to those before it.
func mix(chain, hash uint64) uint64 {
	chain = (chain ^ hash) * 0x9e3779b97f4a7c15
	return chain ^ chain>>29
}

// kinds is one more than the highest prefix.Kind.
const kinds = int(prefix.Message) + 1
