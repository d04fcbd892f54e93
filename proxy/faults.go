package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/sony/gobreaker/v2"

	"reprise/proxy/internal/apierror"
)

// guarded runs one step of the cache. Whatever goes wrong in it, even a panic, is an event and never the request's
// failure; it reports whether all went well.
func (s *Server) guarded(step string, run func() error) (ok bool) {
	defer func() {
		if v := recover(); v != nil {
			s.fault(context.Background(), step, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
			ok = false
		}
	}()
	if err := run(); err != nil {
		s.fault(context.Background(), step, err)
		return false
	}
	return true
}

// fault counts and logs what went wrong in a step.
func (s *Server) fault(ctx context.Context, step string, err error) {
	s.metrics.fault(step)
	if !errors.Is(err, gobreaker.ErrOpenState) && !errors.Is(err, gobreaker.ErrTooManyRequests) { // what opened it has been told
		s.faults.Report(ctx, "degraded: "+step, err)
	}
}

// crashed is told of a panic in a flight outside the guarded steps.
func (s *Server) crashed(v any, stack []byte) {
	s.fault(context.Background(), "flight", fmt.Errorf("panic: %v\n%s", v, stack))
}

// logRequest writes one line per keyed request for whoever has asked for that much; a prompt only where it is allowed.
func (s *Server) logRequest(q *query, result Result) {
	ctx := q.http.Context()
	if !s.log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{slog.Int64("request", q.req.At.Seq), slog.String("endpoint", q.family.Name), slog.String("model", q.Model),
		slog.String("result", result.String()), slog.String("key", hexOf(q.Key)[:16])}
	if s.opts.LogPrompts {
		attrs = append(attrs, slog.String("prompt", q.Prompt))
	}
	s.log.LogAttrs(ctx, slog.LevelDebug, "request", attrs...)
}

// logError logs what a client was refused, for whoever has asked for that much: what is wrong on our side has been told as
// a fault already.
func (s *Server) logError(r *http.Request, api *apierror.Error, err error) {
	if !s.log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	s.log.LogAttrs(r.Context(), slog.LevelDebug, "refused", slog.String("path", r.URL.Path), slog.Int("status", api.Status),
		slog.String("code", api.Code), slog.String("error", err.Error()))
}
