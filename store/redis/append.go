package redis

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"
	"unsafe"

	"reprise/store"
)

// Append appends events as one batch of the log, and changes answers and records as they say. m is the mark under which they were made:
// store.ErrPurged says that a purge came since, store.ErrGap that the log is another one or lacks a purge that m has, store.ErrFull that the server has no memory for
// an insertion; nothing was appended then. serial increases with each batch of this process; a batch that the log has already is not appended again, so that a call may be repeated
// after an error. Inserted entries have their answers, and their vectors in the events.
func (s *Shared) Append(ctx context.Context, m store.Mark, serial uint64, evs []store.Event) (p store.Position, err error) {
	payload, records := store.AppendEvents(nil, evs, *s.space.Load())
	seal := s.seal.Load()
	args := []any{s.link.keys.prefix, logName(m.Log), m.Purges, s.processArg(), serial, logLength, payload, s.opt.MaxAliases, s.opt.LogBytes}
	for i := range evs {
		ev := &evs[i]
		switch id := bytesOf(uint64(ev.ID)); ev.Kind {
		case store.EventInsert:
			e := *ev.Entry
			e.ID = ev.ID
			args = append(args, "i", id, keyText(&ev.Entry.Key), seal.appendAnswer(nil, &e, m), untilServed(&e), records[0].From, records[0].To)
			records = records[1:]
		case store.EventVector:
			args = append(args, "v", id, "", records[0].From, records[0].To)
			records = records[1:]
		case store.EventAlias:
			args = append(args, "a", id, keyText(&ev.Key), binary.LittleEndian.AppendUint64(nil, ev.Basis))
		case store.EventEvict, store.EventExpire, store.EventPurge:
			args = append(args, "d", id, keyText(&ev.Key))
		}
	}
	v, err := s.link.run(ctx, appendScript, []string{s.link.keys.head, s.link.keys.log, s.link.keys.aliases}, args...)
	if err != nil {
		return p, fmt.Errorf("append events: %w", err)
	}
	return s.link.appended(m, v)
}

// appended reads the answer of appendScript.
func (l *link) appended(m store.Mark, v any) (p store.Position, err error) {
	r, err := fields(v, 3)
	if err != nil {
		return p, err
	}
	switch r[0] {
	case "3":
		return p, fmt.Errorf("append events: %w", store.ErrFull)
	case "0":
		now, ok := markOf(r[1], r[2])
		if ok && now.Log == m.Log && now.Purges > m.Purges {
			return p, fmt.Errorf("append events: %w", store.ErrPurged)
		}
		return p, fmt.Errorf("append events: %w", store.ErrGap)
	}
	log := m.Log
	if r[0] == "1" && len(r) > 3 {
		l.countForeign(r[3])
	} else if now, ok := markOf(r[3], "0"); ok {
		log = now.Log
	}
	return position(log, r[1], r[2])
}

// keyText is a key as text that shares its memory.
func keyText(k *store.Key) string { return unsafe.String(&k[0], len(k)) }

// untilServed is until when an answer may be served at all, in milliseconds since 1970; 0 is for ever. It is over one millisecond late
// at most: who serves it looks at its times.
func untilServed(e *store.Entry) int64 {
	if e.Expires.IsZero() {
		return 0
	}
	end := e.Expires
	if e.StaleUntil.After(end) {
		end = e.StaleUntil
	}
	return max(end.Add(time.Millisecond-1).UnixMilli(), 1)
}

// Purge makes f a batch of the log, and returns the mark after it: what was written under an older mark may be what f selects. The entries
// themselves are removed by events that follow. serial is as for Append. store.ErrGap says that the store has no head.
func (s *Shared) Purge(ctx context.Context, serial uint64, f store.Filter) (m store.Mark, err error) {
	filter, err := json.Marshal(f)
	if err != nil {
		return m, fmt.Errorf("purge: %w", err)
	}
	v, err := s.link.run(ctx, purgeScript, []string{s.link.keys.head, s.link.keys.mark, s.link.keys.log, s.link.keys.purges}, s.processArg(), serial, logLength, filter)
	if err != nil {
		return m, fmt.Errorf("purge: %w", err)
	}
	if r, err := fields(v, 2); err == nil {
		if m, ok := markOf(r[0], r[1]); ok {
			return m, nil
		}
	}
	return m, fmt.Errorf("purge: %w", store.ErrGap)
}

// Finish notes that all that some purges name has left: see store.Pulse. m is the mark after one; those of another log are left out.
func (s *Shared) Finish(ctx context.Context, purges ...store.Mark) error {
	if len(purges) == 0 {
		return nil
	}
	args := []any{logName(purges[0].Log)}
	for _, m := range purges {
		if m.Log == purges[0].Log {
			args = append(args, m.Purges)
		}
	}
	if _, err := s.link.run(ctx, finishScript, []string{s.link.keys.head, s.link.keys.purges}, args...); err != nil {
		return fmt.Errorf("finish purges: %w", err)
	}
	return nil
}
