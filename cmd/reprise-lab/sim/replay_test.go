package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestReplayByHand plays a trace at two entries whose result was computed by hand. a and b are identities, b/2 is b in scope 2.
func TestReplayByHand(t *testing.T) {
	// a miss, b miss, a hit, b/2 miss (evicts b), b miss (evicts a), b hit, b/2 hit, a miss (evicts b)
	trace := &Slice{Title: "hand", All: []Request{
		{ID: 1, Size: 10, Cost: 5}, {ID: 2}, {ID: 1, Size: 10, Cost: 7}, {ID: 2, Scope: 2},
		{ID: 2, Size: 3}, {ID: 2, Size: 3, Cost: 2}, {ID: 2, Scope: 2}, {ID: 1, Size: 10},
	}}
	for _, c := range []struct {
		policy string
		warmup int
		want   string
	}{
		{"lru", 0, "8 requests, 3 hits, 5 misses, 3 evictions, ratios 0.3750 0.6250 0.6000, bytes 0.3590, tokens 10"},
		{"lru", 4, "4 requests, 2 hits, 2 misses, 2 evictions, ratios 0.5000 1.0000 0.5000, bytes 0.2353, tokens 3"},
		{"infinite", 0, "8 requests, 5 hits, 3 misses, 0 evictions, ratios 0.6250 0.6250 1.0000, bytes 0.6923, tokens 12"},
		{"lru", 9, "0 requests, 0 hits, 0 misses, 0 evictions, ratios 0.0000 0.0000 0.0000, bytes 0.0000, tokens 0"},
	} {
		got, err := Replay(t.Context(), trace, Options{Policies: []string{c.policy}, Capacities: []Capacity{{Entries: 2}}, Warmup: c.warmup})
		if err != nil {
			t.Fatal(err)
		}
		if s := show(got[0]); s != c.want {
			t.Errorf("%s after %d:\n got %s\nwant %s", c.policy, c.warmup, s, c.want)
		}
	}
}

// show is a result as text, without names and seconds.
func show(r Result) string {
	return fmt.Sprintf("%d requests, %d hits, %d misses, %d evictions, ratios %.4f %.4f %.4f, bytes %.4f, tokens %g", r.Requests, r.Hits,
		r.Misses, r.Evictions, r.HitRatio, r.HitRatioInfinite, r.NormalizedHitRatio, r.ByteHitRatio, r.TokensSaved)
}

// TestReplayIsTheSameInParallel: any number of workers gives equal figures, for every policy.
func TestReplayIsTheSameInParallel(t *testing.T) {
	trace := randomTrace(1, 2*batchSize+100)
	o := Options{Policies: PolicyNames(), Capacities: []Capacity{{Share: 0.02}, {Entries: 300}, {Bytes: 40_000}}, Seed: 7, Warmup: 1000, Windows: 5}
	var want []Result
	for _, o.Parallel = range []int{1, 2, 8} {
		got, err := Replay(t.Context(), trace, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].Seconds = 0
		}
		if want == nil {
			want = got
		}
		for i := range got {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("%d in parallel: %+v, want %+v", o.Parallel, got[i], want[i])
			}
		}
	}
}

// randomTrace has skewed identities in three scopes, topics, parents, sizes and costs.
func randomTrace(seed uint64, n int) *Slice {
	r := rand.New(rand.NewPCG(seed, 1))
	zipf := rand.NewZipf(r, 1.1, 20, 3000)
	s := &Slice{Title: fmt.Sprintf("random %d", seed)}
	for i := range n {
		id := 1 + zipf.Uint64()
		q := Request{ID: id, At: float64(i) / 2, Scope: id % 3, Topic: id % 100, Turn: int32(id % 5), Size: int64(r.IntN(500)), Cost: float64(r.IntN(80))}
		if i > 0 && id%4 == 0 {
			q.Parent, q.Scope = s.All[i-1].ID, s.All[i-1].Scope
		}
		s.All = append(s.All, q)
	}
	return s
}

