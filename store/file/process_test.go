package file_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/policy"
	"reprise/policy/registry"
	"reprise/store"
	"reprise/store/file"
)

// childEnv makes the test binary a process that fills the file named by it.
const childEnv = "STORE_TEST_CHILD"

const flushEvery = 20 * time.Millisecond

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fill(path)
		return
	}
	os.Exit(m.Run())
}

func entry(n int) *store.Entry {
	name := strconv.Itoa(n)
	return &store.Entry{Key: sha256.Sum256([]byte(name)), Topic: policy.TopicID(n%7 + 1), Prompt: "prompt " + name,
		Answer: []byte("answer " + name + strings.Repeat(".", n%3000)), Vector: []float32{float32(n), 1}}
}

func openStore(path string, o store.Options) (*store.Store, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	o.Backing, o.Space, o.FlushEvery = f, "test", flushEvery
	if o.Evictor, err = registry.New("rac+", policy.Options{Capacity: 1000}); err != nil {
		return nil, err
	}
	return store.Open(o)
}

// fill puts entries until it is killed, and prints the number of the last one that a complete flush has written.
func fill(path string) {
	s, err := openStore(path, store.Options{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	n := 0
	for e := range s.All() {
		v, _ := strconv.Atoi(strings.TrimPrefix(e.Prompt, "prompt "))
		n = max(n, v)
	}
	for i := 0; ; i++ {
		n++
		s.Put(entry(n), s.Tick())
		s.Hit(policy.ID(1+rand.IntN(n)), 0, s.Tick())
		if i%20 == 19 {
			if s.Sync(context.Background()) == nil {
				fmt.Println(n)
			}
		}
	}
}

// TestKill kills a writing process at random moments, again and again on one file. What the policy has learned is written
// with every flush, and is whole or that of an earlier one.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	total := 0
	for round := range 20 {
		acked := runAndKill(t, path, time.Duration(10+rand.IntN(60))*time.Millisecond)
		s, err := openStore(path, store.Options{OnFault: func(step string, err error) { t.Errorf("round %d: %s: %v", round, step, err) }})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		st := s.Stats()
		if st.Panel.Experts[0].HitRatio == 0 {
			t.Errorf("round %d: nothing was learned: %+v", round, st.Panel.Experts)
		}
		if st.Report.Aside != "" || st.Report.Skipped > 0 {
			t.Errorf("round %d: %+v", round, st.Report)
		}
		for n := 1; n <= acked; n++ {
			if e, _, ok := s.Lookup(entry(n).Key); !ok || string(e.Answer) != string(entry(n).Answer) {
				t.Fatalf("round %d: of %d acknowledged entries %d is lost", round, acked, n)
			}
		}
		total = acked
		s.Close()
	}
	if total < 100 {
		t.Errorf("only %d entries were acknowledged: the test shows little", total)
	}
}

// runAndKill starts a child, waits for its first acknowledgement and a while longer, kills it, and returns the last number
// that it printed.
func runAndKill(t *testing.T, path string, after time.Duration) (acked int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Errorf("child prints %q", lines.Text())
			break
		}
		if acked == 0 {
			time.AfterFunc(after, func() { cmd.Process.Kill() })
		}
		acked = n
	}
	cmd.Wait()
	return acked
}

func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	s, err := openStore(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	got, err := cmd.Output()
	if err == nil || !strings.Contains(string(got), store.ErrLocked.Error()) || !strings.Contains(string(got), path) {
		t.Errorf("second process: %v, %q", err, got)
	}
	if _, err := file.Open(path); !errors.Is(err, store.ErrLocked) {
		t.Errorf("second open: %v", err)
	}
	s.Put(entry(1), s.Tick())
	if err := s.Sync(context.Background()); err != nil {
		t.Errorf("the first process can no longer write: %v", err)
	}
}

