// Package llama_test measures the program in front of two real engines, llama.cpp processes with a model of random weights, and compares it
// with what the simulation of package fleet predicts. All choosers are measured in one run, a round of the conversations at a time in turn, so
// that what else the machine does meets all of them.
//
//	go test ./cmd/reprise-lab/llama -run '^$' -bench . -benchtime 1x
package llama_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"reprise/cmd/reprise-lab/internal/fleet"
	"reprise/internal/llamatest"
)

func TestMain(m *testing.M) { os.Exit(llamatest.Main(m)) }

// repeated is how many rounds are asked again by other clients in the end: the response cache answers these.
const repeated = 3

// setup is two engines, with or without the program in front.
type setup struct {
	name    string
	engines []*llamatest.Engine
	base    func() string
	talk    *llamatest.Talk
	answers []*llamatest.Answer // of all rounds but the repeated ones

	evaluated int // tokens of these
	repeated  []*llamatest.Answer
}

// direct is the name of the setup without the program, whose clients send their requests to the engines by turns.
const direct = "no proxy"

func newSetup(b *testing.B, name string, slots int) *setup {
	s := &setup{name: name, engines: llamatest.StartTwo(b, llamatest.Options{Slots: slots}), talk: llamatest.NewTalk(1)}
	switch name {
	case direct:
		s.base = llamatest.ByTurns(s.engines)
	case byTurns: // a proxy for each engine
		turn, urls := -1, []string{}
		for i := range s.engines {
			urls = append(urls, llamatest.Serve(b, s.engines[i:i+1], "REPRISE_MODE=exact").API)
		}
		s.base = func() string {
			turn++
			return urls[turn%len(urls)]
		}
	default:
		s.base = llamatest.Always(llamatest.Serve(b, s.engines, "REPRISE_MODE=exact").API)
	}
	return s
}

// byTurns is the chooser that gives each engine the next request.
const byTurns = "round-robin"

var choosers = []string{"prefix", byTurns}

// BenchmarkChoosers plays six conversations of eight turns, whose system prompts have 2,000 tokens, one request at a time. Engines with three
// slots have just enough room together, those with six have each enough for all.
func BenchmarkChoosers(b *testing.B) {
	for _, slots := range []int{3, 4, 6} {
		b.Run(fmt.Sprint("slots=", slots), func(b *testing.B) {
			for range b.N {
				all := play(b, slots)
				report(b, all)
				split(b, all)
			}
		})
	}
}

func play(b *testing.B, slots int) (all []*setup) {
	b.Helper()
	for _, name := range append([]string{direct}, choosers...) {
		all = append(all, newSetup(b, name, slots))
	}
	for range llamatest.Turns {
		for _, s := range all {
			s.answers = append(s.answers, s.talk.Play(b, s.engines, 1, s.base)...)
		}
	}
	for _, s := range all {
		s.evaluated = llamatest.Evaluated(s.engines)
		s.repeated = llamatest.NewTalk(1).Play(b, s.engines, repeated, s.base)
	}
	return all
}

// ttft is the median of the times until the first token, in milliseconds.
func (s *setup) ttft() float64 {
	var ms []float64
	for _, a := range s.answers {
		ms = append(ms, a.First.Seconds()*1e3)
	}
	return median(ms)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// report prints the table of all setups beside the simulation, and the ratios of prefix to the others.
func report(b *testing.B, all []*setup) {
	b.Helper()
	engine := calibrated(all[0])
	prefix := find(all, "prefix")
	predicted := simulate(b, prefix, engine)
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t\tmeasured\t\t\t\tsimulated\t\t\t\t")
	fmt.Fprintln(w, "\tTTFT p50, ms\tprefix by it\tevaluated\tprefix by it\tTTFT p50, ms\tprefix by it\tevaluated\tprefix by it\t")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%.0f\t%.3f\t%d\t%.3f\t", s.name, s.ttft(), prefix.ttft()/s.ttft(), s.evaluated, ratio(prefix.evaluated, s.evaluated))
		if s.name == direct {
			fmt.Fprintln(w, "\t\t\t\t")
			continue
		}
		r := simulate(b, s, engine)
		fmt.Fprintf(w, "%.0f\t%.3f\t%d\t%.3f\t\n", 1e3*r.TTFT.P50, predicted.TTFT.P50/r.TTFT.P50, r.Tokens.Prefilled, ratio(predicted.Tokens.Prefilled, r.Tokens.Prefilled))
		if s != prefix {
			b.ReportMetric(prefix.ttft()/s.ttft(), "ttft/"+s.name)
			b.ReportMetric(ratio(prefix.evaluated, s.evaluated), "evaluated/"+s.name)
		}
	}
	w.Flush()
	b.Logf("%d requests, %d tokens of prompts; simulated engine: %.1f ms and %.1f µs a token\n%s", len(prefix.answers), prompts(prefix.answers), 1e3*engine.Step,
		1e6*engine.Prefill, &text)
}

