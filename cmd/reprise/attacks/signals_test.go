package attacks_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reprise/internal/built"
)

// files are written below a folder; set is the setting that names one.
type files struct {
	t      testing.TB
	folder string
}

func newFiles(t testing.TB) files { return files{t, t.TempDir()} }

func (f files) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.folder, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		f.t.Fatal(err)
	}
}

func (f files) set(setting, name string) string {
	return setting + "=" + filepath.Join(f.folder, name)
}

// reload sends SIGHUP and waits for the line of the log that says what came of it.
func (p *process) reload() (line string) {
	p.t.Helper()
	before := len(p.Logs())
	p.Signal(syscall.SIGHUP)
	built.Until(p.t, "the log has the outcome of a reload", func() bool {
		for l := range strings.Lines(p.Logs()[before:]) {
			if strings.Contains(l, "reloaded") {
				line = l
			}
		}
		select {
		case <-p.Ended():
			return true
		default:
			return line != ""
		}
	})
	return line
}

// TestHangupDoesNotKill is line 20 of the list in SECURITY.md.
func TestHangupDoesNotKill(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, echo()))
	if line := p.reload(); line == "" {
		t.Error("measured: SIGHUP ended the process")
	}
	if r, err := p.try("POST", p.API+"/v1/chat/completions", chat("Still there?")); err != nil || r.Status != 200 {
		t.Errorf("after SIGHUP: %d, %v", r.Status, err)
	}
}

// TestReload is line 20 of the list in SECURITY.md: SIGHUP puts new keys, the log level and limits in force, says what waits for a
// restart, and leaves all as it was where one setting is bad.
func TestReload(t *testing.T) {
	t.Parallel()
	up, f := &witness{}, newFiles(t)
	f.write("clients", "# the first team\nclient-key-1\n\nclient-key-2 # the second\n")
	f.write("upstream", "sk-old\n")
	f.write("settings", "settings:\n  mode: exact\n  admin_token: token-old\n")
	p := start(t, upstream(t, up.ServeHTTP), f.set("REPRISE_CLIENT_KEYS_FILE", "clients"), f.set("REPRISE_UPSTREAM_KEY_FILE", "upstream"), f.set("REPRISE_CONFIG", "settings"))
	check := func(when, client, upstreamKey, token string, status int) {
		t.Helper()
		r := p.Do("POST", p.API+"/v1/moderations", `{"input":"x"}`, "Authorization", "Bearer "+client)
		calls := up.take()
		if r.Status != status || status == 200 && (len(calls) != 1 || calls[0].key != "Bearer "+upstreamKey) {
			t.Errorf("%s: %s: %d, the upstream got %+v", when, client, r.Status, calls)
		}
		if r := p.Do("GET", p.Admin+"/admin/stats", "", "Authorization", "Bearer "+token); r.Status != 200 {
			t.Errorf("%s: admin: %d", when, r.Status)
		}
	}
	check("at first", "client-key-1", "sk-old", "token-old", 200)
	check("at first", "client-key-3", "", "token-old", 401)

	f.write("clients", "client-key-2, client-key-3")
	f.write("upstream", "sk-new")
	f.write("settings", "# comment\nsettings:\n  mode: 'off'\n  admin_token: token-new\n  log_level: error\n  capacity_entries: 7\n")
	line := p.reload()
	for _, name := range []string{"REPRISE_CLIENT_KEYS", "REPRISE_UPSTREAM_KEY", "REPRISE_MODE", "REPRISE_ADMIN_TOKEN", "REPRISE_LOG_LEVEL", `"need_restart":"REPRISE_CAPACITY_ENTRIES"`} {
		if !strings.Contains(line, name) {
			t.Errorf("the log lacks %s: %s", name, line)
		}
	}
	check("reloaded", "client-key-1", "", "token-new", 401)
	check("reloaded", "client-key-2", "sk-new", "token-new", 200)
	check("reloaded", "client-key-3", "sk-new", "token-new", 200)
	for range 2 {
		if r := p.ask("known?", "Authorization", "Bearer client-key-2"); r.Header.Get("X-Cache") == "exact" {
			t.Error("reloaded: an answer is served in the mode off")
		}
	}
	if r := p.Do("GET", p.Admin+"/admin/stats", "", "Authorization", "Bearer token-old"); r.Status != 401 {
		t.Errorf("reloaded: the old token: %d", r.Status)
	}
	if r := p.Do("GET", p.Admin+"/admin/config", "", "Authorization", "Bearer token-new"); !strings.Contains(r.Body, `"off"`) || strings.Contains(r.Body, `"7"`) || strings.Contains(r.Body, "client-key") {
		t.Errorf("the settings in force: %s", r.Body)
	}

	for name, spoil := range map[string]func(){
		"a bad value":           func() { f.write("settings", "settings:\n  mode: fast\n  admin_token: token-bad\n") },
		"an unknown setting":    func() { f.write("settings", "settings:\n  moode: exact\n  admin_token: token-bad\n") },
		"no setting":            func() { f.write("settings", "settings:\n  admin_token: token-bad\nsecret-in-a-line") },
		"no keys":               func() { f.write("settings", "settings:\n  admin_token: token-new\n"); f.write("clients", "# none\n") },
		"an empty file of keys": func() { f.write("clients", "") },
		"no settings file":      func() { os.Remove(filepath.Join(f.folder, "settings")) },
	} {
		f.write("clients", "client-key-4 client-key-5")
		f.write("settings", "settings:\n  admin_token: token-new\n")
		spoil()
		if line := p.reload(); !strings.Contains(line, "ERROR") || strings.Contains(line, "secret-in-a-line") {
			t.Errorf("%s: log %s", name, line)
		}
		check(name, "client-key-4", "", "token-new", 401)
		check(name, "client-key-2", "sk-new", "token-new", 200)
	}
}

