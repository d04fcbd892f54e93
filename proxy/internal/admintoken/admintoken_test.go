package admintoken

import (
	"net/http"
	"strings"
	"testing"
)

func TestGiven(t *testing.T) {
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
		if got := Given(&http.Request{Header: http.Header{name: {value}}}, tc.token); got != tc.want {
			t.Errorf("token %q, %s: %v", tc.token, tc.header, got)
		}
	}
}
