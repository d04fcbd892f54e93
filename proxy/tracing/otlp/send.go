package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Bounds of the sending.
const (
	maxRequest   = 64 << 20         // bytes of a request before compression; collectors take 20 MiB unless they are set up for more
	maxResponse  = 4 << 20          // bytes of an answer that are read
	firstPause   = 5 * time.Second  // before the second attempt to send a batch
	longestPause = 30 * time.Second // before a later one, unless the collector asks for a longer one
	maxRetrying  = time.Minute      // since the first attempt
	maxErrorText = 500              // bytes
)

// sender is the sdktrace.SpanExporter that posts batches of spans as JSON. It reports each error itself: the library has one place for
// the errors of all of a process. The texts of errors have neither the collector's own words, which may repeat the headers of a request
// and be megabytes long, nor the URL, which may hold a credential.
type sender struct {
	to     target
	client *http.Client
	agent  string
	fault  func(error)

	stopped context.Context // done when sending ends at once
	stop    context.CancelFunc
}

var _ sdktrace.SpanExporter = (*sender)(nil)

func newSender(to target, version string, fault func(error)) *sender {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: to.tls, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second}
	s := &sender{to: to, client: &http.Client{Transport: transport, Timeout: to.timeout}, agent: "reprise/" + version, fault: fault}
	s.stopped, s.stop = context.WithCancel(context.Background())
	return s
}

// Shutdown stops the sending.
func (s *sender) Shutdown(context.Context) error {
	s.stop()
	s.client.CloseIdleConnections()
	return nil
}

// ExportSpans sends one batch, and drops it if the collector does not take it before ctx ends. It never returns an error.
func (s *sender) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.stopped, func() { cancel(context.Canceled) })()
	if err := s.send(ctx, spans); err != nil && s.stopped.Err() == nil {
		s.fault(err)
	}
	return nil
}

func (s *sender) send(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	body, err := encode(spans)
	switch {
	case err != nil:
		return fmt.Errorf("encode spans: %w", err)
	case len(body) > maxRequest:
		return fmt.Errorf("%d spans take more than %d MiB: a lower OTEL_BSP_MAX_EXPORT_BATCH_SIZE helps", len(spans), maxRequest>>20)
	}
	if s.to.gzip {
		if body, err = compress(body); err != nil {
			return fmt.Errorf("compress spans: %w", err)
		}
	}
	for began, pause := time.Now(), firstPause; ; pause = min(pause*3/2, longestPause) {
		err := s.post(ctx, body)
		again, is := errors.AsType[*retryable](err)
		if !is {
			return err
		}
		wait := max(again.after, pause/2+rand.N(pause)) // up to half shorter or longer, so that processes do not come back together
		if time.Since(began)+again.after > maxRetrying || !sleep(ctx, wait) {
			return again
		}
	}
}

// retryable is an error of an attempt that is worth another one, at the earliest after a time that the collector asks for.
type retryable struct {
	error
	after time.Duration
}

// post makes one attempt. An error that is worth another one is a *retryable.
func (s *sender) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.to.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the collector's URL cannot be used")
	}
	r.Header.Set("User-Agent", s.agent)
	for name, value := range s.to.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	if s.to.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return unreachable(err)
	}
	defer resp.Body.Close()
	answer, readErr := io.ReadAll(io.LimitReader(resp.Body, maxResponse)) // to its end, so that the connection is used again
	err = fmt.Errorf("the collector answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &retryable{err, retryAfter(resp.Header.Get("Retry-After"))}
	}
	if resp.StatusCode/100 != 2 || readErr != nil {
		return err
	}
	return rejected(resp.Header.Get("Content-Type"), answer)
}

// unreachable is an error of the connection. One that may pass is worth another attempt.
func unreachable(err error) error {
	passes := false
	if u, is := errors.AsType[*url.Error](err); is {
		passes, err = u.Temporary(), u.Err // without the URL
	}
	text := err.Error()
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	err = fmt.Errorf("the collector cannot be reached: %s", text)
	if passes {
		return &retryable{error: err}
	}
	return err
}

// rejected is what a collector that answers 200 says about spans that it did not take; nil: it took all.
func rejected(contentType string, answer []byte) error {
	var said struct {
		PartialSuccess struct {
			RejectedSpans json.Number
			ErrorMessage  string
		}
	}
	if !strings.HasPrefix(contentType, "application/json") || json.Unmarshal(answer, &said) != nil {
		return nil
	}
	n, _ := said.PartialSuccess.RejectedSpans.Int64()
	switch {
	case n != 0:
		return fmt.Errorf("the collector has rejected %d spans", n)
	case said.PartialSuccess.ErrorMessage != "":
		return errors.New("the collector took the spans with a warning")
	}
	return nil
}

// retryAfter is the time that the header asks for, as seconds or as a date.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(time.Until(date), 0)
	}
	return 0
}

// sleep waits, and reports whether ctx lasted that long.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func compress(body []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
