package blocks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/policies"
	"reprise/policy"
	"reprise/policy/classic"
)

// conversations is a trace of some users who share a beginning and go on with their own turns.
func conversations(seed uint64, n int) *Trace {
	r := rand.New(rand.NewPCG(seed, 1))
	t := &Trace{Name: fmt.Sprint("conversations ", seed), Generated: true, Tokens: 16, Kinds: []string{"text", "file"}}
	var numbers Numbers
	type open struct {
		last  int32
		chain []uint32
		turn  int32
		kind  uint16
	}
	var all []open
	id := uint64(100)
	grow := func(chain []uint32, by int) []uint32 {
		var ids []uint64
		for range by {
			id++
			ids = append(ids, id)
		}
		return numbers.Chain(slices.Clone(chain), ids)
	}
	for i := range n {
		at := float64(i) * 2
		if len(all) == 0 || r.IntN(3) == 0 {
			kind := uint16(r.IntN(2))
			all = append(all, open{chain: numbers.Chain(nil, []uint64{uint64(kind) + 1, 7, 8}), kind: kind})
		}
		k := r.IntN(len(all))
		c := &all[k]
		chain := grow(c.chain, 1+r.IntN(4))
		answer := grow(chain, r.IntN(3))
		c.turn++
		t.Requests = append(t.Requests, Request{At: at, After: c.last, Think: 1, Prompt: int32(16 * len(chain)), Answer: int32(16*(len(answer)-len(chain)) + 1),
			Blocks: chain, Filled: answer[len(chain):], Kind: c.kind, Turn: c.turn, Session: uint32(k + 1)})
		if c.last != 0 {
			t.Requests[c.last-1].GoesOn = true
		}
		c.last, c.chain = int32(i+1), answer
	}
	t.Distinct = numbers.Len()
	return t
}

// naiveLRU is the block hits of a cache under LRU: a list of blocks, the one to go first in front.
func naiveLRU(t *Trace, slots int) (hits int64) {
	var list []uint32
	touch := func(b uint32) {
		if i := slices.Index(list, b); i >= 0 {
			list = slices.Delete(list, i, i+1)
		}
		list = append(list, b)
	}
	for i := range t.Requests {
		r := &t.Requests[i]
		for _, b := range r.Blocks {
			if !slices.Contains(list, b) {
				break
			}
			hits++
		}
		whole := append(slices.Clone(r.Blocks), r.Filled...)
		whole = whole[:min(len(whole), slots)] // what is deeper never fits
		for _, b := range slices.Backward(whole) {
			touch(b)
		}
		list = list[max(0, len(list)-slots):]
	}
	return hits
}

func TestReplayIsLRU(t *testing.T) {
	for seed := range uint64(20) {
		trace := conversations(seed, 300)
		for _, slots := range []int{1, 2, 5, 20, 100, 500} {
			got := replay(t, trace, Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: slots}}})[0]
			if want := naiveLRU(trace, slots); got.Hits != want {
				t.Errorf("%s in %d blocks: %d hits, a list has %d", trace.Name, slots, got.Hits, want)
			}
		}
	}
}

func replay(t testing.TB, trace *Trace, o Options) []Result {
	t.Helper()
	all, err := Replay(context.Background(), trace, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Seconds = 0
	}
	return all
}

// TestBounds: no policy has more hits than belady, with two tiers either; all have all of them when everything fits, and so has the infinite
// cache: those that a set has.
func TestBounds(t *testing.T) {
	names := append(policies.All.Names(), Bounds()...)
	for seed := range uint64(5) {
		trace := conversations(seed, 400)
		o := Options{Policies: names, Capacities: []Capacity{{Blocks: 20}, {Blocks: 80}, {Share: 1}}, Seed: 3}
		if seed%2 == 1 {
			o.Second = Capacity{Blocks: 30}
		}
		all := replay(t, trace, o)
		best := all[3*slices.Index(names, Belady):]
		ideal := idealHits(trace)
		for i, r := range all {
			if r.Policy != Infinite && r.Hits > best[i%3].Hits {
				t.Errorf("%s: %s at %s has %d hits, belady %d", trace.Name, r.Policy, r.Capacity, r.Hits, best[i%3].Hits)
			}
			// what expires is dropped although there is room
			if (r.Policy == Infinite || r.Capacity == "100%" && !strings.HasPrefix(r.Policy, "ttl")) && r.Hits != ideal {
				t.Errorf("%s: %s at %s has %d hits, all that were there before are %d", trace.Name, r.Policy, r.Capacity, r.Hits, ideal)
			}
		}
	}
}

