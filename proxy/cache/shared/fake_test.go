package shared

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"reprise/policy"
	"reprise/store"
)

// server is a shared store in memory: the oracle of the tests.
type server struct {
	mu      sync.Mutex // protects the rest
	data    *data
	members map[uint16]*fakeMember
	keeper  uint16
	until   time.Time // of the keeper's lease
	process uint16
	leases  map[store.Key]lease
	calls   map[string]int
	full    bool           // it takes no batches
	room    int            // answers; 0: any number
	ahead   time.Duration  // of its clock
	observe func(what any) // called with each answer and each purge that is appended, and with the data that a flush or a failover ends; may be nil
	changed chan struct{}  // closed at each batch
	counted []byte         // what the keeper has written of the evidence
}

type lease struct {
	by    uint16
	until time.Time
}

type fakeMember struct {
	applied uint64
	beat    time.Time
}

// data is what a failover to an older copy goes back to.
type data struct {
	mark    store.Mark
	n, id   uint64
	trimmed uint64 // batches up to this one are not in the log any more
	log     []store.Logged
	answers map[store.Key]stored
	records map[policy.ID]record
	serials map[uint16]uint64
	places  map[string]place        // of answers in the log
	purges  map[uint64]store.Filter // unfinished
}

// place is where an answer was appended, and when.
type place struct {
	n  uint64
	at time.Time
}

type stored struct {
	id      policy.ID
	body    []byte
	written store.Mark
	until   time.Time
}

type record struct {
	key     store.Key
	body    []byte
	aliases []store.Event // each the last one of its key
}

func newData() *data {
	return &data{mark: store.Mark{Log: rand.Uint64()}, answers: map[store.Key]stored{}, records: map[policy.ID]record{},
		serials: map[uint16]uint64{}, places: map[string]place{}, purges: map[uint64]store.Filter{}}
}

func (d *data) clone() *data {
	c := *d
	c.log, c.answers, c.records, c.serials = slices.Clone(d.log), maps.Clone(d.answers), maps.Clone(d.records), maps.Clone(d.serials)
	c.places, c.purges = maps.Clone(d.places), maps.Clone(d.purges)
	return &c
}

func newServer() *server {
	return &server{data: newData(), members: map[uint16]*fakeMember{}, leases: map[store.Key]lease{}, calls: map[string]int{}, changed: make(chan struct{})}
}

// flush empties the server, as FLUSHALL does.
func (s *server) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked(s.data)
	s.data, s.members, s.keeper, s.leases = nil, map[uint16]*fakeMember{}, 0, map[store.Key]lease{}
	s.wakeLocked()
}

// copy is what another server has, which may take the place of this one later.
func (s *server) copy() *data {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data == nil {
		return nil
	}
	return s.data.clone()
}

// failover makes an older copy the data. Its stream continues with higher ids.
func (s *server) failover(d *data) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d == nil || s.data == nil {
		return
	}
	s.noteLocked(s.data)
	later := s.data.id + 1000
	s.data = d.clone()
	s.data.id = later
	s.wakeLocked()
}

func (s *server) noteLocked(what any) {
	if s.observe != nil {
		s.observe(what)
	}
}

func (s *server) wakeLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

var (
	errRefused = errors.New("connection refused")
	errReply   = errors.New("connection reset")
)

// link is a connection of one member. Its faults are those of a network.
type link struct {
	*server
	member uint16
	secret [32]byte
	rng    *rand.Rand // nil: no random faults
	dies   bool       // nothing reaches the server after the next purge
	modest bool       // it is never the keeper

	lmu   sync.Mutex // protects the rest
	fault string     // "": none, "refuse", "hold", "lost" (replies), "lose" (sometimes), "panic", "stubborn"
	delay time.Duration
	only  string   // the kind of calls that are concerned: "log" for reads and beats, "write", "fetch"; "": all
	late  []func() // calls that the network holds: they reach the server when it heals
}

func (s *server) link(process uint16) *link {
	return &link{server: s, member: process, secret: [32]byte{1}}
}

func (l *link) set(fault string, delay time.Duration) { l.setOnly("", fault, delay) }

func (l *link) setOnly(kind, fault string, delay time.Duration) {
	l.lmu.Lock()
	l.only, l.fault, l.delay = kind, fault, delay
	var late []func()
	if fault == "" {
		late, l.late = l.late, nil
	}
	l.lmu.Unlock()
	for _, f := range late {
		f()
	}
}

