package llamatest

import (
	"fmt"
	"reprise/internal/built"
	"strings"
	"testing"
)

// Main runs the tests of a package that uses Serve, and removes what they have built. It returns the exit code.
func Main(m *testing.M) int {
	defer built.Remove()
	return m.Run()
}

// Serve runs the program in front of engines, called a, b and so on, with these settings. It ends with the test, which fails if the process
// has had a data race or a panic.
func Serve(t testing.TB, engines []*Engine, env ...string) *built.Proxy {
	t.Helper()
	return built.Start(t, append([]string{"REPRISE_STORE=memory", "REPRISE_CLIENT_TIMEOUT=30m", "REPRISE_UPSTREAM=" + upstreams(engines)}, env...)...)
}

// upstreams is the setting for engines.
func upstreams(engines []*Engine) string {
	var list []string
	for i, e := range engines {
		list = append(list, fmt.Sprintf("%c=%s/v1;dialect=llamacpp;capacity=%d", 'a'+i, e.URL, e.Tokens))
	}
	return strings.Join(list, ",")
}
