// Package evaluate measures the judge of package topics/reuse on labelled prompts: pairs that want the same answer or another one, and
// streams of requests whose right answers are known.
package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"reprise/embed"
	"reprise/topics/reuse"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
)

// Pair is two prompts and whether the answer to A is right for B.
type Pair struct {
	A, B string
	Same bool
	Kind string // of the pair, as its author names it; may be empty
}

// Options of a measurement.
type Options struct {
	Embedder embed.Embedder // required
	Words    bool           // its similarities are of words: see reuse.Judge
	Gate     float64        // least similarity; 0: the embedder's own hit gate
	MaxError float64        // δ
}

// Scored is a pair with the decision on it.
type Scored struct {
	Pair
	Verdict    reuse.Verdict
	Similarity float64 // 0 where a prompt has no vector
	Served     bool
	By         string // equal, form, edits or meaning; of a pair that is not served, what prevents it
}

// batch is how many texts are embedded at a time.
const batch = 64

// Pairs judges each pair, in its order, without any evidence from here: nothing is explored. progress is called with the pairs done.
func Pairs(ctx context.Context, pairs []Pair, o Options, progress func(done, total int)) ([]Scored, error) {
	gate := o.Gate
	if gate == 0 {
		gate = o.Embedder.Thresholds().Hit
	}
	book := evidence.NewBook(evidence.Embedder{Space: o.Embedder.Space(), Gate: gate})
	judge := &reuse.Judge{Words: o.Words, MaxError: o.MaxError, Rates: book.Rates()}
	scored := make([]Scored, 0, len(pairs))
	for part := range slices.Chunk(pairs, batch) {
		cosines, err := similarities(ctx, o.Embedder, part)
		if err != nil {
			return nil, err
		}
		for i, p := range part {
			scored = append(scored, score(judge, p, cosines[i], gate))
		}
		progress(len(scored), len(pairs))
	}
	return scored, nil
}

// similarities are the cosines of the pairs.
func similarities(ctx context.Context, e embed.Embedder, pairs []Pair) ([]float64, error) {
	texts := make([]string, 0, 2*len(pairs))
	for _, p := range pairs {
		texts = append(texts, p.A, p.B)
	}
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed prompts: %w", err)
	}
	cosines := make([]float64, len(pairs))
	for i := range pairs {
		if a, b := vectors[2*i], vectors[2*i+1]; a != nil && b != nil {
			cosines[i] = float64(embed.Dot(a, b))
		}
	}
	return cosines, nil
}

// score is what the proxy would do: equal prompts, equal forms whatever the vectors say, and from the gate on what the judge serves.
func score(j *reuse.Judge, p Pair, cosine, gate float64) Scored {
	const never = 1 - 1.0/(1<<53) // a draw with which nothing is explored that would be served
	s := Scored{Pair: p, Similarity: cosine}
	s.Verdict = j.Judge(p.A, p.B, reuse.Context{Similarity: cosine, Draw: never, Trust: reuse.Granted})
	c := &s.Verdict.Case
	form := c.Explained && len(c.Edits) == 0
	switch {
	case s.Verdict.Decision == reuse.Serve && (p.A == p.B || form || cosine >= gate):
		s.Served, s.By = true, basis(p, c)
	case s.Verdict.Decision == reuse.Serve:
		s.By = "below the gate"
	case s.Verdict.Veto != reuse.Pass:
		s.By = "veto " + string(s.Verdict.Veto)
	default:
		s.By = s.Verdict.Bar()
	}
	return s
}

func basis(p Pair, c *evidence.Case) string {
	switch {
	case p.A == p.B:
		return "equal"
	case !c.Explained:
		return "meaning"
	case len(c.Edits) == 0:
		return "form"
	}
	return "edits"
}

// Tally counts pairs by their label.
type Tally struct {
	Name            string
	Same, Different int
}

// Summary is the result over all pairs.
type Summary struct {
	Pairs, Same  int
	Served       Tally
	AUC          float64 // area under the ROC curve of the similarity; 0 where one of the labels is missing
	By, Edits    []Tally // served pairs by their basis, and by class of edit
	Refused      []Tally // the other pairs, by what prevented a hit
	Kinds        []Kind
	Calibration  []Bin
	Curve        []Point
	WrongServed  []Scored // pairs of different meaning that are served
	LowestServed float64  // similarity of a served pair, of those with one
}

// Kind is what became of the pairs of one kind.
type Kind struct {
	Name          string
	Pairs, Served int
	Same          int
}

// Bin compares the P of served pairs with their labels.
type Bin struct {
	From, To    float64
	Pairs, Same int
	P           float64 // mean
}

