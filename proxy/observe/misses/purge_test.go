package misses

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"reprise/store"
)

// TestForget: a purge of one entry leaves the counts, with the names of known fields and of headers; no digest, text, example or other name.
func TestForget(t *testing.T) {
	w := NewWatch(Options{Prompts: true, Now: func() time.Time { return now }, Known: func(field string) bool { return field == "user" }})
	w.keep(ask{tenant: "t", prompt: "p", fields: []string{"user=a", "system=x", "secret=1", "another=1", "header:X-Run=1"}}, 1)
	for _, fields := range [][]string{{"user=b", "system=x", "secret=1", "another=1", "header:X-Run=1"}, {"user=a", "system=x", "secret=2", "another=1", "header:X-Run=2"},
		{"user=a", "system=x", "secret=1", "another=2", "header:X-Run=2"}} {
		w.count(w.Why(ask{tenant: "t", prompt: "p", fields: fields}.request(), at(now), fresh), example("a prompt"))
	}
	w.Forget(store.Filter{Entry: 1})
	if x := &w.index; len(x.scopes)+len(x.texts)+len(x.owns)+len(x.asked)+len(x.places)+len(x.ring)+x.bytes+x.words+w.examples.bytes+w.examples.all.Len() != 0 {
		t.Errorf("%d scopes, %d texts, %d bytes, %d examples", len(x.scopes), len(x.texts), x.bytes, w.examples.all.Len())
	}
	r := w.Report(Settings{})
	if r.Misses != 3 || len(r.Groups) != 2 || !r.Forgotten.Equal(now) || !r.Emptied.IsZero() {
		t.Fatalf("%+v", r)
	}
	for i, want := range []string{"2 2 header:X-Run+other-fields", "1 1 user"} {
		if g := r.Groups[i]; fmt.Sprint(g.Count, " ", g.Hits, " ", strings.Join(g.Differs, "+")) != want || len(g.Examples) != 0 {
			t.Errorf("%+v, not %s", g, want)
		}
	}
	w.Forget(store.Filter{})
	if r := w.Report(Settings{}); r.Misses != 0 || !r.Forgotten.IsZero() || !r.Emptied.Equal(now) {
		t.Errorf("%+v", r)
	}
	now := now.Add(time.Hour)
	if w.o.Now = func() time.Time { return now }; !w.Report(Settings{}).Emptied.IsZero() {
		t.Error("a purge of an hour ago is reported")
	}
}
