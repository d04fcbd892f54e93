package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"reprise/internal/built"
	"runtime"
	"strings"
	"testing"
)

// TestRelease: a build without a repository has the version that the Dockerfile gives it, in its own words and as a metric.
func TestRelease(t *testing.T) {
	file, err := os.ReadFile("../../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	flag := regexp.MustCompile(`-ldflags "(-X [\w./]+=)\$VERSION"`).FindSubmatch(file)
	if flag == nil {
		t.Fatal("the Dockerfile sets no version")
	}
	path := filepath.Join(t.TempDir(), "reprise")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", string(flag[1])+"v9.8.7", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(path, "version").Output(); err != nil || string(out) != "reprise v9.8.7 "+runtime.Version()+"\n" {
		t.Errorf("%q, %v", out, err)
	}
	p := launch(t, built.Options{Command: []string{path, "serve"}, Env: []string{"REPRISE_STORE=memory"}})
	if want := `reprise_build_info{commit="",go="` + runtime.Version() + `",version="v9.8.7"} 1`; !strings.Contains(p.get("/metrics"), want) {
		t.Errorf("the metrics have no %s", want)
	}
	p.stop()
}
