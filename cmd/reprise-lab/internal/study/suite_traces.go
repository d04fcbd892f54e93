package study

import (
	"fmt"

	"reprise/cmd/reprise-lab/internal/report"
	"reprise/cmd/reprise-lab/sim"
)

// traces returns the settings of RQ2: the given traces and texts, or else generated ones.
func (l *lab) traces() (all []setting, err error) {
	capacities := shares(2.5, 10, 20)
	for _, t := range l.Given {
		all = append(all, setting{name: t.Name(), trace: func(uint64) (sim.Trace, error) { return t, nil }, once: true,
			capacities: capacities, policies: l.contenders(), known: fmt.Sprint("given ", t.Name(), capacities)})
	}
	if l.Data != "" {
		texts, err := l.texts(true, capacities)
		if err != nil {
			return nil, err
		}
		all = append(all, texts...)
	}
	if len(all) > 0 {
		return all, nil
	}
	for _, g := range []struct{ name, spec string }{
		{"syn W", syn(0.5, 0.7, "W")}, {"syn U", syn(0.5, 0.7, "U")}, {"drift W", "drift:weight=W"}, {"G1 U", "g1:weight=U"},
	} {
		all = append(all, l.generated(g.name, g.spec, l.contenders(), capacities...))
	}
	return few(l, all), nil
}

// texts returns the text traces at some capacities.
func (l *lab) texts(clustered bool, capacities []sim.Capacity) (all []setting, err error) {
	cases, err := TextCases(l.Data, []float64{1}, clustered)
	for _, c := range cases {
		all = append(all, setting{name: c.Name, trace: c.Trace, capacities: capacities, policies: l.contenders(),
			known: fmt.Sprint("text ", c.Name, capacities)})
	}
	return few(l, all), err
}

func (l *lab) realTraces() ([]outcome, error) {
	settings, err := l.traces()
	if err != nil {
		return nil, err
	}
	return l.play("RQ2", settings)
}

// tracesSection is RQ2.
func (l *lab) tracesSection(all []outcome) report.Section {
	s := report.Section{Title: "RQ2: capacities of 2.5, 10 and 20 % of the distinct requests"}
	switch {
	case len(l.Given) > 0:
		s.Say("The given traces. They do not depend on the seed: figures are the median over the seeds of a policy that draws random numbers, and have no interval.")
	case l.Data == "":
		s.Say("No traces (--trace) and no texts (--data) were given. The traces are generated, and the results do not apply to conversations of people.")
	}
	if l.Data != "" {
		s.Say(`Texts: the texts are real and their order is generated, as the records have no times and hardly any repeats. Requests are
equal if their texts have a cosine of 0.85 (built-in embedder). Topics are found online, by a cosine of 0.45 to the first request of each; labels are not used.`)
	}
	rows := allRows(all, HitRatio)
	s.Show(compared("Minus the best of all baselines, in points", rows, Baselines(), ours))
	s.Show(verdictTable("The same over all of them, in points", verdicts(rows, ours), roles(ours, nil), false))
	for _, o := range all {
		x := sweep{axis: "capacity", unit: "%", at: percents(o.capacities), rows: o.rows(HitRatio)}
		p := x.plot()
		p.Title, p.X = o.name+": hit ratio by capacity; the other baselines in grey", "capacity, % of the distinct requests"
		p.Ticks = capacityTicks(o.capacities)
		var heads []string
		for _, t := range p.Ticks {
			heads = append(heads, t.Name+" %")
		}
		s.Draw(p)
		s.Show(ratios(o.name+": hit ratio in %, and normalised by that of an infinite cache", l.contenders(), heads, x.rows))
	}
	return s
}

func percents(all []sim.Capacity) (at []float64) {
	for _, c := range all {
		at = append(at, 100*c.Share)
	}
	return at
}

func capacityTicks(all []sim.Capacity) (ticks []report.Tick) {
	for _, x := range percents(all) {
		ticks = append(ticks, report.Tick{At: x, Name: fmt.Sprintf("%.3g", x)})
	}
	return ticks
}
