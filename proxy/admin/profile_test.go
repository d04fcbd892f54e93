package admin

import (
	"strings"
	"testing"
)

// profilePaths are all profiles, none of which takes long.
var profilePaths = []string{"", "profile?seconds=1", "trace?seconds=0.001", "heap", "allocs", "goroutine?debug=1", "mutex", "block", "threadcreate"}

// TestProfilesNeedTheToken: a profile is under the rules of every other path of the admin API: the token where one is set, otherwise a local
// name.
func TestProfilesNeedTheToken(t *testing.T) {
	for _, tc := range []struct {
		name, token, host, header string
		status                    int
	}{
		{"no token given", "s3cret", "proxy.example", "", 401},
		{"no token given, on loopback", "s3cret", "localhost", "", 401},
		{"another token", "s3cret", "proxy.example", "Authorization: Bearer wrong", 401},
		{"the token", "s3cret", "proxy.example", "Authorization: Bearer s3cret", 200},
		{"a foreign name without a token", "", "evil.example", "", 403},
		{"a local name without a token", "", "localhost", "", 200},
	} {
		r := newRig(t, "lru", func(o *Options) { o.Token, o.Loopback = tc.token, tc.token == "" })
		for _, path := range profilePaths {
			got := r.call("GET", "http://"+tc.host+"/admin/debug/pprof/"+path, "", tc.header)
			if got.Code != tc.status || (tc.status != 200) != strings.HasPrefix(got.Body.String(), `{"error":`) {
				t.Errorf("%s: %q: %d, want %d: %.80q", tc.name, path, got.Code, tc.status, got.Body)
			}
		}
	}
}

// TestProfilesAreUnderAdminOnly: the routes that the import of net/http/pprof makes by itself are not served, the command line is not at all,
// and nothing of it takes a write.
func TestProfilesAreUnderAdminOnly(t *testing.T) {
	r := newRig(t, "lru")
	for line, status := range map[string]int{"GET /debug/pprof/": 404, "GET /debug/pprof/heap": 404, "GET /admin/debug/pprof/cmdline": 404, "GET /admin/debug/pprof/none": 404,
		"POST /admin/debug/pprof/symbol": 405, "POST /admin/debug/pprof/heap": 405} {
		method, path, _ := strings.Cut(line, " ")
		if got := r.call(method, "http://localhost"+path, "", ""); got.Code != status {
			t.Errorf("%s: %d, want %d: %.80q", line, got.Code, status, got.Body)
		}
	}
}
