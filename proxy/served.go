package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/cache"
	"reprise/store"
)

// served is an answer from the store, ready to be replayed.
type served struct {
	found  *cache.Hit
	hits   []*cache.Hit // of the items of which the answer is made; nil: it was kept whole
	entry  *store.Entry
	frozen *answer.Frozen
	result Result
	vector []float32 // of the prompt that found it by meaning
	band   int       // of the similarity, as cache.Finding has it
	status cacheStatus
	failed error // errNoMemory: there is no room to unpack it
}

// serve prepares an entry as an answer, which is charged. One that cannot be read is a fault: it is dropped, and the result is nil. So it is
// where the rule of the request allows no answer that calls tools; such an entry has no prompt, and stays.
// Age and rest of life are those of the moment at which the cache found it fresh: read from the clock again they could contradict that.
func (q *request) serve(found *cache.Hit, result Result) (hit *served) {
	s, e := q.s, found.Entry
	noRoom := func() *served { return &served{found: found, entry: e, result: result, failed: errNoMemory} }
	if !q.chargeHit(e.RecordingSize()) {
		return noRoom()
	}
	refused := false
	s.faults.guard("store", func() error {
		raw, err := e.Recording()
		if err != nil {
			return err
		}
		if !q.chargeHit(answer.Unfolded(raw)) {
			hit = noRoom()
			return nil
		}
		frozen, err := s.opts.APIs.Decode(raw)
		if err != nil {
			return err
		}
		refused = !q.rule.ToolCalls && e.Prompt == "" && frozen.Form.Streams != nil && answer.Judge(frozen.Form, frozen.Stream, frozen.Body).ToolCalls
		if refused {
			return nil
		}
		hit = &served{found: found, entry: e, frozen: frozen, result: result,
			status: cacheStatus{result: result, entry: e.ID, age: found.At.Sub(e.Created), ttl: min(e.Expires.Sub(found.At), q.rule.TTL-found.At.Sub(e.Created))}}
		return nil
	})
	if hit == nil && !refused {
		s.faults.degraded(s.cache.Drop(q.http.Context(), e))
	}
	return hit
}

// frozen reads the answer of an entry.
func (s *Server) frozen(ctx context.Context, e *store.Entry) (*answer.Frozen, error) {
	e, err := s.cache.Whole(ctx, e)
	if err != nil {
		return nil, err
	}
	raw, err := e.Recording()
	if err != nil {
		return nil, err
	}
	return s.opts.APIs.Decode(raw)
}

// Answer returns the answer of an entry as a JSON object, with the id and the time that the upstream gave it; a stream of which no object can be
// made, as a JSON string.
func (s *Server) Answer(ctx context.Context, e *store.Entry) ([]byte, error) {
	z, err := s.frozen(ctx, e)
	if err != nil {
		return nil, err
	}
	body, _, err := z.Replay(nil, answer.ReplayOptions{ID: originalID(z), Created: e.Created.Unix()})
	if err != nil {
		return rawjson.AppendQuote(nil, rawjson.View(z.Body)), nil
	}
	return body, nil
}

// fits reports whether z can be replayed in a form, at the cost of that where it is the other one.
func fits(z *answer.Frozen, stream bool) bool {
	return z.Stream == stream || z.Converts()
}

// nonce is a random number for an id: unique, and no secret.
func nonce() (n [12]byte) {
	binary.LittleEndian.PutUint64(n[:], rand.Uint64())
	binary.LittleEndian.PutUint32(n[8:], rand.Uint32())
	return n
}

// originalID is the id that the upstream gave an answer, "" for one without. It may be a part of the answer.
func originalID(z *answer.Frozen) string {
	for _, slot := range z.Slots {
		if slot.Kind == answer.SlotID {
			return gjson.Parse(rawjson.View(z.Body[slot.Off : slot.Off+slot.Len])).String()
		}
	}
	return ""
}

// nameOf is the key under which the store finds the answer that the upstream has given an id, for a tenant.
func nameOf(tenant, id string) store.Key {
	return sha256.Sum256(appendText(appendText([]byte("id of an answer"), tenant), id))
}

// deleted removes the answer that a tenant deletes at the upstream, by its id or that of a replay in path, which names the original by now.
// What the upstream then says does not matter: a client that has deleted an answer is not to get it again.
func (s *Server) deleted(ctx context.Context, tenant, path string) {
	path = strings.TrimRight(path, "/") // as upstreams read it
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return
	}
	id, err := url.PathUnescape(path[at+1:])
	if f := s.opts.APIs.ByPath(path[:at]); err != nil || f == nil || f.Handles == nil {
		return
	}
	name := nameOf(tenant, id)
	s.gone.add(name, s.opts.Now()) // first: keep looks there last
	if e, _, ok := s.opts.Store.Lookup(name); ok {
		s.faults.degraded(s.cache.Drop(ctx, e))
	}
}

// recent are the keys that were noted last, and when.
type recent struct {
	mu   sync.Mutex // guards what follows
	last [256]struct {
		key store.Key
		at  time.Time
	}
	next int // the place of the next one
}

// add notes a key. One that is noted already takes no other place.
func (r *recent) add(key store.Key, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.placeLocked(key)
	if i < 0 {
		i, r.next = r.next, (r.next+1)%len(r.last)
	}
	r.last[i].key, r.last[i].at = key, at
}

// since reports whether a key was noted at a time or later. The zero key never is.
func (r *recent) since(key store.Key, at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.placeLocked(key)
	return i >= 0 && key != (store.Key{}) && !r.last[i].at.Before(at)
}

func (r *recent) placeLocked(key store.Key) int {
	for i := range r.last {
		if r.last[i].key == key {
			return i
		}
	}
	return -1
}

// values are the values of a header field that has few, made once.
type values map[string][]string

var contentTypes = values{"application/json": {"application/json"}, "text/event-stream; charset=utf-8": {"text/event-stream; charset=utf-8"},
	"text/event-stream": {"text/event-stream"}}

// of is the list with value alone, which must not be changed.
func (v values) of(value string) []string {
	if list, ok := v[value]; ok {
		return list
	}
	return []string{value}
}

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }

func hexOf(h [32]byte) string { return hex.EncodeToString(h[:]) }

// replayBuffers lends the buffers in which replays are put together.
var replayBuffers bufferLender

// bufferLender is a pool of buffers that drops the large ones.
type bufferLender struct{ pool sync.Pool }

func (l *bufferLender) get() *[]byte {
	if b, ok := l.pool.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

func (l *bufferLender) put(b *[]byte) {
	if cap(*b) <= 64<<10 {
		l.pool.Put(b)
	}
}
