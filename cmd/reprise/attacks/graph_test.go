package attacks_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// askMany sends n questions that have nothing in common.
func (p *process) askMany(n int) {
	p.t.Helper()
	questions := make(chan string)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for q := range questions {
				if r := p.ask(q); r.status != http.StatusOK {
					p.t.Errorf("%d %s", r.status, r.body)
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		q := "Say"
		for range 9 {
			q += fmt.Sprintf(" %c%c%c%c%c", 'a'+rng.IntN(26), 'a'+rng.IntN(26), 'a'+rng.IntN(26), 'a'+rng.IntN(26), 'a'+rng.IntN(26))
		}
		questions <- q
	}
	close(questions)
	clients.Wait()
}

// TestPurgeRemovesTheSavedGraph: the graph of a scope is saved at the end, read at the start and not built again, also where a purge of
// something else removed it meanwhile; a purge removes it from the disk. It is line 7 of the list in SECURITY.md.
func TestPurgeRemovesTheSavedGraph(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r.db")
	env := []string{"REPRISE_STORE=file:" + path, "REPRISE_INDEX=graph", upstream(t, echo())}
	p := start(t, env...)
	p.askMany(1100)
	graphed := func() bool { n, _ := p.metric("reprise_index_graph_nodes"); return n >= 1000 }
	eventually(t, "a graph is built", func() bool { // some nodes are still missing when the first 1,000 are there
		return graphed() && !strings.Contains(p.do(http.MethodGet, p.admin+"/admin/topics", "").body, "being built")
	})
	p.signal(syscall.SIGTERM)
	<-p.ended
	if info, err := os.Stat(path + ".graph"); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("saved graph: %v, %v", info, err)
	}
	for _, before := range []string{"a restart", "a purge and a restart"} {
		p = start(t, env...)
		if builds, _ := p.metric("reprise_index_rebuilds_total"); !graphed() || builds != 0 {
			t.Errorf("%v graphs are built again after %s", builds, before)
		}
		if r := p.purge(`{"entry":1,"dry_run":false}`); r.status != http.StatusOK {
			t.Errorf("purge: %d %s", r.status, r.body)
		}
		p.signal(syscall.SIGTERM)
		<-p.ended
	}
	p = start(t, env...)
	if r := p.purge(purgeAll); r.status != http.StatusOK || !r.durable() {
		t.Errorf("purge: %d %s", r.status, r.body)
	}
	if _, err := os.Stat(path + ".graph"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the graph is on the disk after a purge: %v", err)
	}
	p.signal(syscall.SIGTERM)
	<-p.ended
	if _, err := os.Stat(path + ".graph"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the graph is on the disk again: %v", err)
	}
}