// idealHits is the block hits of a set of blocks.
func idealHits(t *Trace) (hits int64) {
	seen := map[uint32]bool{}
	for _, r := range t.Requests {
		for _, b := range r.Blocks {
			if !seen[b] {
				break
			}
			hits++
		}
		for _, b := range append(slices.Clone(r.Blocks), r.Filled...) {
			seen[b] = true
		}
	}
	return hits
}

func TestReplayIsTheSameInParallel(t *testing.T) {
	trace := conversations(1, 300)
	o := Options{Policies: []string{"lru", "lhd", Belady}, Capacities: []Capacity{{Share: .1}, {Tokens: 640}}, Seed: 1, Parallel: 1,
		Speed: &Speed{Prefill: 1000, Decode: 30, Servers: 2}}
	one := replay(t, trace, o)
	o.Parallel = 4
	if many := replay(t, trace, o); !reflect.DeepEqual(one, many) {
		t.Errorf("in parallel %+v, one after the other %+v", many, one)
	}
}

// line is a trace of one conversation or several whose requests are given as words of letters: each letter is a block of ten tokens.
func line(requests ...Request) *Trace {
	return &Trace{Name: "line", Tokens: 10, Kinds: []string{""}, Distinct: 26, Requests: requests}
}

func prompt(at float64, letters string) Request {
	r := Request{At: at, Prompt: int32(10 * len(letters)), Answer: 11}
	for _, l := range letters {
		r.Blocks = append(r.Blocks, uint32(l-'a'))
	}
	return r
}

// TestTimes computes by hand: a token takes 0.1 s to prefill, each request 1 s before, an answer 1 s after its first token.
func TestTimes(t *testing.T) {
	speed := Speed{Prefill: 10, Fixed: 1, Decode: 10}
	for _, tc := range []struct {
		name   string
		trace  *Trace
		speed  func(*Speed)
		second Capacity
		slots  int
		hits   int64
		times  []float64 // in order of size
		queued []float64
	}{
		{"alone", line(prompt(0, "ab")), nil, Capacity{}, 9, 0, []float64{3}, []float64{3}},
		{"a hit saves its blocks", line(prompt(0, "ab"), prompt(50, "abc")), nil, Capacity{}, 9, 2, []float64{2, 3}, []float64{2, 3}},
		{"the last token is computed in any case", line(prompt(0, "ab"), prompt(50, "ab")), nil, Capacity{}, 9, 2, []float64{1.1, 3}, []float64{1.1, 3}},
		{"the second waits for the first", line(prompt(0, "ab"), prompt(1, "cd")), nil, Capacity{}, 9, 0, []float64{3, 3}, []float64{3, 5}},
		{"two servers", line(prompt(0, "ab"), prompt(1, "cd")), func(s *Speed) { s.Servers = 2 }, Capacity{}, 9, 0, []float64{3, 3}, []float64{3, 3}},
		{"the second tier gives back at its speed", line(prompt(0, "ab"), prompt(50, "cd"), prompt(99, "ab")), func(s *Speed) { s.Swap = 20 }, Capacity{Blocks: 9}, 2, 2,
			[]float64{1 + .1 + 19./20, 3, 3}, []float64{1 + .1 + 19./20, 3, 3}},
		{"a running request keeps its blocks", line(prompt(0, "ab"), prompt(0, "cd"), prompt(50, "ab")), func(s *Speed) { s.Servers = 2 }, Capacity{}, 3, 2, []float64{1.1, 3, 3}, []float64{1.1, 3, 3}},
	} {
		s := speed
		if tc.speed != nil {
			tc.speed(&s)
		}
		got := replay(t, tc.trace, Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: tc.slots}}, Second: tc.second, Speed: &s})[0]
		if got.Hits != tc.hits || !near(got.Time, tc.times) || !near(got.Queued, tc.queued) {
			t.Errorf("%s: %d hits, times %+v and %+v, want %d, %v and %v", tc.name, got.Hits, *got.Time, *got.Queued, tc.hits, tc.times, tc.queued)
		}
	}
}

