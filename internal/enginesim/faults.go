package enginesim

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FaultHeader is the request header with which a client asks for a fault, such as
//
//	X-Sim-Fault: status=503, retry-after=2
//	X-Sim-Fault: cut=200
//	X-Sim-Fault: delay=5s, split
//
// It is a list of names, some with a value, separated by commas; see parseFault. It overrides Options.Fault.
const FaultHeader = "X-Sim-Fault"

// Fault is one faulty answer. The zero value is no fault. Durations are real time, whatever the speed of the model.
// Events are those of a stream, counted from 1.
type Fault struct {
	Status int         // answer with this status instead; the body is Body, or an error in OpenAI's shape
	Body   string      // answer with this body instead; the status is Status, or 200
	Header http.Header // set on the answer after all others, so it may be wrong

	Delay time.Duration // before the headers: with a day, the upstream never answers

	CutAfter  int  // the connection is aborted after this many bytes of the body; negative: after the headers
	CutEvents int  // the connection is aborted after this many events
	Silence   bool // instead of aborting, send nothing until the client leaves; without a cut, after the headers

	Malformed  bool // a stream has an event that is not JSON; a whole answer ends in the middle of its JSON
	ErrorEvent bool // a stream ends in an error object after CutEvents (or 2) events, under status 200
	NoDone     bool // a stream ends without finish reason, usage and terminal event
	NoUsage    bool // usage is missing

	CRLF       bool // lines of a stream end in CR LF
	Comments   bool // a stream has comments between its events
	SplitBytes bool // every byte is written and flushed by itself
	HugeEvent  int  // one event of a stream is padded with this many bytes in a field that clients ignore

	WrongLength  int    // added to the Content-Length of a whole answer; negative: the body ends there
	Gzip         bool   // the body is compressed, whether or not the client accepts it
	FinishReason string // the finish reason, e.g. content_filter
	Refusal      string // the model refuses in these words
}

// replaces reports whether the fault replaces the whole answer.
func (f *Fault) replaces() bool { return f.Status != 0 || f.Body != "" }

// faultWords are the names that parseFault accepts, each with how it sets its fault.
var faultWords = map[string]func(f *Fault, value string) error{
	"status":       func(f *Fault, v string) error { return setInt(&f.Status, v, 200, 999) },
	"body":         func(f *Fault, v string) error { f.Body = v; return nil },
	"retry-after":  func(f *Fault, v string) error { f.Header = http.Header{"Retry-After": {v}}; return nil },
	"delay":        func(f *Fault, v string) error { return setDuration(&f.Delay, v) },
	"cut":          setCut,
	"cut-events":   func(f *Fault, v string) error { return setInt(&f.CutEvents, v, 1, 1<<30) },
	"silence":      func(f *Fault, v string) error { return setFlag(&f.Silence, v) },
	"malformed":    func(f *Fault, v string) error { return setFlag(&f.Malformed, v) },
	"error-event":  func(f *Fault, v string) error { return setFlag(&f.ErrorEvent, v) },
	"no-done":      func(f *Fault, v string) error { return setFlag(&f.NoDone, v) },
	"no-usage":     func(f *Fault, v string) error { return setFlag(&f.NoUsage, v) },
	"crlf":         func(f *Fault, v string) error { return setFlag(&f.CRLF, v) },
	"comments":     func(f *Fault, v string) error { return setFlag(&f.Comments, v) },
	"split":        func(f *Fault, v string) error { return setFlag(&f.SplitBytes, v) },
	"huge":         func(f *Fault, v string) error { return setInt(&f.HugeEvent, v, 1, 64<<20) },
	"wrong-length": func(f *Fault, v string) error { return setInt(&f.WrongLength, v, -1<<30, 1<<30) },
	"gzip":         func(f *Fault, v string) error { return setFlag(&f.Gzip, v) },
	"finish":       func(f *Fault, v string) error { f.FinishReason = v; return nil },
	"refusal":      func(f *Fault, v string) error { f.Refusal = v; return nil },
}

// parseFault reads the value of FaultHeader. These take a value: status, body, retry-after (seconds), delay (a duration
// such as 200ms), cut (bytes; 0 is after the headers), cut-events, huge (bytes), wrong-length (bytes to add), finish (a reason), refusal
// (words). These take none: silence, malformed, error-event, no-done, no-usage, crlf, comments, split, gzip. A value cannot contain a comma.
func parseFault(s string) (Fault, error) {
	var f Fault
	for item := range strings.SplitSeq(s, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		name, value, _ := strings.Cut(item, "=")
		set, ok := faultWords[name]
		if !ok {
			known := slices.Sorted(maps.Keys(faultWords))
			return Fault{}, fmt.Errorf("unknown fault %q; known are %s", name, strings.Join(known, ", "))
		}
		if err := set(&f, value); err != nil {
			return Fault{}, fmt.Errorf("fault %s: %w", name, err)
		}
	}
	return f, nil
}

// setCut sets CutAfter; 0, which means no byte at all, is -1 there.
func setCut(f *Fault, v string) error {
	if err := setInt(&f.CutAfter, v, 0, 1<<30); err != nil {
		return err
	}
	if f.CutAfter == 0 {
		f.CutAfter = -1
	}
	return nil
}

func setInt(to *int, v string, low, high int) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high {
		return fmt.Errorf("want a number from %d to %d, got %q", low, high, v)
	}
	*to = n
	return nil
}

func setDuration(to *time.Duration, v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return fmt.Errorf("want a duration such as 200ms, got %q", v)
	}
	*to = d
	return nil
}

func setFlag(to *bool, v string) error {
	if v != "" {
		return fmt.Errorf("takes no value, got %q", v)
	}
	*to = true
	return nil
}

// faultError is the error that OpenAI sends with a status.
func faultError(status int) *apiError {
	e := &apiError{Status: status, Message: "Fault on demand: " + http.StatusText(status) + ".", Type: "server_error"}
	switch {
	case status == http.StatusTooManyRequests:
		e.Type, e.Code = "requests", "rate_limit_exceeded"
	case status == http.StatusUnauthorized:
		e.Type, e.Code = "invalid_request_error", "invalid_api_key"
	case status < 500:
		e.Type = "invalid_request_error"
	}
	return e
}
