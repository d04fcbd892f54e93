// Package matching decides what is a hit in a replay, and where the topics and the parents of requests come from.
package matching

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"

	"reprise/cmd/reprise-lab/internal/replay"
	"reprise/cmd/reprise-lab/internal/semantic"
	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/embed"
	"reprise/internal/suggest"
	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

// Values of the flags.
const (
	auto      = "auto"
	byID      = "ids"
	byRequest = "requests"

	given     = "given"
	routed    = "routed"
	clustered = "clustered"
	detected  = "detected"
)

// The values that each flag allows.
var (
	models        = []string{auto, byID, byRequest}
	topicSources  = []string{given, routed, clustered}
	parentSources = []string{given, detected}
	guardNames    = []string{"judge", "vetoes", "none"}
)

var guards = map[string]func(*evidence.Rates) cache.Judge{"judge": listed, "vetoes": cache.Vetoes(reuse.Check), "none": nil}

// listed serves where every difference of two prompts is a listed edit, as the proxy does behind the built-in embedder.
func listed(rates *evidence.Rates) cache.Judge {
	return &reuse.Judge{Words: true, MaxError: 0.01, Rates: rates}
}

// Flags are the flags about hits, topics and parents.
type Flags struct {
	Model            string  // of models
	Topics           string  // of topicSources; "": routed where the model is requests, else given
	Parents, Guard   string  // of parentSources and guardNames; "": given, judge
	Hit, Route, Edge float64 // gates; 0: those of the built-in embedder
	Lookback         int     // accesses among which a parent is detected; 0: the default of package topics
	Templates        bool    // play each trace behind templates, too: see BesideTemplates
}

// Names lists the flags that Register adds, in the order of the help.
var Names = []string{"model", "topics", "parents", "hit", "route", "edge", "lookback", "guard", "templates"}

// Register adds the flags.
func (m *Flags) Register(fs *flag.FlagSet) {
	fs.StringVar(&m.Model, "model", auto, "`NAME` is ids (a hit has an equal id) or requests (a hit has a like meaning); auto: requests for a trace without ids")
	fs.StringVar(&m.Topics, "topics", "", "`NAME` is the source of topics: given by the trace, routed or clustered; unset: routed with --model requests, else given")
	fs.StringVar(&m.Parents, "parents", given, "`NAME` is the source of parents: given by the trace or, with --model requests, detected")
	fs.Float64Var(&m.Hit, "hit", 0, "`COSINE` is the least similarity of a hit; unset, here and below: that of the built-in embedder, or 0.97 without texts or with another guard than judge")
	fs.Float64Var(&m.Route, "route", 0, "`COSINE` is the least similarity to the anchor of a topic; the RAC paper has one threshold, so its --route is --hit")
	fs.Float64Var(&m.Edge, "edge", 0, "`COSINE` is the least similarity to a detected parent")
	fs.IntVar(&m.Lookback, "lookback", 0, "`N` earlier requests among which a parent is detected; unset: 64")
	fs.BoolVar(&m.Templates, "templates", false, "play each trace twice: as it is, and with each text in one of ten templates of applications (an instruction, a document, a label), by topic; with --model requests")
	fs.StringVar(&m.Guard, "guard", "judge", "`NAME` decides on a hit between different texts: judge (every difference is a listed edit, as behind the built-in embedder), vetoes (no veto) or none (every hit)")
}

// Check reports a value that is not allowed.
func (m *Flags) Check() error {
	for _, f := range []struct {
		name, value string
		all         []string
	}{{"model", m.Model, models}, {"topics", m.Topics, topicSources}, {"parents", m.Parents, parentSources}, {"guard", m.Guard, guardNames}} {
		if f.value != "" && !slices.Contains(f.all, f.value) {
			return fmt.Errorf("--%s %q: want one of %s%s", f.name, f.value, strings.Join(f.all, ", "), suggest.DidYouMean(f.value, f.all))
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
	case m.Templates && m.Model == byID:
		return errors.New("--templates goes with --model requests: by identity no prompt is compared")
	case m.Model == byID && m.Topics == routed:
		return errors.New("--topics routed goes with --model requests: by identity nothing is compared with the anchors of topics; want given or clustered")
	case m.Model == byID && m.Parents == detected:
		return errors.New("--parents detected goes with --model requests: by identity no two requests are compared")
	}
	return nil
}

// Prepare chooses the model for t; it is a replay.Prepare. If requests are compared, t is read into memory, with a vector for
// each text, and progress is called with the requests read so far.
func (m Flags) Prepare(ctx context.Context, t sim.Trace, progress func(done, total int64)) (*replay.Prepared, error) {
	if m.Model == "" || m.Model == auto {
		m.Model = modelOf(t)
	}
	gateGiven := m.Hit != 0
	m.fill()
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("replay %s by %s: %w", t.Name(), m.Model, err)
	}
	if m.Model == byID && m.Topics == given {
		return &replay.Prepared{Trace: t, Note: "ids: a hit has the id and the scope of what is in the cache; topics and parents are the trace's"}, nil
	}
	s, err := semantic.Load(ctx, t, embed.NewBuiltin(), progress)
	if err != nil {
		return nil, err
	}
	dim := semantic.Dim(s)
	if dim == 0 {
		return nil, fmt.Errorf("read %s: requests have neither text nor vector, so nothing can be compared: want --model ids, and --topics given", t.Name())
	}
	if !gateGiven && !semantic.HasTexts(s) {
		m.Hit = unjudged
	}
	if m.Topics == clustered {
		if err := semantic.Cluster(ctx, s, m.Route, progress); err != nil {
			return nil, err
		}
	}
	if _, ok := t.(semantic.Templated); ok && !semantic.HasTexts(s) {
		return nil, fmt.Errorf("read %s: requests have vectors and no text, which no template can hold", t.Name())
	} else if ok {
		return m.byMeaning(semantic.InTemplates(s), dim, semantic.Remembered(embed.NewBuiltin())), nil
	}
	if m.Model == byID {
		return &replay.Prepared{Trace: s, Note: fmt.Sprintf("ids: a hit has the id and the scope of what is in the cache; topics are clustered from %v on, parents the trace's", m.Route)}, nil
	}
	return m.byMeaning(s, dim, nil), nil
}

