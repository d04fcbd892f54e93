package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"reprise/internal/suggest"
)

// Settings is what OpenTelemetry's own variables say; the zero value sends nothing. The resource and the limits of a span are read by
// OpenTelemetry's library, from the environment of the process.
type Settings struct {
	On        bool   // there is an endpoint, and nothing that forbids to use it
	Endpoint  string // without a credential
	Propagate bool   // W3C's trace context is read from requests and passed on
	target    target
	batch     batch
	sampler   sdktrace.Sampler
}

// target is where spans are sent, and how.
type target struct {
	url     string
	headers map[string]string
	gzip    bool
	timeout time.Duration // of one attempt
	tls     *tls.Config   // nil: the system's certificates, and none of the client
}

// batch is how spans are sent.
type batch struct {
	delay, timeout time.Duration
	queue, size    int
}

// The names that are looked at here.
const (
	disabled       = "OTEL_SDK_DISABLED"
	propagators    = "OTEL_PROPAGATORS"
	tracesExporter = "OTEL_TRACES_EXPORTER"
	exporter       = "OTEL_EXPORTER_OTLP_"
	sampler        = "OTEL_TRACES_SAMPLER"
	samplerArg     = sampler + "_ARG"
	bsp            = "OTEL_BSP_"
)

// parentBased begins the names of samplers for which a client's trace context decides, and byShare are those with an argument.
const (
	parentBased = "parentbased_"
	byShare     = "traceidratio"
)

// samplers are the values of OTEL_TRACES_SAMPLER.
var samplers = []string{"always_on", "always_off", byShare, parentBased + "always_on", parentBased + "always_off", parentBased + byShare}

// ofSignals are the settings of an exporter, for all signals and for each.
var ofSignals = strings.Fields("ENDPOINT HEADERS TIMEOUT PROTOCOL COMPRESSION CERTIFICATE CLIENT_KEY CLIENT_CERTIFICATE INSECURE")

// limits are those of a span, which the library reads.
var limits = strings.Fields(`OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT OTEL_ATTRIBUTE_COUNT_LIMIT OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT
	OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT OTEL_SPAN_EVENT_COUNT_LIMIT OTEL_SPAN_LINK_COUNT_LIMIT OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT OTEL_LINK_ATTRIBUTE_COUNT_LIMIT`)

// known are all names with one of these prefixes: another one is a mistake, which would have no effect and no message.
var known = func() map[string][]string {
	all := map[string][]string{exporter: {exporter + "METRICS_TEMPORALITY_PREFERENCE", exporter + "METRICS_DEFAULT_HISTOGRAM_AGGREGATION"},
		"OTEL_TRACES_": {tracesExporter, sampler, samplerArg}}
	for _, signal := range []string{"", "TRACES_", "METRICS_", "LOGS_", "PROFILES_"} {
		for _, name := range ofSignals {
			all[exporter] = append(all[exporter], exporter+signal+name)
		}
	}
	for _, name := range strings.Fields("SCHEDULE_DELAY EXPORT_TIMEOUT MAX_QUEUE_SIZE MAX_EXPORT_BATCH_SIZE") {
		all[bsp] = append(all[bsp], bsp+name)
	}
	return all
}()

// reading is an environment while it is read.
type reading struct {
	env  map[string]string
	said []string
}

// Read reads an environment, as os.Environ gives it. What cannot be used is ignored, as OpenTelemetry specifies; the warnings say so.
func Read(environ []string) (s Settings, warnings []string) {
	r := &reading{env: map[string]string{}}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if value = strings.TrimSpace(value); strings.HasPrefix(name, "OTEL_") && value != "" {
			r.env[name] = value
		}
	}
	r.names()
	off := r.truth(disabled)
	if off {
		return s, r.said
	}
	at := r.endpoint()
	if at == nil {
		return s, r.said
	}
	s.Endpoint = at.Scheme + "://" + at.Host
	s.On = r.lists(tracesExporter, "otlp", "otlp or none", "none")
	// Baggage passes as every other header that the proxy does not read.
	s.Propagate = r.lists(propagators, "tracecontext", "tracecontext, baggage or none, or several between commas", "baggage", "none")
	s.batch = r.batching()
	s.sampler = r.sampling()
	s.target = r.sending(at)
	if s.target.tls != nil && at.Scheme != "https" {
		name, _ := r.of("ENDPOINT")
		r.wrong(name, "", "certificates are set, and the URL has no https://", "no traces are sent")
		s.On = false
	}
	return s, r.said
}

