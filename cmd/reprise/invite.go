package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"reprise/cmd/reprise/internal/demo"
)

// invite prints commands to try with the proxy, which stays up. It asks the question of the commands first, so that its answer
// is stored with any workload.
func (s *stage) invite(ctx context.Context) error {
	messages := `"messages":[{"role":"user","content":` + quoted(demo.Known()) + `}]}`
	if err := s.ask(ctx, `{"model":"`+demoModel+`",`+messages); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.t.Out, `
The proxy stays up at %[1]s/v1 until Ctrl-C. Try:

  # asked before: see the headers X-Cache, Cache-Status and Age
  curl -si %[1]s/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"model":"%[3]s",%[4]s'

  # the same answer, as a stream
  curl -sN %[1]s/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"model":"%[3]s","stream":true,%[4]s'

  # what the cache holds
  curl -s %[2]s/admin/topics
`, s.apiURL(), s.adminURL(), demoModel, messages)
	return err
}

func (s *stage) ask(ctx context.Context, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.apiURL()+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the proxy: %w", err)
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// quoted returns s as a JSON string for use between single quotes in a shell.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always has a JSON form
	return strings.ReplaceAll(string(b), "'", `\u0027`)
}
