// Package characterize writes the profile of a block trace as a report: first what matters, then plots, then tables.
package characterize

import (
	"fmt"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim/blocks"
	"reprise/cmd/reprise-lab/sim/blocks/profile"
)

// Page is the report of the profiles, with capacities for a model whose KV cache has so many bytes a token. command makes it again.
func Page(profiles []*profile.Profile, bytesPerToken int64, command string) *report.Page {
	page := &report.Page{Title: "A workload: hits, returns and capacity", Command: command, Words: words}
	for _, p := range profiles {
		page.Notes = append(page.Notes, about(p))
		w := writer{p: p, kv: perToken(bytesPerToken)}
		if len(profiles) > 1 {
			w.prefix = p.Trace + ": "
			page.Summary = append(page.Summary, brief(p, w.kv))
		} else {
			page.Summary = summary(p, w.kv)
		}
		page.Sections = append(page.Sections, w.sections()...)
	}
	page.Notes = append(page.Notes, "The figures are those of section 3 of the paper KVCache Cache in the Wild: Characterizing and Optimizing KVCache Cache at a Large Cloud "+
		"Provider, of these traces.")
	return page
}

// words are explained where they are first used.
var words = []report.Term{
	{Name: "block", Text: "so many tokens of a prompt that follow each other, with all tokens before them: what an inference engine keeps of a prompt, or not."},
	{Name: "ideal hit ratio", Text: "of all blocks of the prompts, those that an earlier prompt or answer had. No cache has more: it would keep everything, for ever."},
	{Name: "LRU", Text: "the cache that drops the block that was used least recently, as vLLM does. Here each request ends before the next one begins."},
	{Name: "turn", Text: "the place of a request in its conversation, from 1. Single-turn requests are those at turn 1, multi-turn requests the others."},
	{Name: "category", Text: "the kind of a request with its turn, as chat-2; from turn 8 on it is one category."},
	{Name: "reuse time", Text: "the time from a use of a block to the next prompt that has it. A use belongs to the request that made it, not to the one that returns."},
	{Name: "fitted exponential", Text: "the share P of uses returns, after an exponential time with that mean; the others never do. Package policy/returns fits both by " +
		"expectation maximisation. KS is the largest distance of its distribution function to the observed one; R² is the share of the variance that it explains, 1 at best."},
	{Name: "observed", Text: "the estimate of Kaplan and Meier, for which a use near the end of the trace counts only for the time that is left of it."},
	{Name: "lifespan", Text: "the time from the first use of a block to its last one; 0 for a block that never returns."},
	{Name: "stride", Text: "the part of each request's blocks that is kept, from an offset on. Hits are counted block by block, so that a hit needs no earlier block."},
}

// about says what a trace is.
func about(p *profile.Profile) string {
	text := fmt.Sprintf("%s: %s requests in %s, %s blocks of %s in their prompts, %s of them different.", p.Trace, thousands(p.Requests), duration(p.Seconds),
		thousands(p.Blocks), count(p.Tokens, "token"), thousands(p.Distinct))
	switch {
	case p.Note != "":
		text += " Not all of it was recorded: " + p.Note + "."
	case p.Generated:
		text += " Generated: a generator made it, or its blocks, or the times of its conversations."
	}
	return text
}

// summary is the three figures that matter.
func summary(p *profile.Profile, m perToken) []report.Figure {
	all := []report.Figure{{Name: "Ideal hit ratio", Value: percent(p.HitRatio), Text: "of the blocks of the prompts were there before; no cache can hit more."}}
	if p.Hits == 0 {
		all[0].Text = "No prompt has a block of an earlier one: a cache of blocks does nothing here."
		return all
	}
	r := p.Reuse[0]
	return append(all, report.Figure{Name: "Capacity for 90 % of it", Value: count(p.LRU.Most, "block"),
		Text: fmt.Sprintf("with LRU: %s of the different blocks, %s tokens, %s. With perfect foresight %s are enough for all of it.", percent(p.LRU.MostShare), thousands(p.LRU.Most*int64(p.Tokens)),
			m.of(p.LRU.Most*int64(p.Tokens)), count(p.Needed.Most, "block"))},
		report.Figure{Name: "Blocks return after", Value: duration(r.P50), Text: fmt.Sprintf("in the median, and nine in ten of those that return within %s. %s of the uses are not followed by "+
			"another one.", duration(r.P90), percent(1-r.Share))})
}

// brief is the summary as one figure.
func brief(p *profile.Profile, m perToken) report.Figure {
	all := summary(p, m)
	f := report.Figure{Name: p.Trace, Value: all[0].Value, Text: "ideal hit ratio."}
	if len(all) > 1 {
		f.Text += fmt.Sprintf(" 90 %% of it takes %s with LRU, %s; half of the returns come within %s, nine in ten within %s.", all[1].Value, m.of(p.LRU.Most*int64(p.Tokens)), all[2].Value, duration(p.Reuse[0].P90))
	}
	return f
}

// writer writes the sections of one trace.
type writer struct {
	p      *profile.Profile
	prefix string
	kv     perToken
}

// perToken is the bytes of KV cache for a token.
type perToken int64

// gibibytes is the KV cache of so many tokens.
func (m perToken) gibibytes(tokens int64) string {
	return digits(float64(tokens) * float64(m) / (1 << 30))
}

// of is the same with its unit and the model.
func (m perToken) of(tokens int64) string { return m.gibibytes(tokens) + " GiB " + m.String() }

// String says of which model the KV cache is.
func (m perToken) String() string {
	text := fmt.Sprintf("at %s KiB a token", digits(float64(m)/1024))
	if m == blocks.DefaultBytesPerToken {
		text += " (Llama 3.1 8B)"
	}
	return text
}

func (w *writer) sections() []report.Section {
	all := []report.Section{w.hits(), w.capacity(), w.returns(), w.people(), w.places(), w.lives(), w.sizes(), w.beside()}
	for i := range all {
		all[i].Title = w.prefix + all[i].Title
	}
	return all
}

// lacks says what the trace has no fields for.
func (w *writer) lacks() string {
	switch {
	case w.p.Turns == nil && w.p.Users == nil:
		return "The trace has neither conversations nor users: there are no figures by them. "
	case w.p.Turns == nil:
		return "The trace has no conversations: there are no figures by turn. "
	case w.p.Users == nil:
		return "The trace has no users: there are no figures by user. "
	}
	return ""
}