func ratio[N int | int64](a, b N) float64 { return float64(a) / float64(b) }

func find(all []*setup, name string) *setup {
	return all[slices.IndexFunc(all, func(s *setup) bool { return s.name == name })]
}

func prompts(all []*llamatest.Answer) (n int) {
	for _, a := range all {
		n += a.Usage.Prompt
	}
	return n
}

// calibrated is a simulated engine with the speed that clients without a proxy have measured: a constant part, and one for each token that is
// evaluated, from the medians of prompts that were evaluated as a whole and of those that were not.
func calibrated(s *setup) fleet.Engine {
	var cold, warm struct{ fresh, seconds []float64 }
	for _, a := range s.answers {
		group := &warm
		if a.Cached() < llamatest.Prefix {
			group = &cold
		}
		group.fresh = append(group.fresh, float64(a.Usage.Prompt-a.Cached()))
		group.seconds = append(group.seconds, a.First.Seconds())
	}
	f, t := median(warm.fresh), median(warm.seconds)
	perToken := (median(cold.seconds) - t) / (median(cold.fresh) - f)
	return fleet.Engine{Tokens: s.engines[0].Tokens, Budget: 1 << 13, Seqs: 4, Step: max(0, t-perToken*f), Prefill: perToken, Decode: perToken}
}

// simulate plays the requests of a setup in simulated time, far enough apart that none waits for another one.
func simulate(b *testing.B, s *setup, engine fleet.Engine) *fleet.Result {
	b.Helper()
	const apart = 100 // seconds
	var turns []fleet.Turn
	for i, a := range s.answers {
		turns = append(turns, fleet.Turn{At: float64(apart * i), Conversation: uint64(a.Conversation), System: llamatest.Prefix, Prompt: a.Usage.Prompt, Answer: len(strings.Fields(a.Text))})
	}
	trace := fleet.Turns("llama", turns)
	rate := float64(len(turns)) / turns[len(turns)-1].At // at which the times stay as they are
	r, err := fleet.Play(b.Context(), trace, fleet.Options{Engines: []fleet.Engine{engine, engine}, Block: trace.Block(0), Chooser: s.name, Proxies: 1, Rate: rate})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// split prints what became of the tokens of all prompts, with the repeated ones: answered by the response cache, found by the engines as they
// are by turns, found besides because of the choice of the engine, and evaluated.
func split(b *testing.B, all []*setup) {
	b.Helper()
	turns, prefix := find(all, byTurns), find(all, "prefix")
	total := prompts(prefix.answers) + prompts(prefix.repeated)
	responses := prompts(prefix.repeated)
	for _, a := range prefix.repeated {
		if a.Engine >= 0 {
			b.Fatalf("a repeated request was sent to an engine: %+v", a)
		}
	}
	evaluated := func(s *setup) int { return llamatest.Evaluated(s.engines) }
	share := func(n int) float64 { return 100 * ratio(n, total) }
	b.Logf("with %d requests asked again, %d tokens of prompts: response hits %.1f %%, prefix hits by turns %.1f %%, more by affinity %.1f %%, evaluated %.1f %%; "+
		"without a proxy %.1f %% are evaluated", len(prefix.repeated), total, share(responses), share(total-responses-evaluated(turns)), share(evaluated(turns)-evaluated(prefix)),
		share(evaluated(prefix)), share(evaluated(find(all, direct))))
	b.ReportMetric(ratio(evaluated(prefix), evaluated(find(all, direct))), "evaluated/no-proxy")
}

// BenchmarkThreads evaluates different prompts in two engines at the same time. Threads of llama.cpp wait for each other at each layer, so more
// of them than cores cost a multiple of the time.
func BenchmarkThreads(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			engines := llamatest.StartTwo(b, llamatest.Options{Threads: threads})
			for seed := uint64(1); b.Loop(); seed++ {
				both := llamatest.NewTalk(seed).Round()
				failed := make(chan error, len(engines))
				for i, e := range engines {
					go func() {
						_, err := both[i].Ask(b.Context(), e.URL)
						failed <- err
					}()
				}
				for range engines {
					if err := <-failed; err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
