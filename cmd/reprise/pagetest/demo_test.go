package pagetest

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"reprise/internal/built"
)

// demo runs `reprise demo` until the end of the test, and returns the address of its page once the workload has been played.
func demo(t *testing.T) (admin string) {
	t.Helper()
	path, err := built.Program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, "demo", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REPRISE_") })
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { in.CloseWithError(cmd.Wait()) }() // Wait ends after the last output
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); said.WriteString(lines.Text() + "\n") {
		if address, ok := strings.CutPrefix(lines.Text(), "page: "); ok {
			admin = strings.TrimSuffix(address, "/")
		}
		if strings.HasPrefix(lines.Text(), "The proxy stays up") {
			go io.Copy(io.Discard, out) // a full pipe would block the demo
			return admin
		}
	}
	t.Fatalf("the demo ended before it stayed up:\n%s", &said)
	return ""
}

// TestDemoFillsEveryView: who opens the page after the workload of a demo sees data in every card of every view.
func TestDemoFillsEveryView(t *testing.T) {
	script(t, "demo", map[string]any{"site": demo(t), "empty": map[string]string{
		"Redis": "the demo has none",
	}}, nil)
}
