package redis

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/store"
)

const (
	// leaseTime is how long a keeper stays one after its last beat.
	leaseTime = 1500 * time.Millisecond
	// silentTime is after how long a process is no member any more.
	silentTime = 5 * time.Minute
	// keptBatches and keptBytes bound what stays in the log that all members have applied: one that has just started may lack it.
	keptBatches, keptBytes = 256, 256 << 10
)

// Beat says that this process is alive and which batch it has applied, and returns the state of the store. With keep it takes the lease of
// the keeper where no other process has it, or renews its own; without, it leaves it. Where the server has no head, because it was
// emptied, it begins one: the mark then has another log, and there are no entries. The error is store.ErrProcess where another process has the
// number of this one, store.ErrSecret where others have begun the store again with another secret, and ErrUnreachable as that of Open.
func (s *Shared) Beat(ctx context.Context, applied store.Position, keep bool) (p store.Pulse, err error) {
	keeps := 0
	if keep {
		keeps = 1
	}
	args := append(s.beginArgs(), s.processArg(), s.token, applied.N, s.opt.Name, keeps, leaseTime.Milliseconds(), silentTime.Milliseconds(), keptBatches, keptBytes)
	v, err := s.link.run(ctx, beatScript, s.link.keys.begin(), args...)
	if err != nil {
		return p, fmt.Errorf("beat: %w", orUnreachable(err))
	}
	if list, ok := v.([]any); ok && len(list) == 0 {
		return p, fmt.Errorf("beat: %w", store.ErrProcess)
	}
	r, err := fields(v, 13)
	if err != nil {
		return p, fmt.Errorf("beat: %w", err)
	}
	s.link.countForeign(r[10])
	if r[8] != checkOf(s.Secret()) {
		return p, fmt.Errorf("beat: %w", store.ErrSecret)
	}
	p, ok := pulse(r)
	if !ok {
		return p, fmt.Errorf("beat: %w", store.ErrDamaged)
	}
	members, _ := v.([]any)[9].([]any)
	p.Members = membersOf(members, p.Time)
	unfinished, _ := v.([]any)[11].([]any)
	p.Unfinished = s.link.unfinished(unfinished)
	p.Full = r[12] == "1"
	return p, nil
}

// unfinished reads pairs of purges and filter; others are left out and counted.
func (l *link) unfinished(pairs []any) (all []store.Unfinished) {
	for i := 0; i+1 < len(pairs); i += 2 {
		purges, _ := pairs[i].(string)
		filter, _ := pairs[i+1].(string)
		var u store.Unfinished
		var err error
		if u.Purges, err = strconv.ParseUint(purges, 10, 64); err == nil {
			err = json.Unmarshal([]byte(filter), &u.Filter)
		}
		if err != nil {
			l.foreign.Add(1)
			continue
		}
		all = append(all, u)
	}
	slices.SortFunc(all, func(a, b store.Unfinished) int { return cmp.Compare(a.Purges, b.Purges) })
	return all
}

// pulse reads what beatScript returns, without the members.
func pulse(r []string) (p store.Pulse, ok bool) {
	var n [4]int64 // seconds and microseconds of the clock, keeper, milliseconds of its lease
	for i := range n {
		var err error
		if n[i], err = strconv.ParseInt(r[4+i], 10, 64); err != nil {
			return p, false
		}
	}
	if p.Mark, ok = markOf(r[0], r[1]); !ok || n[2] < 0 || n[2] > math.MaxUint16 {
		return p, false
	}
	var err error
	p.End, err = position(p.Mark.Log, r[2], r[3])
	p.Time, p.Keeper, p.Leased = time.Unix(n[0], n[1]*1000), uint16(n[2]), time.Duration(max(n[3], 0))*time.Millisecond
	return p, err == nil
}

// membersOf reads pairs of process and "TOKEN APPLIED MICROSECONDS NAME"; others are left out.
func membersOf(pairs []any, now time.Time) (all []store.Member) {
	for i := 0; i+1 < len(pairs); i += 2 {
		process, _ := pairs[i].(string)
		value, _ := pairs[i+1].(string)
		parts := strings.SplitN(value, " ", 4)
		n, err := strconv.ParseUint(process, 10, 16)
		if err != nil || len(parts) < 4 {
			continue
		}
		applied, _ := strconv.ParseUint(parts[1], 10, 64)
		beat, _ := strconv.ParseInt(parts[2], 10, 64)
		all = append(all, store.Member{Process: uint16(n), Name: parts[3], Applied: applied, Silent: max(now.Sub(time.UnixMicro(beat)), 0)})
	}
	slices.SortFunc(all, func(a, b store.Member) int { return int(a.Process) - int(b.Process) })
	return all
}
