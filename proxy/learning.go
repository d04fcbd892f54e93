package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"reprise/policy"
	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/observe"
	"reprise/proxy/observe/learn"
	"reprise/proxy/observe/review"
	"reprise/proxy/rules"
	"reprise/proxy/upstream"
	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
)

// LearningOf is what a server finds out about the answers that it reuses by meaning.
func LearningOf(s *Server) *learn.Learner { return s.learner }

// newLearner returns the learner of a server that has its budget and its faults.
func newLearner(s *Server) *learn.Learner {
	account := s.budget.Account()
	l := learn.New(learn.Options{
		Compare: reuse.SameAnswer, Rates: func() *evidence.Rates { return s.cache.Rates() }, Guard: s.faults.guard, Prompts: s.opts.LogPrompts, Now: s.opts.Now,
		Ask: func(ctx context.Context, model string, messages [2]learn.Message) (string, error) {
			return askJudge(ctx, s, model, messages)
		},
		Stored: func(hit *cache.Hit) (string, bool, error) { return storedText(s, hit) },
		Serves: func(hit *cache.Hit) bool { return s.cache.Serves(hit) },
		OwnTopic: func(id policy.ID) policy.TopicID {
			if e, ok := s.cache.Get(id); ok {
				return e.Topic
			}
			return 0
		},
		Learn: func(r *cache.Request, f *cache.Finding, outcome evidence.Outcome, from evidence.Source) {
			s.cache.Compared(r, f, outcome, from)
			s.observers.Ended(&observe.Outcome{Request: r, Compared: outcome})
		},
		Hold:    func(n int64) (bool, func()) { return account.Reserve(n), func() { account.Release(n) } },
		Suspect: func(r *learn.Reviewed) func() { return s.cache.Suspect(pairOf(r)) },
		Verdict: func(r *learn.Reviewed, right bool) error {
			if r.Decision.P == 0 { // what is never served has no estimate
				return nil
			}
			return s.cache.Reviewed(pairOf(r), right)
		},
	})
	l.SetModel(s.opts.JudgeModel, s.opts.JudgeBudget)
	return l
}

// ReviewsOf is where an operator looks at the answers that a server has found by meaning.
func ReviewsOf(s *Server) *review.Desk {
	return &review.Desk{Learner: s.learner, Compare: reuse.SameAnswer, Prompts: s.opts.LogPrompts,
		Judge: func(r *learn.Reviewed) *reuse.Judge {
			rule, _ := RuleOf(s, rules.Request{Tenant: r.Tenant, Namespace: r.Namespace, Path: r.Endpoint, Model: r.Model})
			return &reuse.Judge{Words: s.opts.Words, MaxError: rule.MaxErrorRate, Rates: s.cache.Rates()}
		},
		Answer: func(_ context.Context, id policy.ID) (text string, ok bool, err error) {
			e, ok := s.cache.Get(id)
			if !ok {
				return "", false, nil
			}
			return storedText(s, &cache.Hit{Entry: e})
		}}
}

// pairOf is a pair in the form of the cache.
func pairOf(r *learn.Reviewed) cache.Pair {
	return cache.Pair{Request: store.Key(r.Ref.Request), Entry: store.Key(r.Ref.Entry), ID: policy.ID(r.Entry), Case: r.Decision.Case}
}

// foundBy describes a verdict for Cache-Status: what found the answer, and the classes of the edits.
func foundBy(v *reuse.Verdict, basis cache.Basis) []string {
	switch {
	case basis == cache.ByForm:
		return []string{"semantic", "form"}
	case len(v.Case.Edits) == 0:
		return []string{"semantic"}
	}
	return []string{"semantic", "edits=" + strings.Join(edits.Names(v.Case.Edits), "+")}
}

// storedText is the text of a stored answer; false where it has none, or calls tools.
func storedText(s *Server, hit *cache.Hit) (text string, ok bool, err error) {
	e, err := s.cache.Whole(context.Background(), hit.Entry)
	if err != nil || !e.Same(hit.Entry) {
		return "", false, err
	}
	room, release := s.budget.Hold(keepFactor * int64(e.RecordingSize()))
	if !room {
		return "", false, nil
	}
	defer release()
	raw, err := e.Recording()
	if err != nil {
		return "", false, err
	}
	z, err := s.opts.APIs.Decode(raw)
	if err != nil {
		return "", false, err
	}
	v := answer.Judge(z.Form, z.Stream, z.Body)
	return strings.Clone(v.Text), v.Keep, nil
}

// judgeTenant is whose share of an upstream's calls the judge model uses.
const judgeTenant = "reprise"

// mostJudgeReply is how many bytes of the judge model's answer are read.
const mostJudgeReply = 64 << 10

// askJudge sends a conversation to the judge model, under the credential of the upstream that has it, and returns the text of its answer.
func askJudge(ctx context.Context, s *Server, model string, messages [2]learn.Message) (string, error) {
	family := s.opts.APIs.ByPath("/v1/chat/completions")
	if family == nil {
		return "", errors.New("ask the judge model: the chat API is not among those of this proxy")
	}
	body, err := json.Marshal(map[string]any{"model": model, "messages": messages, "temperature": 0, "max_tokens": 8})
	if err != nil {
		return "", err
	}
	if !s.budget.Begin() {
		return "", errNoMemory
	}
	defer s.budget.End()
	r := (&http.Request{Method: http.MethodPost, URL: &url.URL{Path: family.Path}, Header: http.Header{"Content-Type": {"application/json"}}}).WithContext(ctx)
	reply, err := s.upstream.Call(ctx, upstream.Request{Tenant: judgeTenant, Original: r, Body: body, Model: model})
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, mostJudgeReply))
	s.observers.Ended(&observe.Outcome{Tenant: judgeTenant, Call: calledFor(model, reply, text)})
	switch {
	case err != nil:
		return "", err
	case reply.StatusCode != http.StatusOK || reply.Foreign:
		return "", fmt.Errorf("ask the judge model: status %d of upstream %s", reply.StatusCode, reply.Replica.Name())
	}
	v, _, strict := api.Read(family.Answers, reply.Header.Get("Content-Type"), text)
	if !strict || !v.Keep {
		return "", fmt.Errorf("ask the judge model: no whole answer: %s", v.Reason)
	}
	return v.Text, nil
}
