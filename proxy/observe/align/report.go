package align

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/proxy/upstream/prefix"
)

// Report is what a Watch has found. It holds no text of prompts.
type Report struct {
	Applications []application `json:"applications"`     // the one that loses the most tokens first
	Emptied      time.Time     `json:"emptied,omitzero"` // when a purge emptied it; zero: none has since the start
}

// application is the report of one application. Tokens are estimated, 64 for 256 bytes of JSON.
type application struct {
	App
	Requests int64   `json:"requests"`
	Compared int64   `json:"compared"` // requests that were compared with an earlier one
	Parted   int64   `json:"parted"`   // those of them that leave an earlier one although what follows is the same
	Tokens   int64   `json:"tokens"`   // of the compared requests
	Again    int64   `json:"again"`    // those of them that are prefilled again because of it
	Places   []Place `json:"places"`   // in the order of the prompt: repair the first one first, because what is behind it is lost too
}

// Place is where requests of an application part.
type Place struct {
	Segment  string  `json:"segment"`           // tools, system or message
	Index    int     `json:"index"`             // among the segments of this kind, from 0 on
	Element  *int    `json:"element,omitempty"` // of the list inside it, such as the tool or the part of a content, from 0 on
	Byte     int     `json:"byte"`              // of the text, from 0 on; where a line is missing, of the JSON
	Line     int     `json:"line,omitempty"`    // of the text, from 1 on
	Looks    Class   `json:"looks_like"`
	Requests int64   `json:"requests"`
	Share    float64 `json:"share"`             // of the compared requests
	Again    int64   `json:"again"`             // tokens that are prefilled again because of it
	Each     int64   `json:"again_per_request"` // of the requests that part here
	Repair   string  `json:"repair"`            // in one sentence
	Words    string  `json:"in_words"`          // all of it in one sentence
}

// What a place needs to be reported: less is chance, such as two users who paste the same text.
const (
	minRequests = 3
	minShare    = 0.005 // of the tokens of the application
)

// Report returns what was found.
func (w *Watch) Report() Report {
	r := Report{Applications: []application{}}
	w.mu.RLock()
	apps := make([]*app, 0, len(w.apps))
	for _, a := range w.apps {
		apps = append(apps, a)
	}
	r.Emptied = w.emptied
	w.mu.RUnlock()
	for _, a := range apps {
		r.Applications = append(r.Applications, a.report())
	}
	slices.SortFunc(r.Applications, func(a, b application) int {
		return cmp.Or(cmp.Compare(b.Again, a.Again), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Model, b.Model), strings.Compare(a.Tenant, b.Tenant),
			strings.Compare(a.Path, b.Path), strings.Compare(a.Namespace, b.Namespace))
	})
	return r
}

// tokens is how many tokens a number of bytes is about.
func tokens(bytes int64) int64 { return bytes * prefix.BlockTokens / prefix.BlockBytes }

func (a *app) report() application {
	a.mu.Lock()
	f := a.figures
	a.mu.Unlock()
	r := application{App: a.name, Requests: a.requests.Load(), Compared: f.compared, Parted: f.parted, Tokens: tokens(f.bytes), Again: tokens(f.lost), Places: []Place{}}
	spots := f.spots[:f.n]
	slices.SortFunc(spots, func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.segment, b.segment), cmp.Compare(a.element, b.element), cmp.Compare(a.char, b.char))
	})
	for i := range spots {
		if s := &spots[i]; s.requests >= minRequests && float64(s.bytes) >= minShare*float64(f.bytes) {
			r.Places = append(r.Places, s.report(f.compared))
		}
	}
	return r
}

var kindNames = [kinds]string{prefix.Tools: "tools", prefix.System: "system", prefix.Message: "message"}

func (s *spot) report(compared int64) Place {
	looks := s.looks()
	p := Place{Segment: kindNames[s.kind], Index: s.segment, Byte: s.char, Line: s.line, Looks: looks, Requests: s.requests,
		Share: float64(s.requests) / float64(compared), Again: tokens(s.bytes), Each: tokens(s.bytes / s.requests), Repair: classes[looks.number()].repair}
	if s.element >= 0 {
		element := s.element
		p.Element = &element
	}
	p.Words = p.sentence()
	return p
}

// elementNames are what the elements in segments are.
var elementNames = map[string]string{"tools": "tool", "system": "part", "message": "part"}

// sentence is the place in one sentence.
func (p *Place) sentence() string {
	var b strings.Builder
	b.WriteString(p.Segment)
	if p.Segment == kindNames[prefix.Message] || p.Index > 0 {
		fmt.Fprintf(&b, " %d", p.Index+1)
	}
	if p.Element != nil {
		fmt.Fprintf(&b, ", %s %d", elementNames[p.Segment], *p.Element+1)
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, ", line %d, byte %s", p.Line, count(int64(p.Byte)))
	}
	b.WriteByte(' ')
	if p.Share >= .95 {
		b.WriteString("differs in every request")
	} else {
		fmt.Fprintf(&b, "differs in %.0f %% of the requests", 100*p.Share)
	}
	fmt.Fprintf(&b, ": %s; costs about %s tokens each time; %s", classes[p.Looks.number()].words, count(p.Each), p.Repair)
	return b.String()
}

// count is a number with commas between thousands.
func count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Total is what was lost by one class of differences, in all applications since the start.
type Total struct {
	Class    Class
	Requests int64
	Tokens   int64
}

// Totals are counters for metrics, one for each class. They never decrease.
func (w *Watch) Totals() []Total {
	var all []Total
	for i := range classes {
		all = append(all, Total{classes[i].class, w.totals[i].requests.Load(), tokens(w.totals[i].bytes.Load())})
	}
	return all
}
