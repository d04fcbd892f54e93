package whatif

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"reprise/policy"
	"reprise/proxy/cache"
)

// ask passes n requests for identities from 1 to among, in turn. Every other one is a hit.
func ask(w *Window, n, among int) {
	for i := range n {
		w.Pass(&cache.Passed{Who: uint64(i%among) + 1, Topic: 7, Parent: uint64(i%among) + 2, Size: 100, Tokens: 30, Turn: 2, At: policy.Tick{Seq: int64(i + 1), At: float64(i)},
			Hit: i%2 == 1, Renewed: i%4 == 0})
	}
}

func TestRowsAreAsWideAsDocumented(t *testing.T) {
	if size := unsafe.Sizeof(row{}); size != RowBytes {
		t.Errorf("a row has %d bytes", size)
	}
	w := New(Options{})
	ask(w, 3*DefaultRows, 50_000)
	if got := w.Bytes(); got > 8_000_000 {
		t.Errorf("%d bytes, want at most 8 MB", got)
	}
}

// TestWindowKeepsTheLastRequests: the oldest rows leave, and the others are in order.
func TestWindowKeepsTheLastRequests(t *testing.T) {
	w := New(Options{Rows: 2 * chunk, Seed: 1})
	for _, n := range []int{0, 1, chunk, 2 * chunk, 2*chunk + 1, 5*chunk + 17} {
		w = New(Options{Rows: 2 * chunk, Seed: 1, Empty: true})
		ask(w, n, 1000)
		s := w.sample()
		if len(s.rows) != min(n, 2*chunk) || s.whole != (n <= 2*chunk) {
			t.Fatalf("%d requests: %d rows, whole %v", n, len(s.rows), s.whole)
		}
		for i, r := range s.rows {
			at := n - len(s.rows) + i
			if r.at != uint32(at*64) || r.flags&flagHit != 0 != (at%2 == 1) || r.flags&flagRenewed != 0 != (at%4 == 0) || r.turn != 2 || r.size != 100 || r.tokens != 30 {
				t.Fatalf("%d requests: row %d is %+v", n, i, r)
			}
		}
	}
	all := w.sample().rows
	if all[0].parent != all[1].who || all[0].topic == 0 || all[0].who == all[1].who || all[0].who != all[1000].who {
		t.Errorf("identities: %+v, %+v", all[0], all[1])
	}
}

// TestLargeCapacityTakesASample: rows reach back further, every request is counted, and an identity is in the sample with all its requests or
// with none.
func TestLargeCapacityTakesASample(t *testing.T) {
	w := New(Options{Rows: chunk, Capacity: policy.Limit{Entries: chunk}, Seed: 3})
	const requests, among = 60 * chunk, 3000
	ask(w, requests, among)
	s := w.sample()
	f := s.survey()
	if s.rate != 1./32 {
		t.Fatalf("rate %v", s.rate)
	}
	if f.requests < reach*chunk || f.requests > 2*reach*chunk {
		t.Errorf("the rows reach back for %d requests", f.requests)
	}
	if d := float64(f.distinct)/s.rate - among; math.Abs(d) > 700 {
		t.Errorf("%d of %d identities", f.distinct, among)
	}
	if d := float64(f.hits)/float64(f.counted) - 0.5; math.Abs(d) > 0.001 {
		t.Errorf("%d hits of %d", f.hits, f.counted)
	}
	times := map[uint32]int{}
	for _, r := range s.rows {
		times[r.who]++
	}
	for who, n := range times {
		if want := float64(f.requests) / among; math.Abs(float64(n)-want) > 1.5 {
			t.Errorf("identity %d has %d rows, want %.1f", who, n, want)
		}
	}
}

// TestBytesChooseTheSampleToo: a capacity whose bytes are reached long before its entries needs no sample.
func TestBytesChooseTheSampleToo(t *testing.T) {
	for bytes, want := range map[int64]float64{100 * 100: 1, 100 * chunk: 1. / 32} {
		w := New(Options{Rows: chunk, Capacity: policy.Limit{Entries: 1 << 30, Bytes: bytes}, Seed: 3})
		ask(w, 60*chunk, 3000)
		if s := w.sample(); s.rate != want {
			t.Errorf("%d bytes: rate %v, want %v", bytes, s.rate, want)
		}
	}
}

