package attacks_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/classic"
	"reprise/store"
	"reprise/store/file"
)

// fileOf makes a file of n entries with a prompt, a vector and an answer of 1,200 bytes each, as a proxy with the built-in embedder
// writes it.
func fileOf(t testing.TB, path string, n int) {
	t.Helper()
	f, err := file.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	embedder := embed.NewBuiltin()
	s, err := store.Open(store.Options{Backing: f, Evictor: classic.NewLRU(), Space: embedder.Space(), FlushEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		e := &store.Entry{
			Scope: store.Scope{1}, Labels: &store.Labels{Tenant: "t", Model: "m", Endpoint: "/v1/chat/completions"}, Created: time.Now(), Expires: time.Now().Add(time.Hour),
			Prompt: fmt.Sprintf("the question number %d of those that fill a file, %s", i, randomText(rng, 100)), Answer: make([]byte, 1200),
			Topic: policy.TopicID(1 + i%(n/10)), Vector: make([]float32, embedder.Dim()),
		}
		binary.LittleEndian.PutUint64(e.Key[:], uint64(i+1))
		for j := 0; j < len(e.Answer); j += 8 {
			binary.LittleEndian.PutUint64(e.Answer[j:], rng.Uint64())
		}
		for range 8 {
			e.Vector[rng.IntN(len(e.Vector))] = 1
		}
		embed.Normalize(e.Vector)
		s.Put(e, s.Tick())
	}
	if err := s.Sync(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// statusField is a field of /proc/PID/status in KiB.
func statusField(pid int, name string) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), name+":")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[0])
	return n
}

// TestStartTakesLittleMoreMemoryThanIsKept starts with a file as a kill leaves it. It is line 24 of the list in SECURITY.md.
// Memory is anonymous memory: the pages of the file that are mapped are page cache, which the system takes back when it needs it.
// REPRISE_ATTACK_ENTRIES is another number of entries.
func TestStartTakesLittleMoreMemoryThanIsKept(t *testing.T) {
	t.Parallel()
	n := 30_000
	if v, err := strconv.Atoi(os.Getenv("REPRISE_ATTACK_ENTRIES")); err == nil {
		n = v
	}
	path := filepath.Join(t.TempDir(), "r.db")
	fileOf(t, path, n)
	begin := time.Now()
	p := launch(t, "REPRISE_STORE=file:"+path, "REPRISE_CAPACITY_ENTRIES=200000", "REPRISE_CAPACITY_BYTES=4GiB", upstream(t, echo()))
	highest := highestUntilReady(p)
	took := time.Since(begin)
	if got := p.gauge("reprise_entries"); got != float64(n) {
		t.Fatalf("%v entries after the start, want %d", got, n)
	}
	later := highest
	for range 100 { // what the start does not need is given back step by step
		later = min(later, statusField(p.Process.Pid, "RssAnon"))
		if float64(highest) > 1.1*float64(later) {
			break
		}
		p.gauge("reprise_entries")
	}
	charged := int(p.gauge("reprise_bytes")) >> 10
	t.Logf("measured: start with %d entries of %d MiB: %d ms, highest memory %d MiB, later %d MiB; with mapped pages of the file %d MiB",
		n, charged>>10, took.Milliseconds(), highest>>10, later>>10, statusField(p.Process.Pid, "VmHWM")>>10)
	const bare = 20 << 10 // of a process without entries
	if most := (charged + bare) * 13 / 10; highest > most {
		t.Errorf("the start took %d MiB, want at most %d", highest>>10, most>>10)
	}
}

// highestUntilReady is the most anonymous memory in KiB that the process has until it serves.
func highestUntilReady(p *process) (highest int) {
	p.t.Helper()
	ready := make(chan error, 1)
	go func() { ready <- p.AwaitReady() }()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		highest = max(highest, statusField(p.Process.Pid, "RssAnon"))
		select {
		case err := <-ready:
			if err != nil {
				p.t.Fatal(err)
			}
			return highest
		case <-look.C:
		}
	}
}
