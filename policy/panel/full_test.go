package panel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/internal/policytest"
	"reprise/policy"
	"reprise/policy/classic"
)

// keepFirst refuses whatever does not fit: its victim is the newest.
type keepFirst struct{ ids []policy.ID }

func (k *keepFirst) Insert(it policy.Item, _ policy.Tick) { k.ids = append(k.ids, it.ID) }
func (k *keepFirst) Hit(policy.ID, policy.Tick)           {}
func (k *keepFirst) Victim() (policy.ID, bool) {
	if len(k.ids) == 0 {
		return 0, false
	}
	return k.ids[len(k.ids)-1], true
}
func (k *keepFirst) Remove(id policy.ID, _ policy.Reason) {
	for i, x := range k.ids {
		if x == id {
			k.ids = append(k.ids[:i:i], k.ids[i+1:]...)
		}
	}
}

// countedLRU is LRU, and counts its residents.
type countedLRU struct {
	classic.LRU
	residents map[policy.ID]bool
}

func (l *countedLRU) Insert(it policy.Item, at policy.Tick) {
	l.residents[it.ID] = true
	l.LRU.Insert(it, at)
}

func (l *countedLRU) Remove(id policy.ID, why policy.Reason) {
	delete(l.residents, id)
	l.LRU.Remove(id, why)
}

var (
	lruSpec    = policy.Spec{Name: "lru", New: func(policy.Args) policy.Evictor { return &countedLRU{residents: map[policy.ID]bool{}} }}
	keepSpec   = policy.Spec{Name: "keep", New: func(policy.Args) policy.Evictor { return &keepFirst{} }}
	twoMembers = [2]member{{"a", &lruSpec, "", ""}, {"b", &keepSpec, "", ""}}
)

