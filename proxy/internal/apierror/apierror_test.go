package apierror

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	w := httptest.NewRecorder()
	Write(w, BadRequest("bad", `a "quoted" word`))
	const want = `{"error":{"message":"a \"quoted\" word","type":"invalid_request_error","param":null,"code":"bad"}}`
	if w.Code != 400 || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestNotJSON(t *testing.T) {
	for in, want := range map[string]string{"": "The request has no Content-Type; a purge takes", "text/plain": `The Content-Type is "text/plain"; a purge takes`} {
		if got := NotJSON(in, "a purge"); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", in, got)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"a": `"a"`, "a\"\n\x7f": `"a???"`, strings.Repeat("x", 50): `"` + strings.Repeat("x", 40) + `…"`} {
		if got := Quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
