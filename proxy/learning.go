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

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/cache"
	"reprise/proxy/internal/clientio"
	"reprise/proxy/observe"
	"reprise/proxy/observe/learn"
	"reprise/proxy/rules"
	"reprise/proxy/upstream"
	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/compare"
	"reprise/topics/reuse/edits"
	"reprise/topics/reuse/evidence"
)

// Learning is what a server finds out about the answers that it reuses by meaning.
func (s *Server) Learning() *learn.Learner { return s.learner }

// newLearner returns the learner of a server that has its cache.
func (s *Server) newLearner() *learn.Learner {
	l := learn.New(learn.Options{Server: learning{s, s.budget.Account()}, Cache: s.cache, Verdicts: s.cache.Verdicts(), Prompts: s.opts.LogPrompts, Now: s.opts.Now})
	l.SetModel(s.opts.JudgeModel, s.opts.JudgeBudget)
	return l
}

// learning is a server as its learner needs it. It implements learn.Server.
type learning struct {
	s       *Server
	account *clientio.Account
}

// Ask implements learn.Server.
func (x learning) Ask(ctx context.Context, model string, messages [2]learn.Message) (string, error) {
	return x.s.askJudge(ctx, model, messages)
}

// Text implements learn.Server.
func (x learning) Text(hit *cache.Hit) (string, bool, error) { return x.s.storedText(hit) }

// Hold implements learn.Server.
func (x learning) Hold(bytes int64) bool { return x.account.Reserve(bytes) }

// Release implements learn.Server.
func (x learning) Release(bytes int64) { x.account.Release(bytes) }

// Guard implements learn.Server.
func (x learning) Guard(step string, run func() error) bool { return x.s.faults.guard(step, run) }

// Judge implements learn.Server.
func (x learning) Judge(r *learn.Reviewed) *reuse.Judge {
	rule, _ := x.s.Rule(rules.Request{Tenant: r.Tenant, Namespace: r.Namespace, Path: r.Endpoint, Model: r.Model})
	return &reuse.Judge{Words: x.s.opts.Words, MaxError: rule.MaxErrorRate, Rates: x.s.cache.Rates()}
}

// MaxError implements learn.Server.
func (x learning) MaxError() float64 { return x.s.live.Load().rules.Rest().MaxErrorRate }

// Compared implements learn.Server.
func (x learning) Compared(r *cache.Request, f *cache.Finding, result compare.Result, from evidence.Source) {
	x.s.cache.Verdicts().Compared(r, f, result, from)
	if result.Outcome != evidence.Unknown && f.Basis != cache.Repeated {
		x.s.observers.Ended(&observe.Outcome{Request: r, Compared: result.Outcome})
	}
}

// quotes reports whether the answer of e quotes words in which what it was asked differs from what is asked. One that cannot be read is taken for one
// that does.
func (s *Server) quotes(e *store.Entry, stored, asked string) (quotes bool) {
	quotes = true
	s.faults.guard("compare", func() error {
		text, ok, err := s.textOf(e)
		quotes = !ok || compare.Quotes(text, stored, asked)
		return err
	})
	return quotes
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
func (s *Server) storedText(hit *cache.Hit) (text string, ok bool, err error) {
	e, err := s.cache.Whole(context.Background(), hit.Entry)
	if err != nil || !e.Same(hit.Entry) {
		return "", false, err
	}
	return s.textOf(e)
}

// textOf is the text of an entry that has its answer; false where it has none, or calls tools.
func (s *Server) textOf(e *store.Entry) (text string, ok bool, err error) {
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
func (s *Server) askJudge(ctx context.Context, model string, messages [2]learn.Message) (string, error) {
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
	v, _, strict := api.Read(family.Answers, reply.Header.Get("Content-Type"), text, nil)
	if !strict || !v.Keep {
		return "", fmt.Errorf("ask the judge model: no whole answer: %s", v.Reason)
	}
	return v.Text, nil
}
