package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	redis "github.com/redis/go-redis/v9"

	"reprise/internal/redistest"
	"reprise/store"
)

// TestForeignAnswers: a value that is damaged, or that another program has written, is no answer, and is counted.
func TestForeignAnswers(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	m := beat(t, s).Mark
	key := store.Key{1}
	name := s.link.keys.answer(key)
	appendAll(t, s, m, insert(entry(1, 1, "because")))
	good, _ := server.Must("GET", name).(string)
	refused := func(what string, counted bool) {
		t.Helper()
		before := s.Foreign()
		if f, err := s.Fetch(t.Context(), key); err != nil || f.Entry != nil || f.Now != m {
			t.Errorf("%s: fetched %+v %v", what, f, err)
		}
		if (s.Foreign() > before) != counted {
			t.Errorf("%s: %d counted", what, s.Foreign()-before)
		}
	}
	for i := range good {
		b := []byte(good)
		b[i] ^= 1 << (i % 8)
		server.Must("SET", name, string(b))
		refused(fmt.Sprintf("bit of byte %d", i), true)
		server.Must("SET", name, good[:i])
		refused(fmt.Sprintf("%d bytes", i), true)
	}
	server.Must("SET", name, "hello")
	refused("text", true)
	server.Must("DEL", name)
	server.Must("RPUSH", name, "a")
	refused("list", false) // MGET reads it as nothing
	server.Must("DEL", name)
	server.Must("SET", s.link.keys.answer(store.Key{2}), good)
	key = store.Key{2}
	refused("the answer of another key", true)
	key = store.Key{1}
	server.Must("RPUSH", name, "a")
	appendAll(t, s, m, insert(entry(1, 1, "again")))
	if f, err := s.Fetch(t.Context(), key); err != nil || f.Entry == nil {
		t.Errorf("after an append: %+v %v", f, err)
	}
}

// TestForeignKeys: wherever another program has put a value of another type, the store replaces it and goes on.
func TestForeignKeys(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	all := []string{"mark", "log", "x", "members", "keeper", "process", "r:1", "s:1"}
	for _, spoiled := range append([]string{"head"}, all...) {
		for _, put := range [][]string{{"SET", "hello"}, {"RPUSH", "a"}, {"HSET", "a", "b"}} {
			m := beat(t, s).Mark
			appendAll(t, s, m, insert(entry(1, 1, "a")), store.Event{Kind: store.EventAlias, ID: 1, Key: store.Key{9}})
			name := s.link.keys.prefix + spoiled
			server.Must("DEL", name)
			server.Must(append([]string{put[0], name}, put[1:]...)...)
			p := beat(t, s)
			if _, err := s.Append(t.Context(), p.Mark, next(), []store.Event{insert(entry(1, 1, "b")), {Kind: store.EventAlias, ID: 1, Key: store.Key{8}}, {Kind: store.EventUse, ID: 1}}); err != nil {
				t.Fatalf("%s %s: append: %v", put[0], spoiled, err)
			}
			if _, err := s.Beat(t.Context(), p.End, true); err != nil {
				t.Errorf("%s %s: beat: %v", put[0], spoiled, err)
			}
			if _, err := s.Purge(t.Context(), next(), store.Filter{}); err != nil {
				t.Errorf("%s %s: purge: %v", put[0], spoiled, err)
			}
			within(t, spoiled, func() bool {
				_, err := s.Read(t.Context(), store.Position{}, time.Millisecond)
				return err == nil || errors.Is(err, store.ErrGap)
			})
			if got := records(t, s); spoiled != "x" && len(got) < 2 {
				t.Errorf("%s %s: records %v", put[0], spoiled, got)
			}
			other, err := Open(t.Context(), Options{URL: "redis://" + server.Addr})
			if err != nil {
				t.Errorf("%s %s: open: %v", put[0], spoiled, err)
			} else {
				other.Close()
			}
		}
	}
	if s.Foreign() == 0 {
		t.Error("nothing was counted")
	}
}

// TestForeignRecords: a record that does not decode is skipped, and counted.
func TestForeignRecords(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr})
	appendAll(t, s, beat(t, s).Mark, insert(entry(1, 1, "a")))
	r1, r2 := s.link.keys.bucket(store.KindEntry, 1), s.link.keys.bucket(store.KindEntry, 2)
	good, _ := server.Must("HGET", r1, field(store.KindEntry, 1)).(string)
	for i, pair := range [][2]string{{"name", "body"}, {field(store.KindEntry, 2), ""}, {field(store.KindEntry, 3), "\x01" + strings.Repeat("x", 200)}, {field(store.KindEntry, 4), good[:len(good)-1]}, {field(store.KindState, 5), "\x07"}} {
		server.Must("HSET", r2, pair[0], pair[1])
		var ids []uint64
		report, err := (&backing{s: s}).Load(func(r store.Record) error { ids = append(ids, r.ID); return nil })
		if err != nil || report.Skipped != i+1 || len(ids) != 2 || ids[0] != 1 {
			t.Errorf("%q: %+v %v, ids %v", pair[0], report, err, ids)
		}
	}
}

