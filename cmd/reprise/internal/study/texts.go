package study

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"reprise/cmd/reprise/internal/semantic"
	"reprise/policy/sim"
)

const (
	// textRequests is the length of every text trace.
	textRequests = 10_000
	// ClassGate is the cosine from which texts count as one semantic class. It is that of the published comparison, made with
	// another lexical embedder; below the built-in embedder's own gate for answers, so the classes are for studies alone.
	ClassGate = 0.85
	// TopicGate is the cosine from which TextCases finds texts to be of one topic. It is the published one too.
	TopicGate = 0.45
)

// Text is a workload of things that people said. How they arrive is ours: the records have no times, and hardly anything in
// them was said twice. Every trace has 10,000 requests, one a second; the same seed makes the same trace.
//
// A request's Topic is the label of the record, its Parent the first turn of its conversation. Size is that of the recorded
// answer, or of the text itself where there is none, Cost its tokens at four bytes each. Requests share their Content.
type Text struct {
	Name string
	Says string
	// Trace has the semantic classes for identities: a fast replay by identity stands for one by similarity in which no text
	// is at two classes' border. It is a *sim.Slice that is made once for each seed, and not to be changed.
	Trace func(seed uint64) (sim.Trace, error)
	// Verbatim has the texts for identities, to be replayed by similarity. It is the caller's own.
	Verbatim func(seed uint64) *sim.Slice
}

// writer makes the requests of a trace.
type writer func(l *library, rng *rand.Rand) *script

// textKinds is every text trace. The parameters that are not published were chosen so that an infinite cache hits about what
// the published one does.
var textKinds = []struct {
	name, says string
	write      writer
}{
	{"oashuf", "OASST1, each path of 700 trees once, shuffled", shuffledPaths},
	{"oazipf", "OASST1, paths of trees drawn by popularity", popularPaths},
	{"oadrift", "OASST1, prompts only, popularity drifts", driftingPrompts},
	{"clinc", "CLINC150, sessions on one intent", func(l *library, rng *rand.Rand) *script { return intents(l, l.clinc, rng) }},
	{"banking", "BANKING77, the same", func(l *library, rng *rand.Rand) *script { return intents(l, l.banking, rng) }},
	{"hwu", "HWU64, the same", func(l *library, rng *rand.Rand) *script { return intents(l, l.hwu, rng) }},
	{"sgd", "SGD, what users say in shuffled dialogues", shuffledTalks},
}

// Texts reads the folder that has intent/ and dialogue/ in it. All traces share what was read, and the vectors.
func Texts(dir string) ([]Text, error) {
	l, err := readLibrary(dir)
	if err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	var all []Text
	for i, kind := range textKinds {
		verbatim := func(seed uint64) *sim.Slice {
			s := kind.write(l, rand.New(rand.NewPCG(seed, uint64(i))))
			return &sim.Slice{Title: fmt.Sprintf("%s:seed=%d", kind.name, seed), All: s.all}
		}
		all = append(all, Text{
			Name: kind.name, Says: kind.says, Verbatim: verbatim,
			Trace: perSeed(func(seed uint64) *sim.Slice {
				s := verbatim(seed)
				Classes(s, ClassGate)
				return s
			}),
		})
	}
	return all, nil
}

// TextCases are the text traces as semantic classes, each at shares of its distinct classes: every share of a trace before
// the next trace. clustered replaces the labels of the records, which no proxy has, by topics that are found online.
func TextCases(dir string, shares []float64, clustered bool) ([]Case, error) {
	texts, err := Texts(dir)
	var cases []Case
	for _, t := range texts {
		name, make := t.Name, t.Trace
		if clustered {
			name, make = t.Name+" clustered", perSeed(t.clustered)
		}
		for _, share := range shares {
			cases = append(cases, Case{Name: name, Trace: make, Capacity: sim.Capacity{Share: share}})
		}
	}
	return cases, err
}

func (t *Text) clustered(seed uint64) *sim.Slice {
	s := t.Verbatim(seed)
	semantic.Cluster(s, TopicGate)
	Classes(s, ClassGate)
	return s
}

// perSeed makes what it is asked for once.
func perSeed(make func(seed uint64) *sim.Slice) func(seed uint64) (sim.Trace, error) {
	var made sync.Map // of seeds: func() *sim.Slice
	return func(seed uint64) (sim.Trace, error) {
		once, _ := made.LoadOrStore(seed, sync.OnceValue(func() *sim.Slice { return make(seed) }))
		return once.(func() *sim.Slice)(), nil
	}
}
