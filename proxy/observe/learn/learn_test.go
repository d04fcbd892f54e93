package learn

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/proxy/observe"
	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/compare"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// bench is a learner, the proxy and the cache of it: texts are compared by equality, and different texts are Unknown.
type bench struct {
	*Learner
	all      *observe.List
	mu       sync.Mutex // guards what follows
	outcomes []evidence.Outcome
	held     int64
	room     int64 // bytes that may be held
	ask      func() (string, error)
	asked    int
	reading  func()   // is called while a stored answer is read
	notes    []string // what was done about verdicts
}

func (b *bench) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// noted is what was noted since the last call.
func (b *bench) noted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.notes
	b.notes = nil
	return all
}

func newBench(t *testing.T) *bench {
	b := &bench{room: 1 << 30, reading: func() {}}
	b.Learner = New(Options{Server: b, Cache: b, Verdicts: b, Prompts: true,
		Compare: func(p compare.Pair, _ *compare.Noise) compare.Result {
			if p.Stored == p.Fresh {
				return compare.Result{Outcome: evidence.Same}
			}
			return compare.Result{}
		}})
	b.all = observe.NewList(nil, nil)
	t.Cleanup(b.Close)
	return b
}

func (b *bench) Ask(context.Context, string, [2]Message) (string, error) {
	b.mu.Lock()
	b.asked++
	ask := b.ask
	b.mu.Unlock()
	return ask()
}

func (b *bench) Text(hit *cache.Hit) (string, bool, error) {
	b.reading()
	return string(hit.Entry.Answer), true, nil
}

func (b *bench) Hold(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held+n > b.room {
		return false
	}
	b.held += n
	return true
}

func (b *bench) Release(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= n
}

func (b *bench) Guard(_ string, run func() error) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	return run() == nil
}

func (b *bench) Judge(*Reviewed) *reuse.Judge { return &reuse.Judge{} }

func (b *bench) Compared(_ *cache.Request, _ *cache.Finding, result compare.Result, _ evidence.Source) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.outcomes = append(b.outcomes, result.Outcome)
}

func (b *bench) MaxError() float64                  { return 0.01 }
func (b *bench) Rates() *evidence.Rates             { return nil }
func (b *bench) Serves(*cache.Hit) bool             { return true }
func (b *bench) Get(policy.ID) (*store.Entry, bool) { return nil, false }

func (b *bench) Asked(e *store.Entry, prompt string) (stored, asked string) { return e.Prompt, prompt }

func (b *bench) Suspect(p cache.Pair) func() {
	b.note("suspect %d", p.Request[0])
	return func() { b.note("trust %d", p.Request[0]) }
}

func (b *bench) Reviewed(p cache.Pair, right bool) error {
	b.note("%v %d", right, p.Request[0])
	return nil
}

func (b *bench) pair(stored, fresh string) Pair {
	return Pair{Came: b.all.Stamp(), Source: evidence.Shadow, Basis: "form", StoredPrompt: "a?", Prompt: "hi, a?", Fresh: fresh, Verdict: reuse.Verdict{P: 0.99},
		Found: &cache.Finding{Explore: &cache.Hit{Entry: &store.Entry{Answer: []byte(stored)}}}}
}

// settled waits for all comparisons, inside a bubble.
func (b *bench) settled(t *testing.T) {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held != 0 {
		t.Errorf("%d bytes are held", b.held)
	}
}

// TestQueueIsBounded: what does not fit is not compared, holds no memory, and is counted as skipped.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		block := make(chan struct{})
		b.reading = sync.OnceFunc(func() { <-block })
		b.compare(b.pair("x", "x"))
		synctest.Wait()
		for range mostTexts + 7 {
			b.compare(b.pair("x", "x"))
		}
		if n := b.Stats().Shadowed["skipped"]; n != 7 {
			t.Errorf("%d skipped, want 7", n)
		}
		close(block)
		b.settled(t)
		if n := b.Stats().Shadowed["same"]; n != mostTexts+1 || len(b.outcomes) != mostTexts+1 {
			t.Errorf("%d compared, %d counted", n, len(b.outcomes))
		}
		b.room = 100
		b.compare(b.pair("x", "x"))
		b.compare(b.pair("x", strings.Repeat("x", mostText+1)))
		b.settled(t)
		var why []string
		for _, s := range b.Shadowed()[:2] {
			why = append(why, s.Why)
		}
		if fmt.Sprint(why) != "[size memory]" {
			t.Errorf("the last ones: %v", why)
		}
	})
}

