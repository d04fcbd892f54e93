package cache

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/store"
	"reprise/store/storetest"
	"reprise/topics/reuse"
	"reprise/topics/reuse/compare"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// ruler is a judge with fixed verdicts. Prompts with equal forms are served. Any others are served by one edit, whose class is that of the
// first letter of the asked one, or for a capital X by meaning.
type ruler struct {
	refuses  bool        // all but equal forms
	explores bool        // all that would be served
	doubts   bool        // all but equal forms are under the error rate, and are to be compared
	wrong    edits.Class // that is not served any more
}

func (j *ruler) Forms(stored, asked *normal.Form, c reuse.Context) reuse.Verdict {
	v := reuse.Verdict{P: 0.999, Case: evidence.Case{Tenant: c.Tenant, Scope: c.Scope, Similarity: c.Similarity}}
	first := asked.Prompt[:1]
	switch {
	case stored.Equal(asked):
		v.Case.Explained = true
	case first != "X":
		v.Case.Explained, v.Case.Edits = true, []edits.Class{edits.Class(first[0])}
	}
	form := v.Case.Explained && len(v.Case.Edits) == 0
	if v.Case.Hit = form || !j.refuses && !j.doubts && j.serves(&v.Case); v.Case.Hit {
		v.Decision = reuse.Serve
	}
	if j.explores && v.Case.Hit || j.doubts && !v.Case.Hit {
		v.Decision = reuse.Explore
	}
	return v
}

func (j *ruler) Serves(c *evidence.Case, _ float64, _ reuse.Trust) (bool, float64) {
	return j.serves(c), 0
}

func (j *ruler) serves(c *evidence.Case) bool {
	for _, e := range c.Edits {
		if e == j.wrong {
			return false
		}
	}
	return true
}

// newJudged is a rig with a ruler.
func newJudged(t testing.TB, change ...func(*store.Options, *Options)) (*rig, *ruler) {
	j := &ruler{}
	return newRig(t, append([]func(*store.Options, *Options){func(_ *store.Options, o *Options) {
		o.Judge = func(*evidence.Rates) Judge { return j }
	}}, change...)...), j
}

// long is a prompt of two words and n letters that begins with a letter.
func long(first string, n int) string { return first + "z " + strings.Repeat("z", n-len(first)-2) }