// wrong adds a warning. It has no value of a header, which may be a credential.
func (r *reading) wrong(name, value, why, instead string) {
	if value != "" {
		name += "=" + value
	}
	r.said = append(r.said, fmt.Sprintf("%s (environment): %s; %s", name, why, instead))
}

// names warns of names that no specification has.
func (r *reading) names() {
	for _, name := range slices.Sorted(maps.Keys(r.env)) {
		for prefix, all := range known {
			if strings.HasPrefix(name, prefix) && !slices.Contains(all, name) {
				r.said = append(r.said, name+" (environment): there is no such setting"+suggest.DidYouMean(name, all))
			}
		}
	}
}

// truth is a boolean, which is false for every other value than true.
func (r *reading) truth(name string) bool {
	switch v := r.env[name]; strings.ToLower(v) {
	case "true":
		return true
	case "", "false":
	default:
		r.wrong(name, v, "allowed is true or false", "it counts as false")
	}
	return false
}

// of is the setting of an exporter for traces, or that for all signals.
func (r *reading) of(name string) (full, value string) {
	full = exporter + "TRACES_" + name
	if value = r.env[full]; value == "" {
		full = exporter + name
		value = r.env[full]
	}
	return full, value
}

// endpoint is the URL that spans are sent to, nil if there is none. The user and the query of the operator's URL, which may be credentials, are not sent.
func (r *reading) endpoint() *url.URL {
	name, value := r.of("ENDPOINT")
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.wrong(name, "", "allowed is a URL with http:// or https://, such as http://collector:4318", "no traces are sent")
		return nil
	}
	if u.RawQuery != "" {
		r.wrong(name, "", "the query of the URL is not sent", "a credential belongs in OTEL_EXPORTER_OTLP_HEADERS")
	}
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: cmp.Or(u.Path, "/")}
	if name == exporter+"ENDPOINT" { // of all signals: each has a path below it
		at.Path = path.Join("/", u.Path, "v1/traces")
	}
	return at
}

// lists reports whether a list between commas has a name, or is not set. Other names than those of allowed are wrong, which words says.
func (r *reading) lists(variable, name, words string, allowed ...string) bool {
	value, found := r.env[variable], false
	for one := range strings.SplitSeq(value, ",") {
		switch one = strings.TrimSpace(one); {
		case one == name:
			found = true
		case value != "" && !slices.Contains(allowed, one):
			r.wrong(variable, value, "allowed is "+words, "the others are ignored")
		}
	}
	return found || value == ""
}

// batching reads how spans are sent. The library would panic at some of these values, or take all of a core.
func (r *reading) batching() batch {
	b := batch{time.Duration(r.count(bsp+"SCHEDULE_DELAY", 5000)) * time.Millisecond, time.Duration(r.count(bsp+"EXPORT_TIMEOUT", 30_000)) * time.Millisecond,
		r.count(bsp+"MAX_QUEUE_SIZE", 2048), r.count(bsp+"MAX_EXPORT_BATCH_SIZE", 512)}
	if b.size > b.queue {
		if name := bsp + "MAX_EXPORT_BATCH_SIZE"; r.env[name] != "" {
			r.wrong(name, r.env[name], "it is above the size of the queue", fmt.Sprintf("it counts as %d", b.queue))
		}
		b.size = b.queue
	}
	return b
}

// most is the largest number that is taken: of spans, or of milliseconds.
const most = 1_000_000

// count is a number from 1 on.
func (r *reading) count(name string, otherwise int) int {
	value := r.env[name]
	if value == "" {
		return otherwise
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		r.wrong(name, value, fmt.Sprintf("allowed is a number from 1 to %d", most), fmt.Sprintf("it counts as %d", otherwise))
		return otherwise
	}
	return n
}

