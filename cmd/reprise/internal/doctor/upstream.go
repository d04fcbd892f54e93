package doctor

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"reprise/cmd/reprise/internal/config"
	"reprise/internal/suggest"
	"reprise/proxy/upstream"
	"reprise/proxy/upstream/usage"
)

const (
	reachLimit = 8 * time.Second  // for the list of models
	skewLimit  = 30 * time.Second // between the clocks; the header Date has whole seconds
)

// engine is one upstream, and what the checks have found of it.
type engine struct {
	x         *exam
	of        config.Upstream
	key       string // the operator's credential; "": clients bring their own
	matters   bool   // cached_tokens correct the choice
	client    *upstream.Client
	transport *upstream.Transport
	tap       *tap // in front of transport

	list     *trip       // the request for the list of models, which the check of the name makes
	listed   []string    // models
	model    string      // of which a stream is asked
	asked    *check      // of a stream
	reported usage.Usage // by the first stream
	status   int         // of the list; 0: none has come
}

// upstreams plans the checks of every upstream.
func (x *exam) upstreams(values *check) {
	all := x.cfg.Upstreams
	primaries := 0
	for _, u := range all {
		if !u.Fallback {
			primaries++
		}
	}
	targets := x.cfg.Targets()
	for i, u := range all {
		u.Target = targets[i]
		e := &engine{x: x, of: u, key: x.cfg.KeyOf(&u), matters: primaries > 1 && !u.Fallback && u.Events == ""}
		x.ends = append(x.ends, e.close)
		e.plan(values)
		x.engines = append(x.engines, e)
	}
}

func (e *engine) close() {
	if e.client != nil {
		e.client.Close()
		e.transport.CloseIdleConnections()
	}
}

// open makes a client for this upstream alone, which makes no requests of its own.
func (e *engine) open() error {
	limits := e.x.cfg.Limits()
	e.transport = upstream.NewTransport(limits.WithDefaults())
	e.tap = &tap{RoundTripper: e.transport}
	var err error
	e.client, err = e.at(e.of.Base)
	return err
}

// at is a client for another base URL of this upstream.
func (e *engine) at(base *url.URL) (*upstream.Client, error) {
	t := e.of.Target
	t.Base = base
	t.Key, t.Fallback, t.Drain, t.Events, t.Replay, t.Metrics = e.key, false, false, "", "", ""
	return upstream.New(upstream.Options{Replicas: []upstream.Target{t}, Transport: e.tap, Limits: e.x.cfg.Limits()})
}

func (e *engine) plan(values *check) {
	add := func(id string, limit time.Duration, look look, needs ...*check) *check {
		c := e.x.plan.add("upstream."+id, look, append(needs, values)...)
		c.subject, c.limit = cmp.Or(e.of.Name, e.of.Base.Host), limit
		return c
	}
	name := add("name", reachLimit, e.name)
	connection := add("connection", usualLimit, e.connection, name)
	secured := add("tls", usualLimit, e.secured, connection)
	answer := add("answer", usualLimit, e.answer, secured)
	add("clock", usualLimit, e.clock, answer)
	credential := add("credential", usualLimit, e.credential, answer)
	models := add("models", usualLimit, e.models, credential)
	stream := add("stream", streamLimit, e.stream, models)
	e.asked = stream
	add("usage", usualLimit, e.usage, stream)
	add("cached-tokens", streamLimit, e.cached, stream)
}

func (e *engine) anthropic() bool { return e.of.Dialect == "anthropic" }

