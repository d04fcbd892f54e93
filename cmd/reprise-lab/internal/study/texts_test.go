package study

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim"
	"reprise/cmd/reprise-lab/sim/trace"
	"reprise/embed"
)

// writeData makes a folder of small files in the formats of the real ones.
func writeData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var trees, talks, utterances strings.Builder
	for i := range 2100 {
		a := 4 * i
		fmt.Fprintf(&trees, `{"idx":%d,"tree":%d,"parent_idx":null,"role":"prompter","text":"ask %d"}`+"\n", a, i, i)
		fmt.Fprintf(&trees, `{"idx":%d,"tree":%d,"parent_idx":%d,"role":"assistant","text":"well %d"}`+"\n", a+1, i, a, i)
		fmt.Fprintf(&trees, `{"idx":%d,"tree":%d,"parent_idx":%d,"role":"prompter","text":"thanks %d"}`+"\n", a+2, i, a+1, i)
		fmt.Fprintf(&trees, `{"idx":%d,"tree":%d,"parent_idx":%d,"role":"assistant","text":"or well %d"}`+"\n", a+3, i, a, i)
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

// TestTemplatedTexts: a text trace behind templates has nearly the hits that it has bare.
func TestTemplatedTexts(t *testing.T) {
	all, err := newLab(t.Context(), Setup{Data: writeData(t), Seeds: []uint64{1}, Shrink: 20}).templated()
	if err != nil || len(all) != 2*len(templatedTexts) {
		t.Fatalf("%d outcomes: %v", len(all), err)
	}
	for i := 0; i < len(all); i += 2 {
		bare, framed := all[i].rows(HitRatio)[0], all[i+1].rows(HitRatio)[0]
		was, is := bare.Values["infinite"][0], framed.Values["infinite"][0]
		if was == 0 || is < was*3/4 || is > was {
			t.Errorf("%s: a hit ratio of %v, bare %v", framed.Case, is, was)
		}
	}
	if s := templatedSection(all); len(s.Blocks) != 2 {
		t.Errorf("%d blocks", len(s.Blocks))
	}
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

// TestTextsKeepTheOrderOfTalks: every path of a tree is played, and the user's side of SGD's dialogues.
func TestTextsKeepTheOrderOfTalks(t *testing.T) {
	texts := textsOf(t, writeData(t))
	for name, want := range map[string][]string{
		"oashuf":  {"ask/or well", "ask/well/thanks"},
		"oazipf":  {"ask/or well", "ask/well/thanks"},
		"oadrift": {"ask", "ask/thanks"},
		"sgd":     {"book/no thanks/wait"},
	} {
		found := map[string]bool{}
		for _, talk := range talksOf(texts[name].Verbatim(3)) {
			found[talk] = true
		}
		if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
			t.Errorf("%s: talks %q, want %q", name, got, want)
		}
	}
}

var numbers = regexp.MustCompile(" [0-9]+")

// talksOf returns the texts of each conversation of s except the last, without numbers.
func talksOf(s *sim.Slice) (talks []string) {
	for _, r := range s.All {
		text := numbers.ReplaceAllString(r.Content.Text, "")
		if r.Turn == 0 {
			talks = append(talks, text)
		} else {
			talks[len(talks)-1] += "/" + text
		}
	}
	return talks[:len(talks)-1]
}

func TestPathsOfDeepSiblings(t *testing.T) {
	at := func(i int) *int { return &i }
	paths, err := pathsOf([]message{{0, 0, nil, "", "a"}, {1, 0, at(0), "", "b"}, {2, 0, at(1), "", "c"}, {3, 0, at(2), "", "d"},
		{4, 0, at(2), "", "e"}, {5, 0, at(0), "", "f"}})
	var got []string
	for _, p := range paths {
		path := ""
		for _, l := range p.lines {
			path += l.text
		}
		got = append(got, path)
	}
	if want := []string{"abcd", "abce", "af"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("paths %q, %v, want %q", got, err, want)
	}
}

func TestTextsHaveSizesOfAnswers(t *testing.T) {
	texts := textsOf(t, writeData(t))
	first := map[string]sim.Request{}
	for _, r := range append(texts["oashuf"].Verbatim(1).All, texts["sgd"].Verbatim(1).All...) {
		first[numbers.ReplaceAllString(r.Content.Text, "")] = r
	}
	for text, size := range map[string]int64{"no thanks": 8, "wait": 4} { // of "good bye", and its own
		if got := first[text]; got.Size != size || got.Cost != float64(size/4) {
			t.Errorf("%q has size %d and cost %v, want %d and %d", text, got.Size, got.Cost, size, size/4)
		}
	}
	// "well N" answers "ask N"; the second answer is not counted.
	if ask := first["ask"]; ask.Size != int64(len(ask.Content.Text))+1 {
		t.Errorf("%q has size %d, want that of its first answer", ask.Content.Text, ask.Size)
	}
}

func TestTextsNeedTheirFiles(t *testing.T) {
	if _, err := Texts(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"dialogue/oasst1_en", `{"idx":1,"tree":0,"parent_idx":7,"role":"prompter","text":"a"}`, "before its parent"},
		{"dialogue/oasst1_en", `{"idx":1,"tree":0,"role":"prompter","text":"a"}`, "want 700"},
		{"dialogue/sgd", `{"turns":[["U","a"]]}` + "\n" + `{"turns":7}`, "line 2"},
		{"intent/clinc150", `{"text":`, "record 1"},
		{"intent/hwu64", "", "no records"},
	} {
		dir := writeData(t)
		pack(t, filepath.Join(dir, c.name+".jsonl.gz"), c.text)
		if _, err := Texts(dir); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s with %s: %v, want %q", c.name, c.text, err, c.want)
		}
	}
}

