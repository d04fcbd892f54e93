package answer

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/proxy/canon"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixture is one recorded answer of testdata: FAMILY-WHAT.json or .sse; beside it, in .golden, its other form.
type fixture struct {
	name        string
	family      canon.Family
	stream      bool
	contentType string
	body        []byte
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	families := map[string]canon.Family{
		"chat": canon.Chat, "completions": canon.Completions, "responses": canon.Responses, "embeddings": canon.Embeddings,
	}
	var all []fixture
	for ext, contentType := range map[string]string{".json": typeJSON, ".sse": "text/event-stream"} {
		paths, err := filepath.Glob("testdata/*" + ext)
		if err != nil || len(paths) == 0 {
			t.Fatalf("no fixtures of %s: %v", ext, err)
		}
		for _, path := range paths {
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(path)
			family, _, _ := strings.Cut(name, "-")
			all = append(all, fixture{name, families[family], ext == ".sse", contentType, body})
		}
	}
	return all
}

func fixtureNamed(t testing.TB, name string) fixture {
	t.Helper()
	for _, x := range fixtures(t) {
		if x.name == name {
			return x
		}
	}
	t.Fatalf("no fixture %s", name)
	return fixture{}
}

func (x fixture) freeze(t testing.TB) *Frozen {
	t.Helper()
	z, err := Freeze(x.family, x.contentType, x.body)
	if err != nil {
		t.Fatalf("%s: %v", x.name, err)
	}
	return z
}

func replay(t testing.TB, z *Frozen, o ReplayOptions) []byte {
	t.Helper()
	b, contentType, err := z.Replay(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	if z.Family != canon.Embeddings && IsStream(contentType) != o.Stream {
		t.Fatalf("content type %q for stream %v", contentType, o.Stream)
	}
	return b
}

func TestReplayInTheOtherForm(t *testing.T) {
	for _, x := range fixtures(t) {
		t.Run(x.name, func(t *testing.T) {
			got := replay(t, x.freeze(t), ReplayOptions{ID: "new-id", Created: 1800000000, Stream: !x.stream, IncludeUsage: true})
			golden := filepath.Join("testdata", x.name+".golden")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// An answer that went through both forms, and again, says the same; from the second time on in the same bytes.
func TestConversionIsStable(t *testing.T) {
	for _, x := range fixtures(t) {
		if x.family == canon.Embeddings {
			continue
		}
		forms := [][]byte{x.body}
		z := x.freeze(t)
		for range 5 {
			other, err := z.convert()
			if err != nil {
				t.Fatalf("%s: %v", x.name, err)
			}
			z = other
			forms = append(forms, z.Body)
		}
		for i := 3; i < len(forms); i++ {
			if i > 3 && string(forms[i]) != string(forms[i-2]) {
				t.Errorf("%s: form %d is\n%s\nform %d was\n%s", x.name, i, forms[i], i-2, forms[i-2])
			}
		}
		first, again := forms[1], forms[3]
		if !x.stream {
			first, again = forms[2], forms[4]
		}
		if !reflect.DeepEqual(decoded(t, first), decoded(t, again)) {
			t.Errorf("%s: object\n%s\nbecame\n%s", x.name, first, again)
		}
	}
}

func decoded(t *testing.T, b []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return v
}

// A finished answer becomes a stream and comes back with all that it said.
func TestObjectSurvivesTheStream(t *testing.T) {
	for _, x := range fixtures(t) {
		if x.stream || x.family == canon.Embeddings {
			continue
		}
		stream, err := Freeze(x.family, typeStream, replay(t, x.freeze(t), ReplayOptions{Stream: true, IncludeUsage: true}))
		if err != nil {
			t.Fatal(err)
		}
		back := replay(t, stream, ReplayOptions{})
		if !reflect.DeepEqual(decoded(t, back), decoded(t, x.body)) {
			t.Errorf("%s came back as\n%s", x.name, back)
		}
	}
}