// TestReloadInAStorm is line 20 of the list in SECURITY.md: no request is lost or goes out with another key than the old or the new while
// the settings change.
func TestReloadInAStorm(t *testing.T) {
	t.Parallel()
	up, f := &witness{}, newFiles(t)
	f.write("upstream", "sk-0")
	p := start(t, upstream(t, up.ServeHTTP), f.set("REPRISE_UPSTREAM_KEY_FILE", "upstream"))
	var stop atomic.Bool
	var failed, reloaded atomic.Int64
	var clients sync.WaitGroup
	for c := range 4 {
		clients.Go(func() {
			for i := 0; !stop.Load(); i++ {
				path := fmt.Sprint("/v1/chat/completions?at-least=", reloaded.Load())
				if r, err := p.try("POST", p.API+path, chat(fmt.Sprint("storm ", c, " ", i))); err != nil || r.Status != 200 {
					failed.Add(1)
				}
			}
		})
	}
	for i := range 20 {
		f.write("upstream", fmt.Sprint("sk-", i+1))
		p.reload()
		reloaded.Store(int64(i + 1))
	}
	stop.Store(true)
	clients.Wait()
	calls := up.take()
	for _, c := range calls {
		key, least := -1, 0
		fmt.Sscanf(c.key, "Bearer sk-%d", &key)
		fmt.Sscanf(c.path, "/v1/chat/completions?at-least=%d", &least)
		if key < least {
			t.Errorf("%s after the reload of sk-%d", c.key, least)
		}
	}
	if failed.Load() > 0 || len(calls) == 0 {
		t.Errorf("%d of %d requests failed", failed.Load(), len(calls))
	}
}

// certificate writes a new certificate of a name and its key.
func (f files) certificate(name string) {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		f.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.t.Fatal(err)
	}
	f.write("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	f.write("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
}

