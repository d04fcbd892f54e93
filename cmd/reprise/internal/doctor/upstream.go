package doctor

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
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

	list     func(ctx context.Context) *trip // the request for the list of models, which is made once
	listed   []string                        // models
	model    string                          // of which a stream is asked
	asked    *check                          // of a stream
	reported usage.Usage                     // by the first stream
	status   int                             // of the list; 0: none has come
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
	subject := cmp.Or(e.of.Name, e.of.Base.Host)
	add := func(id string, limit time.Duration, look func(context.Context) finding, needs ...*check) *check {
		return e.x.plan.add(&check{id: "upstream." + id, subject: subject, needs: append(needs, values), limit: limit, look: look})
	}
	var once sync.Once
	var list *trip
	e.list = func(ctx context.Context) *trip {
		once.Do(func() {
			header, query := http.Header{}, ""
			if e.anthropic() {
				header.Set("Anthropic-Version", anthropicVersion)
				query = "?limit=1000"
			}
			list = send(ctx, e.client, e.tap, "/v1/models"+query, header)
		})
		return list
	}
	name := add("name", reachLimit, e.name)
	connection := add("connection", 0, e.connection, name)
	secured := add("tls", 0, e.secured, connection)
	answer := add("answer", 0, e.answer, secured)
	add("clock", 0, e.clock, answer)
	credential := add("credential", 0, e.credential, answer)
	models := add("models", 0, e.models, credential)
	stream := add("stream", streamLimit, e.stream, models)
	e.asked = stream
	add("usage", 0, e.usage, stream)
	add("cached-tokens", streamLimit, e.cached, stream)
}

func (e *engine) anthropic() bool { return e.of.Dialect == "anthropic" }

// name makes the first request, whose stages the next checks report.
func (e *engine) name(ctx context.Context) finding {
	if err := e.open(); err != nil {
		return failure("Correct REPRISE_UPSTREAM.", "%v", err)
	}
	t := e.list(ctx)
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

func (e *engine) connection(ctx context.Context) finding {
	t := e.list(ctx)
	if t.err != nil && t.at == connecting {
		return failure("See whether the upstream runs, and whether a firewall or a network policy lets this machine reach it.", "%s: %v", e.of.Base.Host, t.err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return ok("%s", cmp.Or(t.remote, "open"))
}

func (e *engine) secured(ctx context.Context) finding {
	t := e.list(ctx)
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

func (e *engine) answer(ctx context.Context) finding {
	t := e.list(ctx)
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

func (e *engine) clock(ctx context.Context) finding {
	t := e.list(ctx)
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

func (e *engine) credential(ctx context.Context) finding {
	t := e.list(ctx)
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
	t := e.list(ctx)
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
