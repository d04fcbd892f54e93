package attacks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"reprise/embed"
	"reprise/internal/built"
	"reprise/policy/classic"
	"reprise/store"
	"reprise/store/file"
)

const purgeAll = `{"all":true,"dry_run":false}`

// cached reports whether an answer is in the cache.
func (p *process) cached(question string, header ...string) bool {
	p.t.Helper()
	return p.ask(question, append(header, "Cache-Control", "only-if-cached")...).Status == http.StatusOK
}

// durable reports whether the purge that a reply answers is durable.
func durable(r reply) bool { return strings.Contains(r.Body, `"durable": true`) }

// TestPurgedAnswerIsNotServedInPlaceOfAnError: requests that have found an expired answer wait for the upstream; the answer is purged,
// and then the upstream fails. It is line 5 of the list in SECURITY.md.
func TestPurgedAnswerIsNotServedInPlaceOfAnError(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	fail := make(chan struct{})
	p := start(t, "REPRISE_TTL=100ms", "REPRISE_STALE_IF_ERROR=1h", upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, answer("to be purged"))
			return
		}
		io.Copy(io.Discard, r.Body)
		<-fail
		w.WriteHeader(http.StatusBadGateway)
	}))
	p.ask("What is a canary?")
	built.Until(t, "the answer expires", func() bool { return !p.cached("What is a canary?") })
	replies := make(chan reply, 3)
	for range cap(replies) { // one asks the upstream, the others wait for the same answer
		go func() {
			r, _ := p.try(http.MethodPost, p.API+"/v1/chat/completions", chat("What is a canary?"))
			replies <- r
		}()
	}
	built.Until(t, "the upstream is asked", func() bool { return asked.Load() == 2 })
	if r := p.purge(purgeAll); r.Status != http.StatusOK {
		t.Errorf("purge: %d %s", r.Status, r.Body)
	}
	close(fail)
	for range cap(replies) {
		if r := <-replies; strings.Contains(r.Body, "to be purged") {
			t.Errorf("served after its purge: %s %s", r.Cache(), r.Body)
		}
	}
}

// TestPurgeIsNotUndoneByAFullDisk purges while no file can be written. The reply says that the purge is not durable, until it is. It is
// line 6 of the list in SECURITY.md.
func TestPurgeIsNotUndoneByAFullDisk(t *testing.T) {
	t.Parallel()
	env := []string{"REPRISE_STORE=file:" + filepath.Join(t.TempDir(), "r.db"), upstream(t, echo())}
	p := start(t, env...)
	p.ask("What is a canary?")
	p.written()
	p.fillDisk(true)
	for i := range 2 { // the second one matches nothing, and the first is not durable yet
		if r := p.purge(purgeAll); r.Status != http.StatusServiceUnavailable || !strings.Contains(r.Body, `"durable": false`) {
			t.Errorf("purge %d on a full disk: %d %s", i, r.Status, r.Body)
		}
	}
	if n, _ := p.Metric("reprise_purges_not_durable_total"); n != 2 {
		t.Errorf("%v purges are counted as not durable", n)
	}
	if p.cached("What is a canary?") {
		t.Error("served after its purge")
	}
	p.fillDisk(false)
	r := p.purge(purgeAll)
	if r.Status != http.StatusOK || !durable(r) {
		t.Errorf("purge with room on the disk: %d %s", r.Status, r.Body)
	}
	p.Kill()
	if p = start(t, env...); p.cached("What is a canary?") {
		t.Error("back after a kill")
	}
}

// TestPurgeOfAFileWithoutRoom purges where the file can take no page more. What the reply says of it is true after a kill; and it is
// durable, in the journal beside the file if need be. It is line 6 of the list in SECURITY.md.
func TestPurgeOfAFileWithoutRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"REPRISE_STORE=file:" + filepath.Join(dir, "r.db"), upstream(t, randomAnswers(100_000))}
	p := start(t, env...)
	for i := range 30 {
		p.ask(fmt.Sprint("question ", i))
		if i == 0 {
			built.Until(t, "space is taken in advance", func() bool { return len(listed(t, dir)) > 1 })
		}
	}
	p.written()
	p.limitFiles(300 << 10)
	r := p.purge(purgeAll)
	if !durable(r) {
		t.Errorf("purge: %d %s", r.Status, r.Body)
	}
	p.Kill()
	back := 0
	p = start(t, env...)
	for i := range 30 {
		if p.cached(fmt.Sprint("question ", i)) {
			back++
		}
	}
	t.Logf("measured: the purge was answered with %d, and %d of 30 entries are back after a kill", r.Status, back)
	if back > 0 && r.Status == http.StatusOK {
		t.Error("a purge that was answered with 200 is undone")
	}
}

