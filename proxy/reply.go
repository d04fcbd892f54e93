package proxy

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"

	"github.com/tidwall/gjson"

	"reprise/policy"
	"reprise/proxy/answer"
	"reprise/store"
)

// served is an answer from the store, ready to be replayed.
type served struct {
	entry  *store.Entry
	frozen *answer.Frozen
	result Result
	vector []float32 // of the prompt that found it by meaning
	status cacheStatus
}

// serve prepares e as an answer to q. An entry that cannot be read is a fault: it is dropped, and the result is nil.
func (s *Server) serve(q *query, e *store.Entry, result Result) (hit *served) {
	s.guarded("store", func() error {
		raw, err := e.Recording()
		if err != nil {
			return err
		}
		frozen, err := s.opts.APIs.Decode(raw)
		if err != nil {
			return err
		}
		now := s.opts.Now()
		hit = &served{entry: e, frozen: frozen, result: result,
			status: cacheStatus{result: result, entry: e.ID, age: now.Sub(e.Created), ttl: e.Expires.Sub(now)}}
		return nil
	})
	if hit == nil {
		s.cache.Drop(e.ID)
	}
	return hit
}

// replyHit replays h to q's client, in the form that it asked for.
func (s *Server) replyHit(w http.ResponseWriter, q *query, h *served) error {
	err := s.replay(w, q, h.frozen, &h.status)
	if err == nil {
		s.metrics.saved(h)
		s.touch(q, h.entry, h.vector)
	}
	return err
}

// replayError says that an answer could not be put into the form asked for. Nothing has been written yet.
type replayError struct {
	entry policy.ID
	err   error
}

func (e *replayError) Error() string {
	return "replay entry " + utoa(uint64(e.entry)) + ": " + e.err.Error()
}
func (e *replayError) Unwrap() error { return e.err }

// replay writes a finished answer with an id and a time of its own.
func (s *Server) replay(w http.ResponseWriter, q *query, z *answer.Frozen, t *cacheStatus) error {
	buf := replayBuffers.get()
	defer replayBuffers.put(buf)
	body, contentType, err := z.Replay((*buf)[:0], s.replayOptions(q, z))
	if err != nil {
		return &replayError{t.entry, err}
	}
	*buf = body
	h := w.Header()
	h["Content-Type"] = []string{contentType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	t.write(h)
	w.WriteHeader(http.StatusOK)
	w.Write(body) // a client that has left is nobody's fault
	return nil
}

func (s *Server) replayOptions(q *query, z *answer.Frozen) answer.ReplayOptions {
	var random [12]byte
	rand.Read(random[:])
	return answer.ReplayOptions{ID: q.family.ReplayID(random, originalID(z)), Created: s.opts.Now().Unix(),
		Stream: q.Stream, IncludeUsage: q.IncludeUsage}
}

// originalID is the id that the upstream gave an answer, "" for one without.
func originalID(z *answer.Frozen) string {
	for _, slot := range z.Slots {
		if slot.Kind == answer.SlotID {
			return gjson.ParseBytes(z.Body[slot.Off : slot.Off+slot.Len]).String()
		}
	}
	return ""
}

// Answer is the answer of an entry as a JSON object, with the id and the time of the upstream's.
func (s *Server) Answer(e *store.Entry) ([]byte, error) {
	raw, err := e.Recording()
	if err != nil {
		return nil, err
	}
	z, err := s.opts.APIs.Decode(raw)
	if err != nil {
		return nil, err
	}
	body, _, err := z.Replay(nil, answer.ReplayOptions{ID: originalID(z), Created: e.Created.Unix()})
	return body, err
}

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }

func hexOf(h [32]byte) string { return hex.EncodeToString(h[:]) }

// replayBuffers lends the buffers in which replays are put together.
var replayBuffers bufferLender

// bufferLender is a pool of buffers that forgets the large ones.
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
