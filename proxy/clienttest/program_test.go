package clienttest

import (
	"os"
	"reprise/internal/built"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// serve starts the program in folder dir, where it has its file of answers, and waits until it is ready. Its settings are the defaults, except
// for its upstream and free ports. It is killed after the test.
func serve(t *testing.T, dir, upstream string) *built.Proxy {
	t.Helper()
	p := built.Launch(t, built.Options{Dir: dir, Env: []string{"REPRISE_UPSTREAM=" + upstream}})
	if err := p.AwaitReady(); err != nil {
		t.Fatal(err)
	}
	return p
}

// stop ends the program as an operator does.
func stop(t *testing.T, p *built.Proxy) {
	t.Helper()
	if !p.Stop(time.Minute) {
		t.Fatalf("the program ended with %v:\n%s", p.ProcessState, p.Logs())
	}
}