// TestReplayStops: when a trace ends in an error, or the context ends, the figures up to then are returned.
func TestReplayStops(t *testing.T) {
	whole := randomTrace(2, 3*batchSize)
	o := Options{Policies: []string{"lru", "belady", "infinite"}, Capacities: []Capacity{{Entries: 100}}}
	want, err := Replay(t.Context(), &Slice{Title: "half", All: whole.All[:batchSize+10]}, o)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("line 7: no id")
	got, err := Replay(t.Context(), failing{whole, batchSize + 10, broken}, o)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), fmt.Sprintf("request %d of random 2", batchSize+11)) {
		t.Errorf("error %v", err)
	}
	for i := range want {
		if show(got[i]) != show(want[i]) {
			t.Errorf("broken: %s, want %s", show(got[i]), show(want[i]))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(done, total int64) {
		if total > 0 {
			cancel()
		}
	}
	got, err = Replay(ctx, whole, o)
	if !errors.Is(err, context.Canceled) || got[0].Requests != batchSize {
		t.Errorf("cancelled: %v, %s", err, show(got[0]))
	}
	if got, err = Replay(ctx, whole, o); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("cancelled at once: %v, %v", got, err)
	}
}

// TestReplayWantsIdentities: a request without one ends the trace.
func TestReplayWantsIdentities(t *testing.T) {
	results, err := Replay(t.Context(), &Slice{Title: "holes", All: []Request{{ID: 1}, {ID: 1}, {}, {ID: 1}}},
		Options{Policies: []string{"lru"}, Capacities: []Capacity{{Entries: 1}}})
	if err == nil || err.Error() != "read request 3 of holes: no id" || results[0].Requests != 2 || results[0].Hits != 1 {
		t.Errorf("%v, %s", err, show(results[0]))
	}
}

// failing is a trace that ends in an error after n requests.
type failing struct {
	*Slice
	n   int
	err error
}

func (f failing) Requests() iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for _, r := range f.All[:f.n] {
			if !yield(r, nil) {
				return
			}
		}
		yield(Request{}, f.err)
	}
}

// TestBeladyIsABound: over entries of one size no policy has more hits than Belady with bypass, and no policy that refuses
// nothing has more than Belady.
func TestBeladyIsABound(t *testing.T) {
	for seed := range uint64(2) {
		trace := randomTrace(seed, 6000)
		for i := range trace.All {
			trace.All[i].Size = 0
		}
		results, err := Replay(t.Context(), trace, Options{Policies: PolicyNames(), Capacities: []Capacity{{Entries: 20}, {Share: 0.1}, {Share: 0.5}}})
		if err != nil {
			t.Fatal(err)
		}
		at := map[string]int64{}
		for _, r := range results {
			at[r.Policy+r.Capacity] = r.Hits
		}
		for _, r := range results {
			bypass, full := at["belady-bypass"+r.Capacity], at["infinite"+r.Capacity]
			if r.Policy != infinite && r.Hits > bypass || bypass > full {
				t.Errorf("seed %d: %s hits %d at %s, belady-bypass %d, infinite %d", seed, r.Policy, r.Hits, r.Capacity, bypass, full)
			}
			if lru := at["lru"+r.Capacity]; lru > at["belady"+r.Capacity] {
				t.Errorf("seed %d: lru hits %d at %s, belady %d", seed, lru, r.Capacity, at["belady"+r.Capacity])
			}
			if r.NormalizedHitRatio != float64(r.Hits)/float64(full) {
				t.Errorf("normalized hit ratio %v of %d hits, %d without a limit", r.NormalizedHitRatio, r.Hits, full)
			}
		}
	}
}

