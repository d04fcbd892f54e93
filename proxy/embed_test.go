package proxy

import (
	"context"
	"testing"

	"github.com/sony/gobreaker/v2"

	"reprise/proxy/canon"
)

// TestLeavingCallerIsNotCounted: a caller that leaves counts neither as a failure nor as a success of the embedder, and is no
// fault.
func TestLeavingCallerIsNotCounted(t *testing.T) {
	var e *countingEmbedder
	r := newRig(t, func(o *Options) { e = &countingEmbedder{Embedder: o.Embedder}; o.Embedder = e })
	left, leave := context.WithCancel(context.Background())
	leave()
	q := &query{Request: &canon.Request{Prompt: capital}}
	for i, healthy := range []bool{false, false, false, false, true, false} {
		ctx := context.Background()
		if healthy { // but the caller has left
			ctx = left
		}
		e.broken.Store(!healthy)
		if err := r.embed(ctx, q, &finding{}); (err == nil) != healthy {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if got := r.embedder.State(); got != gobreaker.StateOpen {
		t.Errorf("after five failures and a caller that left, the breaker is %v", got)
	}
}