func near(got *Times, sorted []float64) bool {
	mean := 0.0
	for _, v := range sorted {
		mean += v / float64(len(sorted))
	}
	at := func(q float64) float64 { return sorted[int(math.Ceil(q*float64(len(sorted))))-1] }
	for _, pair := range [][2]float64{{got.Mean, mean}, {got.P50, at(.5)}, {got.P90, at(.9)}, {got.P99, at(.99)}} {
		if math.Abs(pair[0]-pair[1]) > 1e-5 {
			return false
		}
	}
	return true
}

// TestClosedTree: in a closed loop every request of a tree of turns is played, though a branch comes after turns of the one before it.
func TestClosedTree(t *testing.T) {
	trace := line(prompt(0, "a"), prompt(1, "ab"), prompt(2, "abc"), prompt(3, "ad"), prompt(4, "ade"), prompt(5, "af"))
	for i, after := range []int32{0, 1, 2, 1, 4, 1} {
		trace.Requests[i].After, trace.Requests[i].Think = after, 1
	}
	got := replay(t, trace, Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: 20}}, Speed: &Speed{Prefill: 10, Decode: 10, Closed: true}})[0]
	if got.Requests != 6 || got.Blocks != 13 || got.Hits != 7 {
		t.Errorf("%d requests, %d of %d blocks hit; want 6, and 7 of 13", got.Requests, got.Hits, got.Blocks)
	}
}

// TestClosedLoop: the second turn comes five seconds after the end of the first answer, in the open loop when the trace says.
func TestClosedLoop(t *testing.T) {
	first, second, other := prompt(0, "a"), prompt(1, "ab"), prompt(3, "cdefg")
	second.After, second.Think = 1, 5
	trace := line(first, second, other) // alone: 0 to 2, its answer until 3; the other 3 to 9; then at 8, after the other, from 9
	for closed, want := range map[bool]Times{
		false: {Mean: (2 + (1 + 2) + (1 + 6)) / 3.},
		true:  {Mean: (2 + (1 + 2) + 6) / 3.},
	} {
		got := replay(t, trace, Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: 20}}, Speed: &Speed{Prefill: 10, Fixed: 1, Decode: 10, Closed: closed}})[0]
		if math.Abs(got.Queued.Mean-want.Mean) > 1e-5 {
			t.Errorf("closed %v: %+v queued, want a mean of %g", closed, *got.Queued, want.Mean)
		}
	}
}

// TestSecondTierKeepsAll: two tiers under LRU, exclusive, have the hits of one of their size when every request fits the first.
func TestSecondTierKeepsAll(t *testing.T) {
	for seed := range uint64(5) {
		trace := conversations(seed, 300)
		longest := 0
		for _, r := range trace.Requests {
			longest = max(longest, len(r.Blocks)+len(r.Filled))
		}
		two := replay(t, trace, Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: longest}}, Second: Capacity{Blocks: 100}})[0]
		one := replay(t, trace, Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: longest + 100}}})[0]
		if two.Second == 0 || math.Abs(float64(two.Hits-one.Hits)) > 0.01*float64(one.Hits) {
			t.Errorf("%s: %d hits, %d of them in the second tier; one tier of both sizes has %d", trace.Name, two.Hits, two.Second, one.Hits)
		}
	}
}

