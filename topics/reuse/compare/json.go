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
	if before, rest, fenced := strings.Cut(s, "```"); fenced && s[0] != '{' && s[0] != '[' {
		body, after, closed := strings.Cut(rest, "```")
		s = strings.TrimSpace(strings.TrimPrefix(body, "json"))
		if !closed || s == "" || s[0] != '{' && s[0] != '[' || len(strings.Fields(before))+len(strings.Fields(after)) > brief {
			return nil, false
		}
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
	r := Result{Kind: kindJSON, Why: "json:member", Closeness: float64(m.same) / float64(m.all)}
	if m.same == m.all {
		return r.with(evidence.Same, "json")
	}
	if m.same+m.unknown < m.all {
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
		b, ok := b.(map[string]any)
		m.count(ok && len(a) == len(b))
		for name, v := range b {
			if w, ok := a[name]; ok {
				m.compare(w, v)
			} else {
				m.count(false)
			}
		}
		for name := range a {
			if _, both := b[name]; ok && !both {
				m.count(false)
			}
		}
	case []any:
		b, ok := b.([]any)
		m.count(ok && len(a) == len(b))
		for i := range min(len(a), len(b)) {
			m.compare(a[i], b[i])
		}
	case string:
		b, ok := b.(string)
		m.strings(a, b, ok)
	case float64:
		b, ok := b.(float64)
		m.count(ok && a == b)
	default: // bool or nil
		switch b.(type) {
		case bool, nil:
			m.count(a == b)
		default:
			m.count(false)
		}
	}
}

// strings compares labels up to case, and longer texts by the rules for texts.
func (m *members) strings(a, b string, ok bool) {
	v, w := strings.Fields(a), strings.Fields(b)
	if !ok || min(len(v), len(w)) <= few || strings.EqualFold(a, b) {
		m.count(ok && strings.EqualFold(strings.Join(v, " "), strings.Join(w, " ")))
		return
	}
	r := compareAnswers(Pair{Stored: a, Fresh: b}, m.noise)
	if m.count(r.Outcome == evidence.Same); r.Outcome == evidence.Unknown {
		m.unknown++
	}
}