// onCircle returns a request for each angle, with the vector of that direction.
func onCircle(degrees ...float64) *sim.Slice {
	s := &sim.Slice{}
	for i, d := range degrees {
		v := []float32{float32(math.Cos(d * math.Pi / 180)), float32(math.Sin(d * math.Pi / 180))}
		s.All = append(s.All, sim.Request{ID: uint64(d) + 1, Content: &sim.Content{Vector: v}, Turn: int32(i)})
	}
	return s
}

func ids(s *sim.Slice) (all []uint64) {
	for _, r := range s.All {
		all = append(all, r.ID)
	}
	return all
}

func TestClasses(t *testing.T) {
	gate := math.Cos(10.5 * math.Pi / 180)
	for _, c := range []struct {
		says string
		s    *sim.Slice
		want []uint64
	}{
		{"equal texts", onCircle(0, 0), []uint64{1, 1}},
		{"near and far", onCircle(0, 10, 11), []uint64{1, 1, 12}},
		{"only the first member attracts others", onCircle(0, 10, 20), []uint64{1, 1, 21}},
		{"the nearer one", onCircle(0, 12, 8, 8), []uint64{1, 13, 13, 13}},
		{"a text keeps its class", onCircle(8, 0, 17, 26, 17), []uint64{9, 9, 9, 27, 9}},
	} {
		if err := Classes(c.s, gate); err != nil || !slices.Equal(ids(c.s), c.want) {
			t.Errorf("%s: classes %v, %v, want %v", c.says, ids(c.s), err, c.want)
		}
	}
}

func TestClassesOfParents(t *testing.T) {
	s := onCircle(0, 5, 90, 0)
	s.All[1].Parent, s.All[2].Parent = 1, 6 // of its own class, and a member of a class
	s.All = append(s.All, sim.Request{ID: 500, Content: &sim.Content{}}, sim.Request{ID: 501})
	if err := Classes(s, 0.9); err != nil {
		t.Fatal(err)
	}
	if got, want := ids(s), []uint64{1, 1, 91, 1, 500, 501}; !slices.Equal(got, want) {
		t.Errorf("classes %v, want %v", got, want)
	}
	if s.All[1].Parent != 0 || s.All[2].Parent != 1 {
		t.Errorf("parents %d and %d, want none and the class 1", s.All[1].Parent, s.All[2].Parent)
	}
}

func TestClassesRefuseWhatIsNoDirection(t *testing.T) {
	s := onCircle(0)
	s.All[0].Content.Vector[0] = 3
	if err := Classes(s, 0.9); !errors.Is(err, embed.ErrVector) {
		t.Errorf("a vector of length 3: %v", err)
	}
}

func TestTextCases(t *testing.T) {
	shares := []float64{0.1, 0.2}
	cases, err := TextCases(writeData(t), shares, true)
	if err != nil || len(cases) != 2*len(textKinds) {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for i, c := range cases {
		if want := textKinds[i/2].name + " clustered"; c.Name != want || c.Capacity.Share != shares[i%2] {
			t.Errorf("case %d is %s at %v, want %s at %v", i, c.Name, c.Capacity, want, shares[i%2])
		}
	}
	first, err := cases[0].Trace(1)
	second, err2 := cases[1].Trace(1)
	if err := errors.Join(err, err2); err != nil || first != second {
		t.Errorf("two shares of a trace read it twice: %v", err)
	}
	// 300 utterances that differ by a number are one topic, and not 300.
	clustered, err := cases[6].Trace(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range clustered.(*sim.Slice).All {
		if r.Topic != 1 {
			t.Fatalf("%q has topic %d, want the first one", r.Content.Text, r.Topic)
		}
	}
}

// published are the hit ratios of an infinite cache in the reference, for its traces.
var published = map[string]float64{"oashuf": 0.398, "oazipf": 0.653, "oadrift": 0.771, "clinc": 0.512, "sgd": 0.297}

// TestTextsRepeatAsPublished compares the traces of the real data with the published ones, which used another embedder.
func TestTextsRepeatAsPublished(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: the traces of real texts are not made")
	}
	for name, text := range textsOf(t, dir) {
		made, err := text.Trace(1)
		if err != nil {
			t.Fatal(err)
		}
		ratio := hitRatioInfinite(made.(*sim.Slice))
		verbatim := hitRatioInfinite(text.Verbatim(1))
		t.Logf("%-8s infinite cache: classes %.3f, verbatim %.3f, published %.3f", name, ratio, verbatim, published[name])
		if want := published[name]; want > 0 && math.Abs(ratio-want) > 0.1 {
			t.Errorf("%s: an infinite cache hits %.3f, published is %.3f", name, ratio, want)
		}
	}
}

func hitRatioInfinite(s *sim.Slice) float64 {
	distinct := map[uint64]bool{}
	for _, r := range s.All {
		distinct[r.ID] = true
	}
	return 1 - float64(len(distinct))/float64(len(s.All))
}
