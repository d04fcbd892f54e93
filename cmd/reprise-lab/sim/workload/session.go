package workload

// course is the settings by which a trace draws sessions from a pool.
type course struct {
	n, capacity int
	gamma       float64 // Zipf exponent of the topics
	repeat      float64 // probability that a session repeats a prior one
	long        float64 // probability that the repeated one is out of the window
	weight      string  // of the candidates for a repeat: W, U or T
	fresh       bool    // a topic's sessions are drawn without replacement, while they last
	swap        int     // sessions from one exchange of two topics' weights to the next; 0 is never
}

// session names one of the pool.
type session struct{ topic, number int }

// past is a session that was drawn before.
type past struct {
	session
	started int // place of its last start
}

// walk is one trace under construction.
type walk struct {
	course
	*random
	pool   *pool
	shares []float64 // weight of each topic
	cum    []float64 // their running sums
	unused [][]int   // sessions of each topic; the next one is the last

	visits   []session
	prior    []past          // in the order of their first use
	place    map[session]int // in prior
	known    []int           // number of prior sessions of each topic
	window   window
	previous int // topic of the last session

	candidates []int     // places in prior, of one call
	chances    []float64 // running sums of their weights
}

// newWalk draws a trace. It continues the random numbers of the pool, in a copy.
func newWalk(r random, p *pool, c course) *walk {
	w := &walk{course: c, random: &r, pool: p, place: map[session]int{}, previous: -1}
	w.window = newWindow(len(p.vectors), c.capacity)
	w.known = make([]int, len(p.sessions))
	w.shares = zipf(len(p.sessions), c.gamma)
	w.cum = sums(w.shares)
	for t, of := range p.sessions {
		w.unused = append(w.unused, make([]int, len(of)))
		for i := range of {
			w.unused[t][i] = i
		}
		w.shuffle(w.unused[t])
	}
	for slot := 1; len(w.window.items) < c.n; slot++ {
		if c.swap > 0 && slot%c.swap == 0 {
			w.exchange(w.below(len(w.shares)), w.below(len(w.shares)))
		}
		w.start(w.choose())
	}
	return w
}

// exchange swaps the weights of two topics.
func (w *walk) exchange(s, t int) {
	w.shares[s], w.shares[t] = w.shares[t], w.shares[s]
	w.cum = sums(w.shares)
}

func (w *walk) choose() session {
	if len(w.prior) > 0 && w.float() < w.repeat {
		long := w.float() < w.long
		if s, ok := w.again(long); ok {
			return s
		}
	}
	return w.draw()
}

// again draws one of the prior sessions.
func (w *walk) again(long bool) (session, bool) {
	w.candidates, w.chances = w.candidates[:0], w.chances[:0]
	total := 0.
	for i := range w.prior {
		p := &w.prior[i]
		if p.topic != w.previous && (p.started < w.window.begin) == long {
			total += w.share(p.topic)
			w.candidates, w.chances = append(w.candidates, i), append(w.chances, total)
		}
	}
	if len(w.candidates) == 0 {
		return session{}, false
	}
	return w.prior[w.candidates[w.pick(w.chances)]].session, true
}

func (w *walk) share(topic int) float64 {
	switch w.weight {
	case "U":
		return 1
	case "T":
		return w.shares[topic] / float64(w.known[topic])
	}
	return w.shares[topic]
}

// draw draws a session of the pool.
func (w *walk) draw() session {
	t := w.pick(w.cum)
	for t == w.previous {
		t = w.pick(w.cum)
	}
	left := w.unused[t]
	if !w.fresh || len(left) == 0 {
		return session{t, w.below(len(w.pool.sessions[t]))}
	}
	w.unused[t] = left[:len(left)-1]
	return session{t, left[len(left)-1]}
}

func (w *walk) start(s session) {
	i, ok := w.place[s]
	if !ok {
		i = len(w.prior)
		w.place[s] = i
		w.prior = append(w.prior, past{session: s})
		w.known[s.topic]++
	}
	w.prior[i].started = len(w.window.items)
	w.previous = s.topic
	w.visits = append(w.visits, s)
	for _, q := range w.pool.sessions[s.topic][s.number] {
		w.window.add(uint64(q.item))
	}
}

// window is the longest end of a trace that holds no more than capacity distinct items.
type window struct {
	begin    int // place of its first request
	capacity int
	distinct int
	counts   []int    // by item
	items    []uint64 // of the whole trace
}

func newWindow(items, capacity int) window {
	return window{counts: make([]int, items), capacity: capacity}
}

func (w *window) add(item uint64) {
	w.items = append(w.items, item)
	if w.counts[item]++; w.counts[item] == 1 {
		w.distinct++
	}
	for ; w.distinct > w.capacity; w.begin++ {
		old := w.items[w.begin]
		if w.counts[old]--; w.counts[old] == 0 {
			w.distinct--
		}
	}
}
