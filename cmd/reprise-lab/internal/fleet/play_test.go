package fleet

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// slow is an engine whose times are easy to add up.
var slow = Engine{Tokens: 1024, Budget: 64, Seqs: 2, Step: 1, Prefill: 0.01, Decode: 0.1}

// prompt is a request with blocks of 16 tokens, the first of which is called first.
func prompt(at float64, tokens, answer, first int) Request {
	content := &runs{unit: 16, tokens: tokens}
	content.add(first, (tokens+15)/16)
	return open(at, tokens, answer, content)
}

// playFully plays a trace and counts all requests.
func playFully(t *testing.T, tr *Trace, o Options) *play {
	t.Helper()
	p, err := newPlay(tr, &o)
	if err != nil {
		t.Fatal(err)
	}
	p.measure.from, p.measure.to = 0, len(tr.Requests)
	for p.step() {
	}
	if err := p.audit(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTimes compares times to first token with those added up by hand.
//
//	0     A comes: 64 of its 96 tokens in a step of 1 + 64*0.01 s
//	1.64  the other 32 of A, and B, which came at 0.5, in the rest of the budget: 1.64 s
//	3.28  A and B have their first token; A has a further one in 0.1 s, beside C, which came at 0.6 with the prompt of A: of it 80 tokens
//	      are cached, because the last block is computed again; 1 + 0.1 + 16*0.01 s
//	4.54  C has its first token
func TestTimes(t *testing.T) {
	tr := &Trace{Unit: 16, Requests: []Request{prompt(0, 96, 2, 0), prompt(0.5, 32, 1, 100), prompt(0.6, 96, 1, 0)}}
	p := playFully(t, tr, Options{Engines: []Engine{slow}, Block: 16, Chooser: "round-robin", Proxies: 1, Rate: 5})
	want := []float64{3.28, 2.78, 3.94}
	for i, got := range p.measure.ttft {
		if math.Abs(got-want[i]) > 1e-9 {
			t.Errorf("request %d: TTFT %g s, want %g", i, got, want[i])
		}
	}
	if c, n := p.measure.all.Tokens.Cached, p.engines[0].decoded; c != 80 || n != 1 {
		t.Errorf("%d tokens were cached and %d decoded, want 80 and 1", c, n)
	}
	if p.now != 4.54 && math.Abs(p.now-4.54) > 1e-9 {
		t.Errorf("it ended at %g", p.now)
	}
}

// TestSession: a request waits for the pause of the trace and for the answer before it, and finds that answer in the cache.
func TestSession(t *testing.T) {
	for _, tc := range []struct {
		pause, sent float64
	}{{0, 1.32 + 16*1.1}, {100, 50}, {30, 30}} {
		first, second := prompt(0, 32, 17, 0), prompt(tc.pause, 64, 1, 0)
		tr := &Trace{Unit: 16, Sessions: true, Requests: bySession([][]Request{{first, second}})}
		p := playFully(t, tr, Options{Engines: []Engine{slow}, Block: 16, Chooser: "round-robin", Proxies: 1, Rate: 1e9, MaxPause: 50})
		if got := p.sent[1] - p.sent[0]; math.Abs(got-tc.sent) > 1e-6 {
			t.Errorf("pause of %g s: sent after %g s, want %g", tc.pause, got, tc.sent)
		}
		if got := p.measure.all.Tokens.Cached; got != 48 {
			t.Errorf("%d tokens were cached, want 48: two blocks of the prompt and one of the answer", got)
		}
	}
}

// TestRefused: an engine with a full queue refuses, another one gets the request, and with none left it is rejected.
func TestRefused(t *testing.T) {
	full := slow
	full.Queue = 1
	tr := &Trace{Unit: 16}
	for i := range 12 {
		tr.Requests = append(tr.Requests, prompt(float64(i)*1e-3, 160, 1, 100*i))
	}
	tr.Requests = append(tr.Requests, prompt(1, 2000, 1, 5000)) // more than a cache holds
	p := playFully(t, tr, Options{Engines: []Engine{full, full}, Block: 16, Chooser: "round-robin", Proxies: 1, Rate: 13})
	if got := p.measure.all; got.Rejected != 12-4+1 || len(p.measure.ttft) != 4 {
		t.Errorf("%d rejected, %d answered; want 9 and 4: one runs and one waits in each engine", got.Rejected, len(p.measure.ttft))
	}
}

// TestResponses: the second of equal requests is answered at once, if the first one is complete.
func TestResponses(t *testing.T) {
	tr := &Trace{Unit: 16, Requests: []Request{prompt(0, 32, 1, 0), prompt(0.1, 32, 1, 0), prompt(9, 32, 1, 0), prompt(10, 48, 1, 0)}}
	p := playFully(t, tr, Options{Engines: []Engine{slow}, Block: 16, Chooser: "round-robin", Proxies: 1, Rate: 0.4, Responses: true})
	if got := p.measure.all; got.Responded != 1 || got.Tokens.Responded != 32 || got.Tokens.Cached != 16+32 {
		t.Errorf("%+v", got)
	}
}

// TestLeaders: a request that shares a long cold prefix waits at the proxy for the one that prefills it, and not in the engine.
func TestLeaders(t *testing.T) {
	for _, tc := range []struct{ leaders, held int }{{0, 0}, {256, 1}} {
		tr := &Trace{Unit: 16, Requests: []Request{prompt(0, 512, 1, 0), prompt(0.1, 512, 1, 0)}}
		p, err := newPlay(tr, &Options{Engines: []Engine{slow}, Block: 16, Chooser: "prefix", Proxies: 1, Rate: 20, Leaders: tc.leaders})
		if err != nil {
			t.Fatal(err)
		}
		p.measure.from, p.measure.to = 0, len(tr.Requests)
		p.step()
		p.step()
		if e := p.engines[0]; len(p.held) != tc.held || len(e.waiting) != 1-tc.held {
			t.Errorf("leaders %d: %d held, %d in the engine's queue", tc.leaders, len(p.held), len(e.waiting))
		}
		for p.step() {
		}
		if got := p.measure.all.Tokens.Cached; got != 496 || p.audit() != nil {
			t.Errorf("leaders %d: %d tokens were cached, want 496: %v", tc.leaders, got, p.audit())
		}
	}
}

// TestSameAgain: a play does not depend on what runs beside it, and every chooser passes the audit of each trace.
func TestSameAgain(t *testing.T) {
	tr, err := Generate(LoadName+":tenants=5,conversations=60,system=800,repeat=0.2", 3)
	if err != nil {
		t.Fatal(err)
	}
	small := Default()
	small.Tokens = 24_000
	s := Study{Options: Options{Engines: []Engine{small, small, small.Scaled(0.5)}, Block: 16, Proxies: 1, MaxPause: 10, Seed: 1, Leaders: 512, Rate: 8},
		Choosers: []string{"prefix", "least-loaded", "round-robin", Oracle}, Seeds: 2, Compare: true, Parallel: 1}
	one, err := s.Run(context.Background(), tr)
	if err != nil {
		t.Fatal(err)
	}
	s.Parallel = 3
	again, err := s.Run(context.Background(), tr)
	if err != nil || !reflect.DeepEqual(one.Results, again.Results) {
		t.Errorf("%v, or the results depend on Parallel", err)
	}
	for _, r := range one.Results {
		if r.Tokens.All != r.Tokens.Cached+r.Tokens.Prefilled+r.Tokens.Responded+r.Tokens.Rejected || r.Hit <= 0 || r.Hit >= 1 || r.TTFT.P50 > r.TTFT.P99 || r.Imbalance < 1 {
			t.Errorf("%+v", r)
		}
	}
}

// TestTooFewSessions: a session that waits for its answers cannot load a fleet, at any rate.
func TestTooFewSessions(t *testing.T) {
	tr := &Trace{Unit: 16, Sessions: true, Requests: bySession([][]Request{{prompt(0, 64, 1, 0), prompt(0, 96, 1, 0)}, {prompt(0, 64, 1, 50)}})}
	o := Options{Engines: []Engine{slow, slow}, Block: 16, Proxies: 1}
	if rate, err := Capacity(context.Background(), tr, o); !errors.Is(err, ErrIdle) {
		t.Errorf("capacity %g, %v", rate, err)
	}
}

func TestOptions(t *testing.T) {
	tr := &Trace{Unit: 16, Requests: []Request{prompt(0, 16, 1, 0)}}
	good := Options{Engines: []Engine{slow}, Block: 16, Chooser: "prefix", Proxies: 1, Rate: 1}
	for want, change := range map[string]func(*Options){
		"one engine":  func(o *Options) { o.Engines = nil },
		"one proxy":   func(o *Options) { o.Proxies = 0 },
		"block of 24": func(o *Options) { o.Block = 24 },
		"rate 0":      func(o *Options) { o.Rate = 0 },
		`"prefixx"`:   func(o *Options) { o.Chooser = "prefixx" },
	} {
		o := good
		change(&o)
		if _, err := Play(context.Background(), tr, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSteps: whatever the load, an engine computes no more than its budget in a step, and runs no more requests than it may.
func TestSteps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tr := &Trace{Unit: 16}
	for i := range 300 {
		tr.Requests = append(tr.Requests, prompt(float64(i), 1+random.IntN(400), 1+random.IntN(50), 1000*random.IntN(20)))
	}
	o := Options{Engines: []Engine{slow, slow}, Block: 16, Chooser: "prefix", Proxies: 2, Rate: 0.3}
	o.Engines[0].Seqs = 5
	p, err := newPlay(tr, &o)
	if err != nil {
		t.Fatal(err)
	}
	for p.step() {
		for _, e := range p.engines {
			n := 0
			for _, j := range e.running {
				if n += j.chunk; j.done == j.req.Prompt {
					n++
				}
			}
			if n > e.Budget || len(e.running) > e.Seqs {
				t.Fatalf("%d tokens in a step, %d requests run", n, len(e.running))
			}
		}
	}
	if err := p.audit(); err != nil {
		t.Error(err)
	}
}