// sampling is the sampler.
func (r *reading) sampling() sdktrace.Sampler {
	name, otherwise := strings.ToLower(r.env[sampler]), parentBased+"always_on"
	if name != "" && !slices.Contains(samplers, name) {
		r.wrong(sampler, r.env[sampler], "allowed is "+strings.Join(samplers, ", "), "it counts as "+otherwise)
		return sdktrace.ParentBased(sdktrace.AlwaysSample())
	}
	base, byParent := strings.CutPrefix(cmp.Or(name, otherwise), parentBased)
	root := sdktrace.AlwaysSample()
	switch base {
	case "always_off":
		root = sdktrace.NeverSample()
	case byShare:
		root = sdktrace.TraceIDRatioBased(r.share())
	}
	if arg := r.env[samplerArg]; arg != "" && base != byShare {
		r.wrong(samplerArg, arg, "only the samplers traceidratio and parentbased_traceidratio have an argument", "it is ignored")
	}
	if byParent {
		return sdktrace.ParentBased(root)
	}
	return root
}

// share is the argument of a sampler.
func (r *reading) share() float64 {
	arg := r.env[samplerArg]
	if arg == "" {
		return 1
	}
	share, err := strconv.ParseFloat(arg, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		r.wrong(samplerArg, arg, "allowed is a number from 0 to 1", "it counts as 1")
		return 1
	}
	return share
}

// sending reads how the sender reaches the collector, and checks the limits of a span.
func (r *reading) sending(at *url.URL) target {
	to := target{url: at.String(), headers: r.headers(), timeout: 10 * time.Second, tls: r.certificates()}
	if name, v := r.of("PROTOCOL"); v != "" && v != "http/json" {
		r.wrong(name, v, "allowed is http/json", "it counts as http/json, which collectors take at port 4318")
	}
	switch name, v := r.of("COMPRESSION"); v {
	case "gzip":
		to.gzip = true
	case "", "none":
	default:
		r.wrong(name, v, "allowed is gzip or none", "it counts as none")
	}
	if name, v := r.of("TIMEOUT"); v != "" {
		if n, err := strconv.ParseInt(v, 10, 32); err != nil || n < 1 {
			r.wrong(name, v, "allowed is a number of milliseconds from 1 on", "it is ignored")
		} else {
			to.timeout = time.Duration(n) * time.Millisecond
		}
	}
	for _, name := range limits {
		if v := r.env[name]; v != "" {
			if _, err := strconv.Atoi(v); err != nil {
				r.wrong(name, v, "allowed is a whole number", "it is ignored")
			}
		}
	}
	return to
}

// headers are those that go with each request. One that cannot be sent is left out.
func (r *reading) headers() map[string]string {
	name, list := r.of("HEADERS")
	if list == "" {
		return nil
	}
	all, wrong := map[string]string{}, false
	for pair := range strings.SplitSeq(list, ",") {
		key, value, found := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(value)
		if err != nil || !found || key == "" || strings.ContainsFunc(value, unicode.IsControl) || strings.ContainsFunc(key, notInName) {
			wrong = true
			continue
		}
		all[key] = strings.TrimSpace(value)
	}
	if wrong {
		r.wrong(name, "", "allowed is NAME=VALUE, or several between commas, percent-encoded, without control characters", "the others are ignored")
	}
	return all
}

// notInName reports whether the name of a header has no such character.
func notInName(c rune) bool {
	return c <= ' ' || c > unicode.MaxASCII || c == 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
}

// certificates reads whom the sender trusts and what it shows of itself; nil: neither is set.
func (r *reading) certificates() *tls.Config {
	var config tls.Config
	if name, file := r.of("CERTIFICATE"); file != "" {
		pool := x509.NewCertPool()
		if pem, err := os.ReadFile(file); err != nil {
			r.wrong(name, "", err.Error(), "it is ignored")
		} else if !pool.AppendCertsFromPEM(pem) {
			r.wrong(name, file, "the file has no certificate", "it is ignored")
		} else {
			config.RootCAs = pool
		}
	}
	certName, cert := r.of("CLIENT_CERTIFICATE")
	keyName, key := r.of("CLIENT_KEY")
	switch {
	case cert == "" && key == "":
	case cert == "" || key == "":
		r.wrong(certName+" and "+keyName, "", "only one of them is set", "it is ignored")
	default:
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			r.wrong(certName+" and "+keyName, "", err.Error(), "they are ignored")
		} else {
			config.Certificates = []tls.Certificate{pair}
		}
	}
	if config.RootCAs == nil && config.Certificates == nil {
		return nil
	}
	return &config
}
