package redis

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"strconv"
	"strings"
	"unsafe"

	"reprise/policy"
	"reprise/store"
)

// The value of an answer is a head, and what store.AppendAnswer makes: 3 bytes that say whose it is and in which form, the id
// of the entry (the script that appends reads it there), the log of the mark under which it was written, a checksum of the key and all the
// rest, and the purges of that mark.
const (
	answerMagic = "RP\x01"
	answerSum   = len(answerMagic) + 2*8
	answerHead  = answerSum + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendAnswer(b []byte, e *store.Entry, m store.Mark) []byte {
	at := len(b)
	b = append(b, answerMagic...)
	for _, n := range [...]uint64{uint64(e.ID), m.Log} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = binary.AppendUvarint(append(b, 0, 0, 0, 0), m.Purges)
	b = store.AppendAnswer(b, e)
	binary.BigEndian.PutUint32(b[at+answerSum:], sumOf(e.Key, b[at:]))
	return b
}

// sumOf is the checksum of a value under a key: one that was copied to another key is damaged.
func sumOf(key store.Key, value []byte) uint32 {
	sum := crc32.Update(crc32.Checksum(key[:], castagnoli), castagnoli, value[:answerSum])
	return crc32.Update(sum, castagnoli, value[answerHead:])
}

// decodeAnswer reads a value. The answer is a part of it.
func decodeAnswer(key store.Key, value []byte) (e *store.Entry, written store.Mark, ok bool) {
	if len(value) < answerHead || string(value[:len(answerMagic)]) != answerMagic ||
		binary.BigEndian.Uint32(value[answerSum:]) != sumOf(key, value) {
		return nil, written, false
	}
	number := func(i int) uint64 { return binary.BigEndian.Uint64(value[len(answerMagic)+8*i:]) }
	purges, n := binary.Uvarint(value[answerHead:])
	if n <= 0 {
		return nil, written, false
	}
	e, err := store.DecodeAnswer(policy.ID(number(0)), key, value[answerHead+n:])
	return e, store.Mark{Log: number(1), Purges: purges}, err == nil
}

// Fetch reads what is under a key, by one command: the entry with its answer, and of the rest what is needed to serve it; see
// store.DecodeAnswer. A Now of zero says that the store has no head, because the server was emptied. A value that is damaged or not ours
// is counted and is no entry.
func (s *Shared) Fetch(ctx context.Context, key store.Key) (f store.Fetched, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	v, err := s.client().MGet(ctx, s.keys.mark, s.keys.answer(key)).Result()
	if err != nil {
		return f, s.seen(err)
	}
	if mark, ok := v[0].(string); ok {
		f.Now, _ = parseMark(mark)
	}
	value, ok := v[1].(string)
	if !ok {
		return f, nil
	}
	e, written, ok := decodeAnswer(key, unsafe.Slice(unsafe.StringData(value), len(value))) // entries never change
	if !ok {
		s.foreign.Add(1)
		return f, nil
	}
	f.Entry, f.Written = e, written
	return f, nil
}

// A mark is text in the server: the log in hexadecimal digits, a colon, the purges.

func parseMark(text string) (m store.Mark, ok bool) {
	log, purges, _ := strings.Cut(text, ":")
	return markOf(log, purges)
}

func markOf(log, purges string) (m store.Mark, ok bool) {
	var err, other error
	m.Log, err = strconv.ParseUint(log, 16, 64)
	m.Purges, other = strconv.ParseUint(purges, 10, 64)
	if err != nil || other != nil || len(log) != 16 {
		return store.Mark{}, false
	}
	return m, true
}

func logName(log uint64) string {
	text := strconv.FormatUint(log, 16)
	return strings.Repeat("0", 16-len(text)) + text
}
