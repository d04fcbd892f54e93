package shared

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/store"
)

// history is a random one of requests, purges and faults at some members. What it observes is checked against two rules: a purge is never
// undone, and a replaced answer never returns.
type history struct {
	t       *testing.T
	s       *server // nil: a real one
	members []*member
	names   []string
	hot     bool // few keys, and many answers to each; otherwise most requests are for answers that stay
	grace   time.Duration
	slack   time.Duration // by which clocks may differ
	left    atomic.Int64  // operations to come
	stamps  atomic.Int64  // order of what was observed: the end of one thing is before the start of another, or they overlap

	mu      sync.Mutex // protects the rest
	puts    map[string]*put
	gets    []get
	purged  []*purgeOp
	ended   []map[string]place // of the histories of the server that a flush or a failover has ended
	counted map[string]int
}

// put is one answer.
type put struct {
	name    string
	member  int
	asked   int64     // stamp of the arrival of its request
	expires time.Time // zero: it was not kept
	logged  int64     // stamp of when it was first appended; 0: never
}

// get is an answer that a member has served, or has stored.
type get struct {
	name, answer string
	member       int
	start, end   int64
	at           time.Time
	history      int // of the server
	stored       bool
}

// purgeOp is a purge that has returned without an error.
type purgeOp struct {
	model      string // "": of everything
	member     int
	start, end int64
	holds      time.Time // from when; where it was lost and repeated since
	lost       int64     // stamp of when the server lost it; 0: it has it
}

func (p *purgeOp) names(v *put) bool { return p.model == "" || p.model == v.name[:1] }

func newHistory(t *testing.T, s *server, all []*member, hot bool) *history {
	h := &history{t: t, s: s, members: all, hot: hot, grace: time.Second, slack: 20 * time.Millisecond, puts: map[string]*put{}, counted: map[string]int{}}
	keys := 16
	if hot {
		keys = 3
	}
	for _, model := range "abc" {
		for n := range keys {
			h.names = append(h.names, fmt.Sprintf("%c%d", model, n))
		}
	}
	if s != nil {
		s.observe = h.observe
	}
	return h
}

func (h *history) stamp() int64 { return h.stamps.Add(1) }

// observe follows what the server does, under its lock.
func (h *history) observe(what any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.stamp()
	switch what := what.(type) {
	case string:
		if v := h.puts[what]; v != nil && v.logged == 0 {
			v.logged = now
		}
	case store.Filter:
		for _, p := range h.purged {
			if p.lost != 0 && p.model == what.Model {
				p.lost, p.holds = 0, time.Now().Add(h.grace)
			}
		}
	case *data: // all of it counts as lost; what the older copy has is repeated, too
		if what != nil {
			h.ended = append(h.ended, what.places)
		} else {
			h.ended = append(h.ended, map[string]place{})
		}
		for _, p := range h.purged {
			p.lost = now
		}
	}
}

// run plays n operations by some clients of each member.
func (h *history) run(n int, seed uint64, pause time.Duration, fault func(*rand.Rand)) {
	h.left.Store(int64(n))
	var clients sync.WaitGroup
	for m := range h.members {
		for c := range 2 {
			rng := rand.New(rand.NewPCG(seed, uint64(10*m+c)))
			clients.Go(func() {
				for h.left.Add(-1) >= 0 {
					h.step(m, rng)
					time.Sleep(time.Duration(rng.Int64N(int64(2 * pause))))
				}
			})
		}
	}
	stop := make(chan struct{})
	var faults sync.WaitGroup
	faults.Go(func() {
		rng := rand.New(rand.NewPCG(seed, 99))
		for {
			select {
			case <-stop:
				return
			case <-time.After(pause * time.Duration(10+rng.IntN(100))):
				fault(rng)
			}
		}
	})
	clients.Wait()
	close(stop)
	faults.Wait()
}

func (h *history) count(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counted[what]++
}

func (h *history) step(m int, rng *rand.Rand) {
	name := h.names[min(rng.IntN(len(h.names)), rng.IntN(len(h.names)))]
	gets := 880
	if h.hot {
		gets = 550
	}
	switch n := rng.IntN(1000); {
	case n < gets:
		h.get(m, name)
	case n < 940:
		h.put(m, name, rng)
	case n < 950:
		h.count("evict")
		if e, _, _ := h.lookup(m, name); e != nil {
			h.members[m].cache.Drop(h.t.Context(), e)
		}
	case n < 953:
		h.purge(m, name[:1])
	case n < 954 && rng.IntN(4) == 0:
		h.purge(m, "")
	default:
		h.get(m, name)
	}
}

