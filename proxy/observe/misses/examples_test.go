package misses

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"reprise/proxy/observe"
	"reprise/store"
)

// example is a miss of tenant t with a prompt.
func example(prompt string) *observe.Outcome {
	return &observe.Outcome{Model: "m", Tenant: "t", Prompt: prompt}
}

// stale is the stamp of a request from before a purge.
func stale() observe.Stamp {
	all := observe.NewList(nil, nil)
	came := all.Stamp()
	all.Forget(store.Filter{})
	return came
}

// prompts are those of the examples of the only group.
func (w *Watch) prompts(t *testing.T) (all []string) {
	t.Helper()
	r := w.Report(Settings{})
	if len(r.Groups) != 1 {
		t.Fatalf("%d groups", len(r.Groups))
	}
	for _, e := range r.Groups[0].Examples {
		all = append(all, e.Prompt)
	}
	return all
}

// TestExamples: a group has its three latest misses, the latest first, for an hour; a purge leaves none, and nothing of a request from before it.
func TestExamples(t *testing.T) {
	clock := now
	w := NewWatch(Options{Prompts: true, Now: func() time.Time { return clock }})
	for i := range 5 {
		w.count(&Diagnosis{Why: whyNew}, example(fmt.Sprint("p", i)))
		clock = clock.Add(time.Minute)
	}
	if got := w.prompts(t); !slices.Equal(got, []string{"p4", "p3", "p2"}) {
		t.Errorf("%q", got)
	}
	w.count(&Diagnosis{Why: whyNew}, &observe.Outcome{NoStore: true})
	if got := w.prompts(t); len(got) != 3 {
		t.Errorf("%q, after a miss without an example", got)
	}
	clock = now.Add(time.Hour + 4*time.Minute)
	if got := w.prompts(t); len(got) != 0 {
		t.Errorf("%q, an hour after the last one that was to be an example", got)
	}
	if w.examples.bytes != 0 || len(w.examples.groups) != 0 || w.examples.all.Len() != 0 {
		t.Errorf("%d bytes are kept that no report shows", w.examples.bytes)
	}
	w.count(&Diagnosis{Why: whyNew}, example("secret"))
	w.Forget(store.Filter{})
	late := example("secret")
	late.Came = stale()
	w.count(&Diagnosis{Why: whyNew}, late)
	if got := w.prompts(t); len(got) != 0 || w.examples.bytes != 0 {
		t.Errorf("%q, after a purge", got)
	}
}

// TestExampleTexts: prompts are kept and shown only where they may be, and are cut before a rune. What a group's examples nearly hit is what is stored
// when the report is made.
func TestExampleTexts(t *testing.T) {
	stored := map[uint64]string{1: strings.Repeat("a", longestPrompt-1) + "é" + strings.Repeat("b", 100)}
	o := Options{Now: func() time.Time { return now }, Prompts: true, Stored: func(id uint64) (string, bool) { p, ok := stored[id]; return p, ok }}
	long := strings.Repeat("x", longestPrompt-2) + "😀" + "y"
	count := func(w *Watch) Example {
		w.keep(ask{tenant: "u", prompt: "p"}, 1) // another tenant's: for the operator alone
		d := w.Why(ask{tenant: "t", prompt: "p"}.request(), at(now), fresh)
		if d.nearest != 0 {
			t.Error("a client's diagnosis has the entry of another tenant")
		}
		w.count(d, &observe.Outcome{Model: "m" + strings.Repeat("é", 300), Tenant: "t", Namespace: "n", Prompt: long})
		return w.Report(Settings{}).Groups[0].Examples[0]
	}
	with := NewWatch(o)
	e := count(with)
	if e.Prompt != long[:longestPrompt-2] || e.Bytes != len(long) || e.Nearest != stored[1][:longestPrompt-1] || e.NearestBytes != len(stored[1]) || e.Entry != 1 || !e.Stored {
		t.Errorf("%+v", e)
	}
	if !utf8.ValidString(e.Model) || len(e.Model) != longestLabel-1 || e.Tenant != "t" || e.Namespace != "n" || !e.At.Equal(now) {
		t.Errorf("%+v", e)
	}
	delete(stored, 1)
	if e := with.Report(Settings{}).Groups[0].Examples[0]; e.Nearest != "" || e.NearestBytes != 0 || e.Stored || e.Entry != 1 {
		t.Errorf("of an entry that has left: %+v", e)
	}
	stored[1], o.Prompts = "q", false
	if e := count(NewWatch(o)); e.Prompt+e.Nearest != "" || e.Bytes != len(long) || e.NearestBytes != 1 || e.Entry != 1 {
		t.Errorf("without prompts: %+v", e)
	}
}