// TestShortWindow: there is no figure where the window is too short for one, and words say so.
func TestShortWindow(t *testing.T) {
	w := New(Options{Seed: 1})
	s := NewStudy(w, NewPairs(), Cache{"lru", policy.Limit{Entries: 1000}})
	defer s.Close()
	ask(w, least-1, 500)
	if r := s.Report(t.Context(), nil); r.State != StateShort || r.Curves != nil || !strings.Contains(r.Words, "999 requests") {
		t.Errorf("%+v", r)
	}
	ask(w, 2000, 500)
	c := computed(t, w, Cache{"lru", policy.Limit{Entries: 1000}})
	if c.Policies[0].Policy != "lru" || c.Policies[0].Ratios[0] == nil {
		t.Errorf("no figure for a capacity that was filled: %+v", c)
	}
	last := len(c.Capacities) - 1
	for _, p := range c.Policies {
		if p.Ratios[last] != nil || c.Capacities[last].Enough {
			t.Errorf("%s has a figure for a capacity that was not filled", p.Policy)
		}
	}
	if n := float64(c.Window.Counted) * c.Window.Rate; !strings.Contains(strings.Join(c.Notes, " "), fmt.Sprintf("of %.0f requests, which the replay counts, by up to %.1f points", n, chance(c.Measured, n))) {
		t.Errorf("notes %q", c.Notes)
	}
	if d := chance(0.5, 10_000); math.Abs(d-0.98) > 1e-9 {
		t.Errorf("a half of 10,000 requests: %v points", d)
	}
	if !strings.Contains(strings.Join(c.Notes, " "), "too short for capacities above") {
		t.Errorf("notes %q", c.Notes)
	}
}

// TestWholeWindowNeedsNoFilling: requests to a cache that was empty before them are as good as a filled one.
func TestWholeWindowNeedsNoFilling(t *testing.T) {
	w := New(Options{Seed: 1, Empty: true})
	ask(w, 4000, 500)
	c := computed(t, w, Cache{"lru", policy.Limit{Entries: 1000}})
	for i, x := range c.Capacities {
		if want := map[bool]float64{true: 1}[x.Capacity >= 500]; !x.Enough || *c.Policies[0].Ratios[i] != want { // a loop
			t.Errorf("%d entries: %v", x.Capacity, c.Policies[0].Ratios[i])
		}
	}
	if c.Capacities[8].Factor != 1 || c.Capacities[8].Set != "REPRISE_CAPACITY_ENTRIES=1000" || c.Policies[1].Set != "REPRISE_POLICY=w-tinylfu" {
		t.Errorf("%+v %+v", c.Capacities[8], c.Policies[1])
	}
}

// TestOneStudyAtATime: who asks while one is under way gets the same result, which is shown for a minute.
func TestOneStudyAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Options{Seed: 1, Empty: true})
		ask(w, 4000, 500)
		s := NewStudy(w, NewPairs(), Cache{"lru", policy.Limit{Entries: 100}})
		defer s.Close()
		now, cancel := context.WithCancel(t.Context())
		cancel()
		if r := s.Report(now, nil); r.State != StateComputing || r.Curves != nil {
			t.Errorf("at first %+v", r)
		}
		var both [2]Report
		done := make(chan int)
		for i := range both {
			go func() { both[i] = s.Report(t.Context(), nil); done <- i }()
		}
		<-done
		<-done
		if both[0].State != StateReady || both[0].Curves == nil || both[0].Curves != both[1].Curves {
			t.Errorf("%+v and %+v", both[0], both[1])
		}
		time.Sleep(fresh / 2)
		if r := s.Report(t.Context(), nil); r.Curves != both[0].Curves || r.Age != 30 {
			t.Errorf("after half a minute: age %v", r.Age)
		}
		time.Sleep(fresh / 2)
		if r := s.Report(now, nil); r.State != StateComputing || r.Curves != both[0].Curves {
			t.Errorf("after a minute %+v", r)
		}
		if r := s.Report(t.Context(), nil); r.State != StateReady || r.Curves == both[0].Curves {
			t.Errorf("the second one: %+v", r)
		}
	})
}

// TestCloseEndsAStudy: a computation does not outlive its owner.
func TestCloseEndsAStudy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(Options{Seed: 1, Empty: true})
		ask(w, 20_000, 5000)
		s := NewStudy(w, NewPairs(), Cache{"rac+", policy.Limit{Entries: 1000}})
		now, cancel := context.WithCancel(t.Context())
		cancel()
		s.Report(now, nil)
		s.Close()
		if r := s.Report(now, nil); r.State != StateFailed || r.Curves != nil {
			t.Errorf("%+v", r)
		}
	})
}

