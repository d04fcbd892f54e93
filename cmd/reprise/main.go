// Command reprise is a caching proxy for LLM APIs: a prompt whose answer is already known, word for word or in meaning, is
// answered from the cache.
package main

import (
	"errors"
	"fmt"
	"os"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
	"reprise/cmd/reprise/internal/doctor"
)

// exitBadConfig is the exit code for settings that cannot be used.
const exitBadConfig = 5

const intro = `reprise answers LLM requests from a cache: what was asked before, in the same words or in the same sense,
does not reach the GPU again.

Try it:
  reprise demo
  REPRISE_UPSTREAM=https://api.openai.com/v1 reprise serve
`

func program() *cli.Program {
	return &cli.Program{
		Name:  "reprise",
		Intro: intro,
		Commands: []cli.Command{
			{Name: "serve", Summary: "the proxy", Run: serve},
			{Name: "demo", Summary: "the proxy, a built-in engine and a workload: no key, network or configuration needed", Run: demonstrate},
			{Name: "replay", Summary: "names the command of the laboratory that plays traces through eviction policies", Run: replayElsewhere},
			{Name: "doctor", Summary: "everything that a proxy with these settings needs, examined before it starts or beside it", Run: doctor.Command},
			{Name: "health", Summary: "whether a running proxy takes requests: the health check of a container", Run: health},
			{Name: "ping", Summary: "health, under the name that other servers have for it", Run: health},
		},
		Explain: explain,
		Codes:   fmt.Sprintf("%d bad configuration, ", exitBadConfig),
	}
}

// explain reports errors of the settings, and what the doctor has found.
func explain(err error) (message string, code int) {
	if found, ok := errors.AsType[*doctor.Verdict](err); ok {
		return "reprise doctor: " + found.Error(), found.Code()
	}
	if !errors.Is(err, config.ErrBad) {
		return "", 0
	}
	return fmt.Sprintf("reprise: %v\n`reprise serve --help-all` lists every setting.", err), exitBadConfig
}

func main() {
	os.Exit(program().Main(cli.Terminal{Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}, os.Args[1:]))
}