// TestEarnedAliases: what makes a key an alias, and what ends it. Each step is a prompt with how it is answered; entry 1 is of "kz zz…", at
// 40 degrees.
func TestEarnedAliases(t *testing.T) {
	type step struct {
		prompt string
		how    string
	}
	a, x, form := long("a", 42), long("X", 42), long("k", 40)+"."
	for _, c := range []struct {
		name          string
		before, after []step
		between       func(r *rig, j *ruler, o *Options) // before a restart; o is of after it
	}{
		{"form: at once", []step{{form, "semantic"}, {form, "alias"}}, []step{{form, "alias"}}, nil},
		{"edits: the second time", []step{{a, "semantic"}, {a, "semantic"}, {a, "alias"}}, []step{{a, "alias"}}, nil},
		{"meaning: the second time", []step{{x, "semantic"}, {x, "semantic"}, {x, "alias"}}, []step{{x, "alias"}}, nil},
		{"the count of times ends with the process", []step{{a, "semantic"}}, []step{{a, "semantic"}, {a, "semantic"}, {a, "alias"}}, nil},
		{"another embedder: found again, which is enough", []step{{a, "semantic"}, {a, "semantic"}, {a, "alias"}}, []step{{a, "semantic"}, {a, "alias"}},
			func(_ *rig, _ *ruler, o *Options) { o.Embedder.(*plane).space = "another" }},
		{"another judge: refused, and the upstream's answer takes the key", []step{{a, "semantic"}, {a, "semantic"}, {a, "alias"}}, []step{{a, "miss"}, {a, "exact"}},
			func(_ *rig, j *ruler, o *Options) { o.Embedder.(*plane).space, j.refuses = "another", true }},
		{"a raised gate", []step{{a, "semantic"}, {a, "semantic"}, {a, "alias"}}, []step{{a, "miss"}, {a, "exact"}},
			func(_ *rig, _ *ruler, o *Options) { o.Thresholds.Hit = cosine(1) }},
		{"a gate below the similarity", []step{{a, "semantic"}, {a, "semantic"}, {a, "alias"}}, []step{{a, "alias"}},
			func(_ *rig, _ *ruler, o *Options) { o.Thresholds.Hit = cosine(3) }},
		{"a raised gate and equal forms", []step{{form, "semantic"}}, []step{{form, "alias"}},
			func(_ *rig, _ *ruler, o *Options) { o.Thresholds.Hit = 1 }},
		{"a class that is not served any more", []step{{a, "semantic"}, {a, "semantic"}, {a, "alias"}}, []step{{a, "miss"}, {a, "exact"}},
			func(_ *rig, j *ruler, _ *Options) { j.wrong = 'a' }},
		{"another class", []step{{a, "semantic"}, {a, "semantic"}, {a, "alias"}}, []step{{a, "alias"}},
			func(_ *rig, j *ruler, _ *Options) { j.wrong = 'b' }},
		{"an alias of before bases", nil, []step{{a, "semantic"}, {a, "alias"}},
			func(r *rig, _ *ruler, _ *Options) { r.state.store.Alias(keyOf(a), 1, 0) }},
		{"an alias of before bases, refused", nil, []step{{a, "miss"}, {a, "exact"}},
			func(r *rig, j *ruler, _ *Options) { r.state.store.Alias(keyOf(a), 1, 0); j.refuses = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := &storetest.Memory{}
			start := func(o func(*Options), j *ruler) (*rig, *ruler) {
				r, mine := newJudged(t, func(so *store.Options, opt *Options) { so.Backing = disk.Reopen(); o(opt) })
				*mine = *j
				return r, mine
			}
			play := func(r *rig, when string, steps []step) {
				for i, s := range steps {
					if how, _ := r.ask(r.request(s.prompt)); how != s.how {
						t.Errorf("%s, request %d: %s, want %s", when, i+1, how, s.how)
					}
				}
			}
			r, j := start(func(*Options) {}, &ruler{})
			play(r, "before", append([]step{{long("k", 40), "miss"}}, c.before...))
			change := func(*Options) {}
			if c.between != nil {
				c.between(r, j, &Options{Embedder: &plane{}}) // of the store and of the judge
				change = func(o *Options) { c.between(r, &ruler{}, o) }
			}
			if err := r.state.store.Close(); err != nil {
				t.Fatal(err)
			}
			r, _ = start(change, j)
			play(r, "after", c.after)
		})
	}
}

// TestAliasOfOneRequest: the wishes of a request decide whether an alias may answer it, and whether one is made of it.
func TestAliasOfOneRequest(t *testing.T) {
	r, _ := newJudged(t)
	a, form := long("a", 42), long("k", 40)+"."
	r.wants(r.request(long("k", 40)), "miss", 1)
	for _, how := range []string{"semantic", "semantic", "alias"} {
		r.wants(r.request(a), how, 1)
	}
	r.wants(r.request(form), "semantic", 1)
	find := func(prompt string, change func(*Request)) string {
		q := r.request(prompt, change)
		if hit, _, _ := r.Lookup(t.Context(), q); hit != nil {
			return "alias"
		}
		if r.find(t.Context(), q).Hit != nil {
			return "semantic"
		}
		return "miss"
	}
	for _, c := range []struct {
		name, a, form string
		change        func(*Request)
	}{
		{"plain", "alias", "alias", func(*Request) {}},
		{"a gate below the similarity", "alias", "semantic", func(q *Request) { q.Threshold = cosine(3) }},
		{"a gate above it", "miss", "semantic", func(q *Request) { q.Threshold = cosine(1.5) }},
		{"the highest gate", "miss", "miss", func(q *Request) { q.Threshold = 1 }},
		{"exact only", "miss", "miss", func(q *Request) { q.ExactOnly = true }},
		{"no stored answer", "miss", "miss", func(q *Request) { q.NoCache = true }},
		{"a young one", "miss", "miss", func(q *Request) { q.MaxAge = 0; r.pass(time.Second) }},
	} {
		if got := find(a, c.change); got != c.a {
			t.Errorf("%s, by edits: %s, want %s", c.name, got, c.a)
		}
		if got := find(form, c.change); got != c.form {
			t.Errorf("%s, by form: %s, want %s", c.name, got, c.form)
		}
	}
	private := long("k", 40) + "!"
	for range 3 {
		r.wants(r.request(private, func(q *Request) { q.Private = true }), "semantic", 1)
	}
}

