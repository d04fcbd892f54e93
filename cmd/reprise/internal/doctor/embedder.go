package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"reprise/cmd/reprise/internal/config"
	"reprise/embed"
	"reprise/proxy"
)

const (
	embedLimit = 8 * time.Second // a server may have to load the model
	sameVector = 0.999           // cosine of two vectors of one text: servers compute with few bits, and in batches of any size
)

// similar are pairs of texts that ask the same, and different are pairs that do not, each two after one another.
var (
	similar = []string{
		"How do I reset my password?", "How can I reset my password?",
		"What is the capital of France?", "What's the capital of France?",
		"Which documents do I need to open an account?", "What documents do I need to open an account?",
	}
	different = []string{
		"How do I reset my password?", "What is the capital of France?",
		"Which documents do I need to open an account?", "Write a short poem about the sea.",
		"How many days are in a leap year?", "Why does my phone not charge?",
	}
)

// embedding is the embedder, and what the checks have found of it.
type embedding struct {
	x  *exam
	of embed.Embedder
}

// embedding plans the checks of the embedder.
func (x *exam) embedding(values *check) {
	e := &embedding{x: x}
	answer := x.plan.add("embedder.answer", e.answer, values)
	speed := x.plan.add("embedder.speed", e.speed, answer)
	x.plan.add("embedder.repeat", e.repeat, speed)
	x.plan.add("embedder.sense", e.sense, speed)
	answer.limit, speed.limit = embedLimit, embedLimit
}

// answer opens the embedder, and asks a server for one vector.
func (e *embedding) answer(ctx context.Context) finding {
	c := e.x.cfg
	if !c.Compares() {
		return skipped("no prompt is compared by meaning in the mode %s", c.Mode)
	}
	if c.Embedder == "openai" && c.EmbedderKey != "" && !e.x.spend {
		return skipped("--no-spend")
	}
	if e.x.unmade != nil {
		return failure("Name the folder of a model of Model2Vec, or another embedder.", "%s", sentences(config.Problems(e.x.unmade)))
	}
	e.of = e.x.embedder
	remote, isRemote := e.of.(embed.Remote)
	if !isRemote {
		return ok("%s", c.Embedder)
	}
	began := time.Now()
	if err := remote.Dial(ctx); err != nil {
		return failure("See whether the server of REPRISE_EMBEDDER runs, has the model REPRISE_EMBEDDER_MODEL, and accepts REPRISE_EMBEDDER_KEY.",
			"%s with %s: %v", c.EmbedderURL, c.EmbedderModel, withoutURL(err))
	}
	return ok("%s with %d dimensions in %s", c.EmbedderModel, e.of.Dim(), time.Since(began).Round(time.Millisecond))
}

// withoutURL is err without the address, which the finding has already.
func withoutURL(err error) error {
	if u, is := errors.AsType[*url.Error](err); is {
		return u.Err
	}
	return err
}

// silent is the finding where the embedder answered before, and does no more.
func silent(err error) finding {
	return failure("See the log of the embedding server.", "%v", withoutURL(err))
}

// speed embeds one text after the other, as misses do.
func (e *embedding) speed(ctx context.Context) finding {
	const limit = proxy.EmbedTimeout
	var times []time.Duration
	late := 0
	for i, text := range different {
		began := time.Now()
		_, err := e.of.Embed(ctx, []string{fmt.Sprintf("%s (%d)", text, i)}) // no text comes twice: a server may have a cache
		switch took := time.Since(began); {
		case errors.Is(err, context.DeadlineExceeded):
			late++
		case err != nil:
			return silent(err)
		default:
			times = append(times, took)
		}
	}
	const repair = "Use a faster model or server: every miss waits for it."
	if late > len(different)/2 {
		return failure(repair, "%d of %d vectors took longer than %v", late, len(different), limit)
	}
	slices.Sort(times)
	median := times[len(times)/2]
	switch {
	case late > 0:
		return warning(repair, "%d of %d vectors took longer than %v", late, len(different), limit)
	case median > limit/2:
		return warning(repair, "a vector takes %v, more than half of the %v that it may take", median.Round(time.Millisecond), limit)
	}
	return ok("%v for a vector", rounded(median))
}

// rounded is a short time with two or three digits.
func rounded(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}

// repeat embeds one text alone and again among others.
func (e *embedding) repeat(ctx context.Context) finding {
	alone, err := e.of.Embed(ctx, similar[:1])
	if err != nil {
		return silent(err)
	}
	among, err := e.of.Embed(ctx, similar)
	if err != nil {
		return silent(err)
	}
	same := cosine(alone[0], among[0])
	if !(same >= sameVector) {
		return failure("Use a server that computes equal vectors of equal texts: one model, one version, and no dropout.",
			"two vectors of one text have the similarity %.4f, and at least %v is expected", same, sameVector)
	}
	return ok("two vectors of one text are equal to %.4f", same)
}

// sense compares pairs whose relation is known with the threshold.
func (e *embedding) sense(ctx context.Context) finding {
	if e.x.ungated != nil {
		return skipped("the thresholds contradict each other")
	}
	hit := e.x.gates.Hit
	near, err := e.pairs(ctx, similar)
	if err != nil {
		return silent(err)
	}
	far, err := e.pairs(ctx, different)
	if err != nil {
		return silent(err)
	}
	least, most := slices.Min(near), slices.Max(far)
	const repair = "Use a model that is made for the similarity of texts."
	switch {
	case most >= hit:
		return failure(repair+" Or raise REPRISE_HIT_THRESHOLD.", "different questions have a similarity of %.2f, and %v makes a hit", most, hit)
	case least <= most:
		return failure(repair, "questions that ask the same have a similarity of %.2f, and different ones of %.2f", least, most)
	case slices.Max(near) < hit:
		return warning("Lower REPRISE_HIT_THRESHOLD, after a look at GET /admin/shadow, or use another model.",
			"questions that ask the same have a similarity of %.2f at most, and %v makes a hit", slices.Max(near), hit)
	}
	return ok("same %.2f to %.2f, different up to %.2f; a hit from %v", least, slices.Max(near), most, hit)
}

// pairs are the similarities of each two texts.
func (e *embedding) pairs(ctx context.Context, texts []string) (all []float64, err error) {
	v, err := e.of.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(v); i += 2 {
		all = append(all, cosine(v[i], v[i+1]))
	}
	return all, nil
}

// cosine is the similarity of two unit vectors, NaN where one is missing.
func cosine(a, b []float32) (sum float64) {
	if len(a) == 0 || len(a) != len(b) {
		return math.NaN()
	}
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
