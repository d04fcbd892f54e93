package doctor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

var instanceFaults = []fault{
	{"an instance that drains", "error instance.ready", "says: draining", func(p *patient) { p.beside(503, "draining\n", "") }},
	{"an instance that loads its entries", "error instance.ready", "says: starting", func(p *patient) {
		p.beside(503, "starting: the entries are being loaded\n", "")
	}},
	{"an instance that does not answer", "error instance.ready", "does not answer", func(p *patient) { p.set("ADMIN_LISTEN", occupied(p)) }},
	{"another program at the address of the admin side", "error listener.admin", "in use by another process", func(p *patient) { p.beside(200, "hello\n", "") }},
	{"changes that the file lacks", "warning store.unwritten", "12 s old", func(p *patient) { p.beside(200, "ready\n", "reprise_store_unwritten_seconds 12.4") }},
	{"changes that the file lacks for too long", "error store.unwritten", "new answers are not kept", func(p *patient) {
		p.beside(200, "ready\n", "reprise_store_unwritten_seconds 75")
	}},
	{"an instance that cannot write its file", "error store.unwritten", "cannot write its file", func(p *patient) { p.beside(200, "ready\n", "reprise_store_read_only 1") }},
	{"an instance with few descriptors", "warning limits.descriptors", "the running instance may have 1024", func(p *patient) {
		p.beside(200, "ready\n", "process_max_fds 1024")
	}},
}

// beside starts what answers at the address of the admin side.
func (p *patient) beside(status int, ready, metrics string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/readyz":
			w.WriteHeader(status)
			fmt.Fprint(w, ready)
		case status == http.StatusOK:
			fmt.Fprintf(w, "# HELP x\nreprise_build_info{version=\"1\"} 1\n%s\n", metrics)
		default:
			w.WriteHeader(status)
		}
	}))
	p.t.Cleanup(s.Close)
	p.set("ADMIN_LISTEN", strings.TrimPrefix(s.URL, "http://"))
}

// TestInstanceDamage: of a file that is in use, the instance says what it found when it opened it.
func TestInstanceDamage(t *testing.T) {
	for metrics, says := range map[string]string{"": "it checked when it was opened", "reprise_store_skipped_records 3": "3 records did not check", "reprise_store_set_aside 1": "was moved aside"} {
		p := newPatient(t)
		p.beside(200, "ready\n", metrics)
		f := p.open()
		r, printed := p.examine()
		if got := r.complaints(); (len(got) > 0) != (metrics != "") || metrics != "" && got[0] != "warning store.damage" || !strings.Contains(printed, says) {
			t.Errorf("%s: %q; %s", metrics, got, printed)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
