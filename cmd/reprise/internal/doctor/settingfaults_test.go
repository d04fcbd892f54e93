package doctor

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

var settingFaults = []fault{
	{"a misspelt setting", "error settings.unknown", "did you mean REPRISE_HIT_THRESHOLD?", func(p *patient) { p.set("HIT_TRESHOLD", "0.9") }},
	{"a value that is not allowed", "error settings.values", "allowed is a duration", func(p *patient) { p.set("TTL", "soon") }},
	{"a file of settings that is missing", "error settings.values", "no such file", func(p *patient) { p.set("CONFIG", "/none/settings") }},
	{"a setting that was removed", "error settings.unknown", "is no setting any more", func(p *patient) { p.set("LOOKBACK", "64") }},
	{"a setting that was removed, in the file", "error settings.unknown", "settings.lookback: it is no setting any more: a dependency", func(p *patient) {
		p.set("CONFIG", p.write("reprise.yaml", "settings: {lookback: 64}\n"))
	}},
	{"a misspelt setting in the file", "error settings.unknown", "did you mean hit_threshold?", func(p *patient) {
		p.set("CONFIG", p.write("reprise.yaml", "settings: {hit_treshold: 0.9}\n"))
	}},
	{"a contradiction", "error settings.contradictions", "is not below", func(p *patient) { p.set("HIT_THRESHOLD", "0.8", "ROUTE_THRESHOLD", "0.8") }},
	{"a contradiction with the embedder", "error settings.contradictions", "every topic would have one member", func(p *patient) { p.set("ROUTE_THRESHOLD", "0.95") }},
	{"a setting without effect", "warning settings.idle", "has no effect", func(p *patient) { p.set("API_PATHS", "/v1/files") }},
	{"a line of the file that the environment overrules", "warning settings.idle", "REPRISE_MODE in ", func(p *patient) {
		p.set("CONFIG", p.write("reprise.yaml", "settings: {mode: exact}\n"), "MODE", "semantic")
	}},
	{"the admin side beyond loopback without a token", "error settings.exposure", "that needs REPRISE_ADMIN_TOKEN", func(p *patient) { p.set("ADMIN_LISTEN", "0.0.0.0:0") }},
	{"the operator's credential beyond loopback without keys", "error settings.exposure", "that needs REPRISE_CLIENT_KEYS", func(p *patient) {
		p.set("LISTEN", "0.0.0.0:0", "UPSTREAM_KEY", "sk-of-the-operator")
	}},
	{"an engine without a credential beyond loopback", "warning settings.exposure", "REPRISE_CLIENT_KEYS is not set: every machine that reaches 0.0.0.0:0", func(p *patient) {
		p.set("LISTEN", "0.0.0.0:0")
	}},
	{"an engine without a credential and without a model", "warning settings.exposure", "answers without a credential", func(p *patient) {
		p.set("LISTEN", "0.0.0.0:0")
		p.upstream(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			io.WriteString(w, `{"data":[{"id":"bge-m3"}]}`)
		})
	}},
	{"one cache for all clients beyond loopback", "warning settings.exposure", "all clients share one cache", func(p *patient) { p.set("LISTEN", "0.0.0.0:0", "TENANT_FROM", "none") }},
	{"a port of another program", "error listener.api", "in use by another process", func(p *patient) { p.set("LISTEN", occupied(p)) }},
	{"an address of another machine", "error listener.admin", "no such address", func(p *patient) { p.set("ADMIN_LISTEN", "192.0.2.1:8081", "ADMIN_TOKEN", "sesame-open") }},
	{"a memory limit that the capacity exceeds", "error limits.memory", "does not fit", func(p *patient) { p.set("MEMORY_LIMIT", "1GiB", "CAPACITY_BYTES", "768MiB") }},
	{"a memory limit over that of the system", "warning limits.memory", "8.0 GiB, and the control group has 2.0 GiB", func(p *patient) {
		p.machine.Memory = func() (int64, string) { return 2 << 30, "cgroup" }
		p.set("MEMORY_LIMIT", "8GiB")
	}},
	{"few descriptors", "warning limits.descriptors", "1024 descriptors", func(p *patient) { p.machine.Descriptors = func() uint64 { return 1024 } }},
}

// occupied is an address at which another program listens.
func occupied(p *patient) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// TestClosed: beyond loopback an upstream that asks for a credential is no fault, nor is one whose operator has given keys to clients.
func TestClosed(t *testing.T) {
	p := newPatient(t)
	p.set("LISTEN", "0.0.0.0:0")
	p.upstream(status("/v1/", 401))
	if r, printed := p.examine(); len(r.complaints()) > 0 || !strings.Contains(printed, "nothing is open without a credential") {
		t.Error(printed)
	}
	p = newPatient(t)
	p.set("LISTEN", "0.0.0.0:0", "CLIENT_KEYS", "key-of-a-client", "UPSTREAM_KEY", "any")
	if r, printed := p.examine(); len(r.complaints()) > 0 || !strings.Contains(printed, "nothing is open without a credential") {
		t.Error(printed)
	}
	p = newPatient(t)
	p.set("LISTEN", "0.0.0.0:0", "UPSTREAM", "http://"+refusing(t)+"/v1")
	if r, printed := p.examine(); len(r.complaints()) != 1 || !strings.Contains(printed, "asks for one is not known") {
		t.Error(printed)
	}
}
