package study

import (
	"slices"
	"sync"

	"reprise/cmd/reprise-lab/internal/matching"
	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim"
)

// templatedTexts are the text traces that are played behind templates, one of each kind.
var templatedTexts = []string{"oazipf", "clinc", "sgd"}

// templated plays texts bare and behind templates, where a hit is one of the cache of the proxy.
func (l *lab) templated() ([]outcome, error) {
	if l.Data == "" {
		return nil, nil
	}
	texts, err := Texts(l.Data)
	if err != nil {
		return nil, err
	}
	flags := matching.Flags{Model: "requests", Templates: true}
	var settings []setting
	for _, text := range texts {
		if !slices.Contains(templatedTexts, text.Name) {
			continue
		}
		for form, name := range []string{text.Name + ", bare", text.Name + ", in templates"} {
			var made sync.Map // *replay.Prepared by seed, from trace to model
			settings = append(settings, setting{name: name, capacities: shares(10), policies: gatePolicies,
				trace: func(seed uint64) (sim.Trace, error) {
					s := text.Verbatim(seed)
					s.All = s.All[:len(s.All)/max(l.Shrink, 1)]
					p, err := flags.Prepare(l.ctx, flags.BesideTemplates([]sim.Trace{s})[form], func(int64, int64) {})
					if err != nil {
						return nil, err
					}
					made.Store(seed, p)
					return p.Trace, nil
				},
				model: func(seed uint64) sim.Model {
					p, _ := made.LoadAndDelete(seed)
					return p.(*replay.Prepared).Model
				}})
		}
	}
	return l.play("RQ2, templates", settings)
}

// templatedSection compares the policies on both forms.
func templatedSection(all []outcome) report.Section {
	s := report.Section{Title: "RQ2, behind templates: a capacity of 10 % of the distinct requests"}
	s.Say(`Texts as applications send them: each in one of ten templates, by its label, with an instruction, and some with a document, in front. In both
forms hits are those of the proxy's cache and judge. Behind templates the cache learns the frames and compares what asks; four of the ten have no label there, and serve equal prompts alone.`)
	rows := allRows(all, HitRatio)
	var heads []string
	for _, r := range rows {
		heads = append(heads, r.Case)
	}
	s.Show(ratios("Hit ratio in %, and normalised by that of an infinite cache", gatePolicies, heads, rows))
	return s
}
