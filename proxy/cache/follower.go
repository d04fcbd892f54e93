package cache

import (
	"context"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// follower is the part of a Cache that makes happen here what others have written to a log.
type follower struct{ *state }

// Apply makes an event happen that another cache has written to its log. The events of a log, applied in order to an empty cache
// over a store without a limit, lead to the same entries, topics, anchors, aliases and choice of victims. What it changes is Applied.
func (f *follower) Apply(ctx context.Context, ev Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f.apply(ev)
}

func (f *follower) apply(ev Event) error {
	f.beginApplied()
	defer f.endApplied()
	if f.log != nil && f.log.Overrides(&ev) {
		return nil
	}
	switch ev.Kind {
	case store.EventUse:
		f.touchLocked(&ev)
	case store.EventAnchor:
		f.topics.RestoreAnchor(topics.EntryID(ev.ID))
	}
	var topic topics.TopicID
	if ev.Entry != nil {
		topic = topics.TopicID(ev.Entry.Topic)
	}
	return f.settleLocked(f.store.Apply(ev), topic, nil)
}

// beginApplied begins a change that was read from a log. The uses that wait come before it, as before any other.
func (f *follower) beginApplied() {
	f.lock()
	f.applied = true
}

func (f *follower) endApplied() {
	f.applied = false
	f.mu.Unlock()
}

// ApplyPurge makes a purge happen here that was read from the log of a shared store, one of this process too: entries that came from the
// log behind the local part of it go with the others, except those that keep accepts; nil accepts none. Its removals are Applied. What
// Purge says of Serves and Keep holds for it.
func (f *follower) ApplyPurge(_ context.Context, what store.Filter, keep func(policy.ID) bool) error {
	_, _, err := f.purge(func(e *store.Entry) bool { return what.Matches(e) && (keep == nil || !keep(e.ID)) }, true)
	return err
}
