package charttest

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

var binaryDir string

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(binaryDir)
	os.Exit(code)
}

// program returns the proxy that REPRISE_TEST_PROGRAM names, or builds that of this repository, once.
var program = sync.OnceValues(func() (path string, err error) {
	if path = os.Getenv("REPRISE_TEST_PROGRAM"); path != "" {
		return path, nil
	}
	if binaryDir, err = os.MkdirTemp("", "charttest"); err != nil {
		return "", err
	}
	path = filepath.Join(binaryDir, "reprise")
	build := exec.Command("go", "build", "-C", "../..", "-o", path, "./cmd/reprise")
	build.Stderr = os.Stderr
	return path, build.Run()
})

var redisHost = regexp.MustCompile(`[a-z][a-z0-9.-]*:\d+`)

// on makes the settings of a pod fit this machine: files in dir, free ports, and a Redis that is away, without which the proxy starts.
func on(dir, name, value string) string {
	switch {
	case name == "REPRISE_LISTEN" || name == "REPRISE_ADMIN_LISTEN":
		return "0.0.0.0:0"
	case name == "REPRISE_STORE" && !strings.HasPrefix(value, "file:"):
		return redisHost.ReplaceAllString(value, "127.0.0.1:1")
	}
	value = strings.Replace(value, "file:/data", "file:"+dir, 1)
	value = strings.Replace(value, "/run/secrets", dir, 1)
	return strings.Replace(value, "/etc/reprise", dir, 1)
}

// writeFiles makes the files of the mounted secrets.
func writeFiles(t *testing.T, dir string, files []string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"reprise"}, IsCA: true}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text := []byte("a-secret-of-" + filepath.Base(file) + "\n")
		switch filepath.Ext(file) {
		case ".crt":
			text = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
		case ".key":
			text = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
		}
		path := on(dir, "", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o400); err != nil {
			t.Fatal(err)
		}
	}
}

// TestProgramStarts runs the proxy with the arguments, the settings and the files that a pod of each example gets: no setting is unknown or has
// a wrong value, the paths of the probes exist, the test of the release passes, and SIGTERM ends it.
func TestProgramStarts(t *testing.T) {
	eachRelease(t, func(t *testing.T, r *release) {
		container := only[*apps.Deployment](t, r).Spec.Template.Spec.Containers[0]
		health := only[*core.Pod](t, r).Spec.Containers[0]
		starts(t, container.Args, environment(t, r), mounted(t, r), func(admin string) {
			for _, probe := range []*core.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
				probed(t, admin+probe.HTTPGet.Path)
			}
			path, err := program()
			if err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(t.Context(), path, health.Args[0], admin+"/readyz").CombinedOutput(); err != nil {
				t.Errorf("the test of the release: %v, %s", err, out)
			}
		})
	})
}

// starts runs the proxy with settings that name files, calls check with the address of its admin side, and ends it.
func starts(t *testing.T, args []string, settings map[string]string, files []string, check func(admin string)) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFiles(t, dir, files)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a hang fails the test; nothing is measured
	defer cancel()
	p := exec.CommandContext(ctx, path, args...)
	p.Env = []string{"HOME=" + dir}
	for name, value := range settings {
		p.Env = append(p.Env, name+"="+on(dir, name, value))
	}
	log, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	check(strings.Replace(ready(t, lines), "[::]", "127.0.0.1", 1))
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}

// ready reads the log up to the line with the addresses.
func ready(t *testing.T, lines *bufio.Scanner) (admin string) {
	t.Helper()
	var all []string
	for lines.Scan() {
		all = append(all, lines.Text())
		var line struct{ Msg, Admin string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "reprise is ready" {
			return line.Admin
		}
	}
	t.Fatalf("the proxy does not start:\n%s", strings.Join(all, "\n"))
	return ""
}

func probed(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s: status %d", url, resp.StatusCode)
	}
}
