package gate

import (
	"net/http"
	"testing"
)

func TestLocal(t *testing.T) {
	trusted := Names{"proxy.lan", "host.docker.internal:8080"}
	for host, want := range map[string]bool{
		"": true, "localhost": true, "localhost:8080": true, "LOCALHOST:1": true, "localhost.": true, "a.localhost:80": true,
		"127.0.0.1": true, "127.0.0.1:8080": true, "127.9.9.9:1": true, "[::1]:8080": true, "[::1]": true, "10.0.0.7:8080": true, "[fe80::1%eth0]:1": true,
		"evil.example": false, "evil.example:8080": false, "localhost.evil.example": false, "127.0.0.1.evil.example:8080": false,
		".localhost": false, "xlocalhost": false, "localhost@evil.example": false, "[evil.example]:8080": false, "[::1]evil.example": false, "[127.0.0.1]x.evil.example:80": false, "127.0.0.1.": true, ":8080": false,
		"proxy.lan": true, "PROXY.lan:9": true, "host.docker.internal:8080": true, "host.docker.internal:8081": false, "x.proxy.lan": false,
	} {
		if got := trusted.Local(host); got != want {
			t.Errorf("Host %q: %v", host, got)
		}
	}
}

func TestForeign(t *testing.T) {
	trusted := Names{"app.example", "localhost:3000"}
	for _, tc := range []struct {
		method, host, origin, site string
		want                       bool
	}{
		{"POST", "localhost:8080", "", "", false},
		{"POST", "localhost:8080", "http://localhost:8080", "", false},
		{"POST", "localhost:8080", "https://localhost:8080", "", false},
		{"POST", "localhost:8080", "http://LOCALHOST:8080", "", false},
		{"POST", "localhost:8080", "http://localhost:8080", "same-origin", false},
		{"POST", "localhost:8080", "http://localhost:8080", "cross-site", true},
		{"POST", "localhost:8080", "http://localhost:8081", "", true},
		{"POST", "localhost:8080", "http://127.0.0.1:8080", "", true},
		{"POST", "localhost:8080", "http://localhost:3000", "same-site", false},
		{"POST", "localhost:8080", "https://evil.example", "", true},
		{"POST", "localhost:8080", "https://evil.example", "cross-site", true},
		{"GET", "localhost:8080", "https://evil.example", "", true},
		{"OPTIONS", "localhost:8080", "https://evil.example", "cross-site", true},
		{"POST", "localhost:8080", "null", "", true},
		{"POST", "localhost:8080", "", "cross-site", true},
		{"POST", "localhost:8080", "", "same-site", true},
		{"POST", "localhost:8080", "", "none", false},
		{"POST", "localhost:8080", "", "anything", true},
		{"GET", "localhost:8080", "", "cross-site", false},
		{"POST", "localhost:8080", "https://app.example", "cross-site", false},
		{"POST", "localhost:8080", "https://app.example:444", "cross-site", false},
		{"POST", "localhost:8080", "https://app.example.evil.example", "cross-site", true},
		{"POST", "localhost:8080", "https://evil.example#app.example", "cross-site", true},
		{"POST", "", "http://", "", true},
		{"POST", "", "", "", false},
	} {
		r := &http.Request{Method: tc.method, Host: tc.host, Header: http.Header{}}
		if tc.origin != "" {
			r.Header.Set("Origin", tc.origin)
		}
		if tc.site != "" {
			r.Header.Set("Sec-Fetch-Site", tc.site)
		}
		if got := trusted.Foreign(r); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
	two := &http.Request{Method: "POST", Host: "a", Header: http.Header{"Origin": {"http://a", "http://evil.example"}}}
	if !trusted.Foreign(two) {
		t.Error("two origins")
	}
}
