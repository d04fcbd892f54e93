package api

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
)

// TestJudgeRules: each rule of the list is for APIs that exist and has what its kind needs, and no object has more names with rules than are read.
func TestJudgeRules(t *testing.T) {
	known := strings.Fields("chat completions responses embeddings messages ollama-chat ollama-generate")
	for i, r := range judgeRules {
		for _, name := range strings.Fields(r.apis) {
			if !slices.Contains(known, name) {
				t.Errorf("rule %d is for %q", i, name)
			}
		}
		kinds := 0
		for _, is := range []bool{r.says != nil, r.rejects != nil, r.against != nil} {
			if is {
				kinds++
			}
		}
		if kinds != 1 || r.apis == "" || r.paths == "" || (r.says == nil) != (r.reason != "") || (r.says == nil) != (r.source != "") {
			t.Errorf("rule %d: %+v", i, r)
		}
	}
	for _, name := range known {
		var walk func(p *place)
		walk = func(p *place) {
			if len(p.names) > mostNames {
				t.Errorf("%s: the names %q", name, p.names)
			}
			for _, m := range append(p.members, p.each...) {
				walk(m)
			}
		}
		j := Judge(name, nil).(*judge)
		if walk(&j.root); len(j.root.names) == 0 {
			t.Errorf("%s has no rules", name)
		}
	}
}

// naiveValues returns the values at a path, by itself: for each part all members, then all elements.
func naiveValues(v any, path string) []any {
	all := []any{v}
	for part := range strings.SplitSeq(strings.Trim(path, "."), ".") {
		name, kind, list := strings.Cut(strings.TrimSuffix(part, "]"), "[")
		var next []any
		for _, v := range all {
			if name != "" {
				m, _ := v.(map[string]any)
				v = m[name]
			}
			elements, isList := v.([]any)
			switch {
			case !list:
				next = append(next, v)
			case isList:
				for _, e := range elements {
					if m, _ := e.(map[string]any); kind == "" || m["type"] == kind {
						next = append(next, e)
					}
				}
			case v != nil && kind == "": // as the one element
				next = append(next, v)
			}
		}
		all = next
	}
	return all
}

// TestJudgeLikeOneByOne: the tree of places finds what each rule finds that looks for its own paths, in recorded answers and in ones of which
// a few members were changed.
func TestJudgeLikeOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	files, _ := filepath.Glob("*/testdata/*/answers/*.json")
	reasons := map[string]int{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(filepath.Dir(file)))
		for range 300 {
			var v any
			if err := json.Unmarshal(body, &v); err != nil {
				t.Fatal(err)
			}
			for range rng.IntN(3) {
				spoil(rng, v)
			}
			raw, _ := json.Marshal(v)
			want := ""
			for _, r := range judgeRules {
				for _, path := range strings.Fields(r.paths) {
					for _, v := range naiveValues(v, path) {
						soft := r.reason == answer.ReasonToolCalls || r.reason == answer.ReasonLiveWeb
						if r.rejects == nil || soft || want != "" || !slices.Contains(strings.Fields(r.apis), name) {
							continue
						}
						one := gjson.Result{}
						if v != nil {
							text, _ := json.Marshal(v)
							one = gjson.ParseBytes(text)
						}
						if r.rejects(one) {
							want = r.reason
						}
					}
				}
			}
			got := Judge(name, nil).Judge(gjson.ParseBytes(raw), nil).Reason
			switch got {
			case answer.ReasonToolCalls, answer.ReasonLiveWeb, answer.ReasonEmpty:
				if got == answer.ReasonEmpty && want != "" {
					break
				}
				got = ""
			}
			if name == "embeddings" { // its vectors have their own test
				continue
			}
			if reasons[got]++; got != want {
				t.Fatalf("%s: %q, one by one %q\n%s", file, got, want, raw)
			}
		}
	}
	if len(reasons) < 7 || reasons[""] < 500 {
		t.Errorf("only the reasons %v", reasons)
	}
}

// spoil changes a member somewhere below v: it goes away, becomes null or another value, or gets an error beside it.
func spoil(rng *rand.Rand, v any) {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 {
			return
		}
		name := names[rng.IntN(len(names))]
		switch rng.IntN(6) {
		case 0:
			delete(v, name)
		case 1:
			v[name] = nil
		case 2:
			v[name] = []any{"stop", "length", "error", "", 7.0, []any{}, map[string]any{}}[rng.IntN(7)]
		case 3:
			v["error"] = name
		default:
			spoil(rng, v[name])
		}
	case []any:
		if len(v) > 0 {
			spoil(rng, v[rng.IntN(len(v))])
		}
	}
}

// TestVectorsLikeOneByOne: a vector that is read at once has the length that it has where each of its values is decoded.
func TestVectorsLikeOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := []string{"0", "-0.0", "0e9", "1", "-0.25", " 7 ", "1e-3", "2E3", "1e-60", "1e40", "null", `"1"`, "true", "[1]", "{}", "1" + strings.Repeat("0", 45), "0.5"}
	for range 20_000 {
		var of []string
		for range rng.IntN(5) {
			of = append(of, values[min(rng.IntN(len(values)), rng.IntN(len(values)))])
		}
		raw := "[" + strings.Join(of, ",") + "]"
		var list []any
		if err := json.Unmarshal([]byte(raw), &list); err != nil {
			t.Fatal(err)
		}
		want, zero := len(list), true
		for _, v := range list {
			f, ok := v.(float64)
			if ok = ok && !math.IsInf(float64(float32(f)), 0); !ok {
				want = 0
			}
			zero = zero && float32(f) == 0
		}
		if zero {
			want = 0
		}
		if got := lengthOf(gjson.Parse(raw)); got != want {
			t.Fatalf("%s: %d, want %d", raw, got, want)
		}
	}
}
