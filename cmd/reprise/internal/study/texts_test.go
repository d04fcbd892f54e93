package study

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/policy/sim"
	"reprise/policy/sim/trace"
)

// writeData makes a folder of small files in the formats of the real ones.
func writeData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var trees, talks, utterances strings.Builder
	for i := range 900 {
		a := 4 * i
		fmt.Fprintf(&trees, `{"idx":%d,"tree":%d,"parent_idx":null,"role":"prompter","text":"ask %d"}`+"\n", a, i, i)
		fmt.Fprintf(&trees, `{"idx":%d,"tree":%d,"parent_idx":%d,"role":"assistant","text":"told %d"}`+"\n", a+1, i, a, i)
		fmt.Fprintf(&trees, `{"idx":%d,"tree":%d,"parent_idx":%d,"role":"prompter","text":"thanks %d"}`+"\n", a+2, i, a+1, i)
		fmt.Fprintf(&trees, `{"idx":%d,"tree":%d,"parent_idx":%d,"role":"assistant","text":"or so told %d"}`+"\n", a+3, i, a, i)
	}
	for i := range 4000 {
		fmt.Fprintf(&talks, `{"services":["S%d"],"turns":[["U","book %d"],["S","done"],["U","no thanks"],["S","good bye"],["U","wait"]]}`+"\n", i%3, i)
	}
	for i := range 300 {
		fmt.Fprintf(&utterances, `{"text":"utterance number %d","intent":"i%d"}`+"\n", i, i/10)
	}
	for name, text := range map[string]string{
		"dialogue/oasst1_en": trees.String(), "dialogue/sgd": talks.String(),
		"intent/clinc150": utterances.String(), "intent/banking77": utterances.String(), "intent/hwu64": utterances.String(),
	} {
		pack(t, filepath.Join(dir, name+".jsonl.gz"), text)
	}
	return dir
}

func pack(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte(text))
	if err := errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func textsOf(t *testing.T, dir string) map[string]Text {
	t.Helper()
	all, err := Texts(dir)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]Text{}
	for _, text := range all {
		named[text.Name] = text
	}
	return named
}

func TestTextsAreWhole(t *testing.T) {
	for name, text := range textsOf(t, writeData(t)) {
		s := text.Verbatim(1)
		if len(s.All) != textRequests {
			t.Errorf("%s: %d requests, want %d", name, len(s.All), textRequests)
		}
		if again := text.Verbatim(1); !reflect.DeepEqual(s, again) {
			t.Errorf("%s: the same seed makes another trace", name)
		}
		if reflect.DeepEqual(s.All, text.Verbatim(2).All) {
			t.Errorf("%s: another seed makes the same trace", name)
		}
		checkRequests(t, name, s)
	}
}

// checkRequests checks what holds of every request.
func checkRequests(t *testing.T, name string, s *sim.Slice) {
	t.Helper()
	var root sim.Request
	for i, r := range s.All {
		if r.Turn == 0 {
			root = r
		}
		parent := root.ID
		if r.Turn == 0 {
			parent = 0
		}
		switch {
		case r.ID != trace.Identity(r.Content.Text), r.Content.Vector == nil, r.At != float64(i), r.Topic == 0, r.Size == 0:
			t.Fatalf("%s: request %d is %+v", name, i, r)
		case r.Parent != parent, r.Conversation != root.Conversation, r.Topic != root.Topic:
			t.Fatalf("%s: request %d, %+v, does not follow the first of its conversation, %+v", name, i, r, root)
		}
	}
}

func TestTextsKeepTheOrderOfTalks(t *testing.T) {
	texts := textsOf(t, writeData(t))
	for name, want := range map[string]string{
		"oashuf": "ask N/told N/thanks N or ask N/or so told N", "oazipf": "ask N/told N/thanks N or ask N/or so told N",
		"oadrift": "ask N/thanks N or ask N", "sgd": "book N/no thanks/wait",
	} {
		talks := map[string]bool{}
		var talk []string
		for _, r := range texts[name].Verbatim(3).All {
			if r.Turn == 0 && talk != nil {
				talks[strings.Join(talk, "/")] = true
				talk = nil
			}
			talk = append(talk, strings.TrimRight(strings.Map(numberless, r.Content.Text), " "))
		}
		for got := range talks {
			if !strings.Contains(" or "+want+" or ", " or "+strings.ReplaceAll(got, "#", "N")+" or ") {
				t.Errorf("%s: a talk is %q, want %q", name, got, want)
			}
		}
		if n := strings.Count(want, " or ") + 1; name != "sgd" && len(talks) != n {
			t.Errorf("%s: %d kinds of talk, want %d: %v", name, len(talks), n, talks)
		}
	}
}
