package canon_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/canon"
)

// partsOf are the parts of a request by name.
func partsOf(t *testing.T, r *canon.Request) map[string]uint32 {
	t.Helper()
	all := map[string]uint32{}
	if !r.EachPart(r.Body, func(name string, digest uint32) {
		if _, twice := all[name]; twice {
			t.Errorf("the part %s comes twice", name)
		}
		all[name] = digest
	}) {
		t.Fatal("the request was not taken apart")
	}
	return all
}

// differing are the names of parts that two requests differ in.
func differing(a, b map[string]uint32) (names []string) {
	for name, digest := range a {
		if other, ok := b[name]; !ok || other != digest {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestParts: requests differ in the parts that were changed, and in no others.
func TestParts(t *testing.T) {
	const plain = `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}],"user":"u","a\nb":1,"stream":true}`
	base := partsOf(t, parse(t, chat, plain))
	if names := slices.Sorted(maps.Keys(base)); !slices.Equal(names, []string{"a\nb", canon.PartPreamble, "model", "user"}) {
		t.Fatalf("parts %q", names)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"hi"`, `"ho"`, ""},
		{`,"stream":true`, ``, ""},
		{`"a\nb":1`, `"a\u000ab" : 1.0`, ""},
		{`"user":"u",`, ``, "user"},
		{`"u"`, `"v"`, "user"},
		{`"u"`, `"u","x":null`, "x"},
		{`brief`, `brisk`, canon.PartPreamble},
		{`{"role":"system","content":"be brief"},`, ``, canon.PartPreamble},
		{`"content":"hi"`, `"content":"hi","name":"n"`, canon.PartAsk},
		{`"a\nb":1`, `"a\nb":2`, "a\nb"},
		{`"m"`, `"n","temperature":0,"top_p":1`, "model temperature top_p"},
	} {
		changed := strings.Replace(plain, c.from, c.to, 1)
		if changed == plain {
			t.Fatalf("%s is not there", c.from)
		}
		if got := strings.Join(differing(base, partsOf(t, parse(t, chat, changed))), " "); got != c.want {
			t.Errorf("%s in the place of %s: parts %q differ, not %q", c.to, c.from, got, c.want)
		}
	}
}

// TestPartsAreTheScope: whatever is changed, the parts differ where the scope does, and only there.
func TestPartsAreTheScope(t *testing.T) {
	for seed := range uint64(60) {
		rng := source(seed)
		body := chatRequest(rng, conversation(rng, rng.IntN(3)))
		plain := parse(t, chat, render(rng, body))
		parts := partsOf(t, plain)
		eachChange(body, "", func(path string) {
			other := parse(t, chat, render(rng, body))
			if names := differing(parts, partsOf(t, other)); (len(names) > 0) != (plain.Scope != other.Scope) {
				t.Fatalf("seed %d: after a change of %s the parts %q differ, and the scopes differ: %t", seed, path, names, plain.Scope != other.Scope)
			}
		})
	}
}

// TestManyParts: the members beyond the first ones are one part.
func TestManyParts(t *testing.T) {
	body := func(n, last int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"x%03d":%d,`, i, i)
		}
		return fmt.Sprintf(`{%s"z":%d,"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","name":"n","content":"hi"}]}`, b.String(), last)
	}
	for _, n := range []int{0, 17, 18, 19, 20, 21, 22, 100} {
		a, b := partsOf(t, parse(t, chat, body(n, 1))), partsOf(t, parse(t, chat, body(n, 2)))
		want := []string{"z"}
		if n+2 > 21 { // with model and z
			want = []string{canon.PartRest}
		}
		if got := differing(a, b); !slices.Equal(got, want) {
			t.Errorf("%d members: %q differ, not %q", n, got, want)
		}
		if a[canon.PartPreamble] == 0 || a[canon.PartAsk] == 0 || len(a) > 24 {
			t.Errorf("%d members: %d parts without the last ones: %v", n, len(a), a)
		}
	}
	if parse(t, chat, `{"model":"m","messages":[{"role":"user","content":"hi"}],"x":[`+strings.Repeat("123,", 40_000)+`1]}`).EachPart(nil, func(string, uint32) {}) {
		t.Error("a base that is hashed piece by piece was taken apart")
	}
}

// TestAsk: the last ask is the same in every scope and conversation.
func TestAsk(t *testing.T) {
	of := func(body string) canon.Hash { return parse(t, chat, body).Ask }
	one := of(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
	if other := of(`{"model":"n","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"hi"}]}`); other != one || one == (canon.Hash{}) {
		t.Error("one ask has two digests")
	}
	if of(`{"model":"m","messages":[{"role":"user","content":"ho"}]}`) == one {
		t.Error("two asks have one digest")
	}
	if of(`{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"b"}]}`) != (canon.Hash{}) {
		t.Error("a conversation that ends with an answer has an ask")
	}
}
