package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"reprise/cmd/internal/cli"
)

func TestHealth(t *testing.T) {
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, r.URL.Path, " answered\n")
	}))
	defer s.Close()
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	for _, c := range []struct {
		name, listen string
		args         []string
	}{
		{name: "address", listen: "127.0.0.1" + port},
		{name: "all addresses", listen: "0.0.0.0" + port},
		{name: "no host", listen: port},
		{name: "URL", args: []string{s.URL + "/readyz"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			environ := []string{"REPRISE_ADMIN_LISTEN=" + c.listen, "HTTP_PROXY=http://192.0.2.1:1"}
			status = http.StatusOK
			if out, talk, code := run(environ, append([]string{"health"}, c.args...)...); code != cli.ExitOK || out != "/readyz answered\n" {
				t.Errorf("ready: exit %d, %q, %q", code, out, talk)
			}
			status = http.StatusServiceUnavailable
			out, talk, code := run(environ, append([]string{"health"}, c.args...)...)
			if code != cli.ExitFailed || out != "" || !strings.Contains(talk, "status 503: /readyz answered") {
				t.Errorf("not ready: exit %d, %q, %q", code, out, talk)
			}
		})
	}
	s.Close()
	if _, talk, code := run(nil, "health", s.URL); code != cli.ExitFailed || !strings.Contains(talk, "refused") {
		t.Errorf("no proxy: exit %d, %q", code, talk)
	}
}

// TestHealthOfAStranger: what listens at the address may be another program, whose words are no commands to the terminal.
func TestHealthOfAStranger(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, "ready\n\x1b]0;title\a\x9b31m \u009b31m \u202e“yes”\n")
		}))
		out, talk, _ := run(nil, "health", s.URL)
		s.Close()
		if strings.ContainsAny(out+talk, "\x1b\a\u009b\u202e") || !strings.Contains(out+talk, "ready\n") || !strings.Contains(out+talk, "“yes”\n") {
			t.Errorf("status %d: %q, %q", status, out, talk)
		}
	}
}
