package cache

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/classic"
	"reprise/store"
	"reprise/store/storetest"
	"reprise/topics/reuse/normal"
)

// variants of a prompt have one normal form.
var variants = []string{"%s", "hello, %s", "%s.", "Hi there, %s", "%s. Thanks!", "good morning, %s"}

// TestFormsAsNaive plays requests of few forms in few scopes and conversations, with evictions, replacements, expiry, purges and restarts. A
// request is answered by its form if, and only if, the last entry that was stored under its scope, conversation and form is still there.
func TestFormsAsNaive(t *testing.T) {
	type place struct {
		scope store.Scope
		chain [32]byte
		text  int
	}
	for seed := range uint64(6) {
		rng, disk := rand.New(rand.NewPCG(seed, 9)), &storetest.Memory{}
		start := func() *rig {
			r, _ := newJudged(t, func(so *store.Options, _ *Options) {
				so.Backing, so.Limit = disk.Reopen(), policy.Limit{Entries: 40}
			})
			r.embedder.broken.Store(true) // no other way to a hit
			return r
		}
		r, last, hits := start(), map[place]policy.ID{}, 0
		for step := range 4000 {
			p := place{scope: store.Scope{byte(rng.IntN(3))}, text: rng.IntN(30)}
			prompt := fmt.Sprintf(variants[rng.IntN(len(variants))], fmt.Sprint("which colour has number ", words[p.text%6], " ", words[p.text/6]))
			q := r.request(prompt, func(q *Request) {
				q.Scope, q.NoCache = p.scope, rng.IntN(8) == 0
				if history := byte(rng.IntN(3)); history > 0 {
					q.Turns = []Turn{{Key: store.Key{history}, Answer: [32]byte{1}}}
				}
				q.Key = keyOf(fmt.Sprint(prompt, q.Scope, q.Turns))
			})
			p.chain = r.state.turns.chain(q)
			id, want := last[p], policy.ID(0)
			if e, ok := r.state.store.Get(id); ok && e.Fresh(r.now()) && !q.NoCache {
				want = id
			}
			how, got := r.ask(q)
			switch {
			case how == "semantic" && got == want:
				hits++
			case how == "semantic" || how == "miss" && want != 0:
				t.Fatalf("seed %d, step %d, %q: %s by entry %d, want %d", seed, step, prompt, how, got, want)
			case how == "miss":
				last[p] = got
			}
			switch rng.IntN(100) {
			case 0:
				r.pass(time.Duration(rng.IntN(80)) * time.Minute)
			case 1:
				r.Purge(t.Context(), store.Filter{Entry: policy.ID(1 + rng.IntN(step+1))})
			case 2:
				r.state.store.Close()
				now := r.now()
				r = start()
				r.set(now)
				last = byForm(r, func(e *store.Entry) (p place) {
					p.scope, p.chain = e.Scope, e.Chain
					for i := range 30 {
						if normal.Of(e.Prompt).Equal(normal.Of(fmt.Sprint("which colour has number ", words[i%6], " ", words[i/6]))) {
							p.text = i
						}
					}
					return p
				})
			}
		}
		if n, resident := len(r.state.forms.ids), r.state.store.Stats().Entries; n > 3*resident+sweepAfter {
			t.Errorf("%d forms of %d entries", n, resident)
		}
		if hits < 200 {
			t.Errorf("%d hits prove nothing", hits)
		}
	}
}

var words = []string{"one", "red", "mice", "tall", "north", "lamp"}

// byForm is the last entry of each place, as a restart finds it.
func byForm[P comparable](r *rig, placeOf func(*store.Entry) P) map[P]policy.ID {
	last := map[P]policy.ID{}
	for e := range r.state.store.All() {
		if p := placeOf(e); e.ID > last[p] {
			last[p] = e.ID
		}
	}
	return last
}

// TestFormsAreSwept: forms of entries that have left do not pile up.
func TestFormsAreSwept(t *testing.T) {
	r, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Limit = policy.Limit{Entries: 1000} })
	most := 0
	for i := range 20_000 {
		e := &store.Entry{Key: keyOf(fmt.Sprint(i)), Prompt: fmt.Sprint("question ", i), Answer: []byte("a"), Created: r.now(), Expires: r.now().Add(time.Hour)}
		r.state.store.Put(e, r.Tick())
		r.state.forms.add(uint64(i), e.ID)
		most = max(most, len(r.state.forms.ids))
	}
	if limit := 2000; most > limit { // some 1140 on average
		t.Errorf("%d forms of 1000 entries, want at most %d", most, limit)
	}
}

