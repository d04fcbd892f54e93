package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reprise/internal/traffic"
)

// TestRecordPrivacy: prompts are in the log only if REPRISE_LOG_PROMPTS is set, and only its owner can read the file.
func TestRecordPrivacy(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		r := record(t, filepath.Join(t.TempDir(), "log"), fmt.Sprint("REPRISE_LOG_PROMPTS=", allowed))
		for _, text := range []string{"A secret about whales", "A secret about whales", "a secret about whales!"} {
			r.ask("t", fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, text))
		}
		if log := r.end(); len(log) != 3 || len(log[0].Vector) != 384 {
			t.Fatalf("the log has no vectors: %+v", log)
		}
		raw, err := os.ReadFile(r.path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(raw), "secret"); (n > 0) != allowed || strings.Contains(string(raw), "Bearer") {
			t.Errorf("prompts allowed: %v, in the log %d times", allowed, n)
		}
		if info, err := os.Stat(r.path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v: %v", info.Mode(), err)
		}
	}
}

// TestRecordGoesOn: after a restart the service appends to the log, and every line of it can be read.
func TestRecordGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for i, left := range []string{"", `{"id":"12`, `{"id":7}`} { // last lines as a crash may leave them
		r := record(t, path)
		chatter(r, 20, 4, uint64(i))
		r.end()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(left)
		f.Close()
	}
	record(t, path).end()
	if all := readLog(t, path); len(all) != 61 {
		t.Errorf("want 61 requests: %+v", all)
	}
	if err := os.WriteFile(path, []byte("no log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openRecorder(path, false, slog.New(slog.DiscardHandler)); !errors.Is(err, errNoRecord) {
		t.Errorf("a file that is no log: %v", err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "no log" {
		t.Errorf("it is now %q", raw)
	}
}

// disk is a file whose writes wait for the gate, or that is full.
type disk struct {
	bytes.Buffer
	gate chan struct{} // nil: open
	full bool
}

func (d *disk) Write(p []byte) (int, error) {
	if d.gate != nil {
		<-d.gate
	}
	if d.full {
		return 0, errors.New("no space left")
	}
	return d.Buffer.Write(p)
}

func (d *disk) Close() error { return nil }

// TestRecordNeverWaits: while the disk does not write, requests are queued, then left out, and none waits. In virtual time, close gives up on
// no disk that is slow.
func TestRecordNeverWaits(t *testing.T) { synctest.Test(t, recordNeverWaits) }

func recordNeverWaits(t *testing.T) {
	var logs bytes.Buffer
	d := &disk{gate: make(chan struct{})}
	r := newRecorder(d, slog.New(slog.NewTextHandler(&logs, nil)))
	const n = 3 * recordQueue
	for i := range n {
		r.append(traffic.Record{ID: label(uint64(i + 1))})
	}
	close(d.gate)
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	r.append(traffic.Record{ID: label(1)}) // after close
	written, lost := strings.Count(d.String(), "\n"), int(r.lost.Load())
	if written+lost != n || written < recordQueue || written > recordQueue+1 {
		t.Errorf("%d written, %d left out of %d", written, lost, n)
	}
	if strings.Count(logs.String(), "the request log lacks requests") != 1 || !strings.Contains(logs.String(), fmt.Sprintf("gaps\" lost=%d", lost)) {
		t.Errorf("log %q", logs.String())
	}
}

func TestRecordFullDisk(t *testing.T) { synctest.Test(t, recordFullDisk) }

func recordFullDisk(t *testing.T) {
	d := &disk{full: true}
	r := newRecorder(d, slog.New(slog.DiscardHandler))
	for i := range 10 {
		r.append(traffic.Record{ID: label(uint64(i + 1))})
	}
	if err := r.close(); err != nil || r.lost.Load() != 10 {
		t.Errorf("%d of 10 lost: %v", r.lost.Load(), err)
	}
}

// TestRecordCutLine: a line that was written in part is removed.
func TestRecordCutLine(t *testing.T) {
	f, err := openRecordFile(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Write([]byte("{\"id\":1}\n"))
	f.File.Write([]byte(`{"id"`))
	if err := f.completeLastLine(); err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("{\"id\":2}\n"))
	if raw, _ := os.ReadFile(f.Name()); string(raw) != "{\"id\":1}\n{\"id\":2}\n" {
		t.Errorf("%q", raw)
	}
}

// TestRecordStuckDisk: close gives up on a disk that never writes.
func TestRecordStuckDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{gate: make(chan struct{})}
		r := newRecorder(d, slog.New(slog.DiscardHandler))
		r.append(traffic.Record{ID: label(1)})
		start := time.Now()
		if err := r.close(); !errors.Is(err, errStuck) || time.Since(start) != closeTimeout {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		close(d.gate)
	})
}
