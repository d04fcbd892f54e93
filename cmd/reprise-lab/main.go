// Command reprise-lab is the laboratory of reprise: replays and studies of eviction policies over many traces, fleets of engines in simulated
// time, and reports with plots. It is a module of its own so that the proxy needs no plotting.
package main

import (
	"os"

	"reprise/cmd/internal/cli"
)

const intro = `reprise-lab measures eviction policies and the choice of a replica, and writes reports with plots. The proxy
is the program reprise.

Try it:
  reprise-lab replay --trace generate:syn:long=0.7 --html report.html
  reprise-lab replay --trace generate:qwen-a --policy lru,s3fifo,wa --html report.html
  reprise-lab study regimes --html report.html
  reprise-lab fleet --trace generate:tenants --load 0.8
`

func program() *cli.Program {
	return &cli.Program{
		Name:  "reprise-lab",
		Intro: intro,
		Commands: []cli.Command{
			{Name: "study", Summary: "policies compared over many traces and seeds, and the studies of papers on prefix caches", Run: runStudy},
			{Name: "replay", Summary: "traces of requests or of KV blocks through eviction policies, with a report", Run: replayTraces},
			{Name: "characterize", Summary: "a workload: what its requests share, when it returns, how long it lives, and the cache that takes", Run: runCharacterize},
			{Name: "fleet", Summary: "traces through the choice of a replica and engines in simulated time", Run: runFleet},
			{Name: "generate", Summary: "traces of KV blocks with the published statistics of real ones, scaled or mixed traces", Run: runGenerate},
			{Name: "train", Summary: "the predictor of Learned Prefix Caching, from recorded conversations", Run: runTrain},
			{Name: "evaluate", Summary: "labelled pairs and streams of prompts through the judge: precision, recall, error and hits under an error rate", Run: runEvaluate},
		},
	}
}

func main() {
	os.Exit(program().Main(cli.Terminal{Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}, os.Args[1:]))
}