// TestExplored: what is to be compared with the upstream's answer is a miss. An answer that would be served may be served in place of an
// error; one that would not, may not.
func TestExplored(t *testing.T) {
	r, j := newJudged(t)
	r.wants(r.request(long("k", 40)), "miss", 1)
	a := long("a", 42)
	j.doubts = true
	f := r.find(t.Context(), r.request(a))
	if f.Hit != nil || f.Explore == nil || f.Explore.Entry.ID != 1 || f.Fallback || f.Basis != ByEdits || f.Vector == nil {
		t.Errorf("%+v", f)
	}
	j.doubts, j.explores = false, true
	for _, prompt := range []string{a, long("k", 40) + "."} {
		q := r.request(prompt)
		f = r.find(t.Context(), q)
		if f.Hit != nil || f.Explore == nil || !f.Fallback || f.Vector == nil || f.Route.Topic == 0 {
			t.Errorf("%q: %+v", prompt, f)
		}
		if hit := r.Stale(t.Context(), q, f.Explore); hit == nil || string(hit.Entry.Answer) != "answer to "+long("k", 40) {
			t.Errorf("%q: %+v is served in place of an error", prompt, hit)
		}
	}
	r.verdicts.Compared(r.request(a), f, compare.Result{Outcome: evidence.Unknown}, evidence.Explored)
	j.explores = false
	r.wants(r.request(a), "semantic", 1)
	b := long("b", 42)
	j.explores = true
	f = r.find(t.Context(), r.request(b))
	r.verdicts.Compared(r.request(b), f, compare.Result{Outcome: evidence.Same}, evidence.Explored)
	j.explores = false
	r.wants(r.request(b), "semantic", 1)
	r.wants(r.request(b), "alias", 1) // the comparison counts as the first time
	c := long("c", 42)
	j.explores = true
	f = r.find(t.Context(), r.request(c))
	if r.Cache.Fallback(t.Context(), r.request(c), f) == nil {
		t.Error("no answer to fall back to")
	}
	r.verdicts.Compared(r.request(c), f, compare.Result{Outcome: evidence.Different}, evidence.Explored)
	if r.Cache.Fallback(t.Context(), r.request(c), f) != nil {
		t.Error("an answer that has proved wrong is fallen back to")
	}
	j.explores = false
	r.wants(r.request(c), "miss", 2)
}

// TestExploreTheNearest: of several answers in doubt the nearest one is compared, and one that is served comes before all of them.
func TestExploreTheNearest(t *testing.T) {
	r, j := newJudged(t)
	j.refuses = true
	r.wants(r.request(long("k", 40)), "miss", 1)
	r.wants(r.request(long("m", 43)), "miss", 2)
	r.wants(r.request(long("n", 43)+"."), "miss", 3)
	j.refuses, j.doubts = false, true
	f := r.find(t.Context(), r.request(long("a", 42)))
	if f.Hit != nil || f.Explore.Entry.ID != 2 || f.similarity < cosine(1.1) {
		t.Errorf("%+v", f.Explore)
	}
	q := r.request(long("n", 43))
	q.Threshold = cosine(4) // no look-up by form
	if f := r.find(t.Context(), q); f.Hit == nil || f.Hit.Entry.ID != 3 || f.Explore != nil || f.Basis != ByForm {
		t.Errorf("%+v", f)
	}
}

// TestShadowFindings: where nothing is served by meaning, the answer that would be is to be compared, and nothing is drawn.
func TestShadowFindings(t *testing.T) {
	r, j := newJudged(t, func(_ *store.Options, o *Options) {
		o.Draw = func() float64 { t.Error("drawn"); return 0 }
	})
	inShadow := func(q *Request) { q.Shadow = true }
	r.wants(r.request(long("k", 40), inShadow), "miss", 1)
	for prompt, basis := range map[string]Basis{long("k", 40) + ".": ByForm, long("a", 42): ByEdits, long("X", 42): ByMeaning} {
		f := r.find(t.Context(), r.request(prompt, inShadow))
		if f.Hit != nil || !f.Shadow || f.Explore == nil || f.Fallback || f.Basis != basis || f.Verdict.P == 0 || f.Vector == nil {
			t.Errorf("%q: %+v", prompt, f)
		}
	}
	j.doubts = true
	if f := r.find(t.Context(), r.request(long("a", 42), inShadow)); f.Shadow || f.Explore == nil {
		t.Errorf("%+v", f)
	}
}

