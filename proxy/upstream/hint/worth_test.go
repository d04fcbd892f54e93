package hint

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"reprise/policy"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/prefix"
)

var began = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }

func chain(system, message string) *prefix.Chain {
	c := &prefix.Chain{}
	c.Begin(1)
	if system != "" {
		c.Add(prefix.System, []byte(system))
	}
	c.Add(prefix.Message, []byte(message))
	return c
}

// TestResidualRate: an application asks once a second, and the cache answers three of four.
func TestResidualRate(t *testing.T) {
	table := NewPrefixes()
	system := strings.Repeat("s", 4000)
	var residual float64
	for i := range 4000 {
		if i%4 == 0 {
			residual = table.Miss(Miss{Group: 7, Chain: chain(system, fmt.Sprint(i)), Turn: 1, Path: "/v1/chat/completions"}, at(float64(i)))
		} else {
			table.Hit(7, at(float64(i)))
		}
	}
	if math.Abs(residual-0.25) > 0.01 {
		t.Errorf("the engine gets %v requests a second, want 0.25", residual)
	}
	var app Ranked
	for _, r := range table.Rank(10*time.Minute, 10_000, at(4000)) {
		if r.Kind == application {
			app = r
		}
	}
	if math.Abs(app.Rate-1) > 0.02 || math.Abs(app.HitRatio-0.75) > 0.01 || app.Tokens != 1000 || app.Requests != 4000 || app.ToEngines != 1000 {
		t.Errorf("ranked %+v", app)
	}
	if app.Returns < 0.95 || app.Worth < 950 {
		t.Errorf("an application that asks each 4 s returns with %v", app.Returns)
	}
}

// TestOneRequestHasNoRate: nothing is known after the first request, and nothing is decided by it.
func TestOneRequestHasNoRate(t *testing.T) {
	table := NewPrefixes()
	if got := table.Miss(Miss{Chain: chain("system", "hello")}, at(0)); got != 0 {
		t.Errorf("one request has the rate %v", got)
	}
	table.Hit(99, at(1)) // of no known prefix
}

// TestRankFollowsCategories: conversations of one path go on after seconds, those of the other never do. Fresh ones are ranked by that.
func TestRankFollowsCategories(t *testing.T) {
	table := NewPrefixes()
	now := 0.0
	for i := range 400 {
		id := fmt.Sprint("conversation ", i)
		table.Miss(Miss{Chain: chain("", "chat "+id), Turn: 1, Path: "/chat"}, at(now))
		table.Miss(Miss{Chain: chain("", "api "+id), Turn: 1, Path: "/api"}, at(now))
		for turn := 2; turn < 4; turn++ {
			table.Miss(Miss{Chain: chain("", "chat "+id), Turn: turn, Path: "/chat"}, at(now+float64(turn)))
		}
		now += 30
	}
	text := strings.Repeat("a long question ", 100)
	table.Miss(Miss{Chain: chain("", "chat"+text), Turn: 1, Path: "/chat"}, at(now))
	table.Miss(Miss{Chain: chain("", "api"+text), Turn: 1, Path: "/api"}, at(now))
	ranks := map[string]Ranked{}
	for _, r := range table.Rank(time.Minute, 10_000, at(now)) {
		if r.Idle == 0 {
			ranks[r.Path] = r
		}
	}
	if chat, api := ranks["/chat"], ranks["/api"]; chat.Returns < 0.9 || api.Returns > 0.1 || chat.Worth < 5*api.Worth {
		t.Errorf("chat %+v\napi %+v", chat, api)
	}
}

// TestContinuesFollowsTurns: half of the conversations end after the first turn, those that have a second one go on to the fourth.
func TestContinuesFollowsTurns(t *testing.T) {
	table := NewPrefixes()
	now := 0.0
	for i := range 1000 {
		turns := 1
		if i%2 == 0 {
			turns = 4
		}
		for turn := 1; turn <= turns; turn++ {
			table.Miss(Miss{Chain: chain("", fmt.Sprint("c", i)), Turn: turn, Path: "/chat"}, at(now+100*float64(turn)))
		}
		now += 10
	}
	table.Rank(time.Minute, 0, at(now+2000))
	goesOn := func(turn int) float64 { return table.turns.Of(policy.CategoryOf(0, turn)).P }
	first, second, last := goesOn(1), goesOn(2), goesOn(4)
	if math.Abs(first-0.5) > 0.05 || second < 0.9 || last > 0.1 {
		t.Errorf("after the first turn %v go on, after the second %v, after the last %v", first, second, last)
	}
}

