// Package built builds the program, cmd/reprise, and runs it in a process of its own for tests.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
)

var (
	mu  sync.Mutex
	dir string // of what was built
)

// Program returns the path of the program: the one that REPRISE_TEST_PROGRAM names, or that of this tree. The first call builds it; TestMain
// has to call Remove after the tests.
var Program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("REPRISE_TEST_PROGRAM"); path != "" {
		return path, nil
	}
	return build("reprise")
})

// AsTests is Program, with the race detector where the tests have it. Everything takes many times as long then.
var AsTests = sync.OnceValues(func() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return build("reprise-race", "-race")
	}
	return Program()
})

// Remove removes what was built.
func Remove() {
	mu.Lock()
	defer mu.Unlock()
	os.RemoveAll(dir)
}

func build(name string, flags ...string) (path string, err error) {
	mu.Lock()
	defer mu.Unlock()
	if dir == "" {
		if dir, err = os.MkdirTemp("", "reprise"); err != nil {
			return "", err
		}
	}
	path = filepath.Join(dir, name)
	args := append([]string{"build", "-o", path}, flags...)
	if out, err := exec.Command("go", append(args, "reprise/cmd/reprise")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
}
