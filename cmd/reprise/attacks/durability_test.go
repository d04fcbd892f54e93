package attacks_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/internal/built"
)

// acknowledged is an answer that a client had, and when.
type acknowledged struct {
	question string
	at       time.Time
}

// randomText is a text that cannot be packed.
func randomText(rng *rand.Rand, size int) string {
	raw := make([]byte, size*3/4)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// randomAnswers is an API whose answers are texts of a size, each another one.
func randomAnswers(size int) http.HandlerFunc {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(1, 2))
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		text := randomText(rng, size)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer(text))
	}
}

// TestKillLosesNoOldAnswer kills the process under a load of insertions, and looks which answers it has lost: none that is older
// than the age which it reported. It is line 23 of the list in SECURITY.md.
func TestKillLosesNoOldAnswer(t *testing.T) {
	t.Parallel()
	env := []string{"REPRISE_STORE=file:" + filepath.Join(t.TempDir(), "r.db"), upstream(t, randomAnswers(64<<10))}
	p := start(t, env...)
	acked, killed, reported := insertUntilKilled(p, 1200+rand.IntN(800))
	p = start(t, env...)
	lost := slices.DeleteFunc(slices.Clone(acked), func(a acknowledged) bool {
		return p.ask(a.question, "Cache-Control", "only-if-cached").Cache() == "exact"
	})
	oldest := time.Duration(0)
	if len(lost) > 0 {
		oldest = killed.Sub(lost[0].at)
	}
	t.Logf("measured: of %d insertions of 64 KiB %d were lost, the oldest %d ms before the kill; the highest age reported was %d ms",
		len(acked), len(lost), oldest.Milliseconds(), reported.Milliseconds())
	if len(acked) == 0 || oldest > max(10*time.Second, 3*reported) {
		t.Error("a kill loses answers that are old")
	}
}

// insertUntilKilled asks new questions from several clients until the process is killed. It returns those that were answered, the
// oldest first, and the highest age of an unwritten change that the process reported.
func insertUntilKilled(p *process, ms int) (acked []acknowledged, killed time.Time, reported time.Duration) {
	var mu sync.Mutex
	var clients sync.WaitGroup
	for c := range 8 {
		clients.Go(func() {
			for i := 0; ; i++ {
				q := fmt.Sprintf("client %d asks for the number %d of its questions", c, i)
				if r, err := p.try(http.MethodPost, p.API+"/v1/chat/completions", chat(q)); err != nil || r.Status != http.StatusOK {
					return
				}
				mu.Lock()
				acked = append(acked, acknowledged{q, time.Now()})
				mu.Unlock()
			}
		})
	}
	scrapes := time.NewTicker(50 * time.Millisecond)
	defer scrapes.Stop()
	answered := func() bool { mu.Lock(); defer mu.Unlock(); return len(acked) > 0 }
	for end := time.Now().Add(time.Duration(ms) * time.Millisecond); time.Now().Before(end) || !answered(); <-scrapes.C {
		reported = max(reported, time.Duration(p.gauge("reprise_store_unwritten_seconds")*float64(time.Second)))
	}
	killed = time.Now()
	p.Kill()
	clients.Wait()
	slices.SortFunc(acked, func(a, b acknowledged) int { return a.at.Compare(b.at) })
	return acked, killed, reported
}

// TestFullDiskIsSeenAndBounded fills the disk under a running process: the age of what the file lacks can be scraped, and beyond
// the limit new answers are not kept, while stored ones are served and the file catches up when there is room. It is line 23 of the
// list in SECURITY.md.
func TestFullDiskIsSeenAndBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r.db")
	env := []string{"REPRISE_STORE=file:" + path, upstream(t, echo())}
	p := start(t, env...)
	p.ask("before the disk was full")
	built.Until(t, "all is written", func() bool { return p.gauge("reprise_store_unwritten_seconds") == 0 })
	p.fillDisk(true)
	p.ask("kept in memory alone")
	// The limit is a minute; the age is looked at now and then.
	built.Until(t, "the file is behind by more than the limit", func() bool { return p.gauge("reprise_store_unwritten_seconds") >= 60.5 })
	for i := range 3 {
		if r := p.ask(fmt.Sprint("too late ", i)); r.Status != http.StatusOK || !strings.Contains(r.Header.Get("Cache-Status"), "not-stored=store-behind") {
			t.Errorf("an answer while the disk is full: %d, Cache-Status %q", r.Status, r.Header.Get("Cache-Status"))
		}
	}
	if n := p.gauge(`reprise_not_stored_total{reason="store-behind"}`); n != 3 {
		t.Errorf("%v answers are counted as not kept, want 3", n)
	}
	for _, q := range []string{"before the disk was full", "kept in memory alone"} {
		if r := p.ask(q); r.Cache() != "exact" {
			t.Errorf("%q is a %s while the disk is full", q, r.Cache())
		}
	}
	p.fillDisk(false)
	built.Until(t, "the file catches up", func() bool { return p.gauge("reprise_store_unwritten_seconds") == 0 })
	p.ask("kept again")
	built.Until(t, "all is written", func() bool { return p.gauge("reprise_store_unwritten_seconds") == 0 })
	p.Kill()
	p = start(t, env...)
	for q, want := range map[string]string{"kept in memory alone": "exact", "kept again": "exact", "too late 1": "miss"} {
		if r := p.ask(q); r.Cache() != want {
			t.Errorf("after a restart %q is a %s, want %s", q, r.Cache(), want)
		}
	}
}
