package study

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"reprise/cmd/reprise-lab/internal/matching"
	"reprise/cmd/reprise-lab/sim"
)

const (
	// textRequests is the length of every text trace.
	textRequests = 10_000
	// ClassGate is the cosine from which texts count as one semantic class. It is that of the published comparison, which used
	// another lexical embedder. It is below the hit gate of the built-in embedder, so the classes are only for studies.
	ClassGate = 0.85
	// TopicGate is the cosine from which TextCases counts texts as one topic. It is the published one too.
	TopicGate = 0.45
)

// Text is a workload of recorded texts. Their order is generated: the records have no times, and hardly any repeats. Every trace
// has 10,000 requests, one a second; the same seed makes the same trace.
//
// A request's Topic is the label of the record, its Parent the first turn of its conversation. Size is that of the recorded
// answer, or of the text if there is no answer; Cost is its tokens at four bytes each. Earlier turns do not distinguish requests,
// as in the published comparison. Equal texts share their Content.
type Text struct {
	Name string
	Says string
	// Trace has semantic classes as identities. Its replay by identity represents one by similarity in which any text of a
	// class answers the others. It is a *sim.Slice that is made once for each seed, and must not be changed.
	Trace func(seed uint64) (sim.Trace, error)
	// Verbatim has the texts as identities, for replays by similarity. Each call returns a new slice.
	Verbatim func(seed uint64) *sim.Slice
}

// writer generates the requests of a trace.
type writer func(l *library, rng *rand.Rand) *script

// textKinds lists the text traces. Unpublished parameters were chosen so that an infinite cache has about the published hit
// ratio.
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

// Texts reads a folder with dialogue/ and intent/. All traces share the texts and the vectors.
func Texts(dir string) ([]Text, error) {
	l, err := readLibrary(dir)
	if err != nil {
		return nil, fmt.Errorf("read texts: %w", err)
	}
	var all []Text
	for i, kind := range textKinds {
		t := Text{Name: kind.name, Says: kind.says}
		t.Verbatim = func(seed uint64) *sim.Slice {
			s := kind.write(l, rand.New(rand.NewPCG(seed, uint64(i))))
			return &sim.Slice{Title: fmt.Sprintf("%s:seed=%d", kind.name, seed), All: s.all}
		}
		t.Trace = t.trace(inClasses)
		all = append(all, t)
	}
	return all, nil
}

// trace returns Verbatim with some changes, made once for each seed.
func (t Text) trace(changes ...func(*sim.Slice) error) func(seed uint64) (sim.Trace, error) {
	var made sync.Map // by seed: func() (sim.Trace, error)
	return func(seed uint64) (sim.Trace, error) {
		once, _ := made.LoadOrStore(seed, sync.OnceValues(func() (sim.Trace, error) {
			s := t.Verbatim(seed)
			for _, change := range changes {
				if err := change(s); err != nil {
					return nil, err
				}
			}
			return s, nil
		}))
		return once.(func() (sim.Trace, error))()
	}
}

func inClasses(s *sim.Slice) error { return Classes(s, ClassGate) }

// inTopics replaces the labels of the records, which no proxy has, by topics found online.
func inTopics(s *sim.Slice) error {
	return matching.Cluster(context.Background(), s, TopicGate)
}

// TextCases returns the text traces with semantic classes, each at shares of its distinct classes: all shares of a trace before
// the next trace. Topics are the labels of the records or, if clustered, found online as in a proxy.
func TextCases(dir string, shares []float64, clustered bool) ([]Case, error) {
	suffix, changes := "", []func(*sim.Slice) error{inClasses}
	if clustered {
		suffix, changes = " clustered", []func(*sim.Slice) error{inTopics, inClasses}
	}
	texts, err := Texts(dir)
	var cases []Case
	for _, t := range texts {
		trace := t.trace(changes...)
		for _, share := range shares {
			cases = append(cases, Case{Name: t.Name + suffix, Trace: trace, Capacity: sim.Capacity{Share: share}})
		}
	}
	return cases, err
}
