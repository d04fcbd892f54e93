package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"reprise/policy"
	"reprise/store"
	"reprise/topics"
)

// Follower is the part of a Cache that makes happen here what others have written to a log. Every event of it is Applied, except those
// of Trim.
type Follower struct {
	state   *state
	learner *learner
}

// Apply makes an event happen that another cache has written to its log. The events of a log, applied in order to an empty cache
// over a store without a limit, lead to the same entries, topics, anchors, aliases and choice of victims.
//
// Where processes share a store, each applies what the others have appended in the order of their log, and its own events a second time,
// at their place in it, except uses and arrivals, and except insertions, which Options.Log protects until then by Overrides. Then all of
// them have the same entries, aliases and counts once they have read the same log, and the same anchor in each topic whose last anchor is there.
func (f *Follower) Apply(ctx context.Context, ev Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if ev.Kind == store.EventSample { // which changes no entry
		return f.learner.count(ev.Sample)
	}
	err := f.apply(ev)
	if ev.Kind == store.EventInsert && f.state.forms != nil {
		err = errors.Join(err, f.state.forms.addEntry(ev.ID))
	}
	return err
}

func (f *Follower) apply(ev Event) error {
	f.beginApplied()
	defer f.endApplied()
	return guard("topics", func() error {
		if f.state.log != nil && f.state.log.Overrides(&ev) {
			f.overriddenLocked(&ev)
			return nil
		}
		return f.applyLocked(ev)
	})
}

// overriddenLocked follows an event that was not applied because the entry that it removes was stored again here. To the others that entry
// comes back without its aliases; those that were made here follow in the log.
func (f *Follower) overriddenLocked(ev *Event) {
	if _, removed := ev.Reason(); removed {
		f.state.store.Unalias(ev.ID)
	} else if ev.Entry != nil {
		if e, alias, ok := f.state.store.Lookup(ev.Entry.Key); ok && !alias && e.ID != ev.ID {
			f.state.store.Unalias(e.ID)
		}
	}
}

func (f *Follower) applyLocked(ev Event) error {
	if ev.Kind == store.EventAnchor && !f.state.topics.RestoreAnchor(topics.EntryID(ev.ID)) {
		return nil // of several processes one may have made it an anchor while another replaced it by an answer for exact repeats
	}
	if ev.Kind == store.EventVector {
		if len(ev.Vector) == 0 { // it is of another embedder
			return nil
		}
		return f.state.reviveLocked(ev.ID, ev.Vector)
	}
	evs := f.state.store.Apply(ev)
	if ev.Kind == store.EventUse {
		if len(evs) > 0 { // with the tick that it has here
			ev.At = evs[0].At
		}
		f.state.touchLocked(&ev)
	}
	var topic topics.TopicID
	if ev.Entry != nil {
		topic = topics.TopicID(ev.Entry.Topic)
	}
	return f.state.settleLocked(evs, topic, nil)
}

// beginApplied begins a change that was read from a log. The uses that wait come before it, as before any other.
func (f *Follower) beginApplied() {
	f.state.lock()
	f.state.applied = true
}

func (f *Follower) endApplied() {
	f.state.applied = false
	f.state.mu.Unlock()
}

// ApplyPurge makes a purge happen here that was read from the log of a shared store, one of this process too: entries that came from the
// log behind the local part of it go with the others. Entries that keep accepts stay, those that were stored here since; nil is none of
// them. keep is called under the lock of the cache. What Purge says of Serves and Keep holds for it. made says that this process has made
// the purge, by Purge: copies have seen it. A purge of another process also removes what was put back since under another id.
func (f *Follower) ApplyPurge(_ context.Context, what store.Filter, made bool, keep func(policy.ID) bool) error {
	if made {
		f.beginPurge(func(*store.Entry) bool { return false }, true)
		_, _, err := f.endPurge(what.Matches, keep, true)
		return err
	}
	f.beginPurge(f.names(what), true)
	err := f.removeMoved(what)
	_, _, failed := f.endPurge(what.Matches, keep, true)
	return errors.Join(err, failed)
}

// names is what a purge of another process selects: by the id of an entry that was put back since, the new one too.
func (f *Follower) names(what store.Filter) func(*store.Entry) bool {
	any := what
	any.Entry = 0
	return func(e *store.Entry) bool {
		return what.Matches(e) || what.Entry != 0 && slices.Contains(f.state.moved.of(what.Entry), e.ID) && any.Matches(e)
	}
}