// TestPredictionsRank: of two conversations that differ by their predictions alone the likelier one is worth more, by the odds of papers/004;
// one without a prediction has the share of its category. What is known of the application does not change.
func TestPredictionsRank(t *testing.T) {
	table := NewPrefixes()
	for i, prob := range []float64{0.9, 0.1, 0, 2, 1e-300} {
		c := chain("", fmt.Sprint("conversation ", i))
		table.Miss(Miss{Chain: c, Turn: 1, Path: "/chat"}, at(0))
		table.Predicted(c.Opening, prob, at(0))
	}
	ranks := table.Rank(time.Hour*1000, 10, at(100)) // all are fitted by one common model, P and Rate
	fit := table.chats.Of(0)
	decay := math.Exp(-fit.Rate * 100)
	for _, want := range []float64{1 / (1 + 1e-6), 0.9 * decay / (0.9*decay + 0.1), fit.P * decay / (fit.P*decay + 1 - fit.P), 0.1 * decay / (0.1*decay + 0.9), 1e-6 * decay} {
		if math.Abs(ranks[0].Returns-want) > 1e-5 || math.Abs(ranks[0].Continues-want) > 0.02 {
			t.Errorf("returns %v, continues %v; want %v", ranks[0].Returns, ranks[0].Continues, want)
		}
		ranks = ranks[1:]
	}
}

// TestPredictedLater: a prediction counts for the miss that it was made for, and for no other.
func TestPredictedLater(t *testing.T) {
	table := NewPrefixes()
	c := chain("system", "hello")
	continues := func() float64 {
		for _, r := range table.Rank(time.Hour, 10, at(10)) {
			if r.Kind == ofConversation {
				return r.Continues
			}
		}
		return -1
	}
	table.Predicted(c.Opening, 0.9, at(0)) // not known
	table.Miss(Miss{Chain: c, Turn: 1, Path: "/chat"}, at(0))
	table.Miss(Miss{Chain: c, Turn: 2, Path: "/chat"}, at(10))
	before := continues()
	table.Predicted(c.Opening, 0.9, at(0)) // of the turn before
	table.Predicted(c.Scaffold, 0.9, at(10))
	if got := continues(); got != before {
		t.Errorf("continues %v, before %v", got, before)
	}
	table.Predicted(c.Opening, 0.9, at(10))
	if got := continues(); math.Abs(got-0.9) > 1e-9 {
		t.Errorf("continues %v, want 0.9", got)
	}
}

// TestPathsAreBounded: clients cannot make more categories than there is room for.
func TestPathsAreBounded(t *testing.T) {
	table := NewPrefixes()
	table.most = 10
	for i := range 1000 {
		table.Miss(Miss{Chain: chain("", fmt.Sprint(i)), Turn: 1, Path: fmt.Sprint("/v1/", i)}, at(float64(i)))
	}
	if n := len(table.paths); n != mostPaths {
		t.Errorf("%d paths", n)
	}
}

// TestMemoryIsBounded: what is forgotten counts as a prefix that has not returned.
func TestMemoryIsBounded(t *testing.T) {
	table := NewPrefixes()
	table.most = 100
	for i := range 10_000 {
		table.Miss(Miss{Group: uint64(i), Chain: chain(fmt.Sprint("s", i), fmt.Sprint("m", i)), Turn: 1, Path: "/v1"}, at(float64(i)))
	}
	if len(table.prefixes) != 100 || table.order.Len() != 100 || len(table.groups) > 400 {
		t.Errorf("%d prefixes, %d in order, %d groups", len(table.prefixes), table.order.Len(), len(table.groups))
	}
	if r := table.Rank(time.Minute, 1, at(10_000)); r[0].Returns > 0.01 {
		t.Errorf("prefixes that never return are expected with %v", r[0].Returns)
	}
}

// caps returns those of a model at an upstream.
func caps(t *testing.T, name, model string) dialect.Caps {
	t.Helper()
	d, err := dialect.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return d.Caps(model)
}

