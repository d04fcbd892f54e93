package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/cmd/reprise/internal/config"
	"reprise/cmd/reprise/internal/semantic"
	"reprise/embed"
	"reprise/policy"
	"reprise/policy/guard"
	"reprise/policy/sim"
	"reprise/policy/sim/trace"
	"reprise/topics"
)

// The models, and where the topics and the parents come from that a policy is told.
const (
	Auto     = "auto"
	IDs      = "ids"
	Requests = "requests"

	Given     = "given"
	Routed    = "routed"
	Clustered = "clustered"
	Detected  = "detected"
)

// The values of the flags.
var (
	Models  = []string{Auto, IDs, Requests}
	Topics  = []string{Given, Routed, Clustered}
	Parents = []string{Given, Detected}
	Guards  = []string{"strict", "check", "none"}
)

var guards = map[string]func(cached, asked string) guard.Veto{"strict": guard.Strict, "check": guard.Check, "none": nil}

// Matching says what is a hit, and what the policies are told of topics and parents.
type Matching struct {
	Model            string  // of Models
	Topics           string  // of Topics; "": routed where the model is requests, else given
	Parents, Guard   string  // of Parents and Guards; "": given, strict
	Hit, Route, Edge float64 // gates; 0: those of the built-in embedder
	Lookback         int     // accesses among which a parent is detected; 0: as topics has it
}

// Check reports a value that is none of those allowed.
func (m *Matching) Check() error {
	for _, f := range []struct {
		name, value string
		all         []string
	}{{"model", m.Model, Models}, {"topics", m.Topics, Topics}, {"parents", m.Parents, Parents}, {"guard", m.Guard, Guards}} {
		if f.value != "" && !slices.Contains(f.all, f.value) {
			return fmt.Errorf("--%s %q: want one of %s%s", f.name, f.value, strings.Join(f.all, ", "), config.DidYouMean(f.value, f.all))
		}
	}
	for name, gate := range map[string]float64{"hit": m.Hit, "route": m.Route, "edge": m.Edge} {
		if !(gate >= 0 && gate <= 1) {
			return fmt.Errorf("--%s %v: want a cosine above 0, at most 1", name, gate)
		}
	}
	switch {
	case m.Route > m.Hit && m.Hit > 0:
		return fmt.Errorf("--route %v is above --hit %v: what is near enough for an answer is of the same topic", m.Route, m.Hit)
	case m.Lookback < 0:
		return fmt.Errorf("--lookback %d: want 1 or more", m.Lookback)
	case m.Model == IDs && m.Topics == Routed:
		return errors.New("--topics routed goes with --model requests: by identity nothing is compared with the anchors of topics; want given or clustered")
	case m.Model == IDs && m.Parents == Detected:
		return errors.New("--parents detected goes with --model requests: by identity no two requests are compared")
	}
	return nil
}

// Prepared is a trace with how it is to be played.
type Prepared struct {
	Trace sim.Trace
	Model sim.Model // nil: by identity
	Note  string    // in words

	routed  bool
	players []sized // in the order of the results
}

// sized is a cache of a replay that tells its topics.
type sized interface{ Sizes() (entries, topics int) }

// Prepare chooses the model for t. Where anything is compared, t is read into memory, with a vector for each text; note is
// told how far that is.
func (m Matching) Prepare(ctx context.Context, t sim.Trace, note func(done, total int64)) (*Prepared, error) {
	if m.Model == "" || m.Model == Auto {
		m.Model = modelOf(t)
	}
	m.fill()
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("replay %s by %s: %w", t.Name(), m.Model, err)
	}
	if m.Model == IDs && m.Topics == Given {
		return &Prepared{Trace: t, Note: "ids: a hit has the id and the scope of what is in the cache; topics and parents are the trace's"}, nil
	}
	s, err := semantic.Load(ctx, t, embed.NewBuiltin(), note)
	if err != nil {
		return nil, err
	}
	dim := semantic.Dim(s)
	if dim == 0 {
		return nil, fmt.Errorf("read %s: requests have neither text nor vector, so nothing can be compared: want --model ids, and --topics given", t.Name())
	}
	if m.Topics == Clustered {
		if err := semantic.Cluster(ctx, s, m.Route, note); err != nil {
			return nil, err
		}
	}
	if m.Model == IDs {
		return &Prepared{Trace: s, Note: fmt.Sprintf("ids: a hit has the id and the scope of what is in the cache; topics are clustered from %v on, parents the trace's", m.Route)}, nil
	}
	return m.byMeaning(s, dim), nil
}

