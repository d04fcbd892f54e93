package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"reprise/store"
)

// invite prints commands to try on the proxy, which stays up.
func (s *stage) invite() {
	prompt := quoted(s.aKnownPrompt())
	fmt.Fprintf(s.t.out, `
The proxy stays up at %[1]s/v1 until Ctrl-C. Try:

  # an exact hit: see the headers X-Cache, Cache-Status and Age
  curl -si %[1]s/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"model":"%[3]s","messages":[{"role":"user","content":%[4]s}]}'

  # the same answer, as a stream
  curl -sN %[1]s/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"model":"%[3]s","stream":true,"messages":[{"role":"user","content":%[4]s}]}'

  # what the cache holds
  curl -s %[2]s/admin/topics
`, s.apiURL(), s.adminURL(), demoModel, prompt)
}

// aKnownPrompt is the prompt of the newest answer in the cache that a request of one message gets.
func (s *stage) aKnownPrompt() string {
	prompt := "What is a cache?"
	for e := range s.store.All() {
		if e.Model == demoModel && e.Chain == (store.Entry{}).Chain && len(e.Prompt) < 200 {
			prompt = e.Prompt
		}
	}
	return prompt
}

// quoted is a JSON string that may stand between single quotes in a shell.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always has a JSON form
	return strings.ReplaceAll(string(b), "'", `\u0027`)
}
