package store

import (
	"slices"
	"sync/atomic"
	"time"

	"reprise/policy"
)

// core is the data under the mutex of a Store: every entry, the policy, and the changes that are not written yet.
type core struct {
	opt       *Options
	space     atomic.Pointer[space] // of the vectors
	table     table
	keeper    keeper
	nextID    policy.ID      // the last id of this process
	maxTopic  policy.TopicID // the highest topic id of this process
	purges    atomic.Uint64  // so far, here and before a restart
	kept      atomic.Uint64  // purges that the backing has counted
	evictions int64
	hits      int64                   // requests answered by an entry
	puts      int64                   // answers put
	faults    int64                   // panics of the policy, victims that the policy would not have chosen, and failed writes
	dirty     *dirtySet               // nil: nothing is written
	writing   time.Time               // when the oldest change was made that is being written; zero if nothing is being written
	stuck     int                     // bytes of vectors that could not be written; 0 after a write that succeeded
	inside    inside                  // used with Options.Outside
	vectors   map[policy.ID][]float32 // vectors of the entries that Open found, until Restored has returned them
}

// events collects the changes of one call. A panic of the policy keeps the changes before it.
type events []Event

// sweepPerPut is how many entries a Put that adds one checks for expiry: a few each time are enough to keep expired entries from
// filling the capacity.
const sweepPerPut = 4

// put stores r, and replaces the entry that has its key.
func (c *core) put(r *resident, vector []float32, at policy.Tick, evs *events) {
	c.puts++
	old := c.table.keys[r.Key]
	if old != nil && old.Key == r.Key {
		c.replace(old, r, vector, at, evs)
		return
	}
	if old != nil { // an alias of another entry becomes a key of its own
		c.dropAlias(old, r.Key)
	}
	c.insert(r, vector, at, evs)
}

// alias makes a the last alias of r, and evicts entries to make room for it. If a.key was an alias of another entry it moves to r; if it is the key
// of an entry, nothing changes.
func (c *core) alias(r *resident, a alias, evs *events) {
	old := c.table.keys[a.key]
	if old != nil && old.Key == a.key {
		return
	}
	if old != nil {
		c.dropAlias(old, a.key)
	}
	if all := r.aliases(); len(all) >= c.opt.MaxAliases { // refused keys stay: other aliases can be found again
		leads := slices.IndexFunc(all, func(a alias) bool { return a.basis != Refused })
		c.dropAlias(r, all[max(leads, 0)].key)
	}
	c.table.addAlias(r, a)
	ev := Event{Kind: EventAlias, ID: r.ID, Key: a.key, Basis: a.basis}
	c.emit(&ev, nil)
	*evs = append(*evs, ev)
	c.evicted(c.keeper.ledger.Grow(r.ID, aliasSize, nil), evs)
}

// dropAlias ends an alias of r.
func (c *core) dropAlias(r *resident, k Key) {
	c.table.dropAlias(r, k)
	c.keeper.ledger.Grow(r.ID, -aliasSize, nil)
	c.emit(&Event{Kind: EventAlias, ID: r.ID, Key: k}, nil)
}

// insert makes r resident and evicts entries to make room.
func (c *core) insert(r *resident, vector []float32, at policy.Tick, evs *events) {
	c.sawTopic(r.Topic)
	c.table.add(r)
	c.table.noteVector(r, vector)
	ev := c.stored(r, Event{Kind: EventInsert, ID: r.ID, At: at, Vector: vector})
	c.emit(&ev, r)
	c.settle(r, ev, c.keeper.ledger.Insert(r.item(), at, nil), evs)
}

// anchor makes r the anchor of its topic and returns the former one.
func (c *core) anchor(r *resident) (former policy.ID) {
	if was := c.table.setAnchor(r); was != nil {
		former = was.ID
		c.emit(&Event{Kind: EventAnchor, ID: former}, nil)
	}
	c.emit(&Event{Kind: EventAnchor, ID: r.ID}, nil)
	return former
}

// stored sets the whole entry of r, which is new, in an event. With Options.Outside r keeps only the length of its answer then.
func (c *core) stored(r *resident, ev Event) Event {
	ev.Entry = r.entry(r.more)
	if c.opt.Outside {
		r.unpacked, r.Answer = int32(ev.Entry.RecordingSize()), nil
		c.inside.add(r, len(ev.Vector))
	}
	return ev
}