// TestFormsOfOlderEntries: the forms of a large file are complete when the goroutine that makes them has ended, and a newer entry keeps its
// form.
func TestFormsOfOlderEntries(t *testing.T) {
	r, _ := newJudged(t, func(so *store.Options, _ *Options) { so.Limit = policy.Limit{} })
	const n = formsAtOnce + 2000
	for i := range n {
		e := &store.Entry{Key: keyOf(fmt.Sprint(i)), Scope: store.Scope{1}, Prompt: fmt.Sprint("What is question ", i/2), Answer: []byte("a")}
		r.state.store.Put(e, r.Tick())
	}
	r.state.restoreForms()
	deadline := time.Now().Add(time.Minute)
	for count := 0; count < n/2; {
		r.state.forms.mu.RLock()
		count = len(r.state.forms.ids)
		r.state.forms.mu.RUnlock()
		if time.Now().After(deadline) {
			t.Fatalf("%d forms", count)
		}
	}
	for i := range n / 2 {
		f := r.find(t.Context(), r.request(fmt.Sprint("hello, what is question ", i, "?")))
		if f.Hit == nil || f.Hit.Entry.ID != policy.ID(2*i+2) {
			t.Fatalf("question %d: %+v", i, f.Hit)
		}
	}
}

// TestFormsAtOnce looks forms up while entries come and go, for the race detector.
func TestFormsAtOnce(t *testing.T) {
	r, j := newJudged(t, func(so *store.Options, _ *Options) { so.Limit = policy.Limit{Entries: 30} })
	j.refuses = true
	var all sync.WaitGroup
	for worker := range uint64(4) {
		rng := rand.New(rand.NewPCG(worker, 1))
		all.Go(func() {
			for range 400 {
				prompt := fmt.Sprintf(variants[rng.IntN(len(variants))], fmt.Sprint("what is the price of ", rng.IntN(60), " apples"))
				q := r.request(prompt)
				if hit, _, _ := r.Lookup(t.Context(), q); hit != nil {
					continue
				}
				f, _ := r.Find(t.Context(), q)
				if f.Hit == nil {
					r.Keep(t.Context(), q, f, r.entry(q, f))
				} else if !normal.Of(f.Hit.Entry.Prompt).Equal(normal.Of(prompt)) {
					t.Errorf("%q is answered as %q", prompt, f.Hit.Entry.Prompt)
				}
				if rng.IntN(50) == 0 {
					r.Purge(t.Context(), store.Filter{})
				}
			}
		})
	}
	all.Wait()
}

// TestConversationsInOtherWords: a conversation whose turns are asked with courtesy and in lower case is answered by the one that was asked
// plainly, turn by turn, and no prompt of it is embedded. The same prompts after other answers, or behind another first turn, are answered
// by none.
func TestConversationsInOtherWords(t *testing.T) {
	r, j := newJudged(t, func(so *store.Options, _ *Options) { so.Limit = policy.Limit{} })
	j.refuses = true
	talk := func(prompts []string, replies func(prompt string) string) (how []string) {
		var turns []Turn
		for _, p := range prompts {
			q := r.request(p, func(q *Request) { q.Turns = turns; q.Key = keyOf(fmt.Sprint(p, turns)) })
			said, id := r.ask(q)
			how = append(how, said)
			reply := [32]byte{}
			if e, ok := r.state.store.Get(id); ok {
				reply = e.AnswerHash
			}
			if replies != nil {
				reply = keyOf(replies(p))
			}
			turns = append(turns[:len(turns):len(turns)], Turn{Key: q.Key, Answer: [32]byte{1}, AnswerText: reply})
		}
		return how
	}
	plain := []string{"Which museums does Leeds have?", "When does it open?", "And what does a ticket cost?"}
	same(t, "plain", fmt.Sprint(talk(plain, nil)), "[miss miss miss]")
	embedded := r.embedder.calls.Load()
	for _, way := range []string{"hello, %s", "%s Thanks!", "Good morning! %s Thank you very much."} {
		var words []string
		for _, p := range plain {
			words = append(words, fmt.Sprintf(way, p))
		}
		same(t, way, fmt.Sprint(talk(words, nil)), "[semantic semantic semantic]")
		same(t, way+", again", fmt.Sprint(talk(words, nil)), "[alias alias alias]")
	}
	if n := r.embedder.calls.Load(); n != embedded {
		t.Errorf("%d prompts were embedded", n-embedded)
	}
	same(t, "other answers", fmt.Sprint(talk([]string{plain[0], "hello, " + plain[1], plain[2] + " Thanks!"}, func(p string) string { return "another answer" })),
		"[exact miss miss]")
	same(t, "another first turn", fmt.Sprint(talk([]string{"Which parks does Leeds have?", plain[1], "hello, " + plain[2]}, nil)), "[miss miss miss]")
}

