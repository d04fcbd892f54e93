package cache

import (
	"encoding/binary"
	"fmt"

	"reprise/embed"
	"reprise/topics/reuse/evidence"
)

// What was counted survives a restart: the store keeps it beside the entries. Where processes share a store, each sample is an event of the
// log, which the others count too, and one of them writes the counts for a process that starts. That one may count a few samples of the
// seconds before its start twice, or lack those of the last half-minute.

// keepEvidence connects what l counts with the store of o, and with its log. Evidence of Options belongs to the caller alone.
func (l *learner) keepEvidence(o *Options) {
	if o.Evidence != nil {
		return
	}
	o.Store.KeepEvidence(l)
	l.log = o.Log
}

// Counts implements store.Counter.
func (l *learner) Counts() []byte {
	frames := l.templates.Append(nil)
	if len(frames) == 0 {
		return l.Rates().Append(nil)
	}
	return l.Rates().Append(append(binary.AppendUvarint([]byte{withFrames}, uint64(len(frames))), frames...))
}

// withFrames is the first byte of counts behind frames. Those of evidence begin with their version.
const withFrames = 0xfe

// splitFrames returns the frames, and what is behind them.
func splitFrames(body []byte) (frames, rest []byte) {
	if len(body) == 0 || body[0] != withFrames {
		return nil, body
	}
	size, n := binary.Uvarint(body[1:])
	if body = body[1+max(n, 0):]; n <= 0 || size > uint64(len(body)) {
		return nil, nil
	}
	return body[:size], body[size:]
}

// restoreEvidence makes the counts those that the store has kept. Bytes that cannot be read, as of another version, change nothing.
func (l *learner) restoreEvidence(body []byte) error {
	if body == nil {
		return nil
	}
	return guard("evidence", func() error {
		frames, body := splitFrames(body)
		l.templates.restore(frames)
		book, err := evidence.Decode(body, l.meaning.Load().of)
		if err != nil {
			return fmt.Errorf("read what was counted of reused answers, which starts again from nothing: %w", err)
		}
		l.learning.Lock()
		defer l.learning.Unlock()
		l.book = book
		l.renewLocked()
		return nil
	})
}

// adopt makes e the embedder whose similarities are counted, which was not known before.
func (l *learner) adopt(e embed.Embedder) error {
	return guard("evidence", func() error {
		l.learning.Lock()
		defer l.learning.Unlock()
		now := newMeaning(e)
		l.meaning.Store(now)
		book, err := evidence.Decode(l.book.Rates().Append(nil), now.of)
		if err == nil {
			l.book = book
			l.renewLocked()
		}
		return err
	})
}

// count counts a sample that another process has learned.
func (l *learner) count(body []byte) error {
	return guard("evidence", func() error {
		s, err := evidence.DecodeSample(body)
		if err != nil {
			return err
		}
		l.learning.Lock()
		defer l.learning.Unlock()
		l.book.Add(s)
		l.renewLocked()
		return nil
	})
}