// TestForm: the normal form of a prompt finds an answer without its vector, in the same scope and conversation, whatever the embedder does.
func TestForm(t *testing.T) {
	const asked, again = "How do I reset the router?", "hello, how do I reset the router"
	for _, c := range []struct {
		name   string
		change func(*Request)
		hit    bool
	}{
		{"plain", func(*Request) {}, true},
		{"nothing was shown", func(q *Request) { q.Trust = reuse.Earned }, false},
		{"trust is withdrawn", func(q *Request) { q.Trust = reuse.Withdrawn }, false},
		{"another scope", func(q *Request) { q.Scope[0]++ }, false},
		{"in a conversation", func(q *Request) { q.Turns = []Turn{{Key: keyOf("before"), Answer: [32]byte{1}}} }, false},
		{"exact only", func(q *Request) { q.ExactOnly = true }, false},
		{"a new one", func(q *Request) { q.NoCache = true }, false},
	} {
		r := newRig(t, func(_ *store.Options, o *Options) {
			o.Judge = func(rates *evidence.Rates) Judge { return &reuse.Judge{Words: true, MaxError: 0.01, Rates: rates} }
			o.Draw = func() float64 { return 0.999 }
		})
		r.wants(r.request(asked), "miss", 1)
		r.embedder.broken.Store(true)
		granted := func(q *Request) { q.Trust = reuse.Granted }
		f, err := r.Find(t.Context(), r.request(again, granted, c.change))
		if (f.Hit != nil) != c.hit || c.hit && (err != nil || f.Basis != ByForm || f.Verdict.P < 0.99 || f.Hit.Topic == 0) {
			t.Errorf("%s: %+v, %v", c.name, f, err)
		}
	}
}

// TestPromptWithoutVector: an answer whose prompt could not be embedded is found by its form, after a restart, too.
func TestPromptWithoutVector(t *testing.T) {
	disk := &storetest.Memory{}
	backed := func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() }
	r, _ := newJudged(t, backed)
	turns := func(q *Request) { q.Turns = []Turn{{Key: keyOf("before"), Answer: [32]byte{1}}}; q.Key[0]++ }
	r.embedder.broken.Store(true)
	r.wants(r.request(long("k", 40), turns), "miss", 1)
	r.wants(r.request(long("k", 40)+".", turns), "semantic", 1)
	r.wants(r.request(long("k", 40)), "miss", 2)
	r.state.store.Close()
	r, _ = newJudged(t, backed)
	r.wants(r.request(long("k", 40)+"!", turns), "semantic", 1)
	if n := r.embedder.calls.Load(); n != 0 {
		t.Errorf("%d prompts were embedded", n)
	}
	if st := r.state.topics.Stats(); st.Entries != 0 {
		t.Errorf("%+v", st)
	}
}

// TestLearning: what is learned changes the next decision.
func TestLearning(t *testing.T) {
	made := 0
	r := newRig(t, func(_ *store.Options, o *Options) {
		o.Judge = func(rates *evidence.Rates) Judge {
			made++
			return &ruler{refuses: made > 1}
		}
	})
	r.wants(r.request(long("k", 40)), "miss", 1)
	r.wants(r.request(long("a", 42)), "semantic", 1)
	before := r.learner.Rates()
	r.learner.Learn(evidence.Sample{Case: evidence.Case{Explained: true}, Outcome: evidence.Different, Source: evidence.Explored})
	if made != 2 || r.learner.Rates() == before {
		t.Errorf("the judge was made %d times", made)
	}
	r.wants(r.request(long("a", 42)), "miss", 2)
}

