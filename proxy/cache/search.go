package cache

import (
	"context"
	"errors"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
	"reprise/topics/reuse"
	"reprise/topics/reuse/normal"
)

// search is one search for an answer by meaning.
type search struct {
	c       *Cache
	r       *Request
	f       *Finding
	draw    float64 // decides whether to explore
	settled bool    // by the form of the prompt: the vectors only route the request
}

func (s *search) all(ctx context.Context) error {
	if err := s.run(ctx); err != nil {
		return err
	}
	return s.whereItWas(ctx)
}

func (s *search) run(ctx context.Context) error {
	var failed error
	switch probe := s.r.Probe; {
	case probe != nil && !probe.Alias: // the answer to this very prompt
		s.settled = true
		defer func() {
			s.f.Explore, s.f.Fallback, s.f.Basis, s.f.Verdict.Case = probe, true, Repeated, repeated(s.r, probe.Entry)
		}()
	default:
		if probe != nil {
			s.draw = 0
		}
		if failed = guard("forms", func() error { return s.byForm(ctx) }); failed != nil {
			s.f.Hit, s.f.Explore, s.f.Degraded = nil, nil, "forms"
		}
		if s.f.Hit != nil {
			return nil
		}
	}
	if err := guard("embed", func() error { return s.c.embed(ctx, s.r, s.f) }); err != nil {
		s.f.Degraded = "embed"
		return errors.Join(failed, err)
	}
	if s.f.Vector == nil {
		return failed
	}
	err := guard("topics", func() error { return s.byVector(ctx) })
	if err != nil {
		s.f.Hit, s.f.Explore, s.f.Degraded = nil, nil, "topics"
	}
	return errors.Join(failed, err)
}

// mostBefore is how long a prompt is at most that is looked for as a whole, too: of a longer one that costs more than the answers of a moment are worth.
const mostBefore = 4 << 10

// whereItWas looks for an answer where it was before the prompt had a frame, as long as entries are moved.
func (s *search) whereItWas(ctx context.Context) error {
	f := s.f
	if f.Hit != nil || f.Explore != nil || f.Degraded != "" || f.asked.scope == s.r.Scope || len(s.r.Prompt) > mostBefore || s.r.Ask != nil || s.r.Narrow != nil || !s.c.state.templates.moving(s.r.Scope) {
		return nil
	}
	before := &Finding{Parent: f.Parent, Compared: true}
	before.asked = s.c.state.unframed(s.r)
	before.Chain = before.asked.chain
	err := (&search{c: s.c, r: s.r, f: before, draw: s.draw}).run(ctx)
	if before.Hit != nil || before.Explore != nil { // what is kept of this request belongs under the frame
		before.Vector, before.asked, before.Chain, before.form, before.asks, before.digest = f.Vector, f.asked, f.Chain, f.form, f.asks, f.digest
		before.Vetoes, before.Route.Topic, before.Route.Anchor = append(f.Vetoes, before.Vetoes...), f.Route.Topic, f.Route.Anchor
		*f = *before
	}
	return err
}

// byForm takes the entry whose prompt has the normal form of the request's. A client that raises the hit gate wants vectors compared.
func (s *search) byForm(ctx context.Context) error {
	f, r := s.f, s.r
	if s.c.state.forms == nil || f.asked.text == "" || s.c.opt.raised(r) {
		return nil
	}
	purges := s.c.state.purges.Load()
	e, stored := s.c.state.forms.find(r, f)
	if e == nil || f.barred(r.bar(e, s.c.opt.Now()), e) {
		return nil
	}
	if s.c.state.expired(e.ID, r.At) {
		f.barred(BarExpired, e)
		return s.c.state.remove(policy.Expired, e)
	}
	defer r.step(StepJudge)()
	done, err := s.take(ctx, &Hit{Entry: e, Topic: topics.TopicID(e.Topic), At: s.c.opt.Now(), purges: purges}, stored, 0)
	s.settled = done
	return err
}

// byVector routes the request, and takes the nearest member that may serve.
func (s *search) byVector(ctx context.Context) error {
	f, r := s.f, s.r
	start := s.c.opt.Now()
	defer func() { f.SearchTook = max(s.c.opt.Now().Sub(start), 1) }()
	for range mostBlocked {
		end := r.step(StepRoute)
		f.Route = s.c.state.route(topics.Query{Scope: topics.ScopeID(f.asked.scope), Chain: f.Chain, Vector: f.Vector, Hit: s.c.opt.gate(r), From: s.looksBelow()})
		end()
		if s.settled {
			return nil
		}
		blocked, err := s.verify(ctx)
		if err != nil || len(blocked) == 0 {
			s.below()
			return err
		}
		if err := s.c.state.remove(policy.Expired, blocked...); err != nil {
			return err
		}
	}
	return nil
}