// name makes the first request, whose stages the next checks report.
func (e *engine) name(ctx context.Context) finding {
	if err := e.open(); err != nil {
		return failure("Correct REPRISE_UPSTREAM.", "%v", err)
	}
	header, query := http.Header{}, ""
	if e.anthropic() {
		header.Set("Anthropic-Version", anthropicVersion)
		query = "?limit=1000"
	}
	e.list = send(ctx, e.client, e.tap, "/v1/models"+query, header)
	t := e.list
	host := e.of.Base.Hostname()
	if t.err != nil && t.at == naming {
		return failure("Correct the host in REPRISE_UPSTREAM, or the name server of this machine.", "%s has no address: %v", host, t.err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.names) == 0 {
		return ok("%s", host)
	}
	return ok("%s is %s", host, strings.Join(t.names, ", "))
}

func (e *engine) connection(context.Context) finding {
	t := e.list
	if t.err != nil && t.at == connecting {
		return failure("See whether the upstream runs, and whether a firewall or a network policy lets this machine reach it.", "%s: %v", e.of.Base.Host, t.err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return ok("%s", cmp.Or(t.remote, "open"))
}

func (e *engine) secured(context.Context) finding {
	t := e.list
	if t.err != nil && t.at == securing {
		return failure("Name the host by the name in its certificate, renew that, or trust its authority (SSL_CERT_FILE, SSL_CERT_DIR).", "%s: %v", e.of.Base.Host, t.err)
	}
	if e.of.Base.Scheme != "https" {
		return ok("not used: the address is http")
	}
	if len(t.chain) == 0 {
		return ok("valid")
	}
	f := expiry(t.chain, e.x.machine.Now())
	f.repair = strings.Replace(f.repair, "; SIGHUP makes a running proxy read it", " of the upstream", 1)
	return f
}

func (e *engine) answer(context.Context) finding {
	t := e.list
	const repair = "See the log of the upstream."
	switch {
	case t.err != nil:
		return failure(repair, "GET %s: %v", e.address(), t.err)
	case t.status >= http.StatusInternalServerError:
		return failure(repair, "GET %s: status %d", e.address(), t.status)
	case t.status == http.StatusTooManyRequests:
		return warning("Wait, or raise the limits at the upstream.", "GET %s: status 429, it takes no more requests now", e.address())
	}
	return ok("status %d in %s", t.status, t.took.Round(time.Millisecond))
}

// address returns the URL of the list of models.
func (e *engine) address() string { return e.of.Base.JoinPath("models").Redacted() }

func (e *engine) clock(context.Context) finding {
	t := e.list
	theirs, err := http.ParseTime(t.date)
	if err != nil {
		return skipped("its answers have no date")
	}
	off := theirs.Sub(t.asked).Round(time.Second)
	word := "ahead of"
	if off < 0 {
		word, off = "behind", -off
	}
	if off > skewLimit {
		return warning("Synchronise both clocks, as with NTP.", "its clock is %v %s that of this machine", off, word)
	}
	return ok("within %v", max(off, time.Second))
}

func (e *engine) credential(context.Context) finding {
	t := e.list
	e.status = t.status
	switch {
	case t.status == http.StatusTooManyRequests:
		return skipped("it takes no more requests now")
	case t.status == http.StatusUnauthorized && e.key == "":
		return skipped("clients bring their own credential")
	case t.status == http.StatusUnauthorized:
		return failure("Set REPRISE_UPSTREAM_KEY, key-env or key-file to a credential that is valid there.", "GET %s: status 401, the credential is refused", e.address())
	case t.status == http.StatusForbidden && e.key == "":
		return skipped("clients bring their own credential")
	case t.status == http.StatusForbidden:
		return warning("Give the credential the right to list models; the proxy needs that for its health checks only where there are several upstreams.",
			"GET %s: status 403, the credential has no right to it", e.address())
	case e.key == "":
		return ok("it asks for none")
	}
	return ok("accepted")
}

func (e *engine) models(ctx context.Context) finding {
	t := e.list
	if t.status/100 != 2 {
		e.model = e.first()
		if t.status == http.StatusForbidden {
			return ok("not listed")
		}
		return e.unlisted(ctx, t)
	}
	for _, id := range gjson.GetBytes(t.body, "data.#.id").Array() {
		e.listed = append(e.listed, id.Str)
	}
	if e.of.Dialect != "azure-openai" { // which lists what could be deployed, under other names
		for _, name := range e.wanted() {
			if !e.has(name) {
				return failure("Correct the name in REPRISE_UPSTREAM or REPRISE_JUDGE_MODEL, or load the model there.", "it has no model %q%s", name, suggest.DidYouMean(name, e.listed))
			}
		}
	}
	if e.model = cmp.Or(e.first(), answering(e.listed)); len(e.listed) == 0 {
		return warning("Load a model there.", "its list of models is empty")
	}
	return ok("%s", plural(len(e.listed), "model"))
}

// wanted are the models that the settings name, as the upstream has them.
func (e *engine) wanted() (names []string) {
	for _, m := range e.of.Models {
		names = append(names, cmp.Or(m.Mapped, m.Name))
	}
	if judge := e.x.cfg.JudgeModel; judge != "" && len(names) == 0 && !e.of.Fallback {
		names = append(names, judge)
	}
	return names
}

// has reports whether a model is listed. Ollama lists a tag that a request may leave out.
func (e *engine) has(name string) bool {
	return slices.Contains(e.listed, name) || slices.Contains(e.listed, name+":latest")
}

// first is a model of the settings, by the name that clients use.
func (e *engine) first() string {
	if len(e.of.Models) > 0 {
		return e.of.Models[0].Name
	}
	return ""
}

// notAnswering are parts of the names of models that make no answers to a chat.
var notAnswering = []string{"embed", "whisper", "tts", "dall-e", "moderation", "audio", "image", "realtime", "transcribe", "rerank", "instruct", "sora", "davinci", "babbage", "search", "bge-", "e5-"}

// cheap are parts of the names of models that cost little, the first one first.
var cheap = []string{"nano", "mini", "haiku", "flash", "small"}

// answering is a model of a list that can be asked for a stream, one that costs little before others; "" if there is none.
func answering(listed []string) string {
	var all []string
	for _, name := range listed {
		if !slices.ContainsFunc(notAnswering, func(part string) bool { return strings.Contains(strings.ToLower(name), part) }) {
			all = append(all, name)
		}
	}
	for _, part := range cheap {
		for _, name := range all {
			if strings.Contains(strings.ToLower(name), part) {
				return name
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// unlisted says what it means that the base URL has no list of models.
func (e *engine) unlisted(ctx context.Context, t *trip) finding {
	if bytes.Contains(t.body, []byte("This is the admin listener")) {
		return failure("Name the API of an engine or of a provider in REPRISE_UPSTREAM; that of a proxy is at its REPRISE_LISTEN.", "%s is the admin listener of a proxy", e.of.Base.Redacted())
	}
	if t.status == http.StatusNotFound {
		if base := e.elsewhere(ctx); base != nil {
			return failure("Write "+base.Redacted()+" in REPRISE_UPSTREAM.", "GET %s: status 404, and %s has a list: the base URL is another one", e.address(), base.JoinPath("models").Redacted())
		}
	}
	if n := len(e.of.Models); n > 0 {
		return ok("not listed (status %d); the settings name %s", t.status, plural(n, "model"))
	}
	return warning("See whether the base URL is right: most end in /v1. Where the upstream has no list, name its models by models= in REPRISE_UPSTREAM.",
		"GET %s: status %d, so there is no list of models at this base URL", e.address(), t.status)
}

// elsewhere is a base URL on the same host that has a list of models: with /v1 behind the path, or as the path. nil: there is none.
func (e *engine) elsewhere(ctx context.Context) *url.URL {
	for _, path := range []string{strings.TrimRight(e.of.Base.Path, "/") + "/v1", "/v1"} {
		base := *e.of.Base
		if base.Path, base.RawPath = path, ""; path == strings.TrimRight(e.of.Base.Path, "/") {
			continue
		}
		c, err := e.at(&base)
		if err != nil {
			continue
		}
		t := send(ctx, c, e.tap, "/v1/models", http.Header{})
		c.Close()
		if t.err == nil && t.status == http.StatusOK && gjson.GetBytes(t.body, "data").IsArray() {
			return &base
		}
	}
	return nil
}
