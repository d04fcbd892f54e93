package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	redis "github.com/redis/go-redis/v9"

	"reprise/store"
)

// A store.Position is named by the number of the log and the id of the message in the stream: LOG/ID. So one of another log is recognised.

func position(log uint64, n, id string) (p store.Position, err error) {
	p.N, err = strconv.ParseUint(n, 10, 64)
	if err != nil || id == "" {
		return store.Position{}, fmt.Errorf("read position: %w", store.ErrDamaged)
	}
	p.ID = logName(log) + "/" + id
	return p, nil
}

// split is the log and the message of a position; the start of any log is "" and 0-0.
func split(p store.Position) (log, id string) {
	if log, id, ok := strings.Cut(p.ID, "/"); ok {
		return log, id
	}
	return "", "0-0"
}

const readAtOnce = 256 // batches

// Read returns the batches after a position, at most some hundred, and waits for the first where there is none yet: none after wait is no
// error. store.ErrGap says that the log does not continue at this position: it was shortened, or the server has lost the batches since.
func (s *Shared) Read(ctx context.Context, after store.Position, wait time.Duration) ([]store.Logged, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+longest)
	defer cancel()
	log, id := split(after)
	block := max(wait, time.Millisecond)
	streams, err := s.link.reader().XRead(ctx, &redis.XReadArgs{Streams: []string{s.link.keys.log, id}, Count: readAtOnce, Block: block}).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, s.link.checkEnd(ctx, after)
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		s.link.foreign.Add(1)
		return nil, fmt.Errorf("read log: %w: %w", store.ErrGap, err)
	case err != nil:
		return nil, fmt.Errorf("read log: %w", s.link.seen(err))
	}
	var all []store.Logged
	for _, m := range streams[0].Messages {
		one, err := decodeMessage(m, log, id, after.N, *s.space.Load())
		if err != nil {
			if len(all) > 0 {
				return all, nil // the next call finds the gap again
			}
			return nil, fmt.Errorf("read log: %w", err)
		}
		all = append(all, one)
		after = one.Position
		log, id = split(after)
	}
	return all, nil
}

// checkEnd reports a gap where the log does not end at a position behind which the stream has nothing: the server has lost what it had, and
// the batches since have lower ids, or they were dropped.
func (l *link) checkEnd(ctx context.Context, at store.Position) error {
	end, err := l.end(ctx)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	log, id := split(at)
	endLog, endID := split(end)
	switch {
	case log == "" && end.N == 0, log == endLog && id == endID && at.N == end.N:
		return nil
	case end.N <= at.N || log != "" && log != endLog:
		return fmt.Errorf("read log: %w", store.ErrGap)
	}
	// A batch may have come since the read: then the stream has it now.
	next, err := l.client().XRangeN(ctx, l.keys.log, "("+id, "+", 1).Result()
	if err != nil {
		return fmt.Errorf("read log: %w", l.seen(err))
	}
	if len(next) == 0 {
		return fmt.Errorf("read log: %w", store.ErrGap)
	}
	return nil
}

// end is the end of the log by the head; store.ErrGap where there is no head.
func (l *link) end(ctx context.Context) (p store.Position, err error) {
	v, err := l.client().HMGet(ctx, l.keys.head, "log", "n", "last").Result()
	if err != nil {
		return p, l.seen(err)
	}
	h, err := fields(v, 3)
	if err != nil {
		return p, err
	}
	m, ok := markOf(h[0], "0")
	if !ok {
		return p, store.ErrGap
	}
	return position(m.Log, h[1], h[2])
}

// decodeMessage reads a batch, which must be the one after (log, id, n).
func decodeMessage(m redis.XMessage, log, id string, n uint64, space string) (one store.Logged, err error) {
	text := func(name string) string {
		v, _ := m.Values[name].(string)
		return v
	}
	mark, ok := parseMark(text("m"))
	process, err := strconv.ParseUint(text("o"), 10, 16)
	serial, other := strconv.ParseUint(text("s"), 10, 64)
	if err != nil || other != nil || !ok {
		return one, store.ErrGap
	}
	one = store.Logged{Mark: mark, Process: uint16(process), Serial: serial}
	if one.Position, err = position(mark.Log, text("n"), m.ID); err != nil {
		return one, store.ErrGap
	}
	if one.N != n+1 || text("p") != id || log != "" && log != logName(mark.Log) {
		return one, store.ErrGap
	}
	if filter := text("f"); filter != "" {
		one.Purge = &store.Filter{}
		err = json.Unmarshal([]byte(filter), one.Purge)
	} else {
		one.Events, err = store.DecodeEvents([]byte(text("d")), space)
	}
	if err != nil {
		return one, fmt.Errorf("%w: %w", store.ErrGap, err)
	}
	return one, nil
}

// TrimLog drops the batches before a position: what a purge has removed is not in the log any more. That of another log is dropped already.
func (s *Shared) TrimLog(ctx context.Context, through store.Position) error {
	log, id := split(through)
	if log == "" {
		return nil
	}
	if _, err := s.link.run(ctx, trimScript, []string{s.link.keys.head, s.link.keys.log}, log, id); err != nil {
		return fmt.Errorf("trim log: %w", err)
	}
	return nil
}
