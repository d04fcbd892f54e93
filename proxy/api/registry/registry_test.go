package registry_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/openai"
	"reprise/proxy/api/registry"
	"reprise/proxy/canon"
	"reprise/proxy/internal/apierror"
)

func TestReplayIDs(t *testing.T) {
	random := [12]byte{1, 2, 0xff}
	const nonce = "0102ff000000000000000000"
	for i, c := range []struct{ original, want string }{
		{"chatcmpl-9aB", "chatcmpl-" + nonce}, {"cmpl-7", "cmpl-" + nonce}, {"resp_68a1", "resp_rp" + nonce + "_68a1"}, {"", ""},
		{"msg_01XFDUDYJgAACzvnptvVoYEL", "msg_01" + nonce[:22]},
	} {
		f := registry.APIs.Families()[i]
		if got := f.ReplayID(random, c.original); got != c.want {
			t.Errorf("%s %q: %q, want %q", f.Name, c.original, got, c.want)
		}
	}
}

// TestEncoded pins the bytes of stored answers and the codes in them: answers that were stored before stay readable.
func TestEncoded(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/chat/completions": "527041010100106170706c69636174696f6e2f6a736f6e01060301187b226964223a2261222c2263686f69636573223a5b5d7d20b3990c2e",
		"/v1/completions":      "527041010200106170706c69636174696f6e2f6a736f6e01060301187b226964223a2261222c2263686f69636573223a5b5d7d20bfbe770a",
		"/v1/responses":        "527041010300106170706c69636174696f6e2f6a736f6e01060301187b226964223a2261222c2263686f69636573223a5b5d7d20bba35e16",
		"/v1/embeddings":       "527041010400106170706c69636174696f6e2f6a736f6e01060301187b226964223a2261222c2263686f69636573223a5b5d7d20a7f08142",
		"/v1/messages":         "527041010500106170706c69636174696f6e2f6a736f6e01060301187b226964223a2261222c2263686f69636573223a5b5d7d20a3eda85e",
	} {
		f := registry.APIs.ByPath(path)
		z, err := answer.Freeze(f.Answers, "application/json", []byte(`{"id":"a","choices":[]} `))
		if err != nil {
			t.Fatal(err)
		}
		b := z.Encode(nil)
		if got := hex.EncodeToString(b); got != want {
			t.Errorf("%s: encoded as %s, want %s", path, got, want)
		}
		if got, err := registry.APIs.Decode(b); err != nil || got.Form != f.Answers {
			t.Errorf("%s: decoded as %+v, %v", path, got, err)
		}
	}
}

func TestOriginalBody(t *testing.T) {
	responses, chat := registry.APIs.ByPath("/v1/responses"), registry.APIs.ByPath("/v1/chat/completions")
	replay := responses.ReplayID([12]byte{1}, "resp_1")
	for _, c := range []struct {
		f          *api.Family
		id, wanted string
	}{
		{responses, replay, "resp_1"}, {responses, "resp_1", "resp_1"}, {chat, replay, replay},
	} {
		body := []byte(`{"model":"m", "previous_response_id" : "` + c.id + `","input":"a"}`)
		want := bytes.Replace(body, []byte(c.id), []byte(c.wanted), 1)
		if got := c.f.OriginalBody(body); !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", c.f.Name, got, want)
		}
	}
}

// toy is an API with a path, a field, an answer and an error shape of its own.
var toy = api.Family{
	Name: "toy",
	Path: "/v1/toy",
	Requests: &canon.Rules{
		Code: 99, Field: "question", Names: canon.MakeNames(nil, []string{"question"}), System: []string{"preface"}, Conversation: question{},
	},
	Answers: &answer.Form{Code: 99, Judge: question{}},
	ID:      api.ReplayID{Prefix: "toy-new", Digits: 2},
	Errors:  question{},
}

type question struct{}

