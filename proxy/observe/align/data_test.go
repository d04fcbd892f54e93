package align

import (
	"encoding/json"
	"strings"
	"testing"

	"reprise/proxy/observe"
	"reprise/proxy/upstream/prefix"
)

// call is one call of an agent's trace.
type call struct {
	Input   string `json:"input"`
	Session string `json:"session_id"`
}

// readTrace reads the calls of a trace below the folder that REPRISE_DATA names.
func readTrace(t *testing.T, name string) (all []call) {
	t.Helper()
	readLines(t, "kv/"+name, func(line []byte) bool {
		var c call
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if c.Input != "" {
			all = append(all, c)
		}
		return true
	})
	return all
}

// messages are the segments of a call: messages where the trace names their roles, else one text.
func (c call) messages() (all []Segment) {
	role, text := "user", []string{}
	flush := func() {
		if len(text) > 0 {
			kind := prefix.Message
			if role == "system" && len(all) == 0 {
				kind = prefix.System
			}
			all = append(all, Segment{kind, say(role, strings.Join(text, "\n"))})
		}
		text = nil
	}
	for line := range strings.SplitSeq(c.Input, "\n") {
		if name, rest, ok := strings.Cut(line, ": "); ok && (name == "system" || name == "user" || name == "assistant") {
			flush()
			role, line = name, rest
		}
		text = append(text, line)
	}
	flush()
	return all
}

// TestTraces prints what the report says about real agents.
func TestTraces(t *testing.T) {
	for _, name := range []string{"agent_magagent.jsonl.gz", "agent_miniswe.jsonl.gz", "agent_taubench.jsonl.gz"} {
		t.Run(name, func(t *testing.T) {
			w := NewWatch(Options{})
			for _, c := range readTrace(t, name) {
				w.observe(observe.Stamp{}, App{Tenant: "t-1", Model: strings.TrimSuffix(name, ".jsonl.gz"), Path: "/v1/chat/completions"}, c.messages())
			}
			t.Logf("\n%s", w.Report())
		})
	}
}
