package cache

import (
	"context"
	"errors"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// Why an answer was not kept.
const (
	ReasonPurged = "purged"       // a purge came while the answer was under way
	ReasonBehind = "store-behind" // the file has lacked changes for too long: its disk is full, slow or broken
	ReasonFull   = "full"         // the shared store exceeds its capacity: the process that evicts has not kept up
	ReasonPolicy = "policy"       // the policy refused it
	ReasonFault  = "fault"
)

// Keep stores e as the answer to r, where f is what Find returned for r. The caller fills in what describes the answer; e.Prompt and
// e.Vector (Finding.Vector) only if the answer may be found by meaning, e.Prompt alone where there is no vector. Keep sets the rest. Where the key has an entry already, the
// answer takes its place. Keep returns the id of the entry, or 0 and why the answer was not kept. After a Fault of the topics the
// entry is kept and cannot be found by meaning.
func (c *Cache) Keep(_ context.Context, r *Request, f *Finding, e *store.Entry) (id policy.ID, reason string, err error) {
	reason = ReasonFault
	c.state.trySettle() // describe looks at what was used last
	err = guard("store", func() error {
		c.describe(r, f, e)
		by, passed := c.state.cause(r, e.Parent), c.state.passed(r, e, e.Parent)
		c.state.lock()
		defer c.state.mu.Unlock()
		if r.Epoch != c.state.epoch.Load() {
			reason = ReasonPurged
			return nil
		}
		switch {
		case c.state.store.Behind():
			reason = ReasonBehind
			return nil
		case c.opt.Ceiling != (policy.Limit{}) && c.state.store.Full(c.opt.Ceiling, e.Footprint(len(e.Vector))):
			reason = ReasonFull
			return nil
		}
		topic := topics.TopicID(e.Topic)
		if topic == 0 { // a topic of its own; an entry that is never compared by meaning stays alone in it
			topic = c.state.topics.NewTopic()
		}
		if !c.opt.GivenTopics {
			e.Topic = policy.TopicID(topic)
		}
		c.state.back = r.back != 0
		defer func() { c.state.back = false }()
		if id, reason, err = c.state.keepLocked(e, r.At, topic, by, f, passed); c.state.back && id != 0 {
			c.state.moved.add(r.back, id)
		}
		return err
	})
	if id != 0 {
		c.verdicts.kept(r, f, e)
	}
	if id != 0 && r.Name != (store.Key{}) {
		err = errors.Join(err, c.state.alias(r.Name, id, refused, e.Created))
	}
	if c.state.forms != nil && id != 0 && e.Prompt != "" {
		err = errors.Join(err, guard("forms", func() error { c.state.forms.kept(r, f, e); return nil }))
	}
	return id, reason, err
}

// describe sets what an entry has from its request.
func (c *Cache) describe(r *Request, f *Finding, e *store.Entry) {
	e.Key, e.Scope, e.Parent, e.Turn = r.Key, r.Scope, f.Parent, max(e.Turn, int32(len(r.Turns)))
	if f.asked != nil && e.Prompt != "" {
		e.Scope = f.asked.scope
	}
	if e.Vector != nil || c.opt.GivenTopics {
		e.Topic = c.opt.topicOf(r, f)
	}
	if e.Prompt != "" || e.Vector != nil {
		e.Chain = f.Chain
	}
	if e.Vector == nil {
		return
	}
	if _, alias, known := c.state.store.Lookup(e.Key); known && !alias { // the parent stays what it was
		return
	}
	if e.Parent == 0 && len(r.Turns) == 0 && !r.NoDetect {
		parent, _ := c.state.topics.Parent(topics.ScopeID(e.Scope), topics.TopicID(e.Topic), f.Chain, e.Vector, r.At.Seq)
		e.Parent = policy.ID(parent)
	}
}

// Touch counts a request that e answered; vector is the request's where it was compared by meaning. It waits for no change. Uses wait to
// be applied together, and full reports that Settle should be called now, after the answer is written: it takes some 50 µs.
//
// The parent is the answer before in the conversation, as in Keep, and otherwise one that is found only when the use is applied: a
// child that outlived its parent is linked again when both are asked for again.
func (c *Cache) Touch(r *Request, e *store.Entry, vector []float32) (full bool) {
	compared := c.opt.Meaning && (r.Prompt != "" || r.Vector != nil)
	u := use{id: e.ID, parent: c.state.turns.parent(r), at: r.At, compared: compared, detect: compared && !r.NoDetect}
	r.Passed = c.state.passed(r, e, u.parent)
	r.Passed.Hit = true
	if len(c.state.readers) > 0 { // which read soon
		u.read = &readUse{r, e, vector}
	}
	return c.state.uses.add(u) || u.read != nil
}

// Settle applies the uses that wait, and returns a fault of one that was applied since the last Settle. Every other change applies them
// first, so it is for a full Touch, and for what looks at the store or its policy from outside.
func (c *Cache) Settle() (fault error) {
	c.state.lock()
	defer c.state.mu.Unlock()
	fault, c.state.fault = c.state.fault, nil
	return fault
}

// Sync writes every change to the backing of the store, and returns the fault that kept it from doing so.
func (c *Cache) Sync(ctx context.Context) error {
	c.state.trySettle()
	return c.state.store.Sync(ctx)
}

// Whole returns e with its answer, for a caller that shows it: from the shared store where there is one.
func (c *Cache) Whole(ctx context.Context, e *store.Entry) (*store.Entry, error) {
	if c.answers.remote == nil || len(e.Answer) > 0 {
		return e, nil
	}
	whole, err := c.answers.remote.Fetch(ctx, e.Key, e, nil)
	switch {
	case err != nil:
		return nil, err
	case whole == nil || whole.ID != e.ID:
		return nil, store.ErrNoAnswer
	}
	return whole, nil
}

// Drop removes an entry that cannot be served, because its answer cannot be read. A new answer that has taken its place, under the same
// id, stays. Of e only ID, Created, UpstreamTime and AnswerHash are read.
func (c *Cache) Drop(_ context.Context, e *store.Entry) error {
	return c.state.remove(policy.Purged, e)
}

// cause describes r to the readers, before a change may evict the parent; nil where there are none.
func (s *state) cause(r *Request, parent policy.ID) *Cause {
	if len(s.readers) == 0 {
		return nil
	}
	return &Cause{Request: r, ParentKey: s.turns.parentKey(r, parent)}
}
