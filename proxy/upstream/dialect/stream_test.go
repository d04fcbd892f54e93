package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// strippedAsStream is what remains of a body that is read in parts of at most some bytes.
func strippedAsStream(t *testing.T, d Dialect, body string, most int) (string, error) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(most)))
	out, err := io.ReadAll(StripReader(d, readerFunc(strings.NewReader(body), func(n int) int { return min(n, 1+rng.IntN(most)) })))
	return string(out), err
}

// readerFunc bounds each read of a reader.
func readerFunc(in io.Reader, bound func(int) int) io.Reader { return &bounded{in, bound} }

type bounded struct {
	in    io.Reader
	bound func(int) int
}

func (b *bounded) Read(p []byte) (int, error) { return b.in.Read(p[:b.bound(len(p))]) }

func TestStripReader(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, tc := range []struct{ dialect, body, want string }{
		{"vllm", `{"priority":1,"a":[{"priority":2}]}`, `{"--------":1,"a":[{"priority":2}]}`},
		{"vllm", `{"a":{"priority":1},"priority":"h"}`, `{"a":{"priority":1},"--------":"h"}`},
		{"vllm", ` { "a" : "\"priority\":" , "p\u0072iority" : 1 } `, ` { "a" : "\"priority\":" , "-------------" : 1 } `},
		{"vllm", `{"vllm_xargs":{"a":1,"kv_transfer_params":{}},"x":{"kv_transfer_params":1}}`, `{"vllm_xargs":{"a":1,"------------------":{}},"x":{"kv_transfer_params":1}}`},
		{"vllm", `{"vllm_xargs":5,"x":{"kv_transfer_params":1}}`, `{"vllm_xargs":5,"x":{"kv_transfer_params":1}}`},
		{"vllm", `{"vllm_xargs":[{"kv_transfer_params":1}]}`, `{"vllm_xargs":[{"kv_transfer_params":1}]}`},
		{"dynamo", `{"nvext":{"agent_hints":{"priority":1}, "x":2,"decode_worker_id":3},"priority":4}`, `{"nvext":{"agent_hints":{"--------":1}, "x":2,"----------------":3},"--------":4}`},
		{"production-stack", `{"priority":1}`, `{"--------":1}`},
		{"vllm", "\xef\xbb\xbf" + `{"priority":1}`, "\xef\xbb\xbf" + `{"--------":1}`},
		{"vllm", `{"` + long + `":1,"priority":1}`, `{"` + long + `":1,"--------":1}`},
		{"vllm", `{"a":"` + long + `\\","priority":1}`, `{"a":"` + long + `\\","--------":1}`},
		{"vllm", `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `,"priority":1}`, `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `,"--------":1}`},
		{"generic", `{"priority":1}`, `{"priority":1}`}, {"openai", `{"priority":1}`, `{"priority":1}`},
		{"vllm", `[{"priority":1}]`, `[{"priority":1}]`}, {"vllm", `--boundary {"priority":1}`, `--boundary {"priority":1}`}, {"vllm", ``, ``}, {"vllm", `{`, `{`},
		{"vllm", `{"prio`, `{"prio`}, {"vllm", `{}{"priority":1}`, `{}{"priority":1}`}, {"vllm", `}`, `}`}, {"vllm", `{]]]"priority":1}`, `{]]]"priority":1}`},
	} {
		d, err := New(tc.dialect)
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{1, 2, 7, 600, 10_000} {
			if got, err := strippedAsStream(t, d, tc.body, most); got != tc.want || err != nil {
				t.Errorf("%s, by %d bytes: %.200q became %.200q, %v, want %.200q", tc.dialect, most, tc.body, got, err, tc.want)
			}
		}
	}
}

// TestStripReaderEncodings: a body in which no name can be found does not pass.
func TestStripReaderEncodings(t *testing.T) {
	for _, body := range []string{"{\x00\"\x00", "\x00{\x00\"", "\xff\xfe{\x00", "\xfe\xff\x00{", "\x00\x00\x00{", "{\x00"} {
		if got, err := strippedAsStream(t, &vLLM, body, 1); !errors.Is(err, ErrEncoding) || got != "" {
			t.Errorf("%q became %q, %v", body, got, err)
		}
	}
}

// TestStripReaderErrors: the error of a body that breaks off is passed on after its bytes.
func TestStripReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader(`{"priority":1,"pri`), iotest.ErrReader(broken))
	if got, err := io.ReadAll(StripReader(&vLLM, in)); string(got) != `{"--------":1,"pri` || err != broken {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzStripReader: the length of a body stays, whatever the parts in which it comes, no dangerous member of an object remains, and all
// others do.
func FuzzStripReader(f *testing.F) {
	for _, body := range hostile() {
		if len(body) < 50_000 {
			f.Add([]byte(body), 3)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, most int) {
		most = min(max(most, 1), 1000)
		got, err := strippedAsStream(t, &dynamo, string(body), most)
		if err != nil {
			return
		}
		if len(got) != len(body) {
			t.Fatalf("%q became %q", body, got)
		}
		whole, _ := strippedAsStream(t, &dynamo, string(body), 1<<20)
		if whole != got {
			t.Fatalf("%q became %q in one part and %q in others", body, whole, got)
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(body, &before) != nil {
			return
		}
		if json.Unmarshal([]byte(got), &after) != nil {
			t.Fatalf("%q became %q", body, got)
		}
		for name := range dynamo.strip {
			if _, has := after[name]; has && name != "nvext" {
				t.Fatalf("%q became %q", body, got)
			}
		}
		for name, value := range before {
			_, dangerous := dynamo.strip[name]
			if !dangerous && !bytes.Equal(after[name], value) && !strings.Contains(name, "--") {
				t.Fatalf("%q: %s became %s", body, value, after[name])
			}
		}
	})
}