// TestReloadCertificate is line 20 of the list in SECURITY.md: a renewed certificate needs no restart, and a broken one does no harm. Over
// TLS, too, an ambiguous message is refused.
func TestReloadCertificate(t *testing.T) {
	t.Parallel()
	f := newFiles(t)
	f.certificate("first.example")
	p := start(t, upstream(t, echo()), f.set("REPRISE_TLS_CERT", "cert.pem"), f.set("REPRISE_TLS_KEY", "key.pem"))
	served := func() string {
		c, err := tls.Dial("tcp", strings.TrimPrefix(p.API, "https://"), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "POST /v1/moderations HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
		if text, _ := io.ReadAll(c); !strings.HasPrefix(string(text), "HTTP/1.1 400") || strings.Count(string(text), "HTTP/1.1") != 1 {
			t.Errorf("over TLS: %s", text)
		}
		return c.ConnectionState().PeerCertificates[0].DNSNames[0]
	}
	if name := served(); name != "first.example" {
		t.Error(name)
	}
	f.certificate("second.example")
	p.reload()
	if name := served(); name != "second.example" {
		t.Error(name)
	}
	f.write("key.pem", "no key")
	if line := p.reload(); !strings.Contains(line, "ERROR") {
		t.Error(line)
	}
	if name := served(); name != "second.example" {
		t.Error(name)
	}
}

// socket is an upstream that takes the connection over and sends back what comes.
func socket(w http.ResponseWriter, r *http.Request) {
	c, in, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer c.Close()
	io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	io.Copy(c, in)
}

// upgrade opens a websocket through the proxy.
func (p *process) upgrade() (net.Conn, *bufio.Reader) {
	p.t.Helper()
	c := p.dial()
	c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, "GET /v1/realtime?model=m HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		p.t.Fatalf("upgrade: %v, %v", resp, err)
	}
	return c, in
}

// sendBack sends text and reads what comes back.
func sendBack(t *testing.T, c net.Conn, in io.Reader, text string) {
	t.Helper()
	back := make([]byte, len(text))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(in, back); err != nil || string(back) != text {
		t.Fatalf("%q came back as %q, %v", text, back, err)
	}
}

// TestDrainKeepsWebsockets is line 20 of the list in SECURITY.md: after SIGTERM a websocket goes on to its end, and another SIGHUP is not
// the second signal that ends the program at once.
func TestDrainKeepsWebsockets(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, socket))
	c, in := p.upgrade()
	// Bytes that look like an ambiguous message are none here.
	sendBack(t, c, in, "before\nPOST / HTTP/1.1\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
	p.Signal(syscall.SIGTERM)
	built.Until(t, "it drains", func() bool { return strings.Contains(p.Logs(), "draining") })
	p.Signal(syscall.SIGHUP)
	for i := range 20 {
		sendBack(t, c, in, fmt.Sprint("during ", i))
		if r := p.Do("GET", p.Admin+"/readyz", ""); r.Status != http.StatusServiceUnavailable {
			t.Errorf("ready while it drains: %d", r.Status)
		}
	}
	c.Close()
	<-p.Ended()
	if code := p.ProcessState.ExitCode(); code != 0 || strings.Contains(p.Logs(), "are cut") {
		t.Errorf("exit %d: %s", code, p.Logs())
	}
}

// TestDrainEndsWebsockets is line 20 of the list in SECURITY.md: what lasts longer than the drain may is cut, and the program ends.
func TestDrainEndsWebsockets(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, socket), "REPRISE_DRAIN_TIMEOUT=300ms")
	c, in := p.upgrade()
	sendBack(t, c, in, "before")
	start := time.Now()
	p.Signal(syscall.SIGTERM)
	if _, err := in.ReadByte(); err == nil {
		t.Error("a byte from nowhere")
	}
	t.Logf("measured: the websocket went on for %v of a drain of 300ms", time.Since(start).Round(10*time.Millisecond))
	if lasted := time.Since(start); lasted < 250*time.Millisecond {
		t.Errorf("it was cut after %v", lasted)
	}
	<-p.Ended()
	if code := p.ProcessState.ExitCode(); code != 0 || !strings.Contains(p.Logs(), "are cut") {
		t.Errorf("exit %d: %s", code, p.Logs())
	}
}
