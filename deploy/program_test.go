package deploy_test

import (
	"os"
	"reprise/internal/built"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// program is the path of the proxy, which is built once.
func program(t *testing.T) string {
	t.Helper()
	path, err := built.Program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