// TestDamagedFile: the service starts empty with a file that has lost its structure, and the fault says where that is now.
func TestDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	s, err := openStore(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		s.Put(entry(n), s.Tick())
	}
	s.Close()
	data, _ := os.ReadFile(path)
	copy(data[8:80], make([]byte, 72))
	copy(data[4096+8:4096+80], make([]byte, 72))
	os.WriteFile(path, data, 0o600)
	var fault error
	if s, err = openStore(path, store.Options{OnFault: func(_ string, err error) { fault = err }}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	st := s.Stats()
	if st.Entries != 0 || st.Report.Aside == "" {
		t.Errorf("%+v", st)
	}
	if moved, _ := os.ReadFile(st.Report.Aside); !bytes.Equal(moved, data) {
		t.Error("the damaged file was changed")
	}
	if !errors.Is(fault, store.ErrDamaged) || !strings.Contains(fault.Error(), path+".damaged-") {
		t.Errorf("fault: %v", fault)
	}
}

// unpacked is a copy of a compressed file of testdata.
func unpacked(t *testing.T, name string) (path string) {
	t.Helper()
	packed, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "r.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEarlierFile opens a file of the last program that searched damaged files for records: entries 1 to 30, every
// seventh of them removed.
func TestEarlierFile(t *testing.T) {
	path := unpacked(t, "earlier.db.gz")
	for i := range 2 {
		relearns := 0 // what the policy of an earlier program has learned is of other experts
		s, err := openStore(path, store.Options{OnFault: func(step string, err error) {
			if relearns++; i > 0 || relearns > 1 || !errors.Is(err, policy.ErrSnapshot) {
				t.Errorf("%s: %v", step, err)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 30; n++ {
			if e, _, ok := s.Lookup(entry(n).Key); ok != (n%7 != 1) || ok && string(e.Answer) != string(entry(n).Answer) {
				t.Errorf("entry %d: %v", n, ok)
			}
		}
		s.Put(entry(31), s.Tick())
		s.Close()
	}
}

// TestFileOfBefore opens a file that commit 08d864ef wrote: of entries 1 to 60 some were evicted, then every seventh was purged. It has
// vectors, topics with anchors, aliases with a basis, what the policy has learned, evidence, a secret, and bits of evicted entries.
func TestFileOfBefore(t *testing.T) {
	path := unpacked(t, "before-issue-26.db.gz")
	for range 2 {
		s, err := openStore(path, store.Options{OnFault: func(step string, err error) { t.Errorf("%s: %v", step, err) }})
		if err != nil {
			t.Fatal(err)
		}
		if s.Secret() != [32]byte{7} || string(s.Evidence()) != "evidence" {
			t.Errorf("secret %x, evidence %q", s.Secret(), s.Evidence())
		}
		restored, _ := s.Restored()
		n, anchors, aliases := 0, 0, 0
		for e := range restored {
			id := int(e.ID)
			want := entry(id)
			if e.Key != want.Key || e.Prompt != want.Prompt || !bytes.HasPrefix(want.Answer, e.Answer) || len(e.Answer) == 0 ||
				e.Topic != want.Topic || !slices.Equal(e.Vector, want.Vector) || id%7 == 1 {
				t.Errorf("entry %d: %+v", id, e.Entry)
			}
			if n++; e.Anchor {
				anchors++
			}
			if basis, ok := s.Basis(entry(1000+id).Key, e.ID); ok != (id%5 == 0) || ok && basis != 9 {
				t.Errorf("entry %d has an alias %v, of basis %d", id, ok, basis)
			} else if ok {
				aliases++
			}
		}
		if n != 43 || anchors != 6 || aliases != 8 {
			t.Errorf("%d entries, %d anchors, %d aliases", n, anchors, aliases)
		}
		if e := entry(61); len(s.Put(e, s.Tick())) != 1 || e.ID <= 60 {
			t.Errorf("a new entry gets the id %d", e.ID)
		}
		s.Remove(policy.Expired, 61)
		s.Close()
	}
}

func TestMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	f, err := file.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}
