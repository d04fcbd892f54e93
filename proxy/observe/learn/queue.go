package learn

import "sync"

// queue runs pairs one after another, in a goroutine that exists only while there are some.
type queue struct {
	run  func(*Pair) // drops the pair in the end; it must not panic
	drop func(*Pair)
	most int // that wait
	work *sync.WaitGroup

	mu      sync.Mutex // guards what follows
	waiting []*Pair
	busy    bool // a goroutine runs
	closed  bool
}

// add puts p at the end, and reports whether there was room for it.
func (q *queue) add(p *Pair) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.waiting) >= q.most {
		return false
	}
	q.waiting = append(q.waiting, p)
	if !q.busy {
		q.busy = true
		q.work.Go(q.drain)
	}
	return true
}

func (q *queue) drain() {
	for {
		p := q.next()
		if p == nil {
			return
		}
		q.run(p)
	}
}

// next takes the first pair; nil: there is none, and the goroutine ends.
func (q *queue) next() *Pair {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.busy, q.waiting = false, nil
		return nil
	}
	p := q.waiting[0]
	q.waiting[0] = nil
	q.waiting = q.waiting[1:]
	return p
}

// close drops what waits; nothing is taken from now on.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, p := range q.waiting {
		q.drop(p)
	}
	q.waiting, q.closed = nil, true
}
