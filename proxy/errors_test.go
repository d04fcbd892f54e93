package proxy

import (
	"strings"
	"testing"

	"reprise/proxy/upstream"
)

// TestPanicIsNotShown: what a flight panicked with is not in the answer to its clients.
func TestPanicIsNotShown(t *testing.T) {
	if api := toAPIError(&upstream.PanicError{Value: "boom"}); api.Status != 500 || strings.Contains(api.Message, "boom") {
		t.Errorf("client sees %+v", api)
	}
}