// replace replaces the answer of old by r. The fields that identify an entry for topics do not change.
func (c *core) replace(old, r *resident, vector []float32, at policy.Tick, evs *events) {
	r.ID, r.last = old.ID, max(old.last, at.Seq)
	moved := r.of.scope != old.of.scope // into a frame, or out of one
	if !moved {
		r.Topic = old.Topic
	}
	if r.Parent == 0 || r.Parent == r.ID {
		r.Parent = old.Parent
	}
	if old.Prompt != "" && r.Prompt != "" && !moved {
		r.setChain(old.chain())
	}
	ev := c.changed(old, r, vector, at)
	c.keeper.link(r.ID, r.Parent)
	c.settle(r, ev, c.keeper.ledger.Replace(r.item(), at, nil), evs)
}

// changed puts r into the place of old, of the same id.
func (c *core) changed(old, r *resident, vector []float32, at policy.Tick) Event {
	c.sawTopic(r.Topic)
	if c.opt.Outside {
		c.inside.drop(old)
	}
	c.table.replace(old, r)
	c.table.noteVector(r, vector)
	ev := c.stored(r, Event{Kind: EventInsert, ID: r.ID, At: at, Vector: vector, Replaced: true})
	c.emit(&ev, r)
	return ev
}

// settle removes the victims of an insertion, and adds the events of both.
func (c *core) settle(r *resident, insert Event, victims []policy.ID, evs *events) {
	at := len(*evs)
	*evs = append(*evs, insert)
	c.evicted(victims, evs)
	ev := &(*evs)[at]
	ev.Refused = c.table.ids[r.ID] == nil
	ev.Weights = c.keeper.weights(r) // a refused entry has changed its parent, too
	c.emit(&Event{Weights: ev.Weights}, nil)
}

// evicted drops the victims that the policy has named.
func (c *core) evicted(victims []policy.ID, evs *events) {
	for _, id := range victims {
		c.drop(id, policy.Evicted, evs)
	}
	c.evictions += int64(len(victims))
}

// sweep looks at a few random entries, and removes those whose time is over. An expired entry stays for one more lifetime while there is room: if
// its request returns, the new answer keeps the importance, the links and the aliases of the old one.
func (c *core) sweep(full bool, evs *events) {
	now := c.opt.Now()
	n := 0
	for id, r := range c.table.ids {
		if n++; n > sweepPerPut {
			break
		}
		life := r.life()
		over := life.over(now) || full && !life.Usable(now)
		if over && c.keeper.ledger.Remove(id, policy.Expired) {
			c.drop(id, policy.Expired, evs)
		}
	}
}

// drop removes an entry that has left the ledger from the store.
func (c *core) drop(id policy.ID, why policy.Reason, evs *events) {
	r := c.table.drop(id)
	if c.opt.Outside {
		c.inside.drop(r)
	}
	ev := Event{Kind: removal(why), ID: id, Key: r.Key}
	c.emit(&ev, r)
	delete(c.vectors, id)
	*evs = append(*evs, ev)
}

// emit passes an event on to the dirty set. r is the entry's resident where its topic may have changed too.
func (c *core) emit(ev *Event, r *resident) {
	if c.dirty == nil {
		return
	}
	if c.dirty.since.IsZero() {
		c.dirty.since = c.opt.Now()
	}
	c.dirty.read(ev, r)
}

// unwritten is the age of the oldest change that the backing does not hold yet, 0 where there is none.
func (c *core) unwritten() time.Duration {
	since := c.writing
	if since.IsZero() && c.dirty != nil && c.dirty.len() > 0 {
		since = c.dirty.since
	}
	if since.IsZero() {
		return 0
	}
	return max(c.opt.Now().Sub(since), 0)
}

func (c *core) sawTopic(t policy.TopicID) {
	if ownID(c.opt.Process, t) {
		c.maxTopic = max(c.maxTopic, t)
	}
}

// reconcile drops the entries that have left the ledger without being returned as victims.
func (c *core) reconcile(evs *events) {
	var ids []policy.ID
	for id := range c.table.ids {
		if !c.keeper.ledger.Has(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		c.drop(id, policy.Evicted, evs)
	}
}

// sawID makes sure that an id of this process is not made again.
func (c *core) sawID(id policy.ID) {
	if ownID(c.opt.Process, id) {
		c.nextID = max(c.nextID, id)
	}
}

// dropOrphan marks the records of an entry for deletion unless the entry is resident, and reports whether it did.
func (c *core) dropOrphan(id policy.ID) bool {
	if c.table.ids[id] != nil {
		return false
	}
	if !c.opt.Outside {
		c.dirty.entries[id] = pending{change: changedGone}
	}
	return true
}

// counters returns the numbers that continue after a restart; last is the last tick.
func (c *core) counters(last policy.Tick) counters {
	return counters{seq: last.Seq, at: last.At, nextID: c.nextID, maxTopic: c.maxTopic, purges: c.purges.Load()}
}
