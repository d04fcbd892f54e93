package study

import (
	"math"
	"math/rand/v2"
	"sort"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/trace"
)

const (
	treeCount   = 700 // trees of OASST1 in a trace
	skew        = 0.8 // Zipf exponent of trees and intents
	driftEvery  = 5   // threads between two swaps of ranks
	sessionMean = 4   // utterances of a session on one intent
)

// script collects requests until there are enough.
type script struct {
	library *library
	all     []sim.Request
	talks   uint64
}

func (s *script) full() bool { return len(s.all) == textRequests }

// play appends a conversation, cut at the length of the trace.
func (s *script) play(t thread) {
	s.talks++
	var root uint64
	for turn, said := range t.lines {
		if s.full() {
			return
		}
		r := sim.Request{ID: trace.Identity(said.text), At: float64(len(s.all)), Topic: t.topic, Conversation: s.talks,
			Parent: root, Turn: int32(turn), Size: int64(said.reply), Content: s.library.content(said.text)}
		if r.Size == 0 {
			r.Size = int64(len(said.text))
		}
		r.Cost = float64(r.Size / 4)
		if turn == 0 {
			root = r.ID
		}
		s.all = append(s.all, r)
	}
}

// shuffledPaths plays every path of some trees once. Repeats are the messages that paths share.
func shuffledPaths(l *library, rng *rand.Rand) *script {
	var paths []thread
	messages := 0
	for n, tree := range rng.Perm(len(l.trees)) {
		if n >= treeCount && messages >= textRequests {
			break
		}
		paths = append(paths, l.trees[tree]...)
		for _, p := range l.trees[tree] {
			messages += len(p.lines)
		}
	}
	return shuffled(l, paths, rng)
}

// shuffledTalks plays dialogues in random order.
func shuffledTalks(l *library, rng *rand.Rand) *script { return shuffled(l, l.talks, rng) }

func shuffled(l *library, all []thread, rng *rand.Rand) *script {
	s := &script{library: l}
	for _, i := range rng.Perm(len(all)) {
		s.play(all[i])
	}
	return s
}

// popularPaths plays random paths of trees that are drawn by rank.
func popularPaths(l *library, rng *rand.Rand) *script {
	s, ranks, rank := &script{library: l}, rng.Perm(len(l.trees)), zipf(treeCount, skew)
	for !s.full() {
		s.play(pathOf(l.trees[ranks[rank.draw(rng)]], rng))
	}
	return s
}

// driftingPrompts does the same with only the prompters' messages, while pairs of random trees swap their ranks.
func driftingPrompts(l *library, rng *rand.Rand) *script {
	s, ranks, rank := &script{library: l}, rng.Perm(len(l.trees)), zipf(treeCount, skew)
	for !s.full() {
		if s.talks%driftEvery == 0 {
			i, j := rng.IntN(treeCount), rng.IntN(treeCount)
			ranks[i], ranks[j] = ranks[j], ranks[i]
		}
		s.play(pathOf(l.trees[ranks[rank.draw(rng)]], rng).prompts())
	}
	return s
}

func pathOf(tree []thread, rng *rand.Rand) thread { return tree[rng.IntN(len(tree))] }

// prompts returns the messages of prompters.
func (t thread) prompts() thread {
	var lines []line
	for _, said := range t.lines {
		if said.prompt {
			lines = append(lines, said)
		}
	}
	return thread{t.topic, lines}
}

// intents plays sessions on one intent, which is drawn by rank. Lengths are geometric. The utterances of an intent are equally
// likely: if drawn by rank, they would repeat more often than published.
func intents(l *library, groups [][]line, rng *rand.Rand) *script {
	s, ranks, rank := &script{library: l}, rng.Perm(len(groups)), zipf(len(groups), skew)
	for !s.full() {
		intent := ranks[rank.draw(rng)]
		t := thread{topic: uint64(intent) + 1}
		for more := true; more; more = rng.Float64() > 1.0/sessionMean {
			t.lines = append(t.lines, groups[intent][rng.IntN(len(groups[intent]))])
		}
		s.play(t)
	}
	return s
}

// steps are the running sums of weights.
type steps []float64

// zipf returns the running sums of rank^-skew for ranks from 1 to n.
func zipf(n int, skew float64) steps {
	cum, total := make(steps, n), 0.0
	for i := range cum {
		total += math.Pow(float64(i+1), -skew)
		cum[i] = total
	}
	return cum
}

// draw returns a random rank, from 0.
func (c steps) draw(rng *rand.Rand) int {
	x := rng.Float64() * c[len(c)-1]
	return min(sort.Search(len(c), func(i int) bool { return c[i] > x }), len(c)-1)
}