// removeMoved removes what a purge of another process names by the id of before. The others have no other name of it, so this is an own removal,
// which they read in the log.
func (f *Follower) removeMoved(what store.Filter) error {
	var ids []policy.ID
	names := f.names(what)
	for _, id := range f.state.moved.of(what.Entry) {
		if e, ok := f.state.store.Get(id); ok && names(e) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := f.removePart(policy.Purged, ids, nil, false)
	return err
}

// Missed refuses answers to requests of before, and hits that were found before and whose entries leave next: a purge may have been missed.
// Reconcile follows.
func (f *Follower) Missed() {
	f.state.lock()
	defer f.state.mu.Unlock()
	f.state.epoch.Add(1)
	f.state.copies.missedLocked()
	f.state.purges.Add(1)
}

// Trim evicts while a limit is exceeded, a few entries at a time, for the process that decides for all that share a store. Its evictions
// are events like any other.
func (f *Follower) Trim(limit policy.Limit) (err error) {
	for more := true; more; runtime.Gosched() {
		var failed error
		more, failed = f.trimPart(limit)
		err = errors.Join(err, failed)
	}
	return err
}

func (f *Follower) trimPart(limit policy.Limit) (more bool, err error) {
	f.state.lock()
	defer f.state.mu.Unlock()
	evs := f.state.store.Trim(limit, partSize)
	return len(evs) > 0, f.state.settleLocked(evs, 0, nil)
}

// Reconcile makes the cache hold the entries that a shared store lists, for a process that cannot follow the log from where it stood:
// others leave, unless keep, which is called under the lock of the cache, accepts them; missing ones are inserted with all that belongs
// to them. It takes the lock for a few entries at a time, and what stays can be served meanwhile. No event may be applied beside it.
// After an error, which is not a Fault, the cache has entries from before.
func (f *Follower) Reconcile(ctx context.Context, from store.Backing, keep func(policy.ID) bool) (faults error) {
	listing, err := f.state.store.List(from)
	if err != nil {
		return fmt.Errorf("reconcile: %w", err)
	}
	listed := make(map[policy.ID]struct{}, len(listing.Entries))
	for part := range slices.Chunk(listing.Entries, partSize) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("reconcile: %w", err)
		}
		faults = errors.Join(faults, f.insertPart(part))
		for _, e := range part {
			listed[e.ID] = struct{}{}
			if f.state.forms != nil {
				faults = errors.Join(faults, f.state.forms.addEntry(e.ID))
			}
		}
		runtime.Gosched()
	}
	f.state.store.FinishList(listing)
	faults = errors.Join(faults, f.learner.restoreEvidence(listing.Evidence))
	var gone []policy.ID
	for e := range f.state.store.All() {
		if _, ok := listed[e.ID]; !ok {
			gone = append(gone, e.ID)
		}
	}
	for part := range slices.Chunk(gone, partSize) {
		_, failed := f.removePart(policy.Evicted, part, keep, true)
		faults = errors.Join(faults, failed)
		runtime.Gosched()
	}
	f.state.dropFrames()
	return errors.Join(faults, f.anchorAll(listing.Entries))
}

// insertPart inserts some listed entries.
func (f *Follower) insertPart(part []*store.Listed) (faults error) {
	f.beginApplied()
	defer f.endApplied()
	for _, e := range part {
		ev := Event{Kind: store.EventInsert, ID: e.ID, Entry: e.Entry, Vector: e.Vector}
		overridden := f.state.log != nil && f.state.log.Overrides(&ev)
		if overridden {
			f.overriddenLocked(&ev)
		}
		evs := f.state.store.Insert(e, overridden)
		faults = errors.Join(faults, f.state.settleLocked(evs, topics.TopicID(e.Topic), nil))
	}
	return faults
}

// TakeVectors gives entries that lack one the vectors that a shared store has of them, for a process that had no space when it read them.
// After an error, which is not a Fault, Revive computes them.
func (f *Follower) TakeVectors(ctx context.Context, from store.Backing) (faults error) {
	listing, err := f.state.store.List(from)
	if err != nil {
		return fmt.Errorf("take vectors: %w", err)
	}
	for part := range slices.Chunk(listing.Entries, partSize) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("take vectors: %w", err)
		}
		f.beginApplied()
		for _, e := range part {
			if e.Vector != nil {
				faults = errors.Join(faults, guard("topics", func() error { return f.state.reviveLocked(e.ID, e.Vector) }))
			}
		}
		f.endApplied()
		runtime.Gosched()
	}
	return faults
}

// anchorAll makes the listed anchors those of their topics.
func (f *Follower) anchorAll(all []*store.Listed) (faults error) {
	all = slices.DeleteFunc(slices.Clone(all), func(e *store.Listed) bool { return !e.Anchor })
	for part := range slices.Chunk(all, partSize) {
		f.beginApplied()
		for _, e := range part {
			faults = errors.Join(faults, guard("topics", func() error { return f.applyLocked(Event{Kind: store.EventAnchor, ID: e.ID}) }))
		}
		f.endApplied()
		runtime.Gosched()
	}
	return faults
}

// Adopt removes everything, and goes on with another secret and another number of this process, for one that could not reach the shared
// store when it began. Answers to requests of before are refused, as after a purge. A caller that digests credentials asks for Epoch
// first and for Secret then.
func (f *Follower) Adopt(secret [32]byte, process uint16) error {
	_, _, err := f.purge(func(*store.Entry) bool { return true }, nil, true)
	f.beginApplied()
	defer f.endApplied()
	err = errors.Join(err, f.state.settleLocked(f.state.store.Adopt(secret, process), 0, nil))
	f.state.topics.SetProcess(process)
	f.state.epoch.Add(1) // behind the secret: who reads this epoch reads that secret
	f.state.purges.Add(1)
	return err
}
