package study

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"reprise/cmd/reprise/matching"
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
// answer, or of the text itself where there is none, Cost its tokens at four bytes each. What was said before does not tell
// requests apart, as in the published comparison. Requests share their Content.
type Text struct {
	Name string
	Says string
	// Trace has semantic classes for identities. Its replay is as fast as any by identity, and stands for one by similarity
	// in which every text of a class can answer for the others. It is a *sim.Slice that is made once for each seed, and is
	// not to be changed.
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

// Texts reads the folder that has dialogue/ and intent/ in it. All traces share what was read, and the vectors.
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

// trace is Verbatim after some changes, made once for each seed.
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

// inTopics replaces the labels of the records, which no proxy has, by topics that are found online.
func inTopics(s *sim.Slice) error {
	return matching.Cluster(context.Background(), s, TopicGate)
}

// TextCases are the text traces as semantic classes, each at shares of its distinct classes: every share of a trace before
// the next trace. Topics are the labels of the records, or clustered: found online, as they have to be in a proxy.
func TextCases(dir string, shares []float64, clustered bool) ([]Case, error) {
	return textCases(dir, shares, nil, clustered, inClasses)
}

// MeaningCases are the same played by m, which finds itself what is similar: texts are the identities, and the shares are
// of the distinct texts.
func MeaningCases(dir string, shares []float64, clustered bool, m sim.Model) ([]Case, error) {
	return textCases(dir, shares, m, clustered)
}

func textCases(dir string, shares []float64, m sim.Model, clustered bool, changes ...func(*sim.Slice) error) ([]Case, error) {
	suffix := ""
	if clustered {
		suffix, changes = " clustered", append([]func(*sim.Slice) error{inTopics}, changes...)
	}
	texts, err := Texts(dir)
	var cases []Case
	for _, t := range texts {
		trace := t.trace(changes...)
		for _, share := range shares {
			cases = append(cases, Case{Name: t.Name + suffix, Trace: trace, Capacity: sim.Capacity{Share: share}, Model: m})
		}
	}
	return cases, err
}