// leftByAKill is a file with one answer, to "What is a canary?", and the settings of a process that uses it.
func leftByAKill(t *testing.T) (env []string, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "r.db")
	env = []string{"REPRISE_STORE=file:" + path, upstream(t, echo())}
	p := start(t, env...)
	p.ask("What is a canary?")
	p.written()
	p.Kill()
	return env, path
}

// TestPurgeOfAReadOnlyFile: a file that cannot be written is served, and what is purged of it comes back with the next start: the reply
// says so. It is line 6 of the list in SECURITY.md.
func TestPurgeOfAReadOnlyFile(t *testing.T) {
	t.Parallel()
	env, path := leftByAKill(t)
	makeReadOnly(t, path)
	p := start(t, env...)
	if !p.cached("What is a canary?") {
		t.Error("a file that can be read is not served")
	}
	if r := p.purge(purgeAll); r.Status != http.StatusServiceUnavailable || durable(r) {
		t.Errorf("purge of a read-only file: %d %s", r.Status, r.Body)
	}
	if p.cached("What is a canary?") {
		t.Error("served after its purge")
	}
}

// TestPurgeWithoutEmbedder: a process that starts without its embedding server has its file, and what is purged there does not come back. It
// is line 6 of the list in SECURITY.md.
func TestPurgeWithoutEmbedder(t *testing.T) {
	t.Parallel()
	env, _ := leftByAKill(t)
	p := start(t, append(env, "REPRISE_EMBEDDER=openai:http://127.0.0.1:1/v1")...)
	if !p.cached("What is a canary?") {
		t.Error("the file is not served")
	}
	if r := p.purge(purgeAll); r.Status != http.StatusOK || !durable(r) {
		t.Errorf("purge without the embedding server: %d %s", r.Status, r.Body)
	}
	p.Kill()
	if p = start(t, env...); p.cached("What is a canary?") {
		t.Error("served after its purge and a restart")
	}
}

// makeReadOnly makes a file read-only, for root too.
func makeReadOnly(t *testing.T, path string) {
	t.Helper()
	os.Chmod(path, 0o400)
	writable := func() bool {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err == nil
	}
	if !writable() {
		return
	}
	if exec.Command("chattr", "+i", path).Run() == nil {
		t.Cleanup(func() { exec.Command("chattr", "-i", path).Run() })
	}
	if writable() {
		t.Skip("this user can write any file, and chattr does not work here")
	}
}

// TestPurgedTextIsNotReadable purges prompts and answers and reads the files beside the store, copies that were set aside among them.
// It is line 7 of the list in SECURITY.md.
func TestPurgedTextIsNotReadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "r.db")
	env := []string{"REPRISE_STORE=file:" + path, upstream(t, canaries(200_000))}
	p := start(t, env...)
	for i := range 40 {
		p.ask(fmt.Sprint("Does the canary sing? ", i), "X-Reprise-Namespace", "purged")
	}
	p.ask("What stays?")
	p.written()
	os.WriteFile(path+".damaged-20260102T030405", []byte("canary"), 0o600)
	before, size := readable(t, dir), sizeOf(path)
	begin := time.Now()
	if r := p.purge(`{"namespace":"purged","dry_run":false}`); r.Status != http.StatusOK || !strings.Contains(r.Body, `"purged": 40`) {
		t.Errorf("purge: %d %s", r.Status, r.Body)
	}
	built.Until(t, "what was purged is unreadable", func() bool { return readable(t, dir) == 0 })
	t.Logf("measured: %d places with purged text before, 0 after %d ms", before, time.Since(begin).Milliseconds())
	if !p.cached("What stays?") {
		t.Error("an entry that was not purged is gone")
	}
	p.Kill()
	if p = start(t, env...); !p.cached("What stays?") || readable(t, dir) > 0 {
		t.Errorf("after a kill text is readable in %d places, or an entry is gone", readable(t, dir))
	}
	if total, _ := p.Metric("reprise_store_file_bytes"); sizeOf(path) > size/4 || int64(total) > size/4 || total == 0 {
		t.Errorf("after a start the file has %d bytes of %d, the gauge shows %v", sizeOf(path), size, total)
	}
	if dead, ok := p.Metric("reprise_store_dead_bytes"); !ok || dead > 4<<20 {
		t.Errorf("after a start %v bytes are dead, %v", dead, ok)
	}
}

