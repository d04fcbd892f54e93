package proxy

import (
	"cmp"
	"slices"
	"strings"

	"reprise/proxy/cache"
	"reprise/store"
	"reprise/topics/frames"
)

// explainedFrame is how a prompt is cut: what asks is compared, and all else has to be equal.
type explainedFrame struct {
	By        string   `json:"by"`                  // rule, frame, label (of the last line), or prompt: all of it asks
	Constants []string `json:"constants,omitempty"` // of the frame
	Asks      string   `json:"asks,omitempty"`      // absent: nothing asks
	From      int      `json:"asks_from_byte"`      // of the prompt
	To        int      `json:"asks_to_byte"`
	Guess     bool     `json:"guess,omitempty"`    // that this part asks
	Narrowed  bool     `json:"narrowed,omitempty"` // by X-Reprise-Ask
	Words     string   `json:"in_words"`
	Ask       string   `json:"rule_to_ask,omitempty"` // a line for a rule, of a frame
}

// explainFrame explains how the prompt of q was cut.
func (q *request) explainFrame(c *frames.Cut, by *cache.Framed) *explainedFrame {
	x := &explainedFrame{Asks: q.Prompt[c.From:c.To], From: c.From, To: c.To, Narrowed: q.d.Ask != nil, Guess: by.Frame != nil && !c.Named}
	switch {
	case by.Ask != nil:
		x.By, x.Words = "rule", "A rule says what asks. All else in the prompt must be equal."
	case by.Frame != nil:
		x.By, x.Constants, x.Ask = "frame", by.Frame.Constants(), askLine(by.Frame, q.Prompt)
		x.Words = asksWords[asksOfCut(c)] + " The frame and all else in the prompt must be equal."
	case frames.Front(q.Prompt) > 0:
		x.By, x.Words = "label", "The last line asks, behind its label. All before it must be equal."
	default:
		x.By, x.Words = "prompt", "No frame is known here: the whole prompt asks."
	}
	if x.Narrowed {
		x.Words += " The client has narrowed what asks; all else must be equal."
	}
	if x.From == x.To {
		x.Words += " So nothing is compared, and only an equal prompt gets the answer."
	}
	return x
}

// asksWords say why a part of a prompt with a frame asks.
var asksWords = map[string]string{
	"label":   "A label in the frame says what asks.",
	"guess":   "The only slot of the frame asks, which is a guess: a rule can say so.",
	"nothing": "No slot of the frame is known to ask: a rule can say which.",
}

func asksOfCut(c *frames.Cut) string {
	switch {
	case c.From == c.To:
		return "nothing"
	case c.Named:
		return "label"
	}
	return "guess"
}

// askLine is a line for a rule that declares what asks in prompts with a frame, like this one.
func askLine(f *frames.Frame, prompt string) string {
	return lineOf(f.Rule(frames.Read(prompt)))
}

// lineOf is an expression as a line of a rule.
func lineOf(expression string) string {
	if expression == "" {
		return ""
	}
	return "ask: '" + strings.ReplaceAll(expression, "'", "''") + "'"
}

// shownFrame is a frame in force, or a declared ask, in the list of them.
type shownFrame struct {
	Scope     string   `json:"scope"`
	Tenant    string   `json:"tenant,omitempty"` // of an entry; absent: none is stored
	Namespace string   `json:"namespace,omitempty"`
	Model     string   `json:"model,omitempty"`
	By        string   `json:"by"`      // frame or rule
	Entries   int      `json:"entries"` // whose prompts have it
	Bytes     int      `json:"constant_bytes"`
	Constants []string `json:"constants,omitempty"`
	Asks      string   `json:"asks,omitempty"` // label, guess or nothing, in the prompt of an entry
	Words     string   `json:"in_words,omitempty"`
	Ask       string   `json:"rule_to_ask,omitempty"`
	sample    *store.Entry
}

// shownFrames are what GET /admin/frames shows.
type shownFrames struct {
	Frames  []*shownFrame `json:"frames"` // those with the most entries first
	Total   int           `json:"total"`
	Prompts bool          `json:"prompts_may_be_shown"`
	How     string        `json:"how_it_works"`
}

const (
	mostFrames = 200 // that are listed
	howFrames  = "A frame is the text that at least eight recent distinct prompts of a scope share, in order. What asks is compared by meaning; the frame and all else " +
		"in the prompt must be equal. A rule (ask) may say which part asks. Texts are shown only where REPRISE_LOG_PROMPTS is true."
)

// Frames is what GET /admin/frames shows: the frames in force of all tenants, for an operator. It looks at every entry.
func (s *Server) Frames() any {
	list := shownFrames{Frames: []*shownFrame{}, Prompts: s.opts.LogPrompts, How: howFrames}
	under, all := map[store.Scope]*shownFrame{}, s.cache.Framed()
	list.Total = len(all)
	for i := range all {
		one := &shownFrame{Scope: hexOf(all[i].Base), By: "rule"}
		if f := all[i].Frame; f != nil {
			one.By, one.Constants = "frame", f.Constants()
		} else {
			one.Ask = lineOf(all[i].Ask.String())
		}
		for _, scope := range all[i].Under {
			under[scope] = one
		}
		list.Frames = append(list.Frames, one)
	}
	for e := range s.opts.Store.All() {
		if one := under[e.Scope]; one != nil && e.Prompt != "" {
			one.Entries++
			one.sample = e
		}
	}
	for i, one := range list.Frames {
		one.complete(all[i].Frame, s.opts.LogPrompts)
	}
	slices.SortStableFunc(list.Frames, func(a, b *shownFrame) int { return cmp.Compare(b.Entries, a.Entries) })
	list.Frames = list.Frames[:min(len(list.Frames), mostFrames)]
	return list
}

// complete adds what an entry shows, and takes out the texts unless they may be shown.
func (x *shownFrame) complete(f *frames.Frame, prompts bool) {
	for _, text := range x.Constants {
		x.Bytes += len(text)
	}
	if e := x.sample; e != nil {
		x.Tenant, x.Namespace, x.Model = e.Tenant, e.Namespace, e.Model
		if f != nil {
			if cut, ok := f.Cut(frames.Read(e.Prompt)); ok {
				x.Asks = asksOfCut(&cut)
				x.Words, x.Ask = asksWords[x.Asks], askLine(f, e.Prompt)
			}
		}
	}
	if f != nil && !prompts {
		x.Constants, x.Ask = nil, ""
	}
}