// mostBlocked is how often a request searches again because expired entries were in its way.
const mostBlocked = 8

// verify takes the nearest member that is resident, fresh and passed by the judge. Expired entries that fill all places of the search
// are returned: they stay for the next answer to their key, but not where they hide a fresh entry.
func (s *search) verify(ctx context.Context) (blocked []*store.Entry, err error) {
	r := s.r
	if len(s.f.Route.Matches) > 0 {
		defer r.step(StepJudge)()
	}
	now, purges := s.c.opt.Now(), s.c.state.purges.Load()
	for _, m := range s.f.Route.Matches {
		e, ok := s.c.state.store.Get(policy.ID(m.ID))
		if !ok || !r.comparableTo(e) { // it may have been evicted or replaced since the search
			continue
		}
		switch {
		case !r.usable(e, now):
			s.barred(e, m.Score, BarExpired)
			blocked = append(blocked, e)
			continue
		case s.barred(e, m.Score, r.bar(e, now)):
			continue
		case s.c.state.expired(e.ID, r.At):
			s.barred(e, m.Score, BarExpired)
			if err := s.c.state.remove(policy.Expired, e); err != nil {
				return nil, err
			}
			continue
		}
		done, err := s.take(ctx, &Hit{Entry: e, Topic: m.Topic, At: now, purges: purges}, nil, m.Score)
		if done || err != nil {
			return nil, err
		}
	}
	if len(blocked) < topics.MaxMatches {
		return nil, nil
	}
	return blocked, nil
}

// barred notes why e may not answer where the judge would serve it, and reports whether there is a reason.
func (s *search) barred(e *store.Entry, similarity float64, why Bar) bool {
	if why != "" && s.f.Bar == "" && !s.r.NoCache && s.c.learner.judge(s.r, s.f, e, nil, similarity, neverExplore).Decision == reuse.Serve {
		s.f.barred(why, e)
	}
	return why != ""
}

// take makes hit, which was found at a similarity, the result if the judge serves it and its answer is there. done says that no other one is
// to be looked at. stored is the form of its prompt, nil where it has not been made.
func (s *search) take(ctx context.Context, hit *Hit, stored *normal.Form, similarity float64) (done bool, err error) {
	if s.c.verdicts.refuses(s.r.Key, hit.Entry) {
		s.f.barred(BarRefused, hit.Entry)
		return false, nil
	}
	v := s.c.learner.judge(s.r, s.f, hit.Entry, stored, similarity, s.draw)
	if goesOn(s.r, s.f, &v) {
		v = s.c.learner.judge(s.r, s.f, hit.Entry, stored, similarity, neverExplore)
	}
	s.note(hit.Entry, &v, similarity, 1)
	switch v.Decision {
	case reuse.Miss:
		if why := v.Refusal(); why != reuse.Pass {
			s.f.Vetoes = append(s.f.Vetoes, why)
			s.f.about(hit.Entry)
		}
		s.f.almost(s.r, hit.Entry, &v, similarity, false)
		return false, nil
	case reuse.Explore:
		s.explore(hit, &v, similarity)
		return v.Case.Hit, nil
	}
	if s.f.Shadow = s.r.Shadow; s.f.Shadow {
		s.candidate(hit, &v, similarity)
		return true, nil
	}
	whole, missing, err := s.c.answers.of(ctx, hit.Entry, nil)
	switch {
	case err != nil || whole == nil && !missing:
		s.r.Unfetched = err == nil
		s.f.about(hit.Entry)
		return true, err
	case whole == nil || !whole.Same(hit.Entry): // no answer, or one of which it is not known whether it may be found by meaning
		return false, nil
	}
	if s.c.quotes(s.r, whole) {
		s.f.Vetoes = append(s.f.Vetoes, reuse.Quoting)
		s.f.about(hit.Entry)
		return false, nil
	}
	s.candidate(hit, &v, similarity)
	hit.Entry = whole
	return true, s.c.verdicts.found(s.r, s.f, hit)
}

// explore notes an answer that is to be compared with the upstream's. One that would be served settles the search; of others the first one
// stays, which is the nearest.
func (s *search) explore(hit *Hit, v *reuse.Verdict, similarity float64) {
	if s.f.Explore == nil || v.Case.Hit {
		s.candidate(hit, v, similarity)
	}
	s.f.Fallback = v.Case.Hit
}

// candidate makes hit the answer that the finding is about.
func (s *search) candidate(hit *Hit, v *reuse.Verdict, similarity float64) {
	f := s.f
	f.Explore, f.Verdict, f.Basis, f.similarity = hit, *v, basisOf(v, hit.Entry.Prompt, s.r.Prompt), similarity
}