func (question) Read(r *canon.Reader, v canon.Value) *canon.Error {
	if !v.IsString() {
		return r.Bad("must be a string")
	}
	r.UserMessage(v)
	return nil
}

func (question) Judge(r gjson.Result, _ []byte) (v answer.Verdict) {
	v.Text = r.Get("reply").String()
	return v
}

func (question) ErrorBody(e *apierror.Error) []byte { return []byte(`{"wrong":"` + e.Code + `"}`) }

// TestNewAPI: an API that is only listed is read, judged, stored and replayed.
func TestNewAPI(t *testing.T) {
	apis := api.NewRegistry(openai.Chat, toy, openai.Embeddings)
	f := apis.ByPath("/v1/toy")
	body := []byte(`{"preface":"Be brief.", "model":"m","question":"why?"}`)
	r, err := f.Parse(body, canon.Identity{})
	if err != nil || r.Prompt != "why?" {
		t.Fatalf("prompt %q, %v", r.Prompt, err)
	}
	if got := string(r.Segments[0].Of(body)) + string(r.Segments[1].Of(body)); got != `"Be brief.""why?"` {
		t.Errorf("segments %s", got)
	}
	if _, err := f.Parse([]byte(`{"model":"m","question":"why?","Messages":[]}`), canon.Identity{}); err == nil {
		t.Error("a field of the chat API in another letter case is not refused")
	}
	reply := []byte(`{"id":"toy-1","reply":"Because."}`)
	if v := answer.Judge(f.Answers, false, reply); !v.Keep || v.Text != "Because." {
		t.Errorf("verdict %+v", v)
	}
	z, err := answer.Freeze(f.Answers, "application/json", reply)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := registry.APIs.Decode(z.Encode(nil)); !errors.Is(err, answer.ErrCorrupt) {
		t.Errorf("the answer of an API that is not listed: %v", err)
	}
	if z, err = apis.Decode(z.Encode(nil)); err != nil {
		t.Fatal(err)
	}
	got, _, err := z.Replay(nil, answer.ReplayOptions{ID: f.ReplayID([12]byte{}, "toy-1"), Stream: true})
	if err != nil || string(got) != `{"id":"toy-new00","reply":"Because."}` {
		t.Errorf("replay %s, %v", got, err)
	}
	w := httptest.NewRecorder()
	f.WriteError(w, apierror.BadRequest("c", "m"))
	if w.Code != 400 || w.Body.String() != `{"wrong":"c"}` {
		t.Errorf("error %d %s", w.Code, w.Body)
	}
}

func TestErrorShape(t *testing.T) {
	const openai, ollama = `{"error":{"message":"m","type":"invalid_request_error","param":null,"code":"c"}}`, `{"error":"m"}`
	shapes := map[string]string{"messages": `{"type":"error","error":{"type":"invalid_request_error","message":"m"},"request_id":null}`, "ollama-chat": ollama, "ollama-generate": ollama}
	for _, f := range registry.APIs.Families() {
		want := cmp.Or(shapes[f.Name], openai)
		w := httptest.NewRecorder()
		f.WriteError(w, apierror.BadRequest("c", "m"))
		if w.Code != 400 || w.Body.String() != want {
			t.Errorf("%s: %d %s", f.Name, w.Code, w.Body)
		}
	}
}

func TestRegistryRefuses(t *testing.T) {
	twice, path, codes := toy, toy, toy
	path.Name = "other"
	codes.Answers = openai.Embeddings.Answers
	for what, families := range map[string][]api.Family{
		"share a name":           {toy, twice},
		"path or code":           {toy, path},
		"99 in keys and 4 in an": {codes},
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, what) {
					t.Errorf("panic %q, want %q", said, what)
				}
			}()
			api.NewRegistry(families...)
		}()
	}
}

func TestOriginalURL(t *testing.T) {
	u := &url.URL{Path: "/v1/responses/resp_1"}
	if got := registry.APIs.OriginalURL(u); got != u {
		t.Errorf("%v becomes %v", u, got)
	}
}
