package answer_test

import (
	"path/filepath"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/apitest"
	"reprise/proxy/api/registry"
)

var (
	chat        = registry.APIs.ByPath("/v1/chat/completions").Answers
	completions = registry.APIs.ByPath("/v1/completions").Answers
	responses   = registry.APIs.ByPath("/v1/responses").Answers
	messages    = registry.APIs.ByPath("/v1/messages").Answers
	ollamaChat  = registry.APIs.ByPath("/api/chat").Answers
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream; charset=utf-8"
)

// fixture is a recorded answer of one of the APIs.
type fixture struct {
	*api.Family
	apitest.Answer
}

func fixtures(t testing.TB) (all []fixture) {
	t.Helper()
	for _, f := range registry.APIs.Families() {
		for _, a := range apitest.Answers(t, filepath.Join("../api/*/testdata", f.Name)) {
			all = append(all, fixture{f, a})
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d recorded answers", len(all))
	}
	return all
}

func (x fixture) freeze(t testing.TB) *answer.Frozen {
	t.Helper()
	z, err := answer.Freeze(x.Answers, x.ContentType, x.Body)
	if err != nil {
		t.Fatalf("%s: %v", x.Answer.Name, err)
	}
	return z
}

// chatText is a chat answer of text, as a stream or not.
func chatText(t testing.TB, stream bool) *answer.Frozen {
	t.Helper()
	for _, x := range fixtures(t) {
		if x.Answers == chat && x.Stream == stream && (x.Answer.Name == "text.json" || x.Answer.Name == "text.sse") {
			return x.freeze(t)
		}
	}
	t.Fatal("no recorded chat answer of text")
	return nil
}

func replay(t testing.TB, z *answer.Frozen, o answer.ReplayOptions) []byte {
	t.Helper()
	b, _, err := z.Replay(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
