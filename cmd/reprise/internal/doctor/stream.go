package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"reprise/proxy/upstream"
	"reprise/proxy/upstream/dialect"
	"reprise/proxy/upstream/usage"
)

// streamLimit is for two streams of one token: an engine may have to load the model.
const streamLimit = 10 * time.Second

const anthropicVersion = "2023-06-01"

// prompt is what an upstream is asked: long enough that engines cache its beginning, in blocks of up to 64 tokens.
var prompt = "This is a test of the connection, made by the command reprise doctor. " + strings.Repeat("The text is long enough for a prefix cache to keep a part of it. ", 8) + "Answer with one word."

// stream asks for a stream of one token, as the proxy does for a client.
func (e *engine) stream(ctx context.Context) finding {
	switch {
	case e.key != "" && !e.x.spend:
		return skipped("--no-spend")
	case e.model == "":
		return skipped("no model is known that could be asked")
	}
	began := time.Now()
	u, problem := e.ask(ctx)
	if problem != "" {
		return failure("Try the same request with curl, and see the log of the upstream.", "a stream of %s: %s", e.model, problem)
	}
	e.reported = u
	return ok("one token of %s in %s", e.model, time.Since(began).Round(time.Millisecond))
}

// ask asks for one stream. Of models that refuse max_tokens it asks again.
func (e *engine) ask(ctx context.Context) (u usage.Usage, problem string) {
	limits := []string{"max_tokens", "max_completion_tokens"}
	if e.anthropic() {
		limits = limits[:1]
	}
	for _, limit := range limits {
		var status int
		if u, status, problem = e.askWith(ctx, limit); status != http.StatusBadRequest {
			break
		}
	}
	return u, problem
}

func (e *engine) askWith(ctx context.Context, limit string) (u usage.Usage, status int, problem string) {
	path := "/v1/chat/completions"
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	if e.anthropic() {
		path = "/v1/messages"
		header.Set("Anthropic-Version", anthropicVersion)
	}
	body, err := json.Marshal(map[string]any{"model": e.model, "stream": true, limit: 1, "messages": []any{map[string]string{"role": "user", "content": prompt}}})
	if err != nil {
		return u, 0, err.Error()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, path, nil)
	if err != nil {
		return u, 0, err.Error()
	}
	r.Header = header
	reply, err := e.client.Call(ctx, upstream.Request{Tenant: "doctor", Original: r, Body: body, Model: e.model,
		Want: dialect.Intent{StreamUsage: true}})
	if err != nil {
		return u, 0, err.Error()
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return u, reply.StatusCode, fmt.Sprintf("status %d", reply.StatusCode)
	}
	u, problem = readStream(reply.Response)
	return u, reply.StatusCode, problem
}

// readStream reads a stream to its end.
func readStream(resp *http.Response) (u usage.Usage, problem string) {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return u, fmt.Sprintf("the answer is no stream but %.60q", kind)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	meter := usage.NewMeter()
	meter.Write(text)
	u = meter.End()
	switch {
	case err != nil:
		return u, fmt.Sprintf("it breaks off: %v", err)
	case !bytes.Contains(text, []byte("data:")):
		return u, "it ends without an event"
	}
	return u, ""
}

func (e *engine) usage(context.Context) finding {
	switch {
	case e.of.Dialect == "plain":
		return skipped("the dialect plain does not ask for it")
	case e.reported.Prompt == 0 && e.reported.Output == 0:
		return warning("Update the upstream, or what is between it and the proxy: stream_options.include_usage was asked for.", "a stream of %s reports no usage", e.model)
	}
	return ok("%d tokens in, %d out", e.reported.Prompt, e.reported.Output)
}

// cached looks for cached_tokens; some engines report none where the number is 0, so a second stream with the same prompt is asked for.
func (e *engine) cached(ctx context.Context) finding {
	switch {
	case e.reported.Known:
		return ok("reported")
	case !e.matters:
		return ok("not reported, and not needed here")
	}
	again, problem := e.ask(ctx)
	switch {
	case problem != "":
		return failure("See the log of the upstream.", "a second stream of %s: %s", e.model, problem)
	case again.Known:
		return ok("reported")
	}
	return warning("Start vLLM with --enable-prompt-tokens-details and SGLang with --enable-cache-report, or set events= in REPRISE_UPSTREAM.",
		"two answers to the same prompt report no cached_tokens")
}
