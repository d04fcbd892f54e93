package compare

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"reprise/topics/reuse/evidence"
)

// parseJSON returns the values of an answer that is JSON: objects and arrays one after another, bare, or fenced with a few words around.
func parseJSON(s string) (values []any, ok bool) {
	s = strings.TrimSpace(s)
	if before, rest, fenced := strings.Cut(s, "```"); fenced {
		body, after, closed := strings.Cut(rest, "```")
		if !closed || len(strings.Fields(before))+len(strings.Fields(after)) > brief {
			return nil, false
		}
		s = strings.TrimSpace(strings.TrimPrefix(body, "json"))
	}
	if s == "" || s[0] != '{' && s[0] != '[' {
		return nil, false
	}
	for d := json.NewDecoder(strings.NewReader(s)); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return values, true
		} else if err != nil {
			return nil, false
		}
		values = append(values, v)
	}
}

// members counts the values of JSON that are compared.
type members struct {
	all, same, unknown int
	noise              *Noise
}

func compareJSON(a, b []any, n *Noise) Result {
	m := members{noise: n}
	m.compare(a, b)
	r := Result{Kind: JSON, Why: "json:member", Closeness: float64(m.same) / float64(max(1, m.all))}
	switch {
	case m.same == m.all:
		r.Outcome, r.Why = evidence.Same, "json"
	case m.same+m.unknown < m.all:
		r.Outcome = evidence.Different
	}
	return r
}

func (m *members) count(same bool) {
	if m.all++; same {
		m.same++
	}
}

func (m *members) compare(a, b any) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			m.objects(a, b)
			return
		}
	case []any:
		if b, ok := b.([]any); ok {
			m.arrays(a, b)
			return
		}
	case string:
		if b, ok := b.(string); ok {
			m.strings(a, b)
			return
		}
	default:
		if _, other := b.(map[string]any); !other {
			if _, other := b.([]any); !other {
				m.count(a == b)
				return
			}
		}
	}
	m.count(false)
}

func (m *members) objects(a, b map[string]any) {
	m.count(len(a) == len(b))
	for name, v := range a {
		if w, ok := b[name]; ok {
			m.compare(v, w)
		} else {
			m.count(false)
		}
	}
}

func (m *members) arrays(a, b []any) {
	m.count(len(a) == len(b))
	for i := range min(len(a), len(b)) {
		m.compare(a[i], b[i])
	}
}

// strings compares labels up to case, and longer texts by the rules for texts.
func (m *members) strings(a, b string) {
	if strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " ")) {
		m.count(true)
		return
	}
	if min(len(strings.Fields(a)), len(strings.Fields(b))) <= few {
		m.count(false)
		return
	}
	r := compareAnswers(a, b, m.noise)
	if m.count(r.Outcome == evidence.Same); r.Outcome == evidence.Unknown {
		m.unknown++
	}
}