func TestScaledPolicies(t *testing.T) {
	for _, c := range []struct {
		name  string
		rate  float64
		bytes bool
		want  string
	}{
		{"lru", 0.1, true, "lru"},
		{"rac+", 1, false, "rac+"},
		{"rac+", 0.5, false, "rac+:sample=16384"},
		{"rac+:factor=3,sample=100", 0.5, false, "rac+:factor=3,sample=50"},
		{"rac+", 1, true, "rac+:value=hits"},
		{"rac+:value=tokens", 1, true, "rac+:value=tokens"},
	} {
		if got := scaled(c.name, c.rate, c.bytes); got != c.want {
			t.Errorf("%s at %v: %s, want %s", c.name, c.rate, got, c.want)
		}
	}
}

// BenchmarkPass prints the cost of a request, and the bytes of the rows.
//
//	go test ./proxy/observe/whatif -run '^$' -bench Pass
//
// TestReplay compares the replay of LRU with a list, which entries leave at its end.
func TestReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]row, 5000)
	for i := range rows {
		rows[i] = row{who: uint32(min(rng.IntN(60), rng.IntN(60))) + 1, size: 10, at: uint32(i)}
	}
	const warm, capacity = 1000, 20
	var list []uint32
	want := int64(0)
	for i, r := range rows {
		at := slices.Index(list, r.who)
		if at >= 0 {
			list = slices.Delete(list, at, at+1)
		} else if i >= warm {
			want++
		}
		list = append([]uint32{r.who}, list[:min(len(list), capacity-1)]...)
	}
	for _, limit := range []policy.Limit{{Entries: capacity}, {Bytes: 10 * capacity}} {
		got, err := replay(t.Context(), rows, warm, "lru", limit, func(context.Context) {})
		if err != nil || got != want || want == 0 {
			t.Errorf("%+v: %d misses, %v; want %d", limit, got, err, want)
		}
	}
}

func BenchmarkPass(b *testing.B) {
	for _, c := range []struct {
		name     string
		capacity int
	}{{"every request", 0}, {"a sixteenth", 200_000}} {
		b.Run(c.name, func(b *testing.B) {
			w := New(Options{Capacity: policy.Limit{Entries: c.capacity}})
			ask(w, 20*DefaultRows, 1<<20)
			p, i := cache.Passed{Topic: 7, Size: 100}, uint64(0)
			for b.Loop() {
				i++
				p.Who, p.At.At = i*0x9E3779B97F4A7C15, float64(i)
				w.Pass(&p)
			}
			b.ReportMetric(float64(w.Bytes()), "bytes")
		})
	}
}

// BenchmarkHalve prints the longest time for which requests wait, a few times in the life of a process.
func BenchmarkHalve(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		w := New(Options{Capacity: policy.Limit{Entries: 1 << 30}})
		ask(w, DefaultRows, 1<<20)
		b.StartTimer()
		w.mu.Lock()
		if w.shortLocked() {
			w.halveLocked()
		}
		w.mu.Unlock()
	}
}

// computed is the curves of a window.
func computed(t *testing.T, w *Window, of Cache) *Curves {
	t.Helper()
	one := study{Cache: of, sample: w.sample(), pause: func(context.Context) {}, progress: func(int, int) {}}
	c, err := one.compute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// BenchmarkStudy prints the processor time of the curves over full rows, and what that allocates, at the default capacity.
//
//	go test ./proxy/observe/whatif -run '^$' -bench Study -benchtime 1x
func BenchmarkStudy(b *testing.B) {
	w := New(Options{Capacity: policy.Limit{Entries: 100_000}, Empty: true})
	rng := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(rng, 1.1, 50, 1<<20)
	for i := range 3_000_000 {
		who := zipf.Uint64() + 1
		w.Pass(&cache.Passed{Who: who, Topic: policy.TopicID(who%5000 + 1), Size: 3000, Tokens: 300, At: policy.Tick{Seq: int64(i + 1), At: float64(i) / 100}, Hit: i%2 == 0})
	}
	b.ReportAllocs()
	for b.Loop() {
		one := study{Cache: Cache{"rac+", policy.Limit{Entries: 100_000}}, sample: w.sample(), pause: func(context.Context) {}, progress: func(int, int) {}}
		if _, err := one.compute(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(w.requests()), "rows")
}
