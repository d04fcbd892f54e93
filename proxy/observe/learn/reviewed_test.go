package learn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reprise/store"
	"reprise/topics/reuse/evidence"
)

// meets adds a pair of the request and the entry of a number.
func (b *bench) meets(kind Kind, request, entry int) {
	p := b.pair("", "")
	p.Ref, p.Place.Entry, p.Place.At = Ref{Request: [32]byte{byte(request)}}, uint64(entry), time.Now()
	b.uncompared(kind, &p)
}

func (b *bench) listed() string {
	var all []string
	for _, r := range b.Reviews() {
		all = append(all, fmt.Sprintf("%s %d×%d %s", r.Kind, r.ID, r.Times, r.Verdict))
	}
	return strings.Join(all, ", ")
}

// TestReviews: pairs are listed once each, the newest first, at most so many of a kind, and none that a client or a purge forbids.
func TestReviews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for _, x := range []struct {
			kind           Kind
			request, entry int
		}{{kindServed, 1, 1}, {kindRefused, 2, 1}, {kindServed, 3, 1}, {kindServed, 1, 1}, {kindServed, 1, 2}} {
			b.meets(x.kind, x.request, x.entry)
			time.Sleep(time.Second)
		}
		if got := b.listed(); got != "served 4×1 , served 3×1 , refused 2×1 , served 1×2 " {
			t.Error(got)
		}
		private, purged := b.pair("", ""), b.pair("", "")
		private.Private = true
		b.uncompared(kindServed, &private)
		b.all.Forget(store.Filter{})
		b.uncompared(kindServed, &purged)
		for i := range mostReviewed + 3 {
			b.meets(kindBelow, i%256, i)
		}
		if all := b.Reviews(); len(all) != 4+mostReviewed || all[0].ID != uint64(4+mostReviewed+3) {
			t.Errorf("%d pairs, %d first", len(all), all[0].ID)
		}
		b.meets(kindBelow, 0, 0) // its place was taken: it is another pair
		b.meets(kindBelow, 0, 0)
		if one := b.Reviews()[0]; one.ID != uint64(4+mostReviewed+4) || one.Times != 2 {
			t.Errorf("again: %d, %d times", one.ID, one.Times)
		}
		b.purge(func(s *Shadowed) bool { return s.Entry != 2 })
		if got := b.listed(); got != "served 4×1 " {
			t.Error(got)
		}
		if one, ok := b.Review(4); !ok || one.Prompt != "hi, a?" {
			t.Errorf("%+v", one)
		}
		b.o.Prompts = false
		b.meets(kindServed, 9, 9)
		if one := b.Reviews()[0]; one.Prompt+one.StoredPrompt != "" || one.PromptBytes != 6 {
			t.Errorf("without prompts: %+v", one)
		}
	})
}

// TestComparedPairs are listed with their outcome.
func TestComparedPairs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := b.pair("x", "x")
		p.Source = evidence.Explored
		b.compare(p)
		p.Fresh, p.Why, p.Ref.Request[0] = "", "status", 1
		b.compare(p)
		b.settled(t)
		all := b.Reviews()
		slices.SortFunc(all, func(a, b Reviewed) int { return cmp.Compare(a.Why, b.Why) }) // they are compared at the same time
		if len(all) != 2 || all[0].Kind != kindCompared || all[0].Outcome != "same" || all[1].Why != "status" || len(b.Shadowed()) != 0 {
			t.Errorf("%+v", all)
		}
	})
}

// TestVerdicts: one counts after ten seconds, a wrong answer is held back at once, and until then it can be taken back.
func TestVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for i := range 4 {
			b.meets(kindServed, i+1, 1)
		}
		b.meets(kindRefused, 5, 1)
		does := func(r Reviewed, err error, want error) {
			t.Helper()
			if !errors.Is(err, want) || err == nil && r.Undo != (r.Verdict != "") {
				t.Errorf("%+v, %v, want %v", r, err, want)
			}
		}
		say := func(id uint64, right bool, want error) { t.Helper(); r, err := b.say(id, right); does(r, err, want) }
		unsay := func(id uint64, want error) { t.Helper(); r, err := b.unsay(id); does(r, err, want) }
		say(9, true, errUnknownReview)
		unsay(1, errTooLate)
		say(1, false, nil)
		say(1, false, errSaid)
		unsay(1, nil)
		say(1, true, nil) // after all
		say(2, false, nil)
		say(5, true, nil)
		time.Sleep(undoTime - time.Second)
		unsay(2, nil)
		say(2, false, nil)
		synctest.Wait()
		if got := fmt.Sprint(b.noted()); got != "[suspect 1 trust 1 suspect 2 trust 2 suspect 2]" {
			t.Errorf("before the time is over: %s", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		unsay(1, errTooLate)
		say(1, false, errSaid)
		if got := fmt.Sprint(b.noted()); got != "[true 1 true 5]" && got != "[true 5 true 1]" {
			t.Errorf("after it: %s", got)
		}
		say(3, false, nil)
		b.purge(func(*Shadowed) bool { return true })
		unsay(3, errUnknownReview) // taken back all the same
		b.noted()
		b.Close()
		if got := fmt.Sprint(b.noted()); got != "[false 2]" {
			t.Errorf("at the end: %s", got)
		}
		if st := b.Stats(); st.Feedback["right"] != 1 || st.Feedback["wrong"] != 1 || st.Refusals["needless"] != 1 {
			t.Errorf("%+v", st)
		}
		time.Sleep(undoTime)
		synctest.Wait()
		if again := b.noted(); len(again) != 0 {
			t.Errorf("counted twice: %v", again)
		}
	})
}

// BenchmarkMet is what a hit by meaning, or a miss that almost was one, costs where the ring of its kind is full.
func BenchmarkMet(b *testing.B) {
	l := New(Options{Prompts: true})
	p := Pair{StoredPrompt: strings.Repeat("a", 100), Prompt: strings.Repeat("b", 100)}
	for i := 0; b.Loop(); i++ {
		p.Ref.Request[0], p.Ref.Request[1], p.Ref.Request[2] = byte(i), byte(i>>8), byte(i>>16)
		l.uncompared(kindServed, &p)
	}
}