// TestForgedAnswer: who can write to the server and does not have the secret cannot make an answer, nor move one to another key.
func TestForgedAnswer(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	s := open(t, Options{URL: "redis://" + server.Addr, Secret: "a secret of the test"})
	m := beat(t, s).Mark
	e, other := entry(1, 1, "true"), entry(2, 2, "true")
	appendAll(t, s, m, insert(e), insert(other))
	good, _ := server.Must("GET", s.link.keys.answer(e.Key)).(string)
	forged := newSeal([32]byte{1}).appendAnswer(nil, entry(2, 2, "forged"), m)
	for title, value := range map[string]string{"another secret": string(forged), "of another key": good, "changed": strings.Replace(good, "true", "fals", 1)} {
		server.Must("SET", s.link.keys.answer(other.Key), value)
		if f, err := s.Fetch(t.Context(), other.Key); err != nil || f.Entry != nil {
			t.Errorf("%s: fetched %+v %v", title, f.Entry, err)
		}
	}
	if f, err := s.Fetch(t.Context(), e.Key); err != nil || f.Entry == nil || s.Foreign() != 3 {
		t.Errorf("%+v %v, %d foreign", f.Entry, err, s.Foreign())
	}
}

// FuzzValues: what a server may hold under our keys never makes a decoder fail otherwise than by an error.
func FuzzValues(f *testing.F) {
	m := store.Mark{Log: 5, Purges: 2}
	e := entry(7, 1, "because")
	payload, records := store.AppendEvents(nil, []store.Event{insert(e), {Kind: store.EventUse, ID: 7}}, "")
	mine := newSeal([32]byte{1})
	value := mine.appendAnswer(nil, e, m)
	f.Add(value, "0000000000000005:2", "12")
	f.Add(payload, "0000000000000005:2", "1")
	f.Add(payload[records[0].From:records[0].To], "x:y", "-1")
	f.Add([]byte(`{"entry":5}`), "0000000000000005:2", "1")
	f.Add([]byte("0123456789abcdef 5 1700000000000000 name"), "", "65536")
	f.Fuzz(func(t *testing.T, value []byte, mark, number string) {
		if got, written, ok := mine.decodeAnswer(e.Key, value); ok && !bytes.Equal(mine.appendAnswer(nil, &store.Entry{ID: got.ID, Key: e.Key, Labels: got.Labels}, written)[:answerPurges], value[:answerPurges]) {
			t.Error("the head of an answer is read as another one")
		}
		for _, name := range []string{"d", "f"} {
			values := map[string]any{"n": number, "p": "0-0", "m": mark, "o": number, "s": number, name: string(value)}
			l, err := decodeMessage(redis.XMessage{ID: "1-1", Values: values}, "", "0-0", 0, "")
			if err == nil && (l.N != 1 || l.Mark.Log == 0 && !strings.HasPrefix(mark, "0")) || err != nil && !errors.Is(err, store.ErrGap) {
				t.Errorf("%+v %v", l, err)
			}
		}
		var report store.Report
		l := loading{s: &Shared{}, fn: func(store.Record) error { return nil }, report: &report}
		for _, kind := range store.Kinds() {
			for _, form := range []string{"", "\x00", "\x01"} {
				if err := l.record(field(kind, 7), form+string(value)); err != nil {
					t.Error(err)
				}
			}
		}
		l.record(number, mark)
		membersOf([]any{number, string(value), mark}, time.Now())
		pulse([]string{mark, number, number, mark, number, number, number, number, mark, "", number})
	})
}

// TestMessageOfAnotherHistory: a batch is the next one only where it names the one before.
func TestMessageOfAnotherHistory(t *testing.T) {
	log := logName(5)
	values := map[string]any{"n": "3", "p": "10-0", "m": log + ":2", "o": "7", "s": "9", "d": ""}
	for title, change := range map[string]func(map[string]any){
		"the next":       func(map[string]any) {},
		"other before":   func(v map[string]any) { v["p"] = "9-0" },
		"other number":   func(v map[string]any) { v["n"] = "4" },
		"other log":      func(v map[string]any) { v["m"] = logName(6) + ":2" },
		"no mark":        func(v map[string]any) { delete(v, "m") },
		"damaged events": func(v map[string]any) { v["d"] = "x" },
		"damaged filter": func(v map[string]any) { v["f"] = "x" },
	} {
		v := map[string]any{}
		for name, value := range values {
			v[name] = value
		}
		change(v)
		_, err := decodeMessage(redis.XMessage{ID: "11-0", Values: v}, log, "10-0", 2, "")
		if title == "the next" != (err == nil) || err != nil && !errors.Is(err, store.ErrGap) {
			t.Errorf("%s: %v", title, err)
		}
	}
}
