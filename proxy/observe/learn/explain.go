package learn

import (
	"fmt"
	"strings"

	"reprise/topics/reuse"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// Explained is a verdict in words, with both prompts aligned.
type Explained struct {
	Verdict string    `json:"verdict"` // serve, explore or miss
	Why     string    `json:"why"`
	P       float64   `json:"p"`
	Trust   *trust    `json:"trust,omitempty"` // of the scope; absent where it was not asked for
	Error   float64   `json:"max_error_rate"`
	Edits   []Edited  `json:"edits"`
	Aligned []Aligned `json:"aligned"`
	Change  []string  `json:"what_would_have_to_change,omitempty"`
}

// Edited is one difference of two prompts.
type Edited struct {
	Class    string  `json:"class"` // "": it is not listed
	Contexts string  `json:"contexts,omitempty"`
	Pairs    int     `json:"pairs,omitempty"` // counted before
	Bound    float64 `json:"bound,omitempty"` // lower 95 % bound of the share of these with one answer
	Source   string  `json:"source,omitempty"`
	P        float64 `json:"p_here,omitempty"`
	Stored   string  `json:"stored"`
	Asked    string  `json:"asked"`
}

// Aligned is a part of both prompts: the same in their normal forms, or an edit.
type Aligned struct {
	Stored string `json:"stored"`
	Asked  string `json:"asked"`
	Edit   *int   `json:"edit,omitempty"` // its place in the list of edits
}

var decisions = map[reuse.Decision]string{reuse.Miss: "miss", reuse.Explore: "explore", reuse.Serve: "serve"}

// Explain puts a verdict by j on two prompts into words.
func Explain(j *reuse.Judge, stored, asked string, v *reuse.Verdict) Explained {
	x := Explained{Verdict: decisions[v.Decision], Why: v.Why(), P: v.P, Error: j.MaxError, Edits: []Edited{}}
	if v.Trust.Needed > 0 {
		t := trustOf(&v.Trust)
		x.Trust = &t
	}
	s, a := normal.Of(stored), normal.Of(asked)
	list := v.Edits
	if v.Veto != reuse.Pass && s.Fixed == "" && a.Fixed == "" {
		list, _ = edits.Explain(s, a) // the veto came before
	}
	if last := len(list) - 1; last >= 0 && list[last].Class == 0 {
		list[last] = visible(list[last], s, a)
	}
	for _, e := range list {
		x.Edits = append(x.Edits, edited(e, s, a, v, j.Rates))
	}
	x.Aligned = aligned(list, s, a)
	x.Change = change(&x, j.Words)
	return x
}

// visible is an edit that goes on until its texts differ: the same words may be tokens of two kinds, where one side is an asking frame.
func visible(e edits.Edit, s, a *normal.Form) edits.Edit {
	more := func(f *normal.Form, span *edits.Span) bool {
		if span.To >= len(f.Tokens) {
			return false
		}
		span.To++
		return true
	}
	for strings.EqualFold(textOf(s, e.Stored), textOf(a, e.Asked)) {
		stored, asked := more(s, &e.Stored), more(a, &e.Asked)
		if !stored && !asked {
			break
		}
	}
	return e
}

func edited(e edits.Edit, s, a *normal.Form, v *reuse.Verdict, rates *evidence.Rates) Edited {
	out := Edited{Stored: textOf(s, e.Stored), Asked: textOf(a, e.Asked)}
	if e.Class == 0 {
		return out
	}
	row := edits.Table[e.Class]
	out.Class, out.Contexts, out.Pairs, out.Bound, out.Source = row.Name, row.Contexts, row.Pairs, row.Bound, row.Source
	out.P = rates.Class(&evidence.Case{Tenant: v.Case.Tenant, Scope: v.Case.Scope, Explained: true, Edits: []edits.Class{e.Class}})
	return out
}

// textOf is the text of the prompt of which a span of its form was made.
func textOf(f *normal.Form, span edits.Span) string {
	if span.From >= span.To || span.To > len(f.Tokens) {
		return ""
	}
	return f.Prompt[f.Tokens[span.From].From:f.Tokens[span.To-1].To]
}

// aligned cuts both prompts at the edits, so that the parts put together are the prompts.
func aligned(list []edits.Edit, s, a *normal.Form) (parts []Aligned) {
	doneS, doneA := 0, 0
	cut := func(f *normal.Form, done *int, to int) string {
		to = max(to, *done)
		text := f.Prompt[*done:to]
		*done = to
		return text
	}
	for i, e := range list {
		fromS, toS := bytesOf(s, e.Stored)
		fromA, toA := bytesOf(a, e.Asked)
		if same := (Aligned{Stored: cut(s, &doneS, fromS), Asked: cut(a, &doneA, fromA)}); same.Stored != "" || same.Asked != "" {
			parts = append(parts, same)
		}
		parts = append(parts, Aligned{Stored: cut(s, &doneS, toS), Asked: cut(a, &doneA, toA), Edit: &i})
	}
	if rest := (Aligned{Stored: s.Prompt[doneS:], Asked: a.Prompt[doneA:]}); rest.Stored != "" || rest.Asked != "" {
		parts = append(parts, rest)
	}
	return parts
}

// bytesOf are the bytes of a span; an empty one is where the next token begins.
func bytesOf(f *normal.Form, span edits.Span) (from, to int) {
	switch {
	case span.From >= len(f.Tokens):
		return len(f.Prompt), len(f.Prompt)
	case span.From >= span.To:
		return f.Tokens[span.From].From, f.Tokens[span.From].From
	}
	return f.Tokens[span.From].From, f.Tokens[min(span.To, len(f.Tokens))-1].To
}

// change says what keeps the stored answer from being served, edit by edit.
func change(x *Explained, words bool) (all []string) {
	if x.Verdict == decisions[reuse.Serve] || !words {
		return nil
	}
	for _, e := range x.Edits {
		if e.Class == "" {
			all = append(all, fmt.Sprintf("%s against %s is not a listed edit. Behind an embedder that compares words only listed edits are served; "+
				"one that compares meaning (REPRISE_EMBEDDER) may serve others.", quoted(e.Stored), quoted(e.Asked)))
		}
	}
	return all
}

func quoted(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "nothing"
	}
	return fmt.Sprintf("%q", s)
}