// TestNearestEntry: each reason about an entry names it.
func TestNearestEntry(t *testing.T) {
	a, b := ask{tenant: "t", prompt: "p", fields: []string{"user=a"}}, ask{tenant: "t", prompt: "p", fields: []string{"user=b"}}
	for _, c := range []struct {
		asked ask
		life  Life
		facts Facts
		why   Why
		entry uint64
	}{
		{b, Fresh, Facts{}, whyScope, 5}, {a, Gone, Facts{}, whyEvicted, 5}, {a, Stale, Facts{}, whyExpired, 5}, {a, Fresh, Facts{}, whyExactOnly, 5}, {a, Fresh, Facts{Raised: true}, whyBelow, 5},
		{b, Gone, Facts{Veto: "number", Nearest: 7}, whyVeto, 7}, {b, Gone, Facts{Near: true, Nearest: 7}, whyBelow, 7}, {b, Gone, Facts{Request: true, Nearest: 7}, whyRequest, 7},
		{b, Gone, Facts{Refused: true, Nearest: 7}, whyRefused, 7}, {b, Gone, Facts{Shadow: true, Nearest: 7}, whyShadow, 7}, {b, Gone, Facts{Explored: true, Nearest: 7}, whyExplored, 7},
		{b, Gone, Facts{Expired: true, Nearest: 7}, whyExpired, 7}, {b, Gone, Facts{}, whyNew, 0},
	} {
		w := watch(0)
		w.keep(a, 5)
		c.facts.Now = now
		if d := w.Why(c.asked.request(), &c.facts, func(uint64) Life { return c.life }); d.Why != c.why || d.nearest != c.entry {
			t.Errorf("%s: %s and entry %d, want %d", c.why, d.Why, d.nearest, c.entry)
		}
	}
}

// TestExamplesAreBounded: whatever clients invent, examples take their share of the memory, the latest ones stay, and what is counted is what they take.
func TestExamplesAreBounded(t *testing.T) {
	used := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, size := range []int{0, 40, 3000} {
		before := used()
		x := newExamples(4 << 20)
		rng := rand.New(rand.NewPCG(1, 2))
		last := ""
		for i := range 50_000 {
			last = fmt.Sprintf("scope+a-name-that-was-invented-%d", rng.IntN(40_000))
			x.add(last, Example{At: now, Model: strings.Clone("gpt-4o"), Tenant: strings.Clone("78c9c37fd0467578a85532f418ba777f"), Prompt: strings.Repeat("p", min(size, longestPrompt)), Bytes: i})
			if x.bytes > x.limit {
				t.Fatalf("%d bytes, with a limit of %d", x.bytes, x.limit)
			}
		}
		if got := x.of(last); len(got) == 0 || got[0].Bytes != 49_999 {
			t.Errorf("the latest one is not there: %+v", got)
		}
		if took := used() - before; took > int64(x.limit)*5/4 || x.bytes < x.limit*9/10 {
			t.Errorf("prompts of %d bytes: %d bytes are in use, %d are counted, with a limit of %d", size, took, x.bytes, x.limit)
		} else {
			t.Logf("prompts of %d bytes: %d bytes are in use, %d are counted, of %d examples", size, took, x.bytes, x.all.Len())
		}
		n, bytes := 0, 0
		for group, list := range x.groups {
			if n += len(list); len(list) > perGroup || len(list) == 0 {
				t.Errorf("%d examples of one group", len(list))
			}
			for _, e := range list {
				one := e.Value.(*kept)
				if bytes += one.size; one.group != group {
					t.Errorf("an example of %s in the group %s", one.group, group)
				}
			}
		}
		if n != x.all.Len() || bytes != x.bytes {
			t.Errorf("%d examples of %d bytes; counted are %d and %d", n, bytes, x.all.Len(), x.bytes)
		}
		runtime.KeepAlive(&x)
	}
	small := newExamples(100)
	if small.add("g", Example{At: now}); small.bytes != 0 || len(small.groups) != 0 {
		t.Errorf("%d bytes where there is no room for one", small.bytes)
	}
}