// Point is one of the ROC curve: the shares of different and of same pairs at or above a similarity.
type Point struct{ Different, Same float64 }

// Precision is the share of served pairs that want the same answer, with its 95 % interval; 1 where none is served.
func (s *Summary) Precision() (p, low, high float64) {
	n := s.Served.Same + s.Served.Different
	if n == 0 {
		return 1, 0, 1
	}
	low, high = evidence.Wilson(s.Served.Same, n)
	return float64(s.Served.Same) / float64(n), low, high
}

// Recall is the share of the pairs with one answer that are served.
func (s *Summary) Recall() float64 { return share(s.Served.Same, s.Same) }

// FalseHits is the share of the pairs with two answers that are served.
func (s *Summary) FalseHits() float64 { return share(s.Served.Different, s.Pairs-s.Same) }

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// Summarise counts.
func Summarise(all []Scored) *Summary {
	s := &Summary{Pairs: len(all)}
	by, classes, refused, kinds := tallies{}, tallies{}, tallies{}, map[string]*Kind{}
	for i := range all {
		x := &all[i]
		k := kinds[x.Kind]
		if k == nil {
			k = &Kind{Name: cmp.Or(x.Kind, "(none)")}
			kinds[x.Kind] = k
		}
		k.Pairs++
		if x.Same {
			s.Same++
			k.Same++
		}
		if !x.Served {
			refused.count(x.By, x.Same)
			continue
		}
		k.Served++
		s.serve(x)
		by.count(x.By, x.Same)
		for _, c := range x.Verdict.Case.Edits {
			classes.count(c.Name(), x.Same)
		}
	}
	s.By, s.Edits, s.Refused = by.sorted(), classes.sorted(), refused.sorted()
	for _, k := range kinds {
		s.Kinds = append(s.Kinds, *k)
	}
	slices.SortFunc(s.Kinds, func(a, b Kind) int { return cmp.Compare(a.Name, b.Name) })
	s.Calibration, s.Curve = calibration(all), curve(all)
	s.AUC = area(s.Curve)
	return s
}

func (s *Summary) serve(x *Scored) {
	if x.Same {
		s.Served.Same++
	} else {
		s.Served.Different++
		s.WrongServed = append(s.WrongServed, *x)
	}
	if x.Similarity > 0 && (s.LowestServed == 0 || x.Similarity < s.LowestServed) {
		s.LowestServed = x.Similarity
	}
}

type tallies map[string]*Tally

func (t tallies) count(name string, same bool) {
	if t[name] == nil {
		t[name] = &Tally{Name: name}
	}
	if same {
		t[name].Same++
	} else {
		t[name].Different++
	}
}

// sorted are the tallies, the largest first.
func (t tallies) sorted() (all []Tally) {
	for _, one := range t {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(b.Same+b.Different, a.Same+a.Different), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// calibration has bins of the expected error, which are finer near 0.
func calibration(all []Scored) (bins []Bin) {
	edges := []float64{0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 1}
	for i := range len(edges) - 1 {
		b := Bin{From: edges[i], To: edges[i+1]}
		for j := range all {
			x := &all[j]
			p := x.Verdict.P
			if p <= 0 || x.By == "equal" || p <= b.From || p > b.To {
				continue
			}
			b.Pairs++
			b.P += p
			if x.Same {
				b.Same++
			}
		}
		if b.Pairs > 0 {
			b.P /= float64(b.Pairs)
			bins = append(bins, b)
		}
	}
	return bins
}

// curve is the ROC curve of the similarity, from (0, 0) to (1, 1).
func curve(all []Scored) []Point {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Scored) int { return cmp.Compare(b.Similarity, a.Similarity) })
	same, different := 0, 0
	for i := range all {
		if all[i].Same {
			same++
		} else {
			different++
		}
	}
	points := []Point{{}}
	s, d := 0, 0
	for i := range sorted {
		if sorted[i].Same {
			s++
		} else {
			d++
		}
		if i+1 == len(sorted) || sorted[i+1].Similarity != sorted[i].Similarity {
			points = append(points, Point{share(d, different), share(s, same)})
		}
	}
	return points
}

// area is that under a curve, 0 where one of the labels is missing.
func area(points []Point) (sum float64) {
	last := points[len(points)-1]
	if last.Different == 0 || last.Same == 0 {
		return 0
	}
	for i := 1; i < len(points); i++ {
		sum += (points[i].Different - points[i-1].Different) * (points[i].Same + points[i-1].Same) / 2
	}
	return sum
}

// Classes names the edits of a pair that the list explains.
func (s *Scored) Classes() []string { return edits.Names(s.Verdict.Case.Edits) }