// canaries answers with a canary, and a text of a size that cannot be packed.
func canaries(size int) http.HandlerFunc {
	rng := rand.New(rand.NewPCG(5, 6))
	text := randomText(rng, size)
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if bytes.Contains(body, []byte("canary")) {
			io.WriteString(w, answer("The canary sings. "+text))
			return
		}
		io.WriteString(w, answer("short"))
	}
}

// readable counts the places of a folder's files in which a canary can be read.
func readable(t *testing.T, dir string) (n int) {
	for _, name := range listed(t, dir) {
		data, _ := os.ReadFile(filepath.Join(dir, name)) // a file that has just been removed has nothing to read
		n += bytes.Count(data, []byte("canary"))
	}
	return n
}

func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// written returns when every change is in the file: a purge of nothing writes them.
func (p *process) written() {
	p.t.Helper()
	if r := p.purge(`{"namespace":"nothing is in it","dry_run":false}`); r.Status != http.StatusOK {
		p.t.Fatalf("write: %d %s", r.Status, r.Body)
	}
}

// TestKillWhileTheFileShrinks kills the process at random moments after a purge, while it overwrites and copies. Each time the purged
// entries are gone, the others are there, and the next process makes the text unreadable. It is line 7 of the list in SECURITY.md.
func TestKillWhileTheFileShrinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"REPRISE_STORE=file:" + filepath.Join(dir, "r.db"), upstream(t, canaries(200_000))}
	p := start(t, env...)
	for i := range 20 {
		p.ask(fmt.Sprint("What stays? ", i))
	}
	purged := []string{"X-Reprise-Namespace", "purged"}
	for round := range 3 {
		for i := range 30 {
			p.ask(fmt.Sprint("Does the canary sing? ", i), purged...)
		}
		p.written()
		if r := p.purge(`{"namespace":"purged","dry_run":false}`); !strings.Contains(r.Body, `"purged": 30`) {
			t.Errorf("round %d: purge: %d %s", round, r.Status, r.Body)
		}
		time.Sleep(time.Duration(rand.IntN(250)) * time.Millisecond) // a random moment is what is tested
		left := listed(t, dir)
		p.Kill()
		p = start(t, env...)
		for i := range 20 {
			if !p.cached(fmt.Sprint("What stays? ", i)) {
				t.Errorf("round %d: entry %d is lost; the files were %q", round, i, left)
			}
		}
		for i := range 30 {
			if p.cached(fmt.Sprint("Does the canary sing? ", i), purged...) {
				t.Errorf("round %d: purged entry %d is back; the files were %q", round, i, left)
			}
		}
		if aside, _ := p.Metric("reprise_store_set_aside"); aside != 0 {
			t.Errorf("round %d: the file was damaged; the files were %q", round, left)
		}
		built.Until(t, "what was purged is unreadable", func() bool { return readable(t, dir) == 0 })
	}
}

// TestPurgeDelaysNoHit purges many entries while a client asks for another one: the purge takes many steps, between which others have
// their turn. It is line 24 of the list in SECURITY.md. A busy machine can keep this process from looking for as long as a purge lasts,
// hence a few of them.
func TestPurgeDelaysNoHit(t *testing.T) {
	t.Parallel()
	entries := 20_000
	if n, err := strconv.Atoi(os.Getenv("REPRISE_ATTACK_ENTRIES")); err == nil {
		entries = n // to measure
	}
	for range 5 {
		if purgeBesideHits(t, entries) > 0 {
			return
		}
	}
	t.Error("the purge removes all entries in one step, and everything waits for it")
}

// purgeBesideHits purges entries while a client asks for another one, and returns how often they were seen half done.
func purgeBesideHits(t *testing.T, entries int) (seen int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.db")
	fillStore(t, path, entries)
	p := start(t, "REPRISE_STORE=file:"+path, fmt.Sprint("REPRISE_CAPACITY_ENTRIES=", 2*entries), upstream(t, echo()))
	p.ask("What is a drain?")
	quiet := p.hits(t, nil)
	done := make(chan struct{})
	var took time.Duration
	go func() {
		defer close(done)
		begin := time.Now()
		if r, err := p.try(http.MethodPost, p.Admin+"/admin/purge", `{"model":"many","dry_run":false}`); err != nil || !strings.Contains(r.Body, fmt.Sprintf(`"purged": %d`, entries)) {
			t.Errorf("purge: %v %s", err, r.Body)
		}
		took = time.Since(begin)
	}()
	steps := make(chan int)
	go func() { steps <- p.partly(done, entries) }()
	during := p.hits(t, done)
	seen = <-steps
	t.Logf("measured: purge of %d entries in %d ms, seen half done %d times; exact hits without it p50 %.2f ms, p99 %.2f, longest %.2f; during it %d hits, p50 %.2f ms, p99 %.2f, longest %.2f",
		entries, took.Milliseconds(), seen, ms(quiet, .5), ms(quiet, .99), ms(quiet, 1), len(during), ms(during, .5), ms(during, .99), ms(during, 1))
	p.Kill()
	return seen
}

