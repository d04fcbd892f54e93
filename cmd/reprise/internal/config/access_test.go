package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestClientKeys(t *testing.T) {
	for value, want := range map[string]string{
		"client-key-1":              "client-key-1",
		"client-key-1,client-key-2": "client-key-1 client-key-2",
		" client-key-1 ,\tclient-key-2\r\nclient-key-3\n":                  "client-key-1 client-key-2 client-key-3",
		"# all\nclient-key-1 # one, two\n#client-key-2\nclient#key":        "client-key-1 client#key",
		"client-key-1\t#\u00a0of-alice\nclient-key-2 #of-bob,client-key-3": "client-key-1 client-key-2",
		"short":           "",
		"client-key-1 no": "",
		"# none":          "",
		",":               "",
		"schlüssel":       "",
	} {
		c, err := load(t, []string{"REPRISE_UPSTREAM_KEY=k", "REPRISE_CLIENT_KEYS=" + value})
		switch {
		case want == "" && (!errors.Is(err, ErrBad) || len(value) > 1 && strings.Contains(err.Error(), value)):
			t.Errorf("%q: %v", value, err)
		case want != "" && (err != nil || strings.Join(c.ClientKeys, " ") != want):
			t.Errorf("%q: %v, %v", value, c, err)
		}
	}
}

// TestAccess: which listeners and keys go together.
func TestAccess(t *testing.T) {
	const key, clients = "REPRISE_UPSTREAM_KEY=sk-operator", "REPRISE_CLIENT_KEYS=client-key-1"
	for _, tc := range []struct {
		env []string
		bad string
	}{
		{[]string{key}, ""},
		{[]string{key, "REPRISE_LISTEN=localhost:1"}, ""},
		{[]string{key, "REPRISE_LISTEN=[::1]:1"}, ""},
		{[]string{key, "REPRISE_LISTEN=0.0.0.0:1"}, "REPRISE_LISTEN=0.0.0.0:1 (environment) can be reached from outside this machine, and every client would use the credential in REPRISE_UPSTREAM_KEY: that needs REPRISE_CLIENT_KEYS"},
		{[]string{key, "REPRISE_LISTEN=:1"}, "needs REPRISE_CLIENT_KEYS"},
		{[]string{key, "REPRISE_LISTEN=proxy:1"}, "needs REPRISE_CLIENT_KEYS"},
		{[]string{key, clients, "REPRISE_LISTEN=:1"}, ""},
		{[]string{"REPRISE_LISTEN=:1"}, ""},
		{[]string{key, "REPRISE_CLIENT_KEYS=client-key-1, my key"}, "REPRISE_CLIENT_KEYS=******** (environment): key 2 has 2 characters; allowed is keys of 8"},
		{[]string{key, "REPRISE_CLIENT_KEYS=clé-de-client"}, "key 1 has a character outside ASCII"},
		{[]string{clients}, "REPRISE_CLIENT_KEYS needs REPRISE_UPSTREAM_KEY"},
		{[]string{"REPRISE_API_PATHS=GET /v1/files, /v1/batches/**", "REPRISE_TRUSTED_HOSTS=proxy.lan, app.example:8443"}, ""},
		{[]string{"REPRISE_API_PATHS=v1/files"}, "has no path that begins with /; allowed is PATH"},
		{[]string{"REPRISE_TRUSTED_HOSTS=https://app.example"}, "allowed is HOST or HOST:PORT"},
		{[]string{"REPRISE_TRUSTED_HOSTS=*"}, "allowed is HOST or HOST:PORT"},
	} {
		_, err := load(t, tc.env)
		if (err == nil) != (tc.bad == "") || err != nil && !strings.Contains(err.Error(), tc.bad) {
			t.Errorf("%v: %v", tc.env, err)
		}
	}
}

// TestReloaded: what can change does, the rest is named, and neither new settings nor a mixture of old and new may contradict each other.
func TestReloaded(t *testing.T) {
	old, err := load(t, []string{"REPRISE_LISTEN=:1", "REPRISE_UPSTREAM_KEY=sk-1", "REPRISE_CLIENT_KEYS=client-key-1", "REPRISE_MAX_CONCURRENT=7"})
	if err != nil {
		t.Fatal(err)
	}
	next, err := load(t, []string{"REPRISE_LISTEN=:1", "REPRISE_UPSTREAM_KEY=sk-2", "REPRISE_CLIENT_KEYS=client-key-1", "REPRISE_POLICY=lru", "REPRISE_LOG_LEVEL=warn"})
	if err != nil {
		t.Fatal(err)
	}
	c, changed, restart, err := old.Reloaded(next)
	if err != nil || !slices.Equal(changed, []string{"REPRISE_UPSTREAM_KEY", "REPRISE_LOG_LEVEL", "REPRISE_MAX_CONCURRENT"}) || !slices.Equal(restart, []string{"REPRISE_POLICY"}) {
		t.Errorf("changed %v, restart %v, %v", changed, restart, err)
	}
	if c.UpstreamKey != "sk-2" || c.MaxConcurrent != 1024 || c.Policy != "rac+" || c.Source("MAX_CONCURRENT") != "default" || c.Source("POLICY") != "default" || old.UpstreamKey != "sk-1" {
		t.Errorf("%+v", c)
	}
	// A listener does not move, so that client keys that a new address would not need are still needed.
	if next, err = load(t, []string{"REPRISE_LISTEN=127.0.0.1:1", "REPRISE_UPSTREAM_KEY=sk-2"}); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := old.Reloaded(next); !errors.Is(err, ErrBad) {
		t.Errorf("an open relay by a reload: %v", err)
	}
}

// TestUpstreamKeyIsNotAdded: nor is it removed.
func TestUpstreamKeyIsNotAdded(t *testing.T) {
	without, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	with, err := load(t, []string{"REPRISE_UPSTREAM_KEY=sk-1", "REPRISE_MAX_CONCURRENT=7"})
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range [][2]*Config{{without, with}, {with, without}} {
		c, changed, restart, err := way[0].Reloaded(way[1])
		if err != nil || c.UpstreamKey != way[0].UpstreamKey || !slices.Equal(changed, []string{"REPRISE_MAX_CONCURRENT"}) || !slices.Equal(restart, []string{"REPRISE_UPSTREAM_KEY"}) {
			t.Errorf("changed %v, restart %v, %v", changed, restart, err)
		}
	}
}