// TestAccountsBalance plays every policy with sizes, topics and parents, mostly where little or nothing fits.
func TestAccountsBalance(t *testing.T) {
	for seed := range uint64(2) {
		_, err := Replay(t.Context(), randomTrace(seed, 3000), Options{Policies: PolicyNames(), Seed: seed, Capacities: []Capacity{
			{Entries: 1}, {Entries: 2}, {Entries: 50}, {Bytes: 1}, {Bytes: 400}, {Bytes: 5000}, {Bytes: 1 << 40},
		}})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestReplayOracle plays the known traces, with which package policy is tested call by call.
func TestReplayOracle(t *testing.T) {
	names := map[string]string{
		"FIFO": "fifo", "LRU": "lru", "SIEVE": "sieve", "ARC": "arc", "GDSF": "gdsf", "AgingLFU-w100": "aging-lfu:w=100",
		"TTL-fixed-T2C": "ttl:ttl=2C", "Belady": "belady", "Belady-bypass": "belady-bypass",
	}
	played := 0
	for _, row := range oracleRows(t) {
		name, ok := names[row[1]]
		if !ok {
			continue
		}
		trace := &Slice{Title: row[0]}
		for _, id := range oracleTrace(t, row[0]) {
			trace.All = append(trace.All, Request{ID: uint64(id) + 1})
		}
		capacity, err := ParseCapacity(row[2])
		if err != nil {
			t.Fatal(err)
		}
		results, err := Replay(t.Context(), trace, Options{Policies: []string{name}, Capacities: []Capacity{capacity}})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(results[0].Misses); got != row[4] {
			t.Errorf("%s at %s of %s: %s misses, want %s", name, row[2], row[0], got, row[4])
		}
		played++
	}
	if played != 4*len(names) {
		t.Errorf("%d rows played, want 4 for each of %d policies", played, len(names))
	}
}

// TestReplayReadsTheSameTwice: a trace that differs at the second reading is an error.
func TestReplayReadsTheSameTwice(t *testing.T) {
	for name, second := range map[string][]Request{"shorter": {{ID: 1}}, "other": {{ID: 1}, {ID: 3}}} {
		_, err := Replay(t.Context(), &fickle{readings: [][]Request{{{ID: 1}, {ID: 2}}, second}},
			Options{Policies: []string{"lru"}, Capacities: []Capacity{{Entries: 1}}})
		if err == nil || !strings.Contains(err.Error(), "read fickle again: request 2 differs from the first reading") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fickle is a trace that differs at each reading.
type fickle struct {
	readings [][]Request
	read     int
}

func (f *fickle) Name() string { return "fickle" }

func (f *fickle) Requests() iter.Seq2[Request, error] {
	f.read++
	return (&Slice{All: f.readings[f.read-1]}).Requests()
}

func TestOptionsValidate(t *testing.T) {
	good := Options{Policies: []string{"lru"}, Capacities: []Capacity{{Entries: 1}}}
	for want, spoil := range map[string]func(*Options){
		"no policy":               func(o *Options) { o.Policies = nil },
		"no capacity":             func(o *Options) { o.Capacities = nil },
		`unknown policy "what"`:   func(o *Options) { o.Policies = []string{"lru", "what"} },
		"warm-up of -1":           func(o *Options) { o.Warmup = -1 },
		"-1 windows":              func(o *Options) { o.Windows = -1 },
		"want 0 to 1000":          func(o *Options) { o.Windows = 1001 },
		"-2 in parallel":          func(o *Options) { o.Parallel = -2 },
		"exactly one of share":    func(o *Options) { o.Capacities = []Capacity{{Entries: 1, Bytes: 1}} },
		"a share above 0":         func(o *Options) { o.Capacities = []Capacity{{Share: 1.5}} },
		"belady has no parameter": func(o *Options) { o.Policies = []string{"belady:x=1"} },
	} {
		o := good
		spoil(&o)
		if _, err := Replay(t.Context(), &Slice{}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	results, err := Replay(t.Context(), &Slice{}, good)
	if err != nil || show(results[0]) != show(Result{}) {
		t.Errorf("an empty trace: %v, %v", results, err)
	}
}

// TestReplayStreams: ten times the requests take no more memory.
func TestReplayStreams(t *testing.T) {
	var took [2]uint64
	for i, n := range []int{50_000, 500_000} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o := Options{Policies: []string{"lru", "s3fifo", "arc"}, Capacities: []Capacity{{Share: 0.1}, {Bytes: 5000}}, Parallel: 1}
		if _, err := Replay(t.Context(), endless{n}, o); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		took[i] = after.TotalAlloc - before.TotalAlloc
	}
	if took[1] > took[0]+took[0]/10 {
		t.Errorf("%d bytes for 50,000 requests, %d for 500,000", took[0], took[1])
	}
}

// endless makes n requests for a thousand identities, one at a time.
type endless struct{ n int }

func (endless) Name() string { return "endless" }

func (e endless) Requests() iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		r := rand.New(rand.NewPCG(1, 1))
		for range e.n {
			id := 1 + min(r.Uint64N(1000), r.Uint64N(1000))
			if !yield(Request{ID: id, Topic: id % 50, Size: int64(id % 90), Parent: id / 2}, nil) {
				return
			}
		}
	}
}