// TestExplainForm: the entry with the form of the prompt is the first candidate, with what its vector says, too.
func TestExplainForm(t *testing.T) {
	r, _ := newJudged(t)
	r.wants(r.request("where is "+long("k", 40)), "miss", 1)
	x, err := r.Explain(t.Context(), r.request("where is "+long("k", 40)+"."))
	if err != nil || x.Hit == nil || x.Hit.Topic == 0 || len(x.Candidates) != 1 || x.Asked == nil {
		t.Fatalf("%+v, %v", x, err)
	}
	c := x.Candidates[0]
	if !c.ByForm || !c.OverGate || c.Similarity < cosine(1.1) || c.Stored == nil || c.Verdict.Decision != reuse.Serve || !c.Verdict.Case.Explained {
		t.Errorf("%+v", c)
	}
	far := "where is " + long("k", 40) + ". Thank you so much for your help!"
	if x, _ = r.Explain(t.Context(), r.request(far)); x.Hit == nil || !x.Candidates[0].ByForm || x.Candidates[0].OverGate {
		t.Errorf("%+v", x)
	}
	if x, _ = r.Explain(t.Context(), r.request("where is "+long("a", 42))); x.Hit == nil || x.Candidates[0].ByForm || x.Candidates[0].Stored == nil {
		t.Errorf("%+v", x)
	}
	if st := r.state.store.Stats(); st.Entries != 1 || st.Aliases != 0 || r.state.topics.Stats().Entries != 1 {
		t.Errorf("%+v", st)
	}
}

// TestFaultOfForms: a judge that panics on what was found by its form costs only the hit, also where the vector would find the same.
func TestFaultOfForms(t *testing.T) {
	panics := false
	r := newRig(t, func(_ *store.Options, o *Options) {
		o.Judge = Vetoes(func(stored, asked string) reuse.Veto {
			if panics {
				panic("injected")
			}
			return reuse.Pass
		})
	})
	r.wants(r.request(long("k", 40)), "miss", 1)
	panics = true
	f := r.find(t.Context(), r.request(long("k", 40)+"."))
	if f.Hit != nil || f.Explore != nil || f.Degraded == "" || f.Vector == nil {
		t.Errorf("%+v", f)
	}
	if got := strings.Join(r.faults, " "); got != "forms" {
		t.Errorf("faults in %q", got)
	}
	panics = false
	r.wants(r.request(long("k", 40)+"."), "semantic", 1)
}

// TestQuotingAnswers: an answer that quotes what the prompts differ by serves no other prompt: not when it is found, not in place of an error, and not by
// an alias that was made before the answer took the place of another one.
func TestQuotingAnswers(t *testing.T) {
	var looked int
	r, j := newJudged(t, func(_ *store.Options, o *Options) {
		o.Quotes = func(e *store.Entry, _, asked string) bool {
			looked++
			return bytes.HasPrefix(e.Answer, []byte("You wrote"))
		}
	})
	k, a := long("k", 40), long("a", 42)
	r.wants(r.request(k), "miss", 1)
	r.wants(r.request(k+"."), "semantic", 1)
	for range 3 {
		r.wants(r.request(k+"."), "alias", 1)
	}
	if looked != 2 {
		t.Errorf("%d looks at one answer, want one when it is found and one by its alias", looked)
	}
	q := r.request(k, func(q *Request) { q.NoCache = true })
	f := r.find(t.Context(), q)
	e := r.entry(q, f)
	e.Answer, e.AnswerHash = []byte("You wrote: "+k), keyOf("You wrote: "+k)
	if _, reason, err := r.Keep(t.Context(), q, f, e); reason != "" || err != nil {
		t.Fatal(reason, err)
	}
	r.wants(r.request(k), "exact", 1)
	if hit, _, _ := r.Lookup(t.Context(), r.request(k+".")); hit != nil {
		t.Error("an alias of before leads to an answer that quotes")
	}
	if f := r.find(t.Context(), r.request(a)); f.Hit != nil || !slices.Contains(f.Vetoes, reuse.Quoting) {
		t.Errorf("found: %+v, %v", f.Hit, f.Vetoes)
	}
	j.explores = true
	if f := r.find(t.Context(), r.request(a)); f.Explore == nil || !f.Fallback || r.Cache.Fallback(t.Context(), r.request(a), f) != nil {
		t.Error("an answer that quotes takes the place of an error")
	}
}