// call makes f happen in the server, through the faults of the network. A call that the caller does not wait for any more may happen later.
func call[T any](ctx context.Context, l *link, kind string, f func() (T, error)) (r T, err error) {
	l.lmu.Lock()
	fault, delay := l.fault, l.delay
	if l.only != "" && l.only != kind && !(l.only == "log" && kind == "read") {
		fault, delay = "", 0
	}
	if fault == "hold" {
		l.late = append(l.late, func() { f() })
	}
	lose := fault == "lost" || fault == "lose" && l.rng.IntN(3) == 0
	l.lmu.Unlock()
	switch {
	case fault == "refuse":
		return r, errRefused
	case fault == "panic":
		panic("a fault of the link")
	case fault == "stubborn": // it does not end with its context, as one whose connection has a deadline only
		time.Sleep(time.Minute)
		return r, errReply
	case fault == "hold":
		<-ctx.Done()
		return r, ctx.Err()
	case delay > 0 && !sleep(ctx, delay/2):
		go func() { // it is on its way
			time.Sleep(delay / 2)
			f()
		}()
		return r, ctx.Err()
	}
	if r, err = f(); lose {
		err = errReply
	}
	if delay > 0 && !sleep(ctx, delay/2) {
		err = ctx.Err()
	}
	return r, err
}

func (s *server) count(what string) { s.calls[what]++ }

func (l *link) Agree(ctx context.Context) error {
	return l.do(ctx, func() error {
		l.beginLocked()
		if l.member == 0 {
			for _, taken := l.members[l.process+1]; taken; _, taken = l.members[l.process+1] {
				l.process++
			}
			l.process++
			l.member = l.process
		}
		return nil
	})
}

// do is call for what returns nothing. f runs under the lock of the server.
func (l *link) do(ctx context.Context, f func() error) error {
	_, err := call(ctx, l, "other", func() (struct{}, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		return struct{}{}, f()
	})
	return err
}

func (s *server) beginLocked() {
	if s.data == nil {
		s.data = newData()
	}
}

func (l *link) Process() uint16 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.member
}

func (l *link) Secret() [32]byte { return l.secret }

func (l *link) Beat(ctx context.Context, applied store.Position, keep bool) (store.Pulse, error) {
	return call(ctx, l, "log", func() (store.Pulse, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count("beat")
		l.beginLocked()
		now := time.Now()
		keep = keep && !l.modest
		l.members[l.member] = &fakeMember{applied.N, now}
		if l.keeper == l.member && !keep || !now.Before(l.until) {
			l.keeper = 0
		}
		if keep && (l.keeper == 0 || l.keeper == l.member) {
			l.keeper, l.until = l.member, now.Add(1500*time.Millisecond)
		}
		p := store.Pulse{Mark: l.data.mark, End: l.data.end(), Time: now.Add(l.ahead), Keeper: l.keeper, Leased: l.until.Sub(now), Full: l.fullLocked()}
		for n, f := range l.data.purges {
			p.Unfinished = append(p.Unfinished, store.Unfinished{Purges: n, Filter: f})
		}
		for id, m := range l.members {
			p.Members = append(p.Members, store.Member{Process: id, Applied: m.applied, Silent: now.Sub(m.beat)})
		}
		return p, nil
	})
}

func (d *data) end() store.Position {
	if len(d.log) == 0 {
		return store.Position{N: d.n}
	}
	return d.log[len(d.log)-1].Position
}

func (l *link) Fetch(ctx context.Context, k store.Key, more ...store.Key) (store.Fetched, error) {
	return call(ctx, l, "fetch", func() (store.Fetched, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count("fetch")
		f, err := l.fetchLocked(k)
		for _, k := range more {
			one, failed := l.fetchLocked(k)
			f.More, err = append(f.More, one), errors.Join(err, failed)
		}
		return f, err
	})
}

func (l *link) FetchOrLease(ctx context.Context, k store.Key, ttl time.Duration) (store.Fetched, error) {
	return call(ctx, l, "fetch", func() (store.Fetched, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count("fetch")
		f, err := l.fetchLocked(k)
		f.Leased = f.Entry == nil && l.leaseLocked(k, ttl)
		return f, err
	})
}

func (l *link) fetchLocked(k store.Key) (f store.Fetched, err error) {
	if l.data == nil {
		return f, nil
	}
	f.Now = l.data.mark
	a, ok := l.data.answers[k]
	if !ok || !a.until.IsZero() && !time.Now().Before(a.until) {
		return f, nil
	}
	f.Written = a.written
	f.Entry, err = store.DecodeAnswer(a.id, k, a.body)
	return f, err
}

func (l *link) Append(ctx context.Context, m store.Mark, serial uint64, evs []store.Event) (store.Position, error) {
	payload, spans := store.AppendEvents(nil, evs, "plane")
	return call(ctx, l, "write", func() (p store.Position, err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count("append")
		switch {
		case l.data == nil:
			return p, store.ErrGap
		case serial <= l.data.serials[l.member]:
			return l.data.end(), nil
		case m.Log != l.data.mark.Log || m.Purges > l.data.mark.Purges:
			return p, store.ErrGap
		case m != l.data.mark:
			return p, store.ErrPurged
		case l.fullLocked() && slices.ContainsFunc(evs, func(ev store.Event) bool { return ev.Kind == store.EventInsert }):
			return p, store.ErrFull
		}
		next := 0
		for i := range evs {
			next = l.data.change(&evs[i], payload, spans, next)
			if evs[i].Kind == store.EventInsert {
				l.noteLocked(string(evs[i].Entry.Answer))
			}
		}
		decoded, err := store.DecodeEvents(payload, "plane")
		if err != nil {
			return p, err
		}
		defer l.wakeLocked()
		return l.data.append(store.Logged{Process: l.member, Serial: serial, Events: decoded}), nil
	})
}

