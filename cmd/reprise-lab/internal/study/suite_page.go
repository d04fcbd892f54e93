package study

import (
	"context"
	"fmt"
	"strings"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim"
)

// Names lists the studies.
var Names = []string{"rac", "regimes"}

// Run plays a study: "rac" is RQ1 to RQ4 of paper 002 and the regimes, "regimes" compares the default with all others over all of Parts.
//
// The page and the results do not depend on Setup.Parallel. If ctx ends or a part fails, they have the complete parts, and the
// error is returned with them.
func Run(ctx context.Context, name string, s Setup) (report.Page, []sim.Result, error) {
	l := newLab(ctx, s)
	run := (*lab).paper
	if name == "regimes" {
		run = (*lab).regimesAlone
	}
	p, err := run(l)
	Close(ctx, &p, s.Seeds, ". Intervals are of 95 %, by Student's t. A hit ratio is in % of all requests, a difference in points of it. "+
		"Bold (in text: a star): in a comparison a gain whose interval is above 0, in a table of all policies the best baseline.", err)
	return p, l.all, err
}

// Close adds the last notes to a page: the seeds with what is said of them, and why the page is not complete.
func Close(ctx context.Context, p *report.Page, seeds []uint64, says string, err error) {
	p.Notes = append(p.Notes, "Seeds "+strings.ReplaceAll(strings.Trim(fmt.Sprint(seeds), "[]"), " ", ", ")+says)
	switch {
	case ctx.Err() != nil:
		p.Notes = append(p.Notes, "Not complete: it was interrupted.")
	case err != nil:
		p.Notes = append(p.Notes, "Not complete: "+err.Error()+".")
	}
}

func (l *lab) regimesAlone() (p report.Page, err error) {
	p.Title = "rac+ against the best of all others"
	c, err := l.playSlots(slots(l.Only, l.Data != ""))
	p.Sections = c.sections()
	return p, err
}

// findings has the measurements of the study of the paper.
type findings struct {
	stress   []sweep
	traces   []Row
	given    bool // the traces are not generated
	ablation []outcome
	turned   []Row
	gates    []gate
	regimes  comparison
}

// paper plays all parts in order, until one fails.
func (l *lab) paper() (p report.Page, err error) {
	f := findings{given: len(l.Given) > 0 || l.Data != ""}
	var traces, templated, turned []outcome
	parts := []func() error{
		func() error { f.stress, err = l.stress(); return err },
		func() error { traces, err = l.realTraces(); return err },
		func() error { templated, err = l.templated(); return err },
		func() error { f.ablation, err = l.ablate(); return err },
		func() error { turned, err = l.sensitivity(); return err },
		func() error { f.gates, err = l.sensitivityOfGates(); return err },
		func() error { f.regimes, err = l.playSlots(regimeSlots); return err },
	}
	for _, part := range parts {
		if err = part(); err != nil {
			break
		}
	}
	f.traces, f.turned = allRows(traces, HitRatio), allRows(turned, HitRatio)
	p.Title = "The study of RAC, measured again"
	p.Sections = append(p.Sections, f.claims())
	p.Part(len(f.stress) > 0, func() report.Section { return l.stressSection(f.stress) })
	p.Part(len(traces) > 0, func() report.Section { return l.tracesSection(traces) })
	p.Part(len(templated) > 0, func() report.Section { return templatedSection(templated) })
	p.Part(len(f.ablation) > 0, func() report.Section { return ablationSection(f.ablation) })
	p.Part(len(turned) > 0, func() report.Section { return sensitivitySection(turned, f.gates) })
	p.Sections = append(p.Sections, f.regimes.sections()...)
	return p, err
}
