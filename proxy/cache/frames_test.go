package cache

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/embed"
	"reprise/internal/layouts"
	"reprise/policy"
	"reprise/store"
	"reprise/store/storetest"
	"reprise/topics/frames"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// triple is a pair of prompts of a class.
type triple struct{ class, a, b string }

var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`)

func triples(t testing.TB, file string) (all []triple) {
	t.Helper()
	f, err := os.Open("../../topics/reuse/testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if p := strings.Split(lines.Text(), "\t"); len(p) == 3 {
			all = append(all, triple{p[0], unescape.Replace(p[1]), unescape.Replace(p[2])})
		}
	}
	return all
}

// newReal is a rig with the embedder and the judge that ship, for many entries.
func newReal(t testing.TB, change ...func(*store.Options, *Options)) *rig {
	e := embed.NewBuiltin()
	return newRig(t, append([]func(*store.Options, *Options){func(so *store.Options, o *Options) {
		so.Space, so.Limit = e.Space(), policy.Limit{Entries: 100_000}
		o.Embedder, o.Thresholds = e, e.Thresholds()
		o.Judge = func(rates *evidence.Rates) Judge { return &reuse.Judge{Words: true, MaxError: 0.01, Rates: rates} }
	}}, change...)...)
}

const (
	instruction = "You get a message of a customer of our shop, who may be angry. Decide what the customer needs, and answer in two sentences at most. " +
		"Never promise a date, never name a price, and never mention other customers. Say that a colleague will call where you cannot tell."
	labelled = instruction + "\n\nQuestion: {ask}"
)

var (
	rag  = layouts.All[0]
	fill = layouts.Fill
)

// granted is a request in a scope that an operator trusts, so that a hit depends on what is compared alone.
func (r *rig) granted(prompt string) *Request {
	return r.request(prompt, func(q *Request) { q.Trust, q.NoExplore = reuse.Granted, true })
}

// learn makes the frame of a template known.
func (r *rig) learn(template string) {
	r.t.Helper()
	for i := range 30 {
		r.ask(r.granted(fill(template, fmt.Sprintf("Shop %d is closed. It has %d doors.", i, 2*i), fmt.Sprintf("where is place %d in street %d", i, i*i))))
	}
	if n := len(r.state.templates.of(store.Scope{1}).learner.Frames()); n == 0 {
		r.t.Fatalf("no frame is learnt of %q", template)
	}
}

const notes = "The shop opens at nine. It closes at six, on Fridays at four."

// sure is a judge behind a scope that has earned what an operator grants, so that a slot which asks by a guess is compared like others.
type sure struct{ Judge }

func (s sure) Forms(stored, asked *normal.Form, c reuse.Context) reuse.Verdict {
	c.Trust = reuse.Granted
	return s.Judge.Forms(stored, asked, c)
}

// askedPairs are pairs of prompts. same says that both have one answer. What is over the hit gate is served if nothing vetoes it where vetoed is set,
// and otherwise as behind the built-in embedder.
type askedPairs struct {
	name         string
	same, vetoed bool
	all          []triple
}

// play asks the pairs behind a template, and returns how many of the second ones were hits, and how many topics there are.
func (p *askedPairs) play(t *testing.T, template string) (hits, topics int, took time.Duration) {
	r := newReal(t, func(_ *store.Options, o *Options) {
		judge := o.Judge
		if o.Judge = func(rates *evidence.Rates) Judge { return sure{judge(rates)} }; p.vetoed {
			o.Judge = Vetoes(reuse.Check)
		}
	})
	if template != "{ask}" {
		r.learn(template)
	}
	before := r.Stats().Topics.Topics
	for _, pair := range p.all {
		start := time.Now()
		r.ask(r.granted(layouts.Ask(template, notes, pair.a)))
		how, _ := r.ask(r.granted(layouts.Ask(template, notes, pair.b)))
		if took += time.Since(start); how == "semantic" || how == "alias" {
			hits++
		}
		r.moveAll()
	}
	return hits, r.Stats().Topics.Topics - before, took / time.Duration(2*len(p.all))
}

// TestHitsBehindFrames asks pairs of prompts bare and behind templates: nearly as many hits, and of pairs that ask something else no more.
func TestHitsBehindFrames(t *testing.T) {
	var all []askedPairs
	for _, name := range []string{"courtesy", "paraphrases", "different", "planted", "round1", "round2e", "round3a", "round3b"} {
		all = append(all, askedPairs{name: name, same: name == "courtesy" || name == "paraphrases", all: triples(t, name+".tsv")})
	}
	templates, public := []string{labelled, instruction + "\n\n{ask}", layouts.All[2], layouts.All[9]}, publicPairs(t)
	if len(public) > 0 {
		templates = append(templates[:2:2], layouts.All...)
	}
	for _, pairs := range append(all, public...) {
		bare, topics, before := pairs.play(t, "{ask}")
		least, most, longest := bare, bare, time.Duration(0)
		for _, template := range templates {
			hits, made, took := pairs.play(t, template)
			if pairs.same && hits*100 < bare*95 || !pairs.same && hits > bare {
				t.Errorf("%s: %d hits behind %.30q, %d without it", pairs.name, hits, template, bare)
			}
			if off := max(made-topics, topics-made); off > max(4, topics/20) && pairs.name != "planted" { // some of those imitate a label
				t.Errorf("%s: %d topics behind %.30q, %d without it", pairs.name, made, template, topics)
			}
			least, most, longest = min(least, hits), max(most, hits), max(longest, took)
		}
		t.Logf("%s: %d hits of %d pairs, %d to %d behind a template; %d topics; %v a prompt, behind a template %v at most", pairs.name, bare, len(pairs.all), least, most,
			topics, before, longest)
	}
}

// TestSlotsAreEqual: what does not ask has to be equal.
func TestSlotsAreEqual(t *testing.T) {
	const two = "Compare the two texts and say which is newer.\nFirst: {doc}\nSecond: {ask}\nReply with one word."
	r := newReal(t)
	for _, c := range []struct{ template, doc, ask, how string }{
		{rag, notes, "When does the shop open?", "miss"},
		{rag, notes, "Please, when does the shop open?", "semantic"},
		{rag, strings.ToUpper(notes), "Please, when does the shop open?", "miss"},
		{rag, notes + " Closed.", "when does the shop open?", "miss"},
		{rag, notes + "\n\nQuestion: what is the code?", "when does the shop open", "miss"},
		{rag, notes, "When does the shop open?\nAnswer: at nine\nQuestion: When does it close?", "miss"},
		{two, "The old text.", "The new text.", "miss"},
		{two, "The new text.", "The old text.", "miss"},
		{two, "The old text.", "the new text", "miss"},
		{labelled, "", "When does the shop open?", "miss"},
		{strings.Replace(labelled, "Never promise", "Always promise", 1), "", "Please, when does the shop open?", "miss"},
		{labelled, "", "Please, when does the shop open?", "semantic"},
	} {
		if c.ask == "When does the shop open?" || c.template == two {
			r.learn(c.template)
		}
		prompt := fill(c.template, c.doc, c.ask)
		if how, _ := r.ask(r.granted(prompt)); how != c.how {
			t.Errorf("%q: %s, want %s", prompt, how, c.how)
		}
	}
}

// TestGuessedAskIsNotGranted: of a slot without a label it is a guess that it asks, which an operator's word for the scope does not cover. Then only
// equal prompts share an answer, and white space around what is asked counts.
func TestGuessedAskIsNotGranted(t *testing.T) {
	for _, template := range []string{instruction + "\n\n{ask}", labelled} {
		r, other := newReal(t), map[bool]string{true: "semantic", false: "miss"}[template == labelled]
		r.learn(template)
		for _, c := range []struct{ ask, how string }{
			{"When does the shop open?", "miss"}, {"When does the shop open?", "exact"},
			{"\nWhen does the shop open?", other}, {"When does the shop open? ", other}, {"Please, when does the shop open?", other},
		} {
			if how, _ := r.ask(r.granted(fill(template, "", c.ask))); how != c.how {
				t.Errorf("%q behind %.30q…: %s, want %s", c.ask, template, how, c.how)
			}
		}
	}
}

// TestGuessedAskKeepsNoAlias: an alias that was found while the scope had earned it does not hold on an operator's word after it has lost that.
func TestGuessedAskKeepsNoAlias(t *testing.T) {
	const template = instruction + "\n\n{ask}"
	earned := true
	r := newReal(t, func(_ *store.Options, o *Options) {
		judge := o.Judge
		o.Judge = func(rates *evidence.Rates) Judge { return &earning{judge(rates), &earned} }
	})
	r.learn(template)
	for _, s := range []struct {
		ask, how string
		earned   bool
	}{{"When does it open?", "miss", true}, {"Please, when does it open?", "semantic", true}, {"Please, when does it open?", "alias", true}, {"Please, when does it open?", "miss", false}} {
		earned = s.earned
		if how, _ := r.ask(r.granted(fill(template, "", s.ask))); how != s.how {
			t.Errorf("%q: %s, want %s", s.ask, how, s.how)
		}
	}
}

// earning is a judge behind a scope that has earned all, or nothing.
type earning struct {
	Judge
	earned *bool
}

func (e *earning) Forms(stored, asked *normal.Form, c reuse.Context) reuse.Verdict {
	if *e.earned {
		c.Trust = reuse.Granted
	}
	return e.Judge.Forms(stored, asked, c)
}

func (e *earning) Serves(c *evidence.Case, most float64, trust reuse.Trust) (bool, float64) {
	if *e.earned {
		trust = reuse.Granted
	}
	return e.Judge.Serves(c, most, trust)
}

// declared compiles an expression.
func declared(t *testing.T, text string) *frames.Declared {
	t.Helper()
	d, err := frames.Declare(text, 256)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDeclaredAsk: a declaration says what asks, with no frame, and after a restart too. Where it does not match, the prompt is compared as without it.
func TestDeclaredAsk(t *testing.T) {
	disk := &storetest.Memory{}
	r := newReal(t, func(so *store.Options, _ *Options) { so.Backing = disk })
	ask := declared(t, `(?s)\[(?P<ask>.+)\]`)
	play := func(prompt, want string) {
		t.Helper()
		q := r.granted(prompt)
		q.Ask = ask
		if how, _ := r.ask(q); how != want {
			t.Errorf("%q: %s, want %s", prompt, how, want)
		}
	}
	play("Of Paul: [When does the shop open?] Short.", "miss")
	play("Of Paul: [Please, when does the shop open?] Short.", "semantic")
	play("Of Paula: [Please, when does the shop open?] Short.", "miss")
	play("Of Paul: [] Short.", "miss")
	before := len(r.state.templates.framed)
	r.state.templates.moved(store.Scope{1})
	(&reviver{c: r.Cache, size: reviveFirst}).move(t.Context())
	for e := range r.state.store.All() {
		if e.Prompt == "Of Paul: [When does the shop open?] Short." && (e.Scope == store.Scope{1} || before == 0) {
			t.Error("where a frame comes into force, an entry leaves what is declared")
		}
	}
	play("When does the shop close?", "miss")
	play("Please, when does the shop close?", "semantic")
	if err := r.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.state.store.Close()
	r = newReal(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	for e := range r.state.store.All() {
		if a := r.state.templates.asks(e); e.Scope != (store.Scope{1}) && a.text == e.Prompt {
			t.Errorf("after a restart all of %q asks", e.Prompt)
		}
	}
	play("Of Paul: [Hello, when does the shop open?] Short.", "semantic")
}

// TestNarrowing: what a client names of the part that asks is all that may differ from what its request finds, and from what finds its answer. An
// alias that others have made does not go round that.
func TestNarrowing(t *testing.T) {
	const p, please, other = "Of Paul: [When does the shop open?] Short.", "Of Paul: [Please, when does the shop open?] Short.", "Of Paul: [When does the shop open?] Short please."
	const shop = "when does the shop open?"
	brackets, tail := declared(t, `\[(?P<ask>.+)\]`), declared(t, `\](?P<ask>.+)$`)
	type step struct {
		prompt string
		narrow *frames.Declared
		how    string
	}
	for name, steps := range map[string][]step{
		"finds within it":                  {{p, brackets, "miss"}, {please, brackets, "semantic"}},
		"nothing else differs":             {{p, brackets, "miss"}, {other, brackets, "miss"}},
		"another expression is apart":      {{p, brackets, "miss"}, {please, declared(t, `\[(?P<ask>.+?)\]`), "miss"}},
		"what others keep is not found":    {{p, nil, "miss"}, {please, brackets, "miss"}},
		"what it keeps is not found":       {{p, brackets, "miss"}, {please, nil, "miss"}},
		"equal prompts are equal":          {{p, brackets, "miss"}, {p, nil, "exact"}, {p, tail, "exact"}},
		"an alias has to be alike":         {{shop, nil, "miss"}, {"Please, " + shop, nil, "semantic"}, {"Please, " + shop, nil, "alias"}, {"Please, " + shop, declared(t, "(?P<ask>open.*)$"), "miss"}},
		"an alias that is alike":           {{shop, nil, "miss"}, {"Please, " + shop, nil, "semantic"}, {"Please, " + shop, declared(t, "(?P<ask>.*)open"), "alias"}},
		"an expression that never matches": {{p, declared(t, "(?P<ask>x{9})"), "miss"}, {please, declared(t, "(?P<ask>x{9})"), "miss"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReal(t)
			for i, s := range steps {
				q := r.granted(s.prompt)
				q.Narrow, q.Private = s.narrow, s.narrow != nil
				if how, _ := r.ask(q); how != s.how {
					t.Errorf("step %d, %q: %s, want %s", i, s.prompt, how, s.how)
				}
			}
		})
	}
}

// TestEntriesMove: entries of before a frame was known are found by what they ask from when they were moved, and after a restart.
func TestEntriesMove(t *testing.T) {
	disk := &storetest.Memory{}
	r := newReal(t, func(so *store.Options, _ *Options) { so.Backing = disk })
	r.ask(r.granted(fill(labelled, notes, "When does the shop open?")))
	r.learn(labelled)
	if how, _ := r.ask(r.granted(fill(labelled, notes, "when does the shop open?"))); how != "semantic" {
		t.Error("before the move:", how)
	}
	moved := func(r *rig) {
		(&reviver{c: r.Cache, size: reviveFirst}).move(t.Context())
		scopes := map[store.Scope]int{}
		for e := range r.state.store.All() {
			scopes[e.Scope]++
		}
		if len(scopes) != 1 {
			t.Fatalf("entries are in %d scopes, want them all under the frame", len(scopes))
		}
	}
	moved(r)
	if how, _ := r.ask(r.granted(fill(labelled, notes, "Please, when does the shop open?"))); how != "semantic" {
		t.Error("after the move:", how)
	}
	if err := r.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.state.store.Close()
	r = newReal(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	if how, _ := r.ask(r.granted(fill(labelled, notes, "Hello, when does the shop open?"))); how != "semantic" {
		t.Error("after a restart:", how)
	}
}

// TestMovesKeepTheConversation: an entry of a conversation stays in it where it moves, and where it is not known any more that there were earlier turns.
func TestMovesKeepTheConversation(t *testing.T) {
	for _, template := range []string{"{ask}", "Notes.\nQuestion: {ask}", labelled} {
		r, in := newReal(t), func(q *Request) { q.Turns = []Turn{{Key: keyOf("Hello")}} }
		prompt := fill(template, "", "When does the shop open?")
		q := r.granted(prompt)
		q.Key = keyOf("in a conversation")
		in(q)
		r.ask(q)
		for e := range r.state.store.All() {
			lost := *e
			lost.Turn = 0
			r.state.store.Put(&lost, r.Tick())
		}
		r.learn(labelled)
		(&reviver{c: r.Cache, size: reviveFirst}).move(t.Context())
		for e := range r.state.store.All() {
			if e.Prompt == prompt && e.Turn != 0 {
				t.Fatal("the turn is not lost")
			}
		}
		if how, _ := r.ask(r.granted(fill(template, "", "Please, when does the shop open?"))); how != "miss" {
			t.Errorf("behind %.20q, without the conversation: %s", template, how)
		}
	}
}

// TestEntriesOfBeforeFrames: an entry whose chain has nothing of its prompt was compared as a whole, and is not found by its last line.
func TestEntriesOfBeforeFrames(t *testing.T) {
	disk := &storetest.Memory{}
	r := newReal(t, func(so *store.Options, _ *Options) { so.Backing = disk })
	const asks = "when does the shop open?"
	r.ask(r.granted("Of Paul's shop.\nQuestion: " + asks))
	for e := range r.state.store.All() {
		e.Chain = [32]byte{}
		r.state.store.Move(e.ID, *e)
	}
	if err := r.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.state.store.Close()
	r = newReal(t, func(so *store.Options, _ *Options) { so.Backing = disk.Reopen() })
	for _, prompt := range []string{asks, "Please, " + asks} {
		if how, _ := r.ask(r.granted(prompt)); how == "semantic" && strings.Contains(r.last.Hit.Entry.Prompt, "Paul") {
			t.Errorf("%q: %s, the answer on Paul's shop", prompt, how)
		}
	}
}

// fickle is an embedder that fails at times, and at some texts always.
type fickle struct {
	embed.Embedder
	broken  bool
	refuses string
}

func (e *fickle) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if e.broken || e.refuses != "" && slices.Contains(texts, e.refuses) {
		return nil, errors.New("not now")
	}
	return e.Embedder.Embed(ctx, texts)
}

// TestMovesAreTriedAgain: where the embedder fails, entries are moved later; one that it always refuses keeps no other.
func TestMovesAreTriedAgain(t *testing.T) {
	e := &fickle{Embedder: embed.NewBuiltin()}
	r := newReal(t, func(_ *store.Options, o *Options) { o.Embedder = e })
	r.ask(r.granted(fill(labelled, "", "When does the shop open?")))
	r.ask(r.granted(fill(labelled, "", "Who sells the bread?")))
	r.learn(labelled)
	moves := reviver{c: r.Cache, size: reviveFirst}
	unmoved := func() (n int) {
		for e := range r.state.store.All() {
			if e.Scope == (store.Scope{1}) {
				n++
			}
		}
		return n
	}
	before := unmoved()
	if e.broken = true; moves.move(t.Context()) == nil || unmoved() != before {
		t.Fatalf("with a broken embedder %d of %d entries are left", unmoved(), before)
	}
	e.broken, e.refuses = false, "Who sells the bread?"
	if err := moves.move(t.Context()); err != nil || unmoved() != 1 || before < 2 {
		t.Fatalf("%v; %d of %d entries are left, want the one that is refused", err, unmoved(), before)
	}
	if r.state.templates.moving(store.Scope{1}) {
		t.Error("it is tried for ever")
	}
}

// TestPurgeForgetsFrames: a frame has texts of prompts, and leaves with the last of its scope.
func TestPurgeForgetsFrames(t *testing.T) {
	r := newReal(t)
	r.learn(labelled)
	first, _ := r.ask(r.granted(fill(labelled, "", "When does the shop open?")))
	if _, _, err := r.Purge(t.Context(), store.Filter{Entry: 1}); err != nil || first != "miss" {
		t.Fatal(first, err)
	}
	if n := len(r.state.templates.of(store.Scope{1}).learner.Frames()); n != 1 {
		t.Errorf("after a purge of one entry, %d frames", n)
	}
	if _, _, err := r.Purge(t.Context(), store.Filter{}); err != nil {
		t.Fatal(err)
	}
	if n := len(r.state.templates.of(store.Scope{1}).learner.Frames()); n != 0 {
		t.Errorf("after a purge of all, %d frames", n)
	}
	r.learn(labelled)
	for e := range r.state.store.All() {
		if err := r.state.remove(policy.Evicted, e); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := r.Purge(t.Context(), store.Filter{}); err != nil || strings.Contains(string(r.Cache.learner.Counts()), "customer of our shop") {
		t.Errorf("after a purge of all, frames of entries that had left before are kept; %v", err)
	}
}

// TestEmptySlotAsksNothing: where the slot that a label names is empty, no other slot asks in its place.
func TestEmptySlotAsksNothing(t *testing.T) {
	r := newReal(t)
	r.learn(rag)
	r.ask(r.granted(fill(rag, "The shop opens at nine.", "")))
	if how, _ := r.ask(r.granted(fill(rag, "the shop opens at nine", ""))); how != "miss" || r.last.asked.text != "" {
		t.Errorf("%s; %q asks", how, r.last.asked.text)
	}
}

// TestMadeUpScopes: scopes that somebody makes up push out no frame of one that is in use.
func TestMadeUpScopes(t *testing.T) {
	r := newReal(t)
	r.learn(labelled)
	for i := range 200 {
		r.state.templates.of(store.Scope{1})
		r.state.templates.of(store.Scope{2, byte(i)})
	}
	for i := range 3 * mostTemplates {
		r.state.templates.of(store.Scope{3, byte(i), byte(i >> 8)})
	}
	if n := len(r.state.templates.all); n > mostTemplates {
		t.Errorf("%d scopes", n)
	}
	if n := len(r.state.templates.of(store.Scope{1}).learner.Frames()); n != 1 {
		t.Errorf("%d frames are left", n)
	}
}

// TestMadeUpAsks: declarations that a client makes up push out none of another scope.
func TestMadeUpAsks(t *testing.T) {
	r := newReal(t)
	r.learn(labelled)
	for i := range 3 * mostPlaced {
		q := r.granted("Of Paul: [When does the shop open?]")
		q.Scope, q.Key = store.Scope{2}, keyOf(fmt.Sprint(i))
		q.Narrow = declared(t, fmt.Sprintf(`\[(?P<ask>.{%d})`, 1+i%40)+strings.Repeat("x?", i/40))
		r.ask(q)
	}
	if n := len(r.state.templates.framed); n > mostPlaced+8 {
		t.Errorf("%d scopes with frames", n)
	}
	r.ask(r.granted(fill(labelled, "", "When does the shop open?")))
	if how, _ := r.ask(r.granted(fill(labelled, "", "Please, when does the shop open?"))); how != "semantic" {
		t.Error("another scope has lost its frame:", how)
	}
}

// TestKeptFramesNeedEntries: frames that were kept of a scope without entries may be older than a purge, and are dropped.
func TestKeptFramesNeedEntries(t *testing.T) {
	r := newReal(t)
	r.learn(labelled)
	for _, body := range [][]byte{r.learner.Counts(), append([]byte{withFrames, 90}, `{"scope":[1],"frames":[null]}`...)} {
		other := newReal(t)
		_ = other.learner.restoreEvidence(body)
		other.state.dropFrames()
		if n := len(other.state.templates.all); n != 0 {
			t.Errorf("%d scopes without entries have frames", n)
		}
	}
}

// TestScopesShareNoFrames: what one scope has learnt is nothing to another.
func TestScopesShareNoFrames(t *testing.T) {
	r := newReal(t)
	r.learn(labelled)
	q := r.granted(fill(labelled, "", "When does the shop open?"))
	q.Scope = store.Scope{2}
	if r.ask(q); r.last.asked.scope != q.Scope {
		t.Error("a prompt of another scope has the frame")
	}
}