// TestCloseDropsWhatWaits: Close returns while comparisons wait, gives their memory back, and nothing of them counts.
func TestCloseDropsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.SetModel("judge", 10)
		b.ask = func() (string, error) { <-b.ctx.Done(); return "", b.ctx.Err() }
		for range 3 {
			b.compare(b.pair("x", "y"))
		}
		synctest.Wait()
		b.Close()
		b.settled(t)
		b.compare(b.pair("x", "x"))
		b.settled(t)
		if len(b.outcomes) != 0 || b.Stats().JudgeCalls["fault"] != 0 {
			t.Errorf("%v, %+v", b.outcomes, b.Stats())
		}
	})
}

// TestBudgetOfAnHour: within any hour there are no more calls than the budget, also across the end of a clock hour and after a change.
func TestBudgetOfAnHour(t *testing.T) {
	var j judge
	j.model, j.budget = "m", 3
	start := time.Date(2026, 1, 2, 3, 50, 0, 0, time.UTC)
	for i, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {20 * time.Minute, true}, {30 * time.Minute, true}, {59 * time.Minute, false}, {60 * time.Minute, true}, {79 * time.Minute, false}, {80 * time.Minute, true}} {
		if got := j.spend(start.Add(c.after)); got != c.want {
			t.Errorf("call %d: %v", i, got)
		}
	}
	if j.budget = 1; j.spend(start.Add(125 * time.Minute)) {
		t.Error("above a budget that was lowered")
	}
}

// TestJudgeModelFaults: an error, and a text that is too long for the model, decide nothing; a private pair does not leave the process.
func TestJudgeModelFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.SetModel("judge", 100)
		b.ask = func() (string, error) { return "", fmt.Errorf("down") }
		b.compare(b.pair("x", "y"))
		b.settled(t)
		b.ask = func() (string, error) { panic("by order of the test") }
		long, private := b.pair("x", strings.Repeat("y", mostJudged+1)), b.pair("x", "y")
		private.Private = true
		b.compare(long)
		b.compare(private)
		b.settled(t)
		if st := b.Stats(); b.asked != 1 || st.JudgeCalls["fault"] != 1 || st.Shadowed["unknown"] != 3 || fmt.Sprint(b.outcomes) != "[0 0 0]" {
			t.Errorf("asked %d times, %+v", b.asked, st)
		}
		if n := len(b.Shadowed()); n != 2 {
			t.Errorf("%d are listed", n)
		}
	})
}

// TestShadowListIsBounded by its length and by the bytes of its prompts.
func TestShadowListIsBounded(t *testing.T) {
	b := newBench(t)
	p := b.pair("", "")
	for i := range mostShadowed + 10 {
		p.Place.Entry = uint64(i + 1)
		b.compare(p)
	}
	if list := b.Shadowed(); len(list) != mostShadowed || list[0].Entry != mostShadowed+10 || list[len(list)-1].Entry != 11 {
		t.Errorf("%d entries from %d", len(list), list[0].Entry)
	}
	p.Prompt, p.StoredPrompt = strings.Repeat("ä", mostPrompt), strings.Repeat("a", mostPrompt)
	for range mostShadowed {
		b.compare(p)
	}
	list := b.Shadowed()
	if n := len(list); n < mostRingBytes/mostPrompt/2 || n > mostRingBytes/mostPrompt/2+2 {
		t.Errorf("%d long prompts are kept", n)
	}
	if one := list[0]; len(one.Prompt) > mostPrompt || !strings.HasSuffix(one.Prompt, "ä…") || one.PromptBytes != 2*mostPrompt || one.StoredPrompt != p.StoredPrompt {
		t.Errorf("%d bytes of %d", len(one.Prompt), one.PromptBytes)
	}
	b.purge(func(*Shadowed) bool { return true })
	if b.reviews.rings[kindShadow].bytes != 0 || len(b.Shadowed()) != 0 {
		t.Errorf("%d bytes are left", b.reviews.rings[kindShadow].bytes)
	}
}

