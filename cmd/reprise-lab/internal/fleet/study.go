package fleet

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// Study is which plays of a trace are compared.
type Study struct {
	Options
	Choosers   []string
	Loads      []float64 // of the fleet's capacity; none: Options.Rate is the rate
	Seeds      int       // plays of each, whose figures are averaged
	Compare    bool      // what a response cache in front saves
	Parallel   int       // plays at a time
	OnProgress func(done, total int)
}

// row is one play of a study.
type row struct {
	chooser   string
	proxies   int
	responses bool
}

// Direct is the chooser of clients that send to the engines without a proxy: a load balancer's turns.
const Direct = "round-robin"

// shared is the chooser that is played with two proxies too.
const shared = "prefix"

func (s *Study) rows() (all []row) {
	for _, name := range s.Choosers {
		all = append(all, row{name, s.Proxies, false})
		if name == shared && s.Proxies == 1 {
			all = append(all, row{name, 2, false})
		}
	}
	if s.Compare {
		all = append(all, row{Direct, 1, true}, row{shared, 1, true})
	}
	return all
}

// Played is a trace with the results of a study, by load.
type Played struct {
	Trace    *Trace
	Capacity float64 // requests a second; 0: not measured
	Results  []Result
}

// Run plays a trace. The results do not depend on Parallel.
func (s *Study) Run(ctx context.Context, t *Trace) (*Played, error) {
	out := &Played{Trace: t}
	rates := []float64{s.Rate}
	if len(s.Loads) > 0 {
		var err error
		if out.Capacity, err = Capacity(ctx, t, s.Options); err != nil {
			return out, fmt.Errorf("measure capacity: %w", err)
		}
		rates = rates[:0]
		for _, load := range s.Loads {
			rates = append(rates, load*out.Capacity)
		}
	}
	var plays []Options
	var loads []float64
	for i, rate := range rates {
		for _, r := range s.rows() {
			for seed := range s.Seeds {
				o := s.Options
				o.Rate, o.Chooser, o.Proxies, o.Responses = rate, r.chooser, r.proxies, r.responses
				o.Seed += uint64(seed)
				plays = append(plays, o)
				loads = append(loads, append(s.Loads, 0)[i])
			}
		}
	}
	results, err := s.playAll(ctx, t, plays)
	for at := 0; err == nil && at < len(results); at += s.Seeds {
		one := average(results[at : at+s.Seeds])
		one.Load, one.Seed = loads[at], s.Seed
		out.Results = append(out.Results, one)
	}
	return out, err
}

// playAll plays several at a time, in their order.
func (s *Study) playAll(ctx context.Context, t *Trace, plays []Options) ([]Result, error) {
	n := s.Parallel
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	results, errs := make([]Result, len(plays)), make([]error, len(plays))
	places := make(chan int)
	var workers sync.WaitGroup
	var done struct {
		sync.Mutex // protects n and calls of OnProgress
		n          int
	}
	for range n {
		workers.Go(func() {
			for i := range places {
				r, err := Play(ctx, t, plays[i])
				if err == nil {
					results[i] = *r
				}
				errs[i] = err
				done.Lock()
				if done.n++; s.OnProgress != nil {
					s.OnProgress(done.n, len(plays))
				}
				done.Unlock()
			}
		})
	}
	for i := range plays {
		places <- i
	}
	close(places)
	workers.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("play %s with %s: %w", t.Name, plays[i].Chooser, err)
		}
	}
	return results, nil
}

// average is the mean of the figures of plays that differ in the seed.
func average(all []Result) Result {
	out := all[0]
	if len(all) == 1 {
		return out
	}
	n := float64(len(all))
	out.Hit, out.Imbalance, out.Predicted, out.TTFT = 0, 0, 0, Quantile{}
	out.Requests, out.Rejected, out.Responded, out.Tokens = 0, 0, 0, Tokens{}
	for i := range all {
		r := &all[i]
		out.Hit += r.Hit / n
		out.Imbalance += r.Imbalance / n
		out.Predicted += r.Predicted / n
		out.TTFT.Mean += r.TTFT.Mean / n
		out.TTFT.P50 += r.TTFT.P50 / n
		out.TTFT.P90 += r.TTFT.P90 / n
		out.TTFT.P99 += r.TTFT.P99 / n
		out.Requests += r.Requests
		out.Rejected += r.Rejected
		out.Responded += r.Responded
		out.Tokens.All += r.Tokens.All
		out.Tokens.Responded += r.Tokens.Responded
		out.Tokens.Cached += r.Tokens.Cached
		out.Tokens.Prefilled += r.Tokens.Prefilled
		out.Tokens.Rejected += r.Tokens.Rejected
	}
	return out
}