func panelArgs(t *testing.T, o policy.Options, params string) policy.Args {
	t.Helper()
	a, err := Spec.Args(o, params)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// sets is the state string of a panel: which experts hold which entries, with a * on those not resident.
func (p *full) sets() string {
	var all []string
	for key := uint64(1); key < 100; key++ {
		e, ok := p.slots.Find(key)
		if !ok {
			continue
		}
		s := fmt.Sprint(key, ":")
		for x := range p.holders(e) {
			s += x.name
		}
		if p.at(e).id == 0 {
			s += "*"
		}
		all = append(all, strings.ReplaceAll(s, " ", ""))
	}
	return strings.Join(all, " ")
}

// TestRACPlusVotes: expert a is LRU, b keeps what it had first, both of two entries.
func TestRACPlusVotes(t *testing.T) {
	for _, c := range []struct{ script, sets, victims string }{
		{"+1 +2", "1:ab 2:ab", "[1 2]"},
		{"+1 +2 +3", "1:b 2:ab 3:a", "[1 3 2]"},                 // a tie of 1 and 3: the older
		{"+1 +2 +3 h1", "1:ab 2:b 3:a", "[2 3 1]"},              // a hit for b alone is no change of the leader
		{"+1 +2 +3 h3", "1:b 2:ab 3:a", "[1 3 2]"},              // and for a
		{"+1 +2 +3 +4", "1:b 2:b 3:a 4:a", "[1 2 3 4]"},         // all tie
		{"+1 +2 +3 +4 +5", "1:b 2:b 3: 4:a 5:a", "[3 1 2 4 5]"}, // no expert holds 3
		{"+1 +2 -1 +3", "2:ab 3:ab", "[2 3]"},                   // a purge is one everywhere
		{"+1 +2 +3 -2", "1:b 3:a", "[1 3]"},
	} {
		p := newFull(panelArgs(t, policy.Options{Capacity: 2}, ""), twoMembers)
		policytest.PlayScript(t, p, c.script)
		if got := p.sets(); got != c.sets {
			t.Errorf("%q: held %s, want %s", c.script, got, c.sets)
		}
		checkPanel(t, p)
		if got := policytest.Drain(p); got != c.victims {
			t.Errorf("%q: victims %s, want %s", c.script, got, c.victims)
		}
		checkPanel(t, p)
	}
}

// TestRACPlusIdentities: what returns after its eviction is a hit in the shadows that hold it.
func TestRACPlusIdentities(t *testing.T) {
	p := newFull(panelArgs(t, policy.Options{Capacity: 2}, ""), twoMembers)
	policytest.PlayScript(t, p, "+1 +2 +3")
	if id, _ := p.Victim(); id != 1 {
		t.Fatalf("victim %d, want 1", id)
	}
	p.Remove(1, policy.Evicted)
	if got, want := p.sets(), "1:b* 2:ab 3:a"; got != want {
		t.Fatalf("evicted: %s, want %s", got, want)
	}
	p.Insert(policy.Item{ID: 9, Key: 1}, policy.Tick{Seq: 5})
	if got, want := p.sets(), "1:ab 2:b 3:a"; got != want {
		t.Errorf("returned: %s, want %s", got, want)
	}
	if a, b := p.experts[0].hits, p.experts[1].hits; a != 0 || b != 1 {
		t.Errorf("hits %v and %v, want 0 and 1", a, b)
	}
	p.Insert(policy.Item{ID: 10, Key: 1}, policy.Tick{Seq: 6}) // a second resident of this identity: the older one goes first
	if id, _ := p.Victim(); id != 9 {
		t.Errorf("victim %d, want 9, which no request can reach any more", id)
	}
}

// TestLazy: the leader changes when the other is ahead by more than a change costs, and what was before it was last behind does not count.
func TestLazy(t *testing.T) {
	experts, missing := []expert{{name: "a"}, {name: "b"}}, 10
	l := lazy{factor: 1.2}
	play := func(n int, set uint16) (changed bool) {
		for i := range n {
			l.note(7, 1, set)
			changed = l.choose(int64(i), experts, missing) || changed
		}
		return changed
	}
	play(1000, 0b01) // a long lead of the leader is no credit
	play(1000, 0b11)
	if play(15, 0b10) {
		t.Error("b leads with 15 hits, of 10 entries that are missing and 3 more")
	}
	play(5, 0b01)
	if play(5, 0b10) {
		t.Error("b leads without the 16th hit")
	}
	if !play(1, 0b10) || l.leader != 1 {
		t.Errorf("%d leads after the 16th hit, want b", l.leader)
	}
	if want := (policy.Change{At: 7, From: "a", To: "b", Ahead: 16, Needed: 15}); l.changed != 1 || l.changes[0] != want {
		t.Errorf("%d changes, %+v, want %+v", l.changed, l.changes, want)
	}
	if l.led[0] != 2026 || l.led[1] != 0 {
		t.Errorf("a led during 2026 requests, counted are %v", l.led)
	}
	missing = 100
	if play(123, 0b01) || !play(1, 0b01) {
		t.Error("a does not lead with 124 hits, of 100 entries that are missing")
	}
	for range 2 * policy.MostChanges {
		play(130, 1<<l.other())
	}
	if len(l.changes) != policy.MostChanges || l.changed != 2+2*policy.MostChanges {
		t.Errorf("%d changes kept of %d", len(l.changes), l.changed)
	}
}

// TestDistance: what a change costs is what the cache and the shadow do not share.
func TestDistance(t *testing.T) {
	p := newFull(panelArgs(t, policy.Options{Capacity: 2}, ""), twoMembers)
	want := func(a, b int) {
		t.Helper()
		for leader, want := range []int{b, a} {
			p.lazy.leader = leader
			if got := p.distance(); got != want {
				t.Errorf("distance %d while %d leads, want %d", got, leader, want)
			}
		}
		p.lazy.leader = 0
	}
	policytest.PlayScript(t, p, "+1 +2 +3 +4") // resident are all four, a has 3 and 4, b has 1 and 2
	want(2, 2)                                 // residents that each does not hold
	p.Remove(1, policy.Evicted)
	p.Remove(2, policy.Evicted)
	want(0, 2)
}

// TestRACPlusInALoop: of experts whose frozen contents are equally good, one is followed.
func TestRACPlusInALoop(t *testing.T) {
	const capacity, items, n = 500, 800, 20_000
	e, err := specs.New("rac+", policy.Options{Capacity: capacity, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var trace []uint64
	for i := range n {
		trace = append(trace, uint64(1+i%items))
	}
	best, _ := specs.New("lirs", policy.Options{Capacity: capacity})
	got, want := n-policytest.CountMisses(e, capacity, trace), n-policytest.CountMisses(best, capacity, trace)
	t.Logf("%d hits, lirs %d", got, want)
	if got < want*94/100 {
		t.Errorf("%d hits, lirs %d", got, want)
	}
}

// checkPanel compares the sums of a panel with its entries, and finds the least by a scan.
func checkPanel(t *testing.T, p *full) {
	t.Helper()
	entries, sizes := make([]int, len(p.experts)), make([]int64, len(p.experts))
	order := p.lazy.order()
	resident, least := 0, sets
	for e := range p.slots.Cells {
		x := p.at(uint32(e))
		for i := range p.experts {
			if x.set>>i&1 != 0 {
				entries[i]++
				sizes[i] += x.size
			}
		}
		if e > 0 && x.id == 0 && x.set == 0 && p.key(uint32(e)) != 0 {
			t.Fatalf("identity %d is nowhere and not forgotten", p.key(uint32(e)))
		}
		if x.id != 0 {
			resident++
			least = min(least, slices.Index(order[:], x.set))
		}
	}
	if p.slots.Len()+orphans(p) != len(p.slots.Cells)-1-unused(p) {
		t.Fatalf("%d identities in %d cells", p.slots.Len(), len(p.slots.Cells)-1)
	}
	for i, x := range p.experts {
		if x.entries != entries[i] || x.bytes != sizes[i] || x.over(p.limit.Limit) {
			t.Fatalf("%s: %d entries, %d bytes; counted %d, %d", x.name, x.entries, x.bytes, entries[i], sizes[i])
		}
	}
	if resident != p.ids.Len() {
		t.Fatalf("%d residents, counted %d", p.ids.Len(), resident)
	}
	if e := p.least(); resident > 0 && p.at(e).set != order[least] {
		t.Fatalf("the victim is held by %b, others by %b", p.at(e).set, order[least])
	}
}

// orphans counts residents that have lost their identity to a newer one.
func orphans(p *full) (n int) {
	for _, x := range p.slots.Cells {
		if x.Val.id != 0 && x.Name == 0 {
			n++
		}
	}
	return n
}

func unused(p *full) (n int) {
	for _, x := range p.slots.Cells[1:] {
		if x.Val.id == 0 && x.Name == 0 {
			n++
		}
	}
	return n
}

func TestRACPlusAccounts(t *testing.T) {
	for _, o := range []policy.Options{{Capacity: 20, Seed: 1}, {Capacity: 20, Bytes: true, Seed: 2}} {
		p := newFull(panelArgs(t, o, ""), members)
		limit := policy.Limit{Entries: 20}
		if o.Bytes {
			limit = policy.Limit{Bytes: 20 * 50}
		}
		l := policy.NewLedger(p, limit)
		r := rand.New(rand.NewPCG(o.Seed, 9))
		resident := map[uint64]policy.ID{}
		for i := range int64(4000) {
			key := uint64(1 + min(r.IntN(90), r.IntN(90)))
			at := policy.Tick{Seq: i + 1}
			if id := resident[key]; l.Has(id) {
				l.Hit(id, at)
			} else {
				p.Arrive(policy.TopicID(key%7), at)
				resident[key] = policy.ID(i + 1000)
				l.Insert(policy.Item{ID: policy.ID(i + 1000), Key: key, Topic: policy.TopicID(key % 7), Size: int64(1 + r.IntN(100)), Cost: 3}, at, nil)
			}
			if r.IntN(50) == 0 {
				l.Remove(resident[uint64(1+r.IntN(90))], policy.Purged)
			}
			if i%20 == 0 {
				checkPanel(t, p)
			}
		}
		if l.Faults() != 0 {
			t.Errorf("%d faults", l.Faults())
		}
		if o.Bytes && (p.limit.Bytes > limit.Bytes || p.limit.Bytes < limit.Bytes-100) {
			t.Errorf("learned a limit of %d bytes, it is %d", p.limit.Bytes, limit.Bytes)
		}
	}
}

// TestRACPlusTakesNoExpiryForAHit: the return of what expired is a miss to every expert, and none is credited.
func TestRACPlusTakesNoExpiryForAHit(t *testing.T) {
	p := newFull(panelArgs(t, policy.Options{Capacity: 4}, ""), members)
	policytest.Popular(p)
	hits := func() (sum float64) {
		for _, x := range p.experts {
			sum += x.hits
		}
		return sum
	}
	before := hits()
	p.Remove(6, policy.Expired)
	p.Insert(policy.Item{ID: 8, Key: 7, Topic: 2}, policy.Tick{Seq: 21})
	if got := hits(); got != before {
		t.Errorf("rac+: the return of what expired is %v hits of experts", got-before)
	}
}