// TestPurgedPairsLeaveNothing: neither in the list nor in a count.
func TestPurgedPairsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := b.pair("x", "x")
		b.reading = func() { b.all.Forget(store.Filter{}) } // while it is compared
		b.compare(p)
		b.settled(t)
		b.compare(p)
		b.settled(t)
		if st := b.Stats(); len(b.Shadowed()) != 0 || len(b.outcomes) != 0 || len(st.Shadowed) != 0 {
			t.Errorf("%+v, %v, %+v", b.Shadowed(), b.outcomes, st)
		}
	})
}

// TestExplainAligns: the parts put together are both prompts, whatever the edits, and each edit has its row.
func TestExplainAligns(t *testing.T) {
	j := &reuse.Judge{Words: true, MaxError: 0.01}
	for _, c := range []struct{ stored, asked, verdict, classes string }{
		{"How do I reset my password?", "Hi, how do I reset my password?", "serve", ""},
		{"What are some benefits of a garden?", "Hello! What are some of the benefits of a garden? Thanks", "serve", "some"},
		{"What is the capital of France?", "What is the capital of Spain?", "miss", "-"},
		{"How do I reset my password?", "", "miss", ""},
		{"`a`", "`b` \u200b", "miss", ""},
	} {
		v := j.Judge(c.stored, c.asked, reuse.Context{Similarity: 0.98, Draw: 0.9999, Trust: reuse.Granted})
		x := Explain(j, c.stored, c.asked, &v)
		var stored, asked string
		for _, part := range x.Aligned {
			stored, asked = stored+part.Stored, asked+part.Asked
		}
		var classes []string
		for _, e := range x.Edits {
			if e.Class == "" {
				e.Class = "-"
			}
			classes = append(classes, e.Class)
		}
		if stored != c.stored || asked != c.asked || x.Verdict != c.verdict || strings.Join(classes, " ") != c.classes && c.verdict == "serve" {
			t.Errorf("%q, %q: %+v", c.stored, c.asked, x)
		}
		if c.classes == "-" && (len(x.Change) == 0 || !strings.Contains(x.Change[0], `"France" against "Spain"`)) {
			t.Errorf("what would have to change: %q", x.Change)
		}
	}
}

// TestExplainShowsADifference: the two texts of an edit that is not listed are never the same.
func TestExplainShowsADifference(t *testing.T) {
	j := &reuse.Judge{Words: true, MaxError: 0.01}
	const stored, asked = "How do I reset my password?", "How do I not reset my password?"
	v := j.Judge(stored, asked, reuse.Context{Similarity: 0.98, Draw: 0.9999, Trust: reuse.Granted})
	x := Explain(j, stored, asked, &v)
	if len(x.Edits) != 1 || x.Edits[0].Stored == x.Edits[0].Asked || !strings.Contains(x.Change[0], "not") {
		t.Errorf("%+v", x)
	}
}

// FuzzExplain: no prompts make explain panic, and its parts put together are the prompts.
func FuzzExplain(f *testing.F) {
	f.Add("How do I reset my password?", "hi! how do I reset my\npassword")
	f.Add("\u202e", "```")
	f.Fuzz(func(t *testing.T, stored, asked string) {
		for _, j := range []*reuse.Judge{{Words: true, MaxError: 0.01}, {MaxError: 0.01}} {
			v := j.Forms(normal.Of(stored), normal.Of(asked), reuse.Context{Similarity: 0.9})
			var a, b string
			for _, part := range Explain(j, stored, asked, &v).Aligned {
				a, b = a+part.Stored, b+part.Asked
			}
			if a != stored || b != asked {
				t.Errorf("%q, %q became %q, %q", stored, asked, a, b)
			}
		}
	})
}
