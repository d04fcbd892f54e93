package apitest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"reprise/proxy/answer"
)

// linksOf are the ids in an answer that a replay replaces because they only link parts of a conversation.
func linksOf(z *answer.Frozen) map[string]bool {
	ids := map[string]bool{}
	for _, s := range z.Slots {
		if id := strings.Trim(string(z.Body[s.Off:][:s.Len]), `"`); s.Kind == answer.SlotLink && answer.IsLink(id) {
			ids[id] = true
		}
	}
	return ids
}

// testLinks: a replay with a nonce has other ids in both forms, wherever they stand, and is the same in everything else.
func (x suite) testLinks(t *testing.T) {
	for _, a := range x.answers {
		z := x.freeze(t, a)
		ids := linksOf(z)
		for _, stream := range []bool{a.Stream, !a.Stream} {
			if stream && x.Answers.Streams == nil || stream != a.Stream && !z.Converts() {
				continue
			}
			want := replay(t, z, answer.ReplayOptions{Stream: stream, IncludeUsage: true})
			nonce := [12]byte{7}
			for range 3 {
				nonce[0]++
				got := replay(t, z, answer.ReplayOptions{Stream: stream, IncludeUsage: true, Nonce: nonce})
				checkLinks(t, fmt.Sprintf("%s as a stream %v", a.Name, stream), x.Answers, nonce, ids, got, want)
			}
		}
	}
}

// checkLinks compares a replay with one that has the original ids.
func checkLinks(t *testing.T, name string, f *answer.Form, nonce [12]byte, ids map[string]bool, got, want []byte) {
	t.Helper()
	back := bytes.Clone(got)
	made := map[string]string{}
	for id := range ids {
		with := string(f.Links.NewLink(nil, nonce, id))
		if other, ok := made[with]; ok || with == id || !answer.IsLink(with) {
			t.Errorf("%s: %q becomes %q, as %q does", name, id, with, other)
		}
		made[with] = id
		if bytes.Contains(got, []byte(`"`+id+`"`)) {
			t.Errorf("%s: has the id %s in\n%s", name, id, got)
		}
		back = bytes.ReplaceAll(back, []byte(`"`+with+`"`), []byte(`"`+id+`"`))
	}
	if !bytes.Equal(back, want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, back, want)
	}
}
