package misses

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/proxy/observe"
	"reprise/store"
)

var testSeed = maphash.MakeSeed()

// now is the time of tests.
var now = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)

func hashOf(s string) uint64 { return maphash.String(testSeed, s) }

// ask is a request in words. Fields are the parts of its scope, "name=value"; one of the name system is a text of the system prompt.
type ask struct {
	tenant, namespace, prompt, talk string
	fields                          []string
}

func (a ask) request() *Request {
	r := &Request{Tenant: a.tenant, Namespace: a.namespace, Asks: hashOf(a.prompt)}
	if a.talk != "" {
		r.Talk = hashOf(a.talk)
	}
	whole := a.tenant + "\x00" + a.namespace
	var texts []Text
	for _, f := range a.fields {
		name, value, _ := strings.Cut(f, "=")
		r.Parts = append(r.Parts, Part{name, uint32(hashOf(value))})
		if name == PartSystem {
			texts = append(texts, Text{Part: name, Text: value})
		}
		whole += "\x00" + f
	}
	for i := range 4 {
		h := hashOf(fmt.Sprint(i, whole))
		for k := range 8 {
			r.Scope[8*i+k] = byte(h >> (8 * k))
		}
	}
	r.System = func() []Text { return texts }
	return r
}

func fresh(uint64) Life     { return Fresh }
func at(t time.Time) *Facts { return &Facts{Now: t} }
func watch(bytes int) *Watch {
	return NewWatch(Options{Bytes: bytes, Now: func() time.Time { return now }})
}
func (w *Watch) keep(a ask, id uint64) { w.kept(observe.Stamp{}, a.request(), id, now.Add(time.Hour)) }

func (w *Watch) status(a ask) string { return w.Why(a.request(), at(now), fresh).Status() }

// TestOwnersAreApart: whatever other tenants and namespaces have kept, a client is shown nothing of it; the operator is.
func TestOwnersAreApart(t *testing.T) {
	w := watch(0)
	for i := range 200 {
		w.keep(ask{tenant: "other", namespace: "n", prompt: "p", fields: []string{fmt.Sprint("user=", i)}}, uint64(i+1))
		w.keep(ask{tenant: "t", namespace: "other", prompt: "p", fields: []string{fmt.Sprint("user=", i)}}, uint64(i+1000))
	}
	mine := ask{tenant: "t", namespace: "n", prompt: "p", fields: []string{"user=1"}}
	if got := w.status(mine); got != "why=new" {
		t.Errorf("%s, of what others have kept", got)
	}
	d := w.Explain(mine.request(), at(now), fresh)
	if d.Why != whyNew || d.Scopes != 0 || len(d.Differs) != 0 || strings.ContainsAny(d.Words(), "0123456789") {
		t.Errorf("explained to a client: %+v, %s", d, d.Words())
	}
	if o := d.Operator(); o.Why != whyScope || o.Differs[0].Part != partNamespace || o.Differs[1].Part != "user" {
		t.Errorf("to the operator: %+v", o)
	}
	w.keep(ask{tenant: "t", namespace: "n", prompt: "p", fields: []string{"user=2"}}, 5000)
	for i := range 500 {
		w.keep(ask{tenant: "other", prompt: "p", fields: []string{fmt.Sprint("user=", i)}}, uint64(i+6000))
	}
	if got := w.status(mine); got != "why=scope;differs=user" {
		t.Errorf("%s, and the own one should count", got)
	}
	if d := w.Explain(mine.request(), at(now), fresh); d.Scopes != 1 {
		t.Errorf("%d scopes counted to a client that has one", d.Scopes)
	}
}

// TestFateIsItsOwners: that an answer was not kept is said to its owner alone.
func TestFateIsItsOwners(t *testing.T) {
	w := watch(0)
	a := ask{tenant: "t", prompt: "p"}
	w.notKept(observe.Stamp{}, a.request(), "length")
	if got := w.status(a); got != "why=not-stored:length" {
		t.Error(got)
	}
	r := a.request()
	r.Tenant = "u" // with the scope of the other, which cannot be
	if got := w.Why(r, at(now), fresh).Status(); got != "why=new" {
		t.Error(got)
	}
}