// TestSet: where one value repairs a reason, it is given with its variable, and what is set already stays in it.
func TestSet(t *testing.T) {
	s := Settings{TTL: 24 * time.Hour, MaxTTL: 720 * time.Hour, Capacity: "REPRISE_CAPACITY_ENTRIES=120", MaxEntryBytes: 1 << 20, IgnoreFields: []string{"metadata"}, IgnoreHeaders: []string{"X-Run"}}
	differs := func(names ...string) (all []difference) {
		for _, name := range names {
			all = append(all, difference{Part: name, Byte: -1})
		}
		return all
	}
	for _, c := range []struct {
		d    Diagnosis
		want string
	}{
		{Diagnosis{Why: whyShadow}, "REPRISE_MODE=semantic"},
		{Diagnosis{Why: whyExpired}, "REPRISE_TTL=48h"},
		{Diagnosis{Why: whyExpired, What: ByClient}, ""},
		{Diagnosis{Why: whyExpired, What: ByRule}, ""},
		{Diagnosis{Why: whyEvicted}, "REPRISE_CAPACITY_ENTRIES=120"},
		{Diagnosis{Why: whyNotStored, What: "policy"}, "REPRISE_CAPACITY_ENTRIES=120"},
		{Diagnosis{Why: whyNotStored, What: "size"}, "REPRISE_MAX_ENTRY_BYTES=2097152"},
		{Diagnosis{Why: whyNotStored, What: "length"}, ""},
		{Diagnosis{Why: whyScope, Differs: differs("user")}, "REPRISE_IGNORE_FIELDS=metadata,user"},
		{Diagnosis{Why: whyScope, Differs: differs("header:X-Id", "metadata", "user", "header:X-Run")}, "REPRISE_IGNORE_FIELDS=metadata,user REPRISE_IGNORE_HEADERS=X-Run,X-Id"},
		{Diagnosis{Why: whyScope, Differs: differs("temperature", "system", partTenant, "header:X,Y\n")}, ""},
		{Diagnosis{Why: whyNew}, ""},
	} {
		if got := strings.Join(c.d.Set(&s), " "); got != c.want {
			t.Errorf("%s: %q, not %q", c.d.Status(), got, c.want)
		}
	}
	if got := s.IgnoreFields; len(got) != 1 {
		t.Errorf("the settings have changed: %v", got)
	}
	s.TTL, s.Capacity = s.MaxTTL, ""
	for _, d := range []Diagnosis{{Why: whyExpired}, {Why: whyEvicted}, {Why: whyNotStored, What: "policy"}} {
		if got := d.Set(&s); got != nil {
			t.Errorf("%s, at the most that is allowed: %v", d.Status(), got)
		}
	}
	for d, want := range map[time.Duration]string{48 * time.Hour: "48h", 90 * time.Minute: "1h30m", 2 * time.Minute: "2m", 30 * time.Second: "30s", 10 * time.Hour: "10h", time.Hour + 10*time.Second: "1h0m10s"} {
		if got := shortly(d); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