// TestHistoriesOfWrongAliases: an alias that may not be used any more does not make two conversations equivalent either.
func TestHistoriesOfWrongAliases(t *testing.T) {
	r, j := newJudged(t)
	k, a := long("k", 40), long("a", 42)
	r.wants(r.request(k), "miss", 1)
	for _, how := range []string{"semantic", "semantic", "alias"} {
		r.wants(r.request(a), how, 1)
	}
	e, _ := r.state.store.Get(1)
	behind := func(first string) *Request {
		return r.request("and then?", func(q *Request) { q.Turns = []Turn{{Key: keyOf(first), Answer: [32]byte{1}, AnswerText: e.AnswerHash}} })
	}
	if r.state.turns.chain(behind(k)) != r.state.turns.chain(behind(a)) {
		t.Error("an alias makes no equivalent conversation")
	}
	j.wrong = 'a'
	if r.state.turns.chain(behind(k)) == r.state.turns.chain(behind(a)) || r.state.turns.parent(behind(a)) != 0 {
		t.Error("conversations are equivalent by an alias that is not served any more")
	}
}

// BenchmarkForm is a look-up by the normal form of a prompt of 20 words that is there: the form of the asked one, its digest, the form of the
// stored one, and their comparison; and all of Find that follows, the judge and an alias included.
func BenchmarkForm(b *testing.B) {
	stored := "How can I change the delivery address of an order that I placed yesterday evening from my phone in Leeds?"
	asked := "Hello, how can I change the delivery address of an order that I placed yesterday evening from my phone in Leeds"
	r, _ := newJudged(b, func(so *store.Options, _ *Options) { so.Limit = policy.Limit{} })
	r.ask(r.request(stored))
	for i := range 20_000 {
		r.state.forms.add(uint64(i), policy.ID(i+2))
	}
	b.Run("look-up", func(b *testing.B) {
		b.ReportAllocs()
		q := r.request(asked)
		for b.Loop() {
			if e, _ := r.state.forms.find(q, &Finding{}); e == nil {
				b.Fatal("not found")
			}
		}
	})
	b.Run("find", func(b *testing.B) {
		b.ReportAllocs()
		before := r.embedder.calls.Load()
		for b.Loop() {
			q := r.request(asked)
			if f, err := r.Find(b.Context(), q); err != nil || f.Hit == nil {
				b.Fatal("not found", err)
			}
		}
		if n := r.embedder.calls.Load(); n != before {
			b.Fatalf("%d prompts were embedded", n-before)
		}
	})
}

// BenchmarkFormMemory is what the index takes for each entry.
func BenchmarkFormMemory(b *testing.B) {
	for _, n := range []int{20_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				x := newForms(nil, new(templates))
				before := live()
				for i := range n {
					x.ids[rand.Uint64()] = policy.ID(i)
				}
				b.ReportMetric(float64(live()-before)/float64(n), "B/entry")
				x.ids[0] = 1
			}
		})
	}
}

func live() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// BenchmarkFormRestore is the time until the forms of 100,000 restored entries are there, of which the start waits for the first part.
func BenchmarkFormRestore(b *testing.B) {
	r, _ := newJudged(b, func(so *store.Options, _ *Options) { so.Limit, so.Evictor = policy.Limit{}, classic.NewLRU() })
	var ids []policy.ID
	for i := range 100_000 {
		e := &store.Entry{Key: keyOf(fmt.Sprint(i)), Scope: store.Scope{1}, Answer: []byte("a"),
			Prompt: fmt.Sprint("How can I change the delivery address of order ", i, " that I placed yesterday evening from my phone in Leeds?")}
		r.state.store.Put(e, r.Tick())
		ids = append(ids, e.ID)
	}
	for _, n := range []int{formsAtOnce, len(ids)} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				newForms(r.state.store, new(templates)).addOld(ids[:n])
			}
		})
	}
}

// TestFormsAreVerified: a digest decides nothing. Where it leads to an entry of another form, scope or conversation, or to none, the request
// is a miss.
func TestFormsAreVerified(t *testing.T) {
	r, j := newJudged(t, func(so *store.Options, _ *Options) { so.Limit = policy.Limit{} })
	j.refuses = true
	const asked = "how do I reset the router"
	other := func(q *Request) { q.Key[0]++ }
	r.wants(r.request("How do I reset the switch?"), "miss", 1)
	r.wants(r.request(asked+"?", other, func(q *Request) { q.Scope[1] = 1 }), "miss", 2)
	r.wants(r.request(asked+"?", other, func(q *Request) { q.Turns = []Turn{{Key: keyOf("before"), Answer: [32]byte{1}}}; q.Key[0]++ }), "miss", 3)
	for id := range policy.ID(5) {
		q, f := r.request(asked), &Finding{}
		r.state.forms.find(q, f)
		r.state.forms.add(f.digest, id)
		if e, _ := r.state.forms.find(q, f); e != nil {
			t.Errorf("entry %d is found by %q", id, asked)
		}
		if f := r.find(t.Context(), q); f.Hit != nil || f.Explore != nil {
			t.Errorf("entry %d answers %q", f.Hit.Entry.ID, asked)
		}
	}
	r.wants(r.request(asked), "miss", 4)
	r.wants(r.request("hello, "+asked), "semantic", 4)
}
