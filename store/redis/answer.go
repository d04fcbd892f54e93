package redis

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"reprise/policy"
	"reprise/store"
)

// The value of an answer is 3 bytes that say whose it is and in which form, the id of the entry (the script that appends reads it there), the
// mark under which it was written, what store.AppendAnswer makes, and a seal.
const (
	answerMagic  = "RP\x01"
	answerPurges = len(answerMagic) + 2*8
	nonceSize    = 12
	sealSize     = nonceSize + 16
)

// seal makes and checks the seals of answers: the tag of AES-GCM over a key and the value under it. So a value that was damaged, copied to
// another key, or made without the secret is recognised.
type seal struct{ aead cipher.AEAD }

func newSeal(secret [32]byte) *seal {
	key, err := hkdf.Key(sha256.New, secret[:], nil, "reprise answers", 32)
	if err != nil {
		panic(err) // the length is allowed
	}
	block, err := aes.NewCipher(key)
	if err == nil {
		var aead cipher.AEAD
		if aead, err = cipher.NewGCM(block); err == nil {
			return &seal{aead}
		}
	}
	panic(err)
}

// tag authenticates a value without its seal. It encrypts the key and drops the cipher text.
func (s *seal) tag(key store.Key, value, nonce []byte) []byte {
	var b [len(key) + sealSize - nonceSize]byte
	return s.aead.Seal(b[:0], nonce, key[:], value)[len(key):]
}

func (s *seal) appendAnswer(b []byte, e *store.Entry, m store.Mark) []byte {
	at := len(b)
	b = append(b, answerMagic...)
	for _, n := range [...]uint64{uint64(e.ID), m.Log} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = store.AppendAnswer(binary.AppendUvarint(b, m.Purges), e)
	var nonce [nonceSize]byte
	rand.Read(nonce[:])
	return append(append(b, nonce[:]...), s.tag(e.Key, b[at:], nonce[:])...)
}

// decodeAnswer reads a value. The answer is a part of it.
func (s *seal) decodeAnswer(key store.Key, value []byte) (e *store.Entry, written store.Mark, ok bool) {
	end := len(value) - sealSize
	if end < answerPurges || string(value[:len(answerMagic)]) != answerMagic {
		return nil, written, false
	}
	sum, value := value[end:], value[:end:end]
	if !hmac.Equal(s.tag(key, value, sum[:nonceSize]), sum[nonceSize:]) {
		return nil, written, false
	}
	number := func(i int) uint64 { return binary.BigEndian.Uint64(value[len(answerMagic)+8*i:]) }
	purges, n := binary.Uvarint(value[answerPurges:])
	if n <= 0 {
		return nil, written, false
	}
	e, err := store.DecodeAnswer(policy.ID(number(0)), key, value[answerPurges+n:])
	return e, store.Mark{Log: number(1), Purges: purges}, err == nil
}

// Fetch reads what is under a key, and what is under more keys, by one command: the entry with its answer, and of the rest what is needed to serve it; see
// store.DecodeAnswer. A Now of zero says that the store has no head, because the server was emptied. A value that is damaged or not ours
// is counted and is no entry.
func (s *Shared) Fetch(ctx context.Context, key store.Key, more ...store.Key) (f store.Fetched, err error) {
	keys := []string{s.link.keys.mark, s.link.keys.answer(key)}
	for _, k := range more {
		keys = append(keys, s.link.keys.answer(k))
	}
	v, err := s.link.client().MGet(ctx, keys...).Result()
	if err != nil {
		return f, s.link.seen(err)
	}
	f = s.fetched(key, v)
	for i, k := range more {
		f.More = append(f.More, s.fetched(k, []any{v[0], v[2+i]}))
	}
	return f, nil
}

// FetchOrLease is Fetch and, where nothing is under the key, Lease, by one command. A lease that the server refuses to give, because it is full
// or a replica, is no error: the caller does not have it.
func (s *Shared) FetchOrLease(ctx context.Context, key store.Key, ttl time.Duration) (f store.Fetched, err error) {
	k := &s.link.keys
	v, err := s.link.run(ctx, fetchScript, []string{k.mark, k.answer(key), k.flight(key)}, s.token, ttl.Milliseconds())
	if err != nil {
		return f, err
	}
	list, ok := v.([]any)
	if !ok || len(list) < 3 {
		return f, fmt.Errorf("fetch answer: %w", store.ErrDamaged)
	}
	f = s.fetched(key, list)
	switch lease := list[2].(type) {
	case int64:
		f.Leased = lease == 1
	case string:
		if strings.Contains(lease, readOnlyReply) {
			s.link.renew()
		}
	}
	return f, nil
}

// fetched reads a mark and a value.
func (s *Shared) fetched(key store.Key, v []any) (f store.Fetched) {
	if mark, ok := v[0].(string); ok {
		f.Now, _ = parseMark(mark)
	}
	value, ok := v[1].(string)
	if !ok {
		return f
	}
	e, written, ok := s.seal.Load().decodeAnswer(key, unsafe.Slice(unsafe.StringData(value), len(value))) // entries never change
	if !ok {
		s.link.foreign.Add(1)
		return f
	}
	f.Entry, f.Written = e, written
	return f
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
