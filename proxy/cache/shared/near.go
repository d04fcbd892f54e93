package shared

import (
	"container/list"
	"sync"

	"reprise/store"
)

// nearOverhead is about what an answer of the near-cache takes beside its bytes.
const nearOverhead = 600

// near keeps answers that were fetched or stored here, those used last, within a bound in bytes. An answer is under the key of its entry
// alone, and is used for that very entry only: one that was replaced or removed is never found, and its place is freed by the log.
type near struct {
	most int64

	mu    sync.Mutex // protects the rest
	bytes int64
	keys  map[store.Key]*list.Element // of *store.Entry
	order *list.List                  // used last: first
}

func newNear(most int64) *near {
	return &near{most: most, keys: map[store.Key]*list.Element{}, order: list.New()}
}

func nearSize(e *store.Entry) int64 {
	return int64(len(e.Answer)+len(e.Prompt)) + nearOverhead
}

// get returns the answer of known, nil where it is not here.
func (n *near) get(known *store.Entry) *store.Entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.keys[known.Key]
	if at == nil {
		return nil
	}
	e := at.Value.(*store.Entry)
	if !e.AnswerOf(known) {
		return nil
	}
	n.order.MoveToFront(at)
	return e
}

// put keeps the answer of e, in place of another under its key.
func (n *near) put(e *store.Entry) {
	size := nearSize(e)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropLocked(e.Key)
	if size > n.most/8 {
		return
	}
	n.keys[e.Key] = n.order.PushFront(e)
	n.bytes += size
	for n.bytes > n.most {
		n.dropLocked(n.order.Back().Value.(*store.Entry).Key)
	}
}

// drop removes the answer of a key.
func (n *near) drop(k store.Key) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropLocked(k)
}

func (n *near) dropLocked(k store.Key) {
	if at := n.keys[k]; at != nil {
		n.bytes -= nearSize(at.Value.(*store.Entry))
		n.order.Remove(at)
		delete(n.keys, k)
	}
}

func (n *near) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bytes = 0
	clear(n.keys)
	n.order.Init()
}

func (n *near) stats() (entries int, bytes int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.keys), n.bytes
}
