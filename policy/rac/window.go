package rac

import "reprise/policy"

// window is the newest entries by insertion, resident or not.
type window struct {
	size int
	ids  []policy.ID
	next int // where the oldest lies once the window is full
}

// push adds the newest and returns the one that it pushes out, 0 where there is none.
func (w *window) push(id policy.ID) (out policy.ID) {
	if len(w.ids) < w.size {
		w.ids = append(w.ids, id)
		return 0
	}
	if w.size == 0 {
		return 0
	}
	out, w.ids[w.next] = w.ids[w.next], id
	w.next = (w.next + 1) % w.size
	return out
}

// release ranks an entry that has left the window as any other.
func (r *Policy) release(id policy.ID) {
	if e, ok := r.ids.Find(id); ok {
		r.all[e].held = false
		r.rerank(e)
	}
}