// partly counts how often some of the entries are gone, and others not, until done is closed.
func (p *process) partly(done chan struct{}, entries int) (seen int) {
	for {
		select {
		case <-done:
			return seen
		default:
		}
		r, err := p.try(http.MethodGet, p.Admin+"/admin/stats", "")
		var st struct{ Entries int }
		if err == nil && json.Unmarshal([]byte(r.Body), &st) == nil && st.Entries > 1 && st.Entries < entries {
			seen++
		}
	}
}

// hits asks the same question until done is closed, or a number of times, and returns how long each answer took, sorted.
func (p *process) hits(t *testing.T, done chan struct{}) (all []time.Duration) {
	for n := 0; ; n++ {
		select {
		case <-done:
			slices.Sort(all)
			return all
		default:
		}
		if done == nil && n == 500 {
			slices.Sort(all)
			return all
		}
		begin := time.Now()
		if r := p.ask("What is a drain?"); r.Cache() != "exact" {
			t.Fatalf("not a hit: %d %s", r.Status, r.Cache())
		}
		all = append(all, time.Since(begin))
	}
}

// ms is a quantile of sorted times in ms.
func ms(sorted []time.Duration, q float64) float64 {
	return float64(sorted[int(q*float64(len(sorted)-1))].Microseconds()) / 1000
}

// fillStore makes a file with entries that no request asks for.
func fillStore(t *testing.T, path string, entries int) {
	t.Helper()
	backing, err := file.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	embedder := embed.NewBuiltin()
	s, err := store.Open(store.Options{Backing: backing, Space: embedder.Space(), Evictor: classic.NewLRU(), FlushEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	vector := make([]float32, embedder.Dim())
	vector[0] = 1
	now := time.Now()
	for i := range entries {
		e := &store.Entry{Key: store.Key{byte(i), byte(i >> 8), byte(i >> 16), 1}, Scope: store.Scope{byte(i % 50)}, Labels: &store.Labels{Model: "many"}, Prompt: fmt.Sprint("prompt ", i),
			Vector: vector, Topic: 1<<20 + 1, Answer: []byte("an answer that is never read"), Created: now, Expires: now.Add(time.Hour)}
		s.Put(e, s.Tick())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPurgeOfAllIsNotTakenBack: an entry is purged so that it can be taken back, and then everything: what the second purge has named does not come back.
// It is line 5 of the list in SECURITY.md.
func TestPurgeOfAllIsNotTakenBack(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer("to be purged"))
	}))
	for _, second := range []string{purgeAll, `{"entry":%s,"dry_run":false}`, `{"model":"m","dry_run":false}`} {
		entry := p.ask("What is a canary?").Header.Get("X-Reprise-Entry")
		undo := gjson.Get(p.purge(`{"entry":`+entry+`,"dry_run":false,"undo":true}`).Body, "undo").Raw
		if undo == "" {
			t.Fatal("the purge cannot be taken back")
		}
		if r := p.purge(strings.ReplaceAll(second, "%s", entry)); r.Status != http.StatusOK {
			t.Errorf("%s: %d %s", second, r.Status, r.Body)
		}
		if r := p.Do(http.MethodPost, p.Admin+"/admin/purge/undo", `{"undo":`+undo+`}`); r.Status != http.StatusConflict {
			t.Errorf("after %s: %d %s", second, r.Status, r.Body)
		}
		if p.cached("What is a canary?") {
			t.Errorf("a purge of %s is taken back", second)
		}
	}
}

// TestReloadKeepsUndos: a purge that can be taken back still can after a SIGHUP. It is line 5 of the list in SECURITY.md.
func TestReloadKeepsUndos(t *testing.T) {
	t.Parallel()
	p := start(t, upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer("to be purged"))
	}))
	entry := p.ask("What is a canary?").Header.Get("X-Reprise-Entry")
	undo := gjson.Get(p.purge(`{"entry":`+entry+`,"dry_run":false,"undo":true}`).Body, "undo").Raw
	p.reload()
	if r := p.Do(http.MethodPost, p.Admin+"/admin/purge/undo", `{"undo":`+undo+`}`); r.Status != http.StatusOK || !p.cached("What is a canary?") {
		t.Errorf("undo %s after a reload: %d %s", undo, r.Status, r.Body)
	}
}
