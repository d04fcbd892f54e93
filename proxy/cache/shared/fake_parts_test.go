package shared

import (
	"context"
	"encoding/binary"
	"maps"
	"time"

	"reprise/policy"
	"reprise/store"
)

func (l *link) Lease(ctx context.Context, k store.Key, ttl time.Duration) (mine bool, err error) {
	mine, err = call(ctx, l, "fetch", func() (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count("lease")
		return l.leaseLocked(k, ttl), nil
	})
	return mine && err == nil, err
}

func (l *link) leaseLocked(k store.Key, ttl time.Duration) bool {
	if held, ok := l.leases[k]; ok && time.Now().Before(held.until) {
		return false
	}
	l.leases[k] = lease{l.member, time.Now().Add(ttl)}
	return true
}

func (l *link) Renew(ctx context.Context, ttl time.Duration, keys ...store.Key) error {
	return l.do(ctx, func() error {
		l.count("renew")
		for _, k := range keys {
			if held := l.leases[k]; held.by == l.member && time.Now().Before(held.until) {
				l.leases[k] = lease{l.member, time.Now().Add(ttl)}
			}
		}
		return nil
	})
}

func (l *link) Release(ctx context.Context, keys ...store.Key) error {
	return l.do(ctx, func() error {
		for _, k := range keys {
			if l.leases[k].by == l.member {
				delete(l.leases, k)
			}
		}
		return nil
	})
}

// Load implements store.Backing.
func (l *link) Load(fn func(store.Record) error) (store.Report, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	records, err := call(ctx, l, "other", func() (map[policy.ID]record, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.data == nil {
			return nil, nil
		}
		return maps.Clone(l.data.records), nil
	})
	if err != nil {
		return store.Report{}, err
	}
	for id, r := range records {
		if err := store.RecordsIn(uint64(id), r.body, "plane", fn); err != nil {
			return store.Report{}, err
		}
		aliases := []byte{1}
		for _, a := range r.aliases {
			aliases = binary.LittleEndian.AppendUint64(append(aliases, a.Key[:]...), a.Basis)
		}
		if err := fn(store.Record{Kind: store.KindAliases, ID: uint64(id), Body: aliases}); err != nil {
			return store.Report{}, err
		}
	}
	if l.counted != nil {
		if err := fn(store.Record{Kind: store.KindEvidence, Body: l.counted}); err != nil {
			return store.Report{}, err
		}
	}
	return store.Report{Name: "fake", Kept: len(records)}, nil
}

// Write implements store.Backing.
func (l *link) Write(*store.Batch) error { return nil }

// Close implements store.Backing.
func (l *link) Close() error { return nil }

func (l *link) parts() Link { return Link{Log: l, Group: l, Answers: l, Leases: l, Records: l} }

func (l *link) Finish(ctx context.Context, purges ...store.Mark) error {
	return l.do(ctx, func() error {
		for _, m := range purges {
			if l.data != nil && m.Log == l.data.mark.Log {
				delete(l.data.purges, m.Purges)
			}
		}
		return nil
	})
}
