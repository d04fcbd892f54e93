package proxy

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"reprise/proxy/canon"
	"reprise/proxy/internal/apierror"
	"reprise/topics/frames"
)

// Directives is what a client asks of the cache for one request. Each narrows what the operator allows: a threshold can only be
// raised, a TTL only shortened, and a namespace only divides a tenant.
type Directives struct {
	NoCache      bool // do not read; the fresh answer is stored
	NoStore      bool // do not write
	OnlyIfCached bool
	ExactOnly    bool
	MaxAge       time.Duration // of a stored answer; negative: any
	TTL          time.Duration // of the answer stored by this request; 0: the operator's
	Threshold    float64       // 0: the operator's
	Namespace    string
	Ask          *frames.Declared // the part of what asks that may be compared; nil: all of it
}

// bypass reports whether the request neither reads nor writes the cache.
func (d *Directives) bypass() bool { return d.NoCache && d.NoStore }

// private reports whether no other request may share the flight, because its outcome depends on the directives.
func (d *Directives) private() bool {
	return d.NoCache || d.NoStore || d.OnlyIfCached || d.ExactOnly || d.MaxAge >= 0 || d.TTL > 0 || d.Threshold > 0 || d.Ask != nil
}

// tighten merges o into d, taking the narrower of each.
func (d *Directives) tighten(o Directives) {
	d.NoCache = d.NoCache || o.NoCache
	d.NoStore = d.NoStore || o.NoStore
	d.OnlyIfCached = d.OnlyIfCached || o.OnlyIfCached
	d.ExactOnly = d.ExactOnly || o.ExactOnly
	d.limitAge(o.MaxAge)
	d.limitTTL(o.TTL)
	d.Threshold = max(d.Threshold, o.Threshold)
	switch {
	case d.Ask == nil:
		d.Ask = o.Ask
	case o.Ask != nil && o.Ask.String() != d.Ask.String(): // no part is the only one that may differ
		d.ExactOnly = true
	}
	switch {
	case d.Namespace == "":
		d.Namespace = o.Namespace
	case o.Namespace != "": // two names in one request are a third namespace; no header can contain the separator
		d.Namespace += "\x1f" + o.Namespace
	}
}

func (d *Directives) limitAge(age time.Duration) {
	if age >= 0 && (d.MaxAge < 0 || age < d.MaxAge) {
		d.MaxAge = age
	}
}

func (d *Directives) limitTTL(ttl time.Duration) {
	if ttl > 0 && (d.TTL == 0 || ttl < d.TTL) {
		d.TTL = ttl
	}
}

// directive reads one header. strict headers are our own: an invalid value is a 400. Invalid values in headers of other gateways
// are ignored.
type directive struct {
	header string
	strict bool
	allows string // what a value may be, or which header of ours it is like
	read   func(value string, into *Directives) (ok bool)
}

var directives = []directive{
	{"X-Reprise-Mode", true, "semantic, exact or off", readLayer},
	{"X-Reprise-Threshold", true, "a number above 0, at most 1", readThreshold},
	{"X-Reprise-Ttl", true, "seconds or a duration such as 90s or 1h, above 0", readTTL},
	{"X-Reprise-Namespace", true, "1 to 128 characters", readNamespace},
	{"X-Reprise-Ask", true, `an expression (RE2) of up to 256 bytes and 128 steps with a group (?P<ask>…), such as Question: (?P<ask>.+)$: nothing else of the prompt may differ`, readAsk},

	{"X-Cache-Control", false, "as Cache-Control", readCacheControl},
	{"X-Vsr-Cache-Control", false, "as Cache-Control", readCacheControl},
	{"X-Cache-Ttl", false, "as X-Reprise-Ttl", readTTL},
	{"X-Bf-Cache-Ttl", false, "as X-Reprise-Ttl", readTTL},
	{"Cf-Aig-Cache-Ttl", false, "as X-Reprise-Ttl", readTTL},
	{"X-Openrouter-Cache-Ttl", false, "as X-Reprise-Ttl", readTTL},
	{"X-Cache-Semantic-Threshold", false, "as X-Reprise-Threshold", readThreshold},
	{"X-Bf-Cache-Threshold", false, "as X-Reprise-Threshold", readThreshold},
	{"X-Cache-Type", false, "exact leaves only exact hits, semantic both", readLayer},
	{"X-Bf-Cache-Type", false, "exact leaves only exact hits, semantic both", readLayer},
	{"X-Bf-Cache-No-Store", false, "true: as no-store in Cache-Control", ifTrue(func(d *Directives) { d.NoStore = true })},
	{"Cf-Aig-Skip-Cache", false, "true: as no-cache in Cache-Control", ifTrue(func(d *Directives) { d.NoCache = true })},
	{"X-Higress-Skip-Ai-Cache", false, "true: as no-cache in Cache-Control", ifTrue(func(d *Directives) { d.NoCache = true })},
	{"X-Portkey-Cache-Force-Refresh", false, "true: as no-cache in Cache-Control", ifTrue(func(d *Directives) { d.NoCache = true })},
	{"X-Openrouter-Cache-Clear", false, "true: as no-cache in Cache-Control", ifTrue(func(d *Directives) { d.NoCache = true })},
	{"Helicone-Cache-Enabled", false, "false: as no-cache and no-store in Cache-Control", ifFalse(func(d *Directives) { d.NoCache, d.NoStore = true, true })},
	{"X-Openrouter-Cache", false, "false: as no-cache and no-store in Cache-Control", ifFalse(func(d *Directives) { d.NoCache, d.NoStore = true, true })},
	{"X-Bf-Cache-Key", false, "as X-Reprise-Namespace", readNamespace},
	{"X-Portkey-Cache-Namespace", false, "as X-Reprise-Namespace", readNamespace},
	{"Helicone-Cache-Seed", false, "as X-Reprise-Namespace", readNamespace},
	{"Cf-Aig-Cache-Key", false, "as X-Reprise-Namespace", readNamespace},
}

