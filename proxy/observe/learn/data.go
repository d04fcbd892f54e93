package learn

import (
	"sync"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
	"reprise/proxy/canon"
	"reprise/topics/reuse/normal"
)

// Preambles remembers which texts before a prompt treat the prompt as data ("Translate what the user writes"): they are the same in many
// requests, and long. It is safe for concurrent use.
type Preambles struct {
	mu         sync.Mutex // guards what follows
	young, old map[preamble]bool
}

// preamble identifies all that stands before a prompt: the scope has the system prompt, and the last turn the ones before it.
type preamble struct{ scope, key, answer canon.Hash }

// mostPreambles is how many one of two generations remembers.
const mostPreambles = 2048

// TreatAsData reports whether what stands before the prompt of r treats it as data. body is the one that r was read from.
func (p *Preambles) TreatAsData(r *canon.Request, body []byte) bool {
	k := preamble{scope: r.Scope}
	if n := len(r.Turns); n > 0 {
		k.key, k.answer = r.Turns[n-1].Key, r.Turns[n-1].Answer
	}
	if data, ok := p.find(k); ok {
		return data
	}
	data := treatAsData(r, body)
	p.keep(k, data)
	return data
}

func (p *Preambles) find(k preamble) (data, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if data, ok = p.young[k]; !ok {
		data, ok = p.old[k]
	}
	return data, ok
}

func (p *Preambles) keep(k preamble, data bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.young == nil || len(p.young) >= mostPreambles {
		p.old, p.young = p.young, map[preamble]bool{}
	}
	p.young[k] = data
}

// treatAsData looks at every system prompt and earlier turn. Descriptions of tools are left out: they are for the model's calls.
func treatAsData(r *canon.Request, body []byte) bool {
	prompt := true // the messages from here to the end are those of the last ask
	for i := len(r.Segments) - 1; i >= 0; i-- {
		s := r.Segments[i]
		if s.Kind == canon.SegmentTools {
			continue
		}
		text, role := TextOf(s, body)
		prompt = prompt && (role == "user" || role == "system" || role == "developer" || s.Kind == canon.SegmentSystem)
		if prompt && role == "user" {
			continue
		}
		if normal.TreatsAsData(text) {
			return true
		}
	}
	return false
}

// TextOf is the text of a segment, and who has written it. A conversation that is one string is the user's.
func TextOf(s canon.Segment, body []byte) (text, role string) {
	m := gjson.Parse(rawjson.View(s.Of(body)))
	switch {
	case m.Type != gjson.String:
		return answer.ContentText(m.Get("content")), m.Get("role").Str
	case s.Kind == canon.SegmentMessage:
		return m.Str, "user"
	}
	return m.Str, ""
}
