package gate

import (
	"net/http"
	"strings"
	"testing"
)

func TestHasToken(t *testing.T) {
	for _, tc := range []struct {
		token, header string
		want          bool
	}{
		{"s3cret", "X-None: 1", false}, {"s3cret", "Authorization: Bearer wrong", false}, {"s3cret", "Authorization: s3cret", false},
		{"s3cret", "Authorization: Secret s3cret", false}, {"s3cret", "Authorization: bearer s3cret", true},
		{"s3cret", "Authorization: Bearer s3cret", true}, {"s3cret", "X-Reprise-Admin-Token: s3cret", true},
		{"", "X-Reprise-Admin-Token: ", false}, {"", "Authorization: Bearer ", false},
	} {
		name, value, _ := strings.Cut(tc.header, ": ")
		if got := HasToken(&http.Request{Header: http.Header{name: {value}}}, tc.token); got != tc.want {
			t.Errorf("token %q, %s: %v", tc.token, tc.header, got)
		}
	}
}

// TestRemoveToken: the token goes, in either header; a client's own credential stays.
func TestRemoveToken(t *testing.T) {
	for _, tc := range []struct{ own, authorization, left string }{
		{"", "Bearer s3cret", ""}, {"s3cret", "Bearer client", "Bearer client"}, {"s3cret", "bearer s3cret", ""}, {"s3cret", "", ""}, {"", "Basic s3cret", "Basic s3cret"},
	} {
		h := http.Header{tokenHeader: {tc.own}, "Authorization": {tc.authorization}}
		RemoveToken(h, "s3cret")
		if _, ok := h[tokenHeader]; ok || h.Get("Authorization") != tc.left {
			t.Errorf("%+v: %v", tc, h)
		}
	}
}