// parseDirectives reads the directives in h. maybe is false where none is but in Cache-Control, as in most requests.
func parseDirectives(h http.Header, maybe bool) (Directives, error) {
	d := Directives{MaxAge: -1}
	for _, v := range h["Cache-Control"] {
		if !streamHabit(v, h) {
			readCacheControl(v, &d)
		}
	}
	if !maybe {
		return d, nil
	}
	for _, one := range directives {
		for _, v := range h[one.header] {
			got := Directives{MaxAge: -1}
			if !one.read(strings.TrimSpace(v), &got) {
				if one.strict {
					return d, apierror.BadRequest("invalid_header", "The header "+one.header+" is "+apierror.Quote(v)+"; allowed is "+one.allows+".")
				}
				continue
			}
			d.tighten(got)
		}
	}
	return d, nil
}

// isDirective reports whether a field is a directive. Few requests have names that begin like those.
func isDirective(name string) bool {
	for _, begin := range [...]string{"X-", "Cf-Aig-", "Helicone-"} {
		if strings.HasPrefix(name, begin) {
			return directiveNames[name]
		}
	}
	return false
}

var directiveNames = func() map[string]bool {
	names := map[string]bool{}
	for _, one := range directives {
		names[one.header] = true
	}
	return names
}()

// streamHabit reports whether a Cache-Control is the one that go-openai and browsers' EventSource send with every stream, which
// is no wish of the application. An application that needs a fresh stream can send max-age=0, or another header.
func streamHabit(value string, h http.Header) bool {
	return strings.EqualFold(strings.TrimSpace(value), "no-cache") && h.Get("Accept") == "text/event-stream"
}

func readCacheControl(value string, d *Directives) bool {
	for part := range strings.SplitSeq(value, ",") {
		name, arg, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch strings.ToLower(name) {
		case "no-cache", "bypass": // "bypass" is the same in another gateway
			d.NoCache = true
		case "no-store":
			d.NoStore = true
		case "only-if-cached":
			d.OnlyIfCached = true
		case "max-age":
			if s, err := strconv.ParseInt(strings.Trim(arg, `"`), 10, 64); err == nil && s >= 0 {
				d.limitAge(seconds(float64(s)))
			}
		case "ttl":
			readTTL(arg, d)
		}
	}
	return true
}

func readThreshold(value string, d *Directives) bool {
	t, err := strconv.ParseFloat(value, 64)
	if err != nil || !(t > 0 && t <= 1) {
		return false
	}
	d.Threshold = t
	return true
}

func readTTL(value string, d *Directives) bool {
	ttl, err := time.ParseDuration(value)
	if err != nil {
		s, err := strconv.ParseFloat(value, 64)
		if err != nil || !(s > 0) {
			return false
		}
		ttl = seconds(s)
	}
	if ttl <= 0 {
		return false
	}
	d.TTL = ttl
	return true
}

// seconds clamps to what a Duration can hold.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, math.MaxInt64/float64(time.Second)-1) * float64(time.Second))
}

func readLayer(value string, d *Directives) bool {
	switch strings.ToLower(value) {
	case "exact", "direct":
		d.ExactOnly = true
	case "off", "bypass":
		d.NoCache, d.NoStore = true, true
	case "semantic", "both":
	default:
		return false
	}
	return true
}

func readNamespace(value string, d *Directives) bool {
	if value == "" || len(value) > 128 {
		return false
	}
	d.Namespace = value
	return true
}

// askCache has the expressions of X-Reprise-Ask that were read of late.
var askCache = struct {
	mu  sync.Mutex // protects all
	all map[string]*frames.Declared
}{all: map[string]*frames.Declared{}}

const (
	mostAsks   = 64
	longestAsk = 256 // bytes
)

func readAsk(value string, d *Directives) bool {
	askCache.mu.Lock()
	known := askCache.all[value]
	askCache.mu.Unlock()
	if known == nil {
		var err error
		if known, err = frames.Declare(strings.Clone(value), longestAsk); err != nil {
			return false
		}
		askCache.mu.Lock()
		defer askCache.mu.Unlock()
		if len(askCache.all) >= mostAsks {
			clear(askCache.all)
		}
		askCache.all[known.String()] = known
	}
	d.Ask = known
	return true
}

func ifTrue(set func(*Directives)) func(string, *Directives) bool  { return ifBool(true, set) }
func ifFalse(set func(*Directives)) func(string, *Directives) bool { return ifBool(false, set) }

func ifBool(want bool, set func(*Directives)) func(string, *Directives) bool {
	return func(value string, d *Directives) bool {
		got, ok := parseSwitch(value)
		if ok && got == want {
			set(d)
		}
		return ok
	}
}

func parseSwitch(value string) (on, ok bool) {
	switch strings.ToLower(value) {
	case "true", "1", "on", "yes":
		return true, true
	case "false", "0", "off", "no":
		return false, true
	}
	return false, false
}

// bodyDirectives are those of the body's "cache" object. Its namespace is part of the key already; here it is recorded in the
// entry, for lists and purges.
func bodyDirectives(b canon.Directive) Directives {
	d := Directives{NoCache: b.NoCache, NoStore: b.NoStore, TTL: b.TTL, Namespace: b.Namespace, MaxAge: -1}
	if b.MaxAge > 0 {
		d.MaxAge = b.MaxAge
	}
	return d
}