func (h *history) lookup(m int, name string) (*store.Entry, bool, error) {
	hit, _, err := h.members[m].cache.Lookup(h.t.Context(), h.members[m].request(name))
	if hit == nil {
		return nil, false, err
	}
	return hit.Entry, true, err
}

func (h *history) get(m int, name string) {
	at, start := time.Now(), h.stamp()
	h.mu.Lock()
	history := len(h.ended)
	h.mu.Unlock()
	answer := h.members[m].get(name)
	h.noteGet(get{name: name, answer: answer, member: m, start: start, end: h.stamp(), at: at, history: history})
}

func (h *history) noteGet(g get) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case g.answer == "":
		h.counted["miss"]++
		return
	case !g.stored:
		h.counted["hit"]++
	}
	h.gets = append(h.gets, g)
}

func (h *history) put(m int, name string, rng *rand.Rand) {
	asked := h.stamp()
	q := h.members[m].request(name)
	if rng.IntN(4) == 0 {
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond) // the upstream is slow
	}
	ttl := time.Hour
	if rng.IntN(10) == 0 {
		ttl = time.Duration(1+rng.IntN(300)) * time.Millisecond
	}
	answer := fmt.Sprintf("%s#%d", name, asked)
	v := &put{name: name, member: m, asked: asked, expires: h.members[m].Now().Add(ttl)}
	h.mu.Lock()
	h.puts[answer] = v
	history := len(h.ended)
	h.mu.Unlock()
	at, start := time.Now(), h.stamp()
	if reason := h.members[m].keepUntil(q, name, answer, v.expires); reason != "" {
		h.count("put " + reason)
		return
	}
	h.count("put")
	h.noteGet(get{name: name, answer: answer, member: m, start: start, end: h.stamp(), at: at, history: history, stored: true})
}

func (h *history) purge(m int, model string) {
	p := &purgeOp{model: model, member: m, start: h.stamp()}
	h.mu.Lock()
	history := len(h.ended)
	h.mu.Unlock()
	if err := h.members[m].purge(store.Filter{Model: model}); err != nil {
		h.count("purge unconfirmed")
		return
	}
	h.count("purge")
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.end = h.stamp(); history == len(h.ended) { // else it may be lost already
		h.purged = append(h.purged, p)
	}
}

// check returns what breaks a rule. places are those of the history of the server that has not ended.
func (h *history) check(places map[string]place) (broken []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := append(slices.Clone(h.ended), places)
	for i := range h.gets {
		g := &h.gets[i]
		v := h.puts[g.answer]
		if v == nil || v.name != g.name {
			broken = append(broken, fmt.Sprintf("%q is answered by %q", g.name, g.answer))
			continue
		}
		if !g.stored && g.at.Sub(v.expires) > h.slack { // the clocks differ
			broken = append(broken, fmt.Sprintf("member %d serves %q after its time", g.member, g.answer))
		}
		if !g.stored {
			broken = append(broken, h.checkPurges(g, v)...)
		}
	}
	return append(broken, h.checkOrder(all)...)
}

// checkPurges finds purges that g has undone. An answer that has never left the member may be unknown to a purge of another one.
func (h *history) checkPurges(g *get, v *put) (broken []string) {
	for _, p := range h.purged {
		switch {
		case !p.names(v) || v.asked > p.start || g.start < p.end:
		case p.lost != 0 && g.end > p.lost, !p.holds.IsZero() && !g.at.After(p.holds):
		case p.member != g.member && v.member == g.member && (v.logged == 0 || v.logged > g.start):
		default:
			broken = append(broken, fmt.Sprintf("member %d serves %q of member %d at %d, asked for at %d and appended at %d, after the purge of %q by member %d from %d to %d",
				g.member, g.answer, v.member, g.start, v.asked, v.logged, p.model, p.member, p.start, p.end))
		}
	}
	return broken
}

// checkOrder finds answers that returned: at one member after a later one, or anywhere when a later one was in the log for longer than the
// grace.
func (h *history) checkOrder(histories []map[string]place) (broken []string) {
	type of struct {
		name    string
		member  int
		history int
	}
	byMember := map[of][]get{}
	for _, g := range h.gets {
		k := of{g.name, g.member, g.history}
		byMember[k] = append(byMember[k], g)
	}
	for k, gets := range byMember {
		broken = append(broken, returned(gets, histories[k.history])...)
	}
	for i, places := range histories {
		broken = append(broken, h.stale(i, places)...)
	}
	return broken
}