// modelOf is requests for a trace that has texts or vectors and no ids. The first request decides.
func modelOf(t sim.Trace) string {
	for r, err := range t.Requests() {
		if err == nil && trace.NamesItself(&r) {
			return byRequest
		}
		break
	}
	return byID
}

// unjudged is the hit gate where nothing but the similarity decides, because there are no texts to compare or no judge is asked: texts over it
// differ in little more than case, punctuation and small words.
const unjudged = 0.97

// fill replaces zeros by their defaults.
func (m *Flags) fill() {
	gates := embed.NewBuiltin().Thresholds()
	if m.Guard != "" && m.Guard != "judge" {
		gates.Hit = unjudged
	}
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
	}{{&m.Topics, map[string]string{byID: given, byRequest: routed}[m.Model]}, {&m.Parents, given}, {&m.Guard, "judge"}} {
		if *f.field == "" {
			*f.field = f.value
		}
	}
}

// BesideTemplates returns the traces and, where that is asked for, each behind templates after it.
func (m *Flags) BesideTemplates(traces []sim.Trace) (all []sim.Trace) {
	for _, t := range traces {
		if all = append(all, t); m.Templates {
			all = append(all, semantic.Templated{Trace: t})
		}
	}
	return all
}

// byMeaning prepares the requests model. With an embedder prompts are cut by frames.
func (m *Flags) byMeaning(s *sim.Slice, dim int, by embed.Embedder) *replay.Prepared {
	o := semantic.Options{Embedder: by, Labels: semantic.Given, Detect: m.Parents == detected, Judge: guards[m.Guard],
		// The flat index, because a graph is built in the background and its answers depend on timing.
		Topics: topics.Options{Dim: dim, Hit: m.Hit, Route: min(m.Route, below(m.Hit)), Edge: m.Edge, Lookback: m.Lookback}}
	p := &replay.Prepared{Trace: s}
	if m.Topics == routed {
		o.Labels = semantic.Routed
	}
	p.Note = fmt.Sprintf("requests: a hit has a cosine of %v or more (%s guard); topics %s from %v on, parents %s", m.Hit, m.Guard, m.Topics, m.Route, m.Parents)
	if m.Topics == given {
		p.Note = fmt.Sprintf("requests: a hit has a cosine of %v or more (%s guard); topics given, parents %s", m.Hit, m.Guard, m.Parents)
	}
	if m.Parents == detected {
		p.Note += fmt.Sprintf(" from %v on", m.Edge)
	}
	if by != nil {
		p.Note += "; of each prompt what asks is compared, by the frames that the cache has learnt, and a slot without a label serves equal prompts alone"
	}
	model := semantic.New(o)
	var caches []sized // in the order of the results
	p.Legend = func(results []sim.Result) string { return legendOf(results, caches, m.Topics == routed) }
	p.Model = func(e policy.Evictor, limit policy.Limit) (sim.Player, error) {
		x, err := model(e, limit)
		if err == nil {
			caches = append(caches, x.(sized))
		}
		return x, err
	}
	return p
}

// sized is a cache that reports its number of topics.
type sized interface{ Sizes() (entries, topics int) }

// below is the largest gate below hit, in the precision of vectors. Package topics refuses equal gates. With equal gates, as
// paper 002 has them, every request that passes the route gate is a hit; the same holds with the gate below.
func below(hit float64) float64 { return float64(math.Nextafter32(float32(hit), 0)) }

// legendOf describes what the tables do not show: that belady is no bound here and, for routed topics, their sizes.
func legendOf(results []sim.Result, caches []sized, routed bool) string {
	b := &strings.Builder{}
	b.WriteString("belady and belady-bypass go by identity, and an answer may serve others: here they are heuristics, and no bound.\n")
	if routed {
		b.WriteString("members per topic at the end:")
		for i := range results {
			if entries, topics := caches[i].Sizes(); topics > 0 && !results[i].Bound {
				fmt.Fprintf(b, " %s@%s %.2f", results[i].Policy, results[i].Capacity, float64(entries)/float64(topics))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Semantic is the requests model of a study: without a guard, and with topics given by the trace or routed.
func Semantic(o topics.Options, routed bool) sim.Model {
	labels := semantic.Given
	if routed {
		labels = semantic.Routed
	}
	return semantic.New(semantic.Options{Topics: o, Labels: labels})
}

// Cluster replaces the topics of s by ones found online: a request belongs to the topic of the nearest first request from gate
// on, or else it is the first of a new topic.
func Cluster(ctx context.Context, s *sim.Slice, gate float64) error {
	return semantic.Cluster(ctx, s, gate, func(int64, int64) {})
}