func (d *data) change(ev *store.Event, payload []byte, spans []store.Span, next int) int {
	switch _, removed := ev.Reason(); {
	case ev.Kind == store.EventInsert:
		e := *ev.Entry
		e.ID = ev.ID
		if old, ok := d.answers[e.Key]; ok && old.id != e.ID {
			delete(d.records, old.id)
		}
		until := e.Expires
		if e.StaleUntil.After(until) {
			until = e.StaleUntil
		}
		d.places[string(e.Answer)] = place{d.n*batchMost + uint64(next), time.Now()}
		d.answers[e.Key] = stored{e.ID, store.AppendAnswer(nil, &e), d.mark, until}
		r := d.records[e.ID]
		r.key, r.body = e.Key, slices.Clone(payload[spans[next].From:spans[next].To])
		d.records[e.ID] = r
		next++
	case ev.Kind == store.EventAlias:
		for id, r := range d.records {
			if at := slices.IndexFunc(r.aliases, func(a store.Event) bool { return a.Key == ev.Key }); at >= 0 {
				r.aliases = slices.Delete(slices.Clone(r.aliases), at, at+1)
				d.records[id] = r
			}
		}
		if r, ok := d.records[ev.ID]; ok {
			r.aliases = append(slices.Clone(r.aliases), *ev)
			d.records[ev.ID] = r
		}
	case removed:
		if a, ok := d.answers[ev.Key]; ok && a.id == ev.ID {
			delete(d.answers, ev.Key)
		}
		delete(d.records, ev.ID)
	}
	return next
}

func (s *server) fullLocked() bool {
	return s.full || s.room > 0 && s.data != nil && len(s.data.answers) >= s.room
}

func (d *data) append(l store.Logged) store.Position {
	d.n++
	d.id++
	l.Position, l.Mark = store.Position{N: d.n, ID: string(rune(d.mark.Log%1000)) + "/" + time.Duration(d.id).String()}, d.mark
	d.serials[l.Process] = l.Serial
	d.log = append(d.log, l)
	return l.Position
}

func (l *link) Purge(ctx context.Context, serial uint64, f store.Filter) (store.Mark, error) {
	return call(ctx, l, "write", func() (m store.Mark, err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count("purge")
		switch {
		case l.data == nil:
			return m, store.ErrGap
		case serial > l.data.serials[l.member]:
			l.data.mark.Purges++
			l.data.purges[l.data.mark.Purges] = f
			l.data.append(store.Logged{Process: l.member, Serial: serial, Purge: &f})
			l.noteLocked(f)
			l.wakeLocked()
		}
		if l.dies {
			l.set("refuse", 0)
		}
		return l.data.mark, nil
	})
}

func (l *link) Read(ctx context.Context, after store.Position, wait time.Duration) (all []store.Logged, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait+time.Second)
	defer cancel()
	give := time.Now().Add(wait)
	for {
		l.mu.Lock()
		changed := l.changed
		l.mu.Unlock()
		all, err = call(ctx, l, "read", func() ([]store.Logged, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.data.after(after)
		})
		left := time.Until(give)
		if err != nil || len(all) > 0 || left <= 0 {
			return all, err
		}
		t := time.NewTimer(left)
		select {
		case <-changed:
		case <-t.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		t.Stop()
	}
}

func (d *data) after(at store.Position) ([]store.Logged, error) {
	if d == nil || at.N > d.n || at.N < d.trimmed || at.N == d.n && d.end() != at && at.N > d.trimmed {
		return nil, store.ErrGap
	}
	from := len(d.log)
	for i := range d.log {
		if d.log[i].N == at.N+1 {
			from = i
		}
		if d.log[i].N == at.N && d.log[i].ID != at.ID {
			return nil, store.ErrGap
		}
	}
	return slices.Clone(d.log[from:min(len(d.log), from+20)]), nil
}

func (l *link) TrimLog(ctx context.Context, before store.Position) error {
	return l.do(ctx, func() error {
		if l.data != nil {
			l.data.log = slices.DeleteFunc(l.data.log, func(b store.Logged) bool { return b.N < before.N && before.N <= l.data.n })
			l.data.trimmed = max(l.data.trimmed, min(before.N, l.data.n)-1)
		}
		return nil
	})
}