// modelOf is requests for a trace that says what is asked and does not say what is equal.
func modelOf(t sim.Trace) string {
	for r, err := range t.Requests() {
		if err == nil && trace.NamesItself(&r) {
			return Requests
		}
		break
	}
	return IDs
}

// fill replaces zeros by their defaults.
func (m *Matching) fill() {
	gates := embed.NewBuiltin().Thresholds()
	for _, f := range []struct {
		field *float64
		value float64
	}{{&m.Hit, gates.Hit}, {&m.Route, gates.Route}, {&m.Edge, gates.Edge}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	for _, f := range []struct {
		field *string
		value string
	}{{&m.Topics, map[string]string{IDs: Given, Requests: Routed}[m.Model]}, {&m.Parents, Given}, {&m.Guard, "strict"}} {
		if *f.field == "" {
			*f.field = f.value
		}
	}
}

func (m *Matching) byMeaning(s *sim.Slice, dim int) *Prepared {
	o := semantic.Options{Labels: semantic.Given, Detect: m.Parents == Detected, Guard: guards[m.Guard],
		// A graph is built beside the requests, so that what it answers depends on the time.
		Topics: topics.Options{Dim: dim, Hit: m.Hit, Route: min(m.Route, below(m.Hit)), Edge: m.Edge, Lookback: m.Lookback, Index: topics.KindFlat}}
	p := &Prepared{Trace: s, routed: m.Topics == Routed}
	if p.routed {
		o.Labels = semantic.Routed
	}
	p.Note = fmt.Sprintf("requests: a hit has a cosine of %v or more (%s guard); topics %s from %v on, parents %s", m.Hit, m.Guard, m.Topics, m.Route, m.Parents)
	if m.Topics == Given {
		p.Note = fmt.Sprintf("requests: a hit has a cosine of %v or more (%s guard); topics given, parents %s", m.Hit, m.Guard, m.Parents)
	}
	if m.Parents == Detected {
		p.Note += fmt.Sprintf(" from %v on", m.Edge)
	}
	model := semantic.New(o)
	p.Model = func(e policy.Evictor, limit policy.Limit) (sim.Player, error) {
		x, err := model(e, limit)
		if err == nil {
			p.players = append(p.players, x.(sized))
		}
		return x, err
	}
	return p
}

// below is the next gate under hit that vectors can be told apart by. With both gates equal, as paper 002 has it, there is
// nothing between them: what passes the one is a hit.
func below(hit float64) float64 { return float64(math.Nextafter32(float32(hit), 0)) }

// Notes is everything that a report says of how the trace was played.
func (p *Prepared) Notes(results []sim.Result) string {
	return p.Trace.Name() + ": " + strings.TrimSpace(p.Note+". "+strings.ReplaceAll(p.Legend(results), "\n", " "))
}

// Legend says after the tables what is to be known beyond theirs, "" where that is nothing.
func (p *Prepared) Legend(results []sim.Result) string {
	if p.Model == nil {
		return ""
	}
	b := &strings.Builder{}
	b.WriteString("belady and belady-bypass go by identity, and an answer may serve others: here they are heuristics, and no bound.\n")
	if p.routed {
		b.WriteString("members per topic at the end:")
		for i := range results {
			if entries, topics := p.players[i].Sizes(); topics > 0 && !results[i].Bound {
				fmt.Fprintf(b, " %s@%s %.2f", results[i].Policy, results[i].Capacity, float64(entries)/float64(topics))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