// TestDecide checks the decision at the rates where it changes: p = 0.25 / 0.9 for a write at 1.25, 1.11 expected reads for one at 2.
func TestDecide(t *testing.T) {
	claude, gpt, older, engine := caps(t, "anthropic", "claude-sonnet-5"), caps(t, "openai", "gpt-5.6"), caps(t, "openai", "gpt-5.1"), caps(t, "vllm", "llama")
	half := -math.Log(1-0.25/0.9) / 1800 // p = 0.278 within 30 minutes
	for _, tc := range []struct {
		name string
		rate float64
		caps dialect.Caps
		want dialect.Retain
	}{
		{"never again", 0, claude, dialect.RetainDefault},
		{"once in two hours", 1.0 / 7200, claude, dialect.RetainDefault},
		{"1.10 reads an hour", 1.10 / 3600, claude, dialect.RetainDefault},
		{"1.13 reads an hour", 1.13 / 3600, claude, dialect.RetainLong},
		{"each ten minutes", 1.0 / 600, claude, dialect.RetainLong},
		{"each minute", 1.0 / 60, claude, dialect.RetainShort},
		{"each ten seconds", 0.1, claude, dialect.RetainShort},
		{"nothing returns to an upstream that writes always", 1.0 / 36000, gpt, dialect.RetainOff},
		{"just below the half hour", half * 0.99, gpt, dialect.RetainOff},
		{"just above", half * 1.01, gpt, dialect.RetainShort},
		{"a write that is free", 1.0 / 7200, older, dialect.RetainLong},
		{"an upstream without prices", 0.01, engine, dialect.RetainDefault},
	} {
		if got := Decide(tc.rate, tc.caps); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestDecisionSaves plays Poisson arrivals against a cache with these prices: what is decided costs no more than no cache, and than the
// other life, except for the margin and the noise.
func TestDecisionSaves(t *testing.T) {
	c := caps(t, "anthropic", "claude-sonnet-5")
	for _, every := range []float64{5, 60, 300, 900, 2000, 10_000} {
		cost := func(life time.Duration, write float64) float64 {
			rng := rand.New(rand.NewPCG(3, 4))
			sum := 0.0
			for range 200_000 {
				if rng.ExpFloat64()*every < life.Seconds() {
					sum += c.Read
				} else {
					sum += write
				}
			}
			return sum / 200_000
		}
		short, long := cost(c.Life, c.Write), cost(c.LifeLong, c.WriteLong)
		paid := map[dialect.Retain]float64{dialect.RetainDefault: 1, dialect.RetainShort: short, dialect.RetainLong: long}[Decide(1/every, c)]
		t.Logf("a request each %5.0f s costs %.3f: 5 minutes %.3f, an hour %.3f", every, paid, short, long)
		if best := min(1, short, long); paid > best+margin+0.01 {
			t.Errorf("a request each %v s costs %v, and could cost %v", every, paid, best)
		}
	}
}

func BenchmarkMiss(b *testing.B) {
	table := NewPrefixes()
	chains := make([]*prefix.Chain, 5000)
	for i := range chains {
		chains[i] = chain("system", fmt.Sprint(i))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		table.Miss(Miss{Group: 1, Chain: chains[i%len(chains)], Turn: 1, Path: "/v1/chat/completions"}, at(float64(i)))
	}
}

// TestOldWorkloadsFade: what was seen a day ago does not outweigh the last hour, whether or not anybody has asked for a ranking meanwhile.
func TestOldWorkloadsFade(t *testing.T) {
	table := NewPrefixes()
	for i := range 2000 { // all return at once
		table.Miss(Miss{Chain: chain("", fmt.Sprint("day ", i/2)), Turn: 1, Path: "/chat"}, at(float64(i)))
	}
	const day = 86_400
	for i := range 200 { // none does
		table.Miss(Miss{Chain: chain("", fmt.Sprint("night ", i)), Turn: 1, Path: "/chat"}, at(day+float64(i)*30))
	}
	if r := table.Rank(time.Minute, 1, at(day+6000)); r[0].Returns > 0.2 {
		t.Errorf("a prefix of the night is expected with %v", r[0].Returns)
	}
}