// model is a Watch that compares with everything it was given.
type model struct{ kept []ask }

// why is the status by the rules of the package, for answers that are all there.
func (m *model) why(a ask) string {
	best, distance := ask{}, 1<<30
	for i := len(m.kept) - 1; i >= 0; i-- {
		k := m.kept[i]
		if k.tenant != a.tenant || k.namespace != a.namespace || k.prompt != a.prompt {
			continue
		}
		if n := len(m.differ(a, k)); n == 0 {
			return "why=exact-only" // it is there, and was not served
		} else if n < distance {
			best, distance = k, n
		}
	}
	if distance == 1<<30 {
		return "why=new"
	}
	switch names := m.differ(a, best); {
	case slices.Equal(names, []string{partTurns}):
		return "why=chain"
	default:
		return "why=scope;differs=" + strings.Join(names, "+")
	}
}

func (m *model) differ(a, b ask) (names []string) {
	for i := range a.fields {
		if a.fields[i] != b.fields[i] {
			name, _, _ := strings.Cut(a.fields[i], "=")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if a.talk != b.talk {
		names = append(names, partTurns)
	}
	return names
}

// TestAgainstModel: while there is room and few scopes have a prompt, the watch finds what comparing with everything finds.
func TestAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for round := range 30 {
		w, m := watch(0), &model{}
		one := func(of ...string) string { return of[rng.IntN(len(of))] }
		seen := map[string]int{}
		for i := range 300 {
			a := ask{tenant: one("t", "t", "u"), namespace: one("", "", "n"), prompt: fmt.Sprint("p", rng.IntN(25)), talk: one("", "", "", "x"),
				fields: []string{"header:X-A=" + one("1", "1", "2"), "model=" + one("a", "b"), "user=" + one("a", "b", "c")}}
			want, got := m.why(a), w.status(a)
			if got != want {
				t.Fatalf("round %d, request %d, %+v: %s, not %s", round, i, a, got, want)
			}
			kind, _, _ := strings.Cut(want, ";")
			seen[kind]++
			w.keep(a, uint64(i+1))
			if want != "why=exact-only" { // one that is kept again keeps its place
				m.kept = append(m.kept, a)
			}
		}
		if len(seen) != 4 {
			t.Fatalf("reasons %v", seen)
		}
	}
}

// TestLives: what has become of entries decides.
func TestLives(t *testing.T) {
	a, b := ask{tenant: "t", prompt: "p", fields: []string{"user=a"}}, ask{tenant: "t", prompt: "p", fields: []string{"user=b"}}
	for _, c := range []struct {
		name   string
		at     time.Time
		life   Life
		asked  ask
		facts  Facts
		status string
	}{
		{"the same, gone in time", now, Gone, a, Facts{}, "why=evicted"},
		{"the same, gone after its time", now.Add(2 * time.Hour), Gone, a, Facts{}, "why=expired"},
		{"the same, too old", now, Stale, a, Facts{}, "why=expired"},
		{"the same, vetoed", now, Fresh, a, Facts{Veto: "data"}, "why=veto:data"},
		{"the same, without the embedder", now, Fresh, a, Facts{Degraded: "embed"}, "why=degraded:embed"},
		{"the same, below a gate that was raised", now, Fresh, a, Facts{Raised: true}, "why=below"},
		{"another scope that is gone", now, Gone, b, Facts{}, "why=new"},
		{"another scope that is too old", now, Stale, b, Facts{Near: true}, "why=below"},
		{"another scope before a veto", now, Fresh, b, Facts{Veto: "number"}, "why=scope;differs=user"},
		{"another scope before a fault", now, Fresh, b, Facts{Degraded: "embed"}, "why=scope;differs=user"},
		{"the request before all", now, Fresh, a, Facts{Request: true, Shadow: true, Expired: true}, "why=request"},
		{"shadow before expired", now, Fresh, a, Facts{Shadow: true, Expired: true}, "why=shadow"},
		{"the shared store away", now, Fresh, a, Facts{Away: true}, "why=degraded:fetch"},
		{"expired before that", now, Fresh, a, Facts{Away: true, Expired: true}, "why=expired"},
		{"refused", now, Fresh, a, Facts{Refused: true}, "why=refused"},
	} {
		w := watch(0)
		w.keep(a, 1)
		c.facts.Now = c.at
		for range 2 {
			if got := w.Why(c.asked.request(), &c.facts, func(uint64) Life { return c.life }).Status(); got != c.status {
				t.Errorf("%s: %s, not %s", c.name, got, c.status)
			}
		}
	}
}

// TestKeptAgain: an entry that left and was kept again in its scope is found again.
func TestKeptAgain(t *testing.T) {
	w := watch(0)
	a, b := ask{tenant: "t", prompt: "p", fields: []string{"user=a"}}, ask{tenant: "t", prompt: "p", fields: []string{"user=b"}}
	w.keep(a, 1)
	gone := func(uint64) Life { return Gone }
	if got := w.Why(b.request(), at(now), gone).Status(); got != "why=new" {
		t.Fatal(got)
	}
	w.keep(a, 2)
	if got := w.status(b); got != "why=scope;differs=user" {
		t.Error(got)
	}
}

// TestFound: of an entry of before the start, the scope is known by its name alone until a request in it is seen.
func TestFound(t *testing.T) {
	a, b := ask{tenant: "t", prompt: "p", fields: []string{"user=a"}}, ask{tenant: "t", prompt: "p", fields: []string{"user=b"}}
	found := func(a ask) *Request { r := a.request(); r.Parts, r.System = nil, nil; return r }
	w := watch(0)
	w.Found(found(a), 1, now.Add(time.Hour), false)
	if d := w.Why(b.request(), at(now), fresh); d.Status() != "why=scope" || !d.hit {
		t.Errorf("%s, %t", d.Status(), d.hit)
	}
	other := ask{tenant: "t", prompt: "q", fields: []string{"user=a"}}
	w.keep(other, 2) // in the scope of the first one
	if got := w.status(b); got != "why=scope;differs=user" {
		t.Errorf("%s, once a request of that scope was seen", got)
	}
	talk := ask{tenant: "t", prompt: "r", talk: "x", fields: []string{"user=a"}}
	w.Found(found(talk), 3, now.Add(time.Hour), true)
	if got := w.status(talk); got != "why=new" {
		t.Errorf("%s: whether it is the same conversation is not known", got)
	}
	without := ask{tenant: "t", prompt: "r", fields: []string{"user=a"}}
	if got := w.status(without); got != "why=chain" {
		t.Errorf("%s: the other one has a conversation", got)
	}
	moved := ask{tenant: "t", prompt: "r", talk: "x", fields: []string{"user=b"}}
	if d := w.Why(moved.request(), at(now), fresh); d.Status() != "why=scope;differs=user" || d.hit {
		t.Errorf("%s, %t: it may be another conversation", d.Status(), d.hit)
	}
}

// TestPurge: Clear empties the watch, and what began before it is not remembered after it.
func TestPurge(t *testing.T) {
	w := watch(0)
	a, b := ask{tenant: "t", prompt: "p", fields: []string{"user=a", "system=x"}}, ask{tenant: "t", prompt: "p", fields: []string{"user=b", "system=x"}}
	w.keep(a, 1)
	w.count(w.Why(b.request(), at(now), fresh), &observe.Outcome{NoStore: true})
	w.Forget(store.Filter{})
	if x := &w.index; len(x.scopes)+len(x.texts)+len(x.owns)+len(x.asked)+len(x.places)+len(x.ring)+x.bytes+x.words != 0 || len(x.names) != len(watch(0).index.names) {
		t.Errorf("after a purge there are %d scopes, %d texts, %d names, %d bytes", len(x.scopes), len(x.texts), len(x.names), x.bytes)
	}
	if got := w.Report(Settings{}); got.Misses != 0 || len(got.Groups) != 0 {
		t.Errorf("%+v", got)
	}
	w.kept(stale(), a.request(), 1, now.Add(time.Hour))
	w.notKept(stale(), a.request(), "length")
	for _, one := range []ask{a, b} {
		if got := w.status(one); got != "why=new" {
			t.Errorf("%s after a purge", got)
		}
	}
	if x := &w.index; x.bytes != 0 || len(x.scopes) != 0 {
		t.Errorf("%d bytes, %d scopes", x.bytes, len(x.scopes))
	}
}

// TestPanicOfSystem: a panic while the texts of a request are read leaves a watch that works.
func TestPanicOfSystem(t *testing.T) {
	w := watch(0)
	func() {
		defer func() {
			if recover() != "system" {
				t.Error("no panic")
			}
		}()
		r := ask{tenant: "t", prompt: "p", fields: []string{"user=a", "system=x"}}.request()
		r.System = func() []Text { panic("system") }
		w.kept(observe.Stamp{}, r, 1, now.Add(time.Hour))
	}()
	w.keep(ask{tenant: "t", prompt: "p", fields: []string{"user=a", "system=x"}}, 2)
	if got := w.status(ask{tenant: "t", prompt: "p", fields: []string{"user=b", "system=x"}}); got != "why=scope;differs=user" {
		t.Error(got)
	}
}

// TestPurgeMeanwhile: a purge while the texts of a new scope are read keeps it out.
func TestPurgeMeanwhile(t *testing.T) {
	w := watch(0)
	r := ask{tenant: "t", prompt: "p", fields: []string{"system=secret"}}.request()
	texts, all := r.System, observe.NewList(nil, []observe.Observer{w})
	r.System = func() []Text { all.Forget(store.Filter{}); return texts() }
	w.kept(all.Stamp(), r, 1, now.Add(time.Hour))
	if x := &w.index; x.bytes != 0 || len(x.scopes)+len(x.texts)+int(x.next-x.first) != 0 {
		t.Errorf("%d bytes, %d scopes, %d texts", x.bytes, len(x.scopes), len(x.texts))
	}
}

// TestBounded: a million scopes, each with a system prompt of its own, take what they may, and the last ones are found.
func TestBounded(t *testing.T) {
	const scopes, limit = 1_000_000, 4 << 20
	w := watch(limit)
	used := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := used()
	system := strings.Repeat("You answer politely. ", 20)
	of := func(i int) ask {
		return ask{tenant: "t", prompt: fmt.Sprint("p", i%1000), fields: []string{fmt.Sprint("model=m", i%7), fmt.Sprintf("system=%sRequest %d.", system, i)}}
	}
	most := 0
	r := of(0).request()
	for i := range scopes {
		if i%100 == 0 || i > scopes-5000 {
			w.keep(of(i), uint64(i+1))
		} else { // without the cost of texts, which the others have
			r.Asks, r.System = uint64(i%1000)+1, nil
			r.Scope[0], r.Scope[1], r.Scope[2], r.Scope[3] = byte(i), byte(i>>8), byte(i>>16), 1
			w.kept(observe.Stamp{}, r, uint64(i+1), now.Add(time.Hour))
		}
		most = max(most, w.index.bytes)
	}
	if most > limit+2*recordBytes+scopeBytes+4096 {
		t.Errorf("%d bytes were counted at a time, with a limit of %d", most, limit)
	}
	if took := used() - before; took > limit*5/4 {
		t.Errorf("%d bytes are in use, with a limit of %d", took, limit)
	}
	w.check(t)
	last := of(scopes - 1)
	last.fields[0] = "model=other"
	if got := w.status(last); got != "why=scope;differs=model" {
		t.Errorf("the last one: %s", got)
	}
	runtime.KeepAlive(w)
}

// TestManyNames: beyond so many names those of clients are one, and the names of this package stay.
func TestManyNames(t *testing.T) {
	w := watch(0)
	for i := range mostNames + 10 {
		w.keep(ask{tenant: "t", prompt: fmt.Sprint("p", i), fields: []string{fmt.Sprint("header:X-Odd-", i, "=1")}}, uint64(i+1))
	}
	w.keep(ask{tenant: "t", prompt: "p", fields: []string{"late=1", "system=Today is 2026-11-22."}}, mostNames+100)
	for _, c := range []struct{ field, want string }{
		{"system=Today is 2026-11-22.", "why=scope;differs=other-fields"}, {"system=Today is 2026-11-23.", "why=scope;differs=system@9:date+other-fields"},
	} {
		if got := w.status(ask{tenant: "t", prompt: "p", fields: []string{"late=2", c.field}}); got != c.want {
			t.Errorf("%s: %s, want %s", c.field, got, c.want)
		}
	}
}

// TestManyTexts: of a system prompt of any number of texts the first ones are compared, and new texts cost the same however many there are.
func TestManyTexts(t *testing.T) {
	w := watch(1 << 20)
	many := func(last string) ask {
		a := ask{tenant: "t", prompt: "p"}
		for i := range 2000 {
			a.fields = append(a.fields, fmt.Sprint("system=", i))
		}
		a.fields[10] = "system=" + last
		return a
	}
	w.keep(many("2026-11-22"), 1)
	if got := w.status(many("2026-11-23")); got != "why=scope;differs=system-11@0:date" {
		t.Error(got)
	}
	if n := len(w.index.texts); n > MostTexts {
		t.Errorf("%d texts", n)
	}
	w.check(t)
	w = watch(4 << 20)
	for i := range 20_000 { // more than a quarter of the limit is taken by texts without their bytes
		w.keep(ask{tenant: "t", prompt: "p", fields: []string{fmt.Sprint("system=", i), fmt.Sprint("system=", i+1<<20), fmt.Sprint("system=", i+1<<21)}}, uint64(i+1))
	}
	w.check(t)
	kept := 0
	for _, one := range w.index.texts {
		if one.text != "" {
			kept++
		}
	}
	if n := len(w.index.texts); n*textBytes <= 1<<20 || kept != n {
		t.Errorf("%d of %d texts have their bytes", kept, n)
	}
}

// check adds up what the index counts.
func (w *Watch) check(t *testing.T) {
	t.Helper()
	x := &w.index
	bytes, words := int(x.next-x.first)*recordBytes, 0
	refs, texts := map[*scope]int{}, map[*text]int{}
	for n := x.first; n < x.next; n++ {
		if s := x.at(n).scope; s != nil {
			refs[s]++
		}
	}
	for key, s := range x.scopes {
		if refs[s] != s.refs || s.refs == 0 || s.key != key {
			t.Fatalf("a scope has %d references, and counts %d", refs[s], s.refs)
		}
		bytes += s.size
		for _, one := range s.texts {
			texts[one]++
		}
	}
	for _, one := range x.texts {
		if texts[one] != one.refs || one.refs == 0 {
			t.Fatalf("a text has %d references, and counts %d", texts[one], one.refs)
		}
		words += len(one.text) + textBytes
	}
	if len(refs) != len(x.scopes) || len(texts) != len(x.texts) || bytes+words != x.bytes || words != x.words {
		t.Errorf("%d bytes, %d of texts; counted are %d, %d", bytes+words, words, x.bytes, x.words)
	}
	for name, all := range map[string]map[uint64]uint64{"owns": x.owns, "asked": x.asked, "places": x.places} {
		for _, n := range all {
			if x.at(n) == nil {
				t.Fatalf("%s has a record that is gone", name)
			}
		}
	}
}

// TestCounts: whatever happens, the index counts what it holds.
func TestCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	w := watch(60_000)
	for i := range 5000 {
		a := ask{tenant: fmt.Sprint("t", rng.IntN(3)), prompt: fmt.Sprint("p", rng.IntN(40)), talk: fmt.Sprint(rng.IntN(2)),
			fields: []string{fmt.Sprint("user=", rng.IntN(30)), fmt.Sprintf("system=%s%d", strings.Repeat("s", rng.IntN(300)), rng.IntN(5))}}
		switch rng.IntN(6) {
		case 0:
			w.notKept(observe.Stamp{}, a.request(), "length")
		case 1:
			r := a.request()
			r.Parts, r.System = nil, nil
			w.Found(r, uint64(i), now, rng.IntN(2) == 0)
		case 2:
			w.Why(a.request(), at(now), func(id uint64) Life { return Life(rng.IntN(3)) })
		default:
			w.keep(a, uint64(i))
		}
		if i%50 == 0 {
			w.check(t)
		}
	}
}