// returned finds answers of one member and key that are older than one before.
func returned(gets []get, places map[string]place) (broken []string) {
	ends := slices.Clone(gets)
	slices.SortFunc(ends, func(a, b get) int { return int(a.end - b.end) })
	slices.SortFunc(gets, func(a, b get) int { return int(a.start - b.start) })
	newest := get{}
	for _, g := range gets {
		for len(ends) > 0 && ends[0].end < g.start {
			if one := places[ends[0].answer]; one.n > places[newest.answer].n {
				newest = ends[0]
			}
			ends = ends[1:]
		}
		if now, ok := places[g.answer]; ok && now.n < places[newest.answer].n {
			broken = append(broken, fmt.Sprintf("member %d: %q at %d, after %q at %d", g.member, g.answer, g.start, newest.answer, newest.start))
		}
	}
	return broken
}

// stale finds answers that are served when a later one was in the log for longer than the grace.
func (h *history) stale(history int, places map[string]place) (broken []string) {
	type version struct {
		answer string
		place
	}
	versions := map[string][]version{}
	for answer, p := range places {
		name, _, _ := strings.Cut(answer, "#")
		versions[name] = append(versions[name], version{answer, p})
	}
	next := map[string]place{}
	for _, all := range versions {
		slices.SortFunc(all, func(a, b version) int { return int(a.n) - int(b.n) })
		for i := range len(all) - 1 {
			next[all[i].answer] = all[i+1].place
		}
	}
	for _, g := range h.gets {
		if later, ok := next[g.answer]; ok && !g.stored && g.history == history && g.at.Sub(later.at) > h.grace {
			broken = append(broken, fmt.Sprintf("member %d serves %q %v after a later one was appended", g.member, g.answer, g.at.Sub(later.at)))
		}
	}
	return broken
}

// disturb makes one random fault for some time.
func (h *history) disturb(rng *rand.Rand, copies *[]*data) {
	some := func(d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }
	m := h.members[rng.IntN(len(h.members))]
	switch n := rng.IntN(100); {
	case n < 15:
		h.faulty(m, "hold", 0, time.Second+some(6*time.Second))
	case n < 30:
		h.faulty(m, "refuse", 0, time.Second+some(6*time.Second))
	case n < 40:
		h.faulty(m, "lose", 0, some(2*time.Second))
	case n < 50:
		h.faulty(m, "", 1+some(100*time.Millisecond), some(2*time.Second))
	case n < 60:
		h.faulty(m, "", 1+some(2*time.Second), some(4*time.Second))
	case n < 70:
		kinds := []string{"log", "write", "fetch"}
		m.link.setOnly(kinds[rng.IntN(len(kinds))], "", 1+some(time.Second))
		time.Sleep(time.Second + some(4*time.Second))
		m.link.set("", 0)
	case n < 76:
		h.count("full")
		h.s.setFull(true)
		time.Sleep(some(time.Second))
		h.s.setFull(false)
	case n < 90:
		*copies = append(*copies, h.s.copy())
	case n < 94 && len(*copies) > 0:
		h.count("failover")
		h.s.failover((*copies)[len(*copies)-1])
		*copies = nil
	case n < 96:
		h.count("flush")
		*copies = nil
		h.s.flush()
	}
}

func (h *history) faulty(m *member, fault string, delay, last time.Duration) {
	h.count("fault " + fault)
	m.link.set(fault, delay)
	time.Sleep(last)
	m.link.set("", 0)
}

func (s *server) setFull(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

const (
	histories  = 20
	operations = 10_000
)

// TestHistories: random histories of put, get, replace, purge, evict and expire at three members, with partitions, delays, lost replies,
// a full server, failovers to an older copy and a flush.
func TestHistories(t *testing.T) {
	for seed := range uint64(histories) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) { playHistory(t, seed) })
		})
	}
}

func playHistory(t *testing.T, seed uint64) {
	s := newServer()
	hot := seed%2 == 1
	all := members(t, s, 3, func(o *Options) {
		if o.Limit.Entries = 30; hot {
			o.Limit.Entries = 7
		}
	})
	for i, m := range all {
		m.link.rng = rand.New(rand.NewPCG(seed, uint64(50+i)))
	}
	h := newHistory(t, s, all, hot)
	var copies []*data
	pause := 20 * time.Millisecond
	if hot {
		pause = 5 * time.Millisecond
	}
	h.run(operations, seed, pause, func(rng *rand.Rand) { h.disturb(rng, &copies) })
	settle()
	s.mu.Lock()
	places := s.data.places
	s.mu.Unlock()
	broken := h.check(places)
	for i, b := range broken {
		if i < 5 {
			t.Error(b)
		}
	}
	if len(broken) > 0 {
		t.Errorf("%d in all", len(broken))
	}
	t.Log(h.counted)
	for _, m := range all {
		t.Logf("%+v", m.Stats())
	}
}
