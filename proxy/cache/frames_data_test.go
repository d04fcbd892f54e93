package cache

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/internal/dataset"
	"reprise/internal/layouts"
	"reprise/internal/traffic"
	"reprise/policy"
	"reprise/store"
)

// The tests of this file measure on public data below the folder that REPRISE_DATA names, and without it on the pairs of topics/reuse/testdata:
//
//	REPRISE_DATA=DIR go test ./proxy/cache -run 'BehindFrames|WithoutFrames' -v

// publicRows reads a file of the data; nothing without the data.
func publicRows[T any](t testing.TB, path ...string) (all []T) {
	t.Helper()
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		return nil
	}
	for row, err := range dataset.Rows[T](filepath.Join(append([]string{dir}, path...)...)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// utterance is a text of a user and its label, which texts on like matters have.
type utterance struct{ text, label string }

// utterances are distinct, at most n, in an order that is the same each time.
func utterances(t testing.TB, n int) (all []utterance) {
	for _, file := range []string{"clinc150", "banking77", "hwu64"} {
		for _, row := range publicRows[struct{ Text, Intent string }](t, "intent", file+".jsonl.gz") {
			all = append(all, utterance{row.Text, row.Intent})
		}
	}
	if len(all) == 0 {
		for _, file := range []string{"courtesy.tsv", "paraphrases.tsv", "different.tsv"} {
			for _, p := range triples(t, file) {
				all = append(all, utterance{p.a, p.a}, utterance{p.b, p.a})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b utterance) int { return strings.Compare(a.text, b.text) })
	all = slices.CompactFunc(all, func(a, b utterance) bool { return a.text == b.text })
	rand.New(rand.NewPCG(29, 7)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// publicPairs are pairs of the data: rewritten sentences, questions on medicine with another wording and with another question, and utterances with
// courtesy around them.
func publicPairs(t testing.TB) (all []askedPairs) {
	rewritten, positive := askedPairs{name: "gptcache_mock", same: true, vetoed: true}, askedPairs{name: "medical, positive", same: true, vetoed: true}
	negative, courtesy := askedPairs{name: "medical, negative", vetoed: true}, askedPairs{name: "clinc150 with courtesy", same: true}
	for _, row := range publicRows[struct{ Origin, Similar string }](t, "paraphrase", "gptcache_mock.jsonl.gz") {
		rewritten.all = append(rewritten.all, triple{a: row.Origin, b: row.Similar})
	}
	for _, row := range publicRows[struct{ Anchor, Positive, Negative string }](t, "paraphrase", "medical_triplets.jsonl.gz") {
		positive.all = append(positive.all, triple{a: row.Anchor, b: row.Positive})
		negative.all = append(negative.all, triple{a: row.Anchor, b: row.Negative})
	}
	around := []string{"Please, %s", "%s Thanks!", "Hello, %s", "Hi there! %s Thanks a lot!", "Quick question: %s"}
	for i, row := range publicRows[struct{ Text string }](t, "intent", "clinc150.jsonl.gz") {
		if i%8 == 0 {
			courtesy.all = append(courtesy.all, triple{a: row.Text, b: fmt.Sprintf(around[i/8%len(around)], row.Text)})
		}
	}
	if len(rewritten.all) == 0 {
		return nil
	}
	return []askedPairs{rewritten, positive, negative, courtesy}
}

// moveAll moves entries as the proxy does in the background.
func (r *rig) moveAll() { (&reviver{c: r.Cache, size: reviveFirst}).move(r.t.Context()) }

// partition stores prompts, none of which is answered by meaning, and returns the topic that each is in at the end.
func partition(t *testing.T, n int, of func(i int) *Request) (topics []policy.TopicID, took time.Duration) {
	r := newReal(t)
	ids := make([]policy.ID, n)
	for i := range ids {
		q := of(i)
		q.Key, q.At, q.Epoch, q.MaxAge, q.NoExplore = keyOf(q.Prompt), r.Tick(), r.Epoch(), -1, true
		start := time.Now()
		how, id := r.ask(q)
		if took += time.Since(start); how != "miss" {
			t.Fatalf("%q: %s", q.Prompt, how)
		}
		ids[i] = id
		r.moveAll()
	}
	for _, id := range ids {
		e, ok := r.state.store.Get(id)
		if !ok {
			t.Fatal("an entry has left")
		}
		topics = append(topics, e.Topic)
	}
	return topics, took / time.Duration(n)
}

// adjustedRand is the adjusted Rand index of two partitions: 1 where they are equal, about 0 where they have nothing to do with each other.
func adjustedRand(a, b []policy.TopicID) float64 {
	type pair struct{ a, b policy.TopicID }
	both, left, right := map[pair]float64{}, map[policy.TopicID]float64{}, map[policy.TopicID]float64{}
	for i := range a {
		both[pair{a[i], b[i]}]++
		left[a[i]]++
		right[b[i]]++
	}
	pairs, of, in := 0.0, 0.0, 0.0
	for _, n := range both {
		pairs += n * (n - 1) / 2
	}
	for _, n := range left {
		of += n * (n - 1) / 2
	}
	for _, n := range right {
		in += n * (n - 1) / 2
	}
	n := float64(len(a))
	expected := of * in / (n * (n - 1) / 2)
	return (pairs - expected) / ((of+in)/2 - expected)
}

// TestTopicsBehindFrames compares the topics of prompts behind templates with those of the bare prompts. A template has topics of its own, so the bare
// prompts are in a scope for each. A near question behind another document is no candidate and places nothing: where a question may stand behind any
// document, the bare ones come after as many conversations.
func TestTopicsBehindFrames(t *testing.T) {
	all := utterances(t, 20_000)
	document := func(i int) string { return layouts.Doc(uint64(i % 200)) }
	onTopic := func(i int) string { return layouts.Doc(uint64(crc32.ChecksumIEEE([]byte(all[i].label)))) }
	for _, c := range []struct {
		name   string
		after  func(i int) []Turn // of bare prompts
		behind func(i int) (template int, prompt string)
	}{
		{"an instruction of 60 words", nil, func(i int) (int, string) { return 0, instruction + "\n\n" + all[i].text }},
		{"the same and a label", nil, func(i int) (int, string) { return 0, fill(labelled, "", all[i].text) }},
		{"documents on the matter before a labelled question", nil, func(i int) (int, string) { return 0, fill(rag, onTopic(i), all[i].text) }},
		{"any documents before a labelled question", func(i int) []Turn { return []Turn{{Key: keyOf(document(i)), Answer: [32]byte{1}}} },
			func(i int) (int, string) { return 0, fill(rag, document(i), all[i].text) }},
		{"ten templates, 30 % free prompts", nil, func(i int) (int, string) {
			if i%10 < 3 {
				return 0, all[i].text
			}
			k := i / 10 % len(layouts.All)
			return 1 + k, layouts.Ask(layouts.All[k], onTopic(i), all[i].text)
		}},
	} {
		bare, before := partition(t, len(all), func(i int) *Request {
			k, _ := c.behind(i)
			q := &Request{Scope: store.Scope{1, byte(k)}, Prompt: all[i].text}
			if c.after != nil {
				q.Turns = c.after(i)
			}
			return q
		})
		framed, took := partition(t, len(all), func(i int) *Request {
			_, prompt := c.behind(i)
			return &Request{Scope: store.Scope{1}, Prompt: prompt}
		})
		index := adjustedRand(bare, framed)
		t.Logf("%s: adjusted Rand index %.4f of %d prompts, in %d topics, bare %d; %v a prompt, bare %v", c.name, index, len(all), count(framed), count(bare), took, before)
		if index < .95 {
			t.Errorf("%s: adjusted Rand index %.4f, want .95", c.name, index)
		}
	}
}

func count(topics []policy.TopicID) int {
	all := slices.Clone(topics)
	slices.Sort(all)
	return len(slices.Compact(all))
}

// said is a turn of a user in a conversation.
type said struct {
	text  string
	turns []Turn
}

// streams are conversations and questions without a template, by name.
func streams(t *testing.T) map[string][]said {
	all := map[string][]said{}
	for _, file := range []string{"courtesy.tsv", "paraphrases.tsv", "different.tsv", "planted.tsv"} {
		for _, p := range triples(t, file) {
			all["pairs"] = append(all["pairs"], said{text: p.a}, said{text: p.b})
		}
	}
	for _, row := range publicRows[struct{ Question string }](t, "prompts", "nq_open_dev.jsonl.gz") {
		all["nq_open"] = append(all["nq_open"], said{text: row.Question})
	}
	for _, row := range publicRows[struct{ Prompt string }](t, "prompts", "arena_hard_v0.1.jsonl.gz") {
		all["arena"] = append(all["arena"], said{text: row.Prompt})
	}
	if dir := os.Getenv("REPRISE_DATA"); dir != "" {
		for line, err := range dataset.Lines(filepath.Join(dir, "dialogue", "cast", "evaluation_topics_annotated_resolved_v1.0.tsv.gz")) {
			if _, text, ok := strings.Cut(string(line), "\t"); ok && err == nil {
				all["CAsT"] = append(all["CAsT"], said{text: text})
			}
		}
		for name, file := range map[string]string{"OASST1": "oasst1_en.jsonl.gz", "SGD": "sgd.jsonl.gz"} {
			all[name] = conversations(t, filepath.Join(dir, "dialogue", file))
		}
	}
	return all
}

// conversations are the turns of the users of a file, each behind the turns that it follows.
func conversations(t *testing.T, path string) (all []said) {
	in, err := traffic.OpenConversations(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for {
		c, err := in.Next()
		if err != nil {
			return all
		}
		of := make([]said, len(c.Turns))
		for i, turn := range c.Turns {
			if of[i].text = turn.Text; turn.Parent >= 0 {
				before := of[turn.Parent]
				of[i].turns = append(slices.Clone(before.turns), Turn{Key: sha256.Sum256([]byte(before.text)), Answer: [32]byte{1}})
			}
		}
		all = append(all, of...)
	}
}

// request is the turn as a request, as the proxy makes it or, bare, with a vector, so that no frame cuts it.
func (s said) request(r *rig, bare bool) *Request {
	q := r.granted(s.text)
	q.Turns = s.turns
	q.Chain = r.state.turns.chain(q)
	q.Key = both(keyOf(s.text), q.Chain)
	if bare {
		v, err := r.opt.Embedder.Embed(r.t.Context(), []string{s.text})
		if err != nil {
			r.t.Fatal(err)
		}
		q.Vector, q.Turns = v[0], nil
	}
	return q
}

// TestHitsWithoutFrames: of prompts without a template no hit is lost because of frames.
func TestHitsWithoutFrames(t *testing.T) {
	for name, all := range streams(t) {
		bare, cut := newReal(t), newReal(t)
		before, hits, lost := 0, map[string]int{}, 0
		for _, s := range all {
			was, _ := bare.ask(s.request(bare, true))
			is, _ := cut.ask(s.request(cut, false))
			cut.moveAll()
			if was != "miss" {
				before++
			}
			if hits[is]++; was != "miss" && is == "miss" {
				if lost++; lost <= 10 {
					t.Errorf("%s: %q is no hit any more", name, s.text)
				}
			}
		}
		t.Logf("%s: %v of %d prompts, %d hits without frames, %d of them lost", name, hits, len(all), before, lost)
	}
}