func TestResultJSON(t *testing.T) {
	plain := replay(t, line(prompt(0, "ab"), prompt(1, "abc")), Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: 9}}})[0]
	got, err := json.Marshal(plain)
	want := `{"trace":"line","policy":"lru","capacity":"9","capacity_blocks":9,"seed":0,"requests":2,"blocks":5,"block_hits":2,"block_hit_ratio":0.4,` +
		`"request_hit_ratio":0.3333333333333333,"tokens_saved":20,"evictions":0,"seconds":0}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	timed, err := json.Marshal(Result{Time: &Times{Mean: 1, P50: 2, P90: 3, P99: 4}, Queued: &Times{Mean: 5}})
	if err != nil || !strings.HasSuffix(string(timed), `"ttft_mean":1,"ttft_p50":2,"ttft_p90":3,"ttft_p99":4,"qttft_mean":5,"qttft_p50":0,"qttft_p90":0,"qttft_p99":0}`) {
		t.Errorf("%s, %v", timed, err)
	}
}

func TestWrongOptions(t *testing.T) {
	good := Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: 1}}}
	for _, tc := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Policies = nil }, "no policy"},
		{func(o *Options) { o.Capacities = nil }, "no capacity"},
		{func(o *Options) { o.Policies = []string{"lro"} }, `unknown policy "lro"`},
		{func(o *Options) { o.Policies = []string{"belady:x=1"} }, "belady has no parameters"},
		{func(o *Options) { o.Warmup = -1 }, "want 0 or more"},
		{func(o *Options) { o.Capacities = []Capacity{{Tokens: -1}} }, "exactly one positive"},
		{func(o *Options) { o.Second = Capacity{Share: 2} }, "share above 0"},
		{func(o *Options) { o.Speed = &Speed{} }, "prefill of 0"},
		{func(o *Options) { o.Speed = &Speed{Prefill: 1, Fixed: math.NaN()} }, "seconds before"},
		{func(o *Options) { o.Speed = &Speed{Prefill: 1, Decode: -1} }, "decode of -1"},
		{func(o *Options) { o.Speed = &Speed{Prefill: 1, Servers: -1} }, "-1 servers"},
		{func(o *Options) { o.Speed = &Speed{Prefill: 1, Servers: 1e9} }, "1000000000 servers: want 0 to 65536"},
		{func(o *Options) { o.Speed = &Speed{Prefill: 1, Swap: -1} }, "swap of -1"},
	} {
		o := good
		tc.change(&o)
		if _, err := Replay(context.Background(), line(prompt(0, "a")), o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}

func TestWrongTraces(t *testing.T) {
	for want, change := range map[string]func(*Trace){
		"blocks of 0 tokens":        func(t *Trace) { t.Tokens = 0 },
		"0 kinds":                   func(t *Trace) { t.Kinds = nil },
		"request 2: time":           func(t *Trace) { t.Requests[1].At = -1 },
		"request 1: time NaN":       func(t *Trace) { t.Requests[0].At = math.NaN() },
		"continues request 2":       func(t *Trace) { t.Requests[1].After = 2 },
		"kind 1":                    func(t *Trace) { t.Requests[0].Kind = 1 },
		"0 tokens and an answer":    func(t *Trace) { t.Requests[0].Prompt = 0 },
		"block 2: want less than 2": func(t *Trace) { t.Distinct = 2 },
		"probability 2":             func(t *Trace) { t.Requests[0].Prob = 2 },
	} {
		trace := line(prompt(0, "ab"), prompt(1, "abc"))
		change(trace)
		_, err := Replay(context.Background(), trace, Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: 1}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestParseCapacity(t *testing.T) {
	trace := &Trace{Tokens: 16, Distinct: 1000}
	for text, want := range map[string]int{"10%": 100, "2000": 2000, "64000tokens": 4000, "64 tokens": 4, "1GiB": 512, "1B": 1, "0.01%": 1} {
		c, err := ParseCapacity(text)
		if err != nil || c.In(trace, DefaultBytesPerToken) != want {
			t.Errorf("%s: %d blocks, %v, want %d", text, c.In(trace, DefaultBytesPerToken), err, want)
		}
		if again, err := ParseCapacity(c.String()); err != nil || again != c {
			t.Errorf("%s: %q read again is %+v, %v", text, c.String(), again, err)
		}
	}
	if n := (Capacity{Bytes: 1 << 40}).In(trace, 1<<60); n != 1 {
		t.Errorf("%d blocks of more bytes than there are, want 1", n)
	}
	for _, text := range []string{"", "0", "-1", "0%", "101%", "tokens", "0tokens", "-5tokens", "1.5tokens", "NaN%", "10 blocks", "9999999999999999999tokens"} {
		if c, err := ParseCapacity(text); err == nil || !strings.Contains(err.Error(), "64000tokens") {
			t.Errorf("%q: %+v, %v, want an error with the units", text, c, err)
		}
	}
}

// TestInterrupted: the figures are those of the requests that were played.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	o := Options{Policies: []string{"lru"}, Capacities: []Capacity{{Blocks: 50}}, Progress: func(done, _ int64) {
		if done >= 512 {
			stop()
		}
	}}
	all, err := Replay(ctx, conversations(1, 2000), o)
	if !errors.Is(err, context.Canceled) || len(all) != 1 || all[0].Requests < 512 || all[0].Requests >= 2000 || all[0].HitRatio == 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestTicksGoForward: the clocks that an evictor gets never go back, in a closed loop with several servers too.
func TestTicksGoForward(t *testing.T) {
	for _, speed := range []*Speed{nil, {Prefill: 500, Decode: 20, Servers: 3}, {Prefill: 500, Decode: 20, Servers: 3, Closed: true}} {
		trace := conversations(4, 500)
		o := Options{Speed: speed}
		p, err := o.cell(trace, "lru", Capacity{Blocks: 60}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ticks := &ticking{t: t, LRU: classic.NewLRU()}
		p.tiers.first = NewCache(60, ticks)
		if p.measure(context.Background(), nil, func(int) {}); ticks.calls < 1000 {
			t.Errorf("%d calls", ticks.calls)
		}
	}
}

// ticking is an evictor that fails when a clock goes back.
type ticking struct {
	*classic.LRU
	t     *testing.T
	last  policy.Tick
	calls int
}

func (e *ticking) at(at policy.Tick) {
	e.calls++
	if at.Seq < e.last.Seq || at.At < e.last.At {
		e.t.Errorf("call %d at %+v, after %+v", e.calls, at, e.last)
	}
	e.last = at
}

func (e *ticking) Insert(it policy.Item, at policy.Tick) { e.at(at); e.LRU.Insert(it, at) }
func (e *ticking) Hit(id policy.ID, at policy.Tick)      { e.at(at); e.LRU.Hit(id, at) }

// TestNumbersBeginRequests: the first use with a new number is one by the request of that number, whatever ends at that time.
func TestNumbersBeginRequests(t *testing.T) {
	trace := conversations(4, 500)
	o := Options{Speed: &Speed{Prefill: 500, Decode: 20, Servers: 3}}
	p, err := o.cell(trace, "lru", Capacity{Blocks: 60}, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := &beginning{t: t, LRU: classic.NewLRU(), trace: trace}
	p.tiers.first = NewCache(60, first)
	if p.measure(context.Background(), nil, func(int) {}); first.seq != 500 {
		t.Errorf("%d requests", first.seq)
	}
}

// beginning is an evictor that fails when the first use with a new number is one by another conversation.
type beginning struct {
	*classic.LRU
	t     *testing.T
	trace *Trace
	seq   int64
}

func (e *beginning) use(it *policy.Item, at policy.Tick) {
	if at.Seq == e.seq {
		return
	}
	e.seq = at.Seq
	if want := e.trace.Requests[at.Seq-1].Session; it.Topic != policy.TopicID(want) {
		e.t.Errorf("request %d: a use by conversation %d, want %d", at.Seq, it.Topic, want)
	}
}

func (e *beginning) Insert(it policy.Item, at policy.Tick) { e.use(&it, at); e.LRU.Insert(it, at) }
func (e *beginning) HitIn(it policy.Item, at policy.Tick)  { e.use(&it, at); e.LRU.Hit(it.ID, at) }

// TestAnswersGoDeepestFirst: of the blocks of an answer too, the deepest is dropped first by a policy that goes by the order of insertion. The
// answer of the first request is c and d; y takes the place of b, and b that of d.
func TestAnswersGoDeepestFirst(t *testing.T) {
	first := prompt(0, "ab")
	first.Filled = []uint32{2, 3}
	trace := line(first, prompt(1, "x"), prompt(2, "y"), prompt(3, "ab"), prompt(4, "abc"))
	got := replay(t, trace, Options{Policies: []string{"fifo"}, Capacities: []Capacity{{Blocks: 5}}})[0]
	if got.Hits != 1+3 {
		t.Errorf("%d hits, want that of a, and those of a, b and c", got.Hits)
	}
}
