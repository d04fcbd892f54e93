package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"reprise/embed"
	"reprise/policy"
	"reprise/proxy/cache"
	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/evidence"
)

func selfFaults() []fault {
	return []fault{
		{name: "F36", what: "kill -9 under load, and after a purge", apart: true, run: kills},
		{name: "F37", what: "disk full", apart: true, run: fullDisk},
		{name: "F38", what: "disk read-only", apart: true, run: readOnlyDisk},
		{name: "F39", what: "file: flipped bytes and truncation", run: damagedFile},
		{name: "F40", what: "two processes on one file", apart: true, run: twoProcesses},
		{name: "F41", what: "file descriptors exhausted", apart: true, run: descriptors},
		{name: "F42", what: "little memory", apart: true, run: littleMemory},
		{name: "F43", what: "GOMAXPROCS=1", run: func(t *testing.T, seed uint64, r *report) *world {
			w := newWorld(t, seed, setup{})
			var before int
			storm(w, r, func() { before = runtime.GOMAXPROCS(1) }, func() { runtime.GOMAXPROCS(before) })
			return w
		}},
		{name: "F44", what: "the clock jumps, back too", run: jumpingClock},
		{name: "F45", what: "policy, guard and embedder panic", run: panics},
		{name: "F46", what: "reload in a storm", apart: true, run: reloads},
		{name: "F47", what: "SIGTERM with 1,000 streams open", apart: true, run: terminated},
	}
}

// kills kills the proxy while clients ask, and right after a purge was confirmed, and starts it again on its file.
func kills(t *testing.T, seed uint64, r *report) *world {
	l := launch{setup: setup{rules: rules{recounts: true}}, env: []string{"REPRISE_STORE=file:" + filepath.Join(t.TempDir(), "r.db")}}
	w := newProcess(t, seed, l)
	rng := rand.New(rand.NewPCG(seed, 36))
	for round := range uint64(pick(40, 3)) {
		var load sync.WaitGroup
		load.Go(func() { w.run(round, usual()) })
		time.Sleep(time.Duration(rng.IntN(150)) * time.Millisecond) // anywhere within a write, or between two
		w.crash(func() {
			load.Wait()
			w.restart(l)
		})
		w.run(100+round, load2())
		w.written()
		w.purge(purge{}, `{"all":true,"dry_run":false}`)
		w.crash(func() { w.restart(l) })
		w.askAll()
		w.run(200+round, load2())
	}
	w.checkFlight(r)
	w.checkHealed(r)
	return w
}

// written waits until the file has all changes.
func (w *world) written() bool {
	w.t.Helper()
	return eventually(w.t, "all changes are written", func() bool { w.readMetrics(); return w.h.metrics["reprise_store_dirty"] == 0 })
}

// load2 is a small load without purges.
func load2() load { return load{clients: 4, each: pick(20, 8), quiet: true} }

func (w *world) restart(l launch) {
	w.t.Helper()
	if err := w.start(l); err != nil {
		w.t.Fatal(err)
	}
}

// fullDisk fills the file system of the store's file. Requests go on; what a purge has confirmed holds even if the proxy is killed.
func fullDisk(t *testing.T, seed uint64, r *report) *world {
	if !hasMounts() {
		return failingDisk(t, seed, r, syscall.ENOSPC)
	}
	dir := t.TempDir()
	l := launch{private: true, shell: "mount -t tmpfs -o size=3m none " + dir, env: []string{"REPRISE_STORE=file:" + dir + "/r.db",
		"REPRISE_CAPACITY_ENTRIES=2000", "REPRISE_CAPACITY_BYTES=64MiB"}} // so that the file grows
	w := newProcess(t, seed, l)
	w.h.capacity = 64 << 20
	inside := fmt.Sprintf("/proc/%d/root%s", w.proc.Process.Pid, dir)
	w.h.largest = 256 << 10
	w.run(1, usual())
	w.written()
	w.during(func() { fill(t, inside+"/filler") }, func() {}, func() {
		eventually(t, "writes fail", func() bool { // the file must grow
			w.ask(question{tenant: tenants[0], model: models[0], prompt: w.freshPrompt(), padding: 64 << 10}, 0)
			w.readMetrics()
			return w.h.metrics["reprise_store_faults_total"] > 0
		})
		w.run(2, usual())
		w.purge(purge{}, `{"all":true,"dry_run":false}`)
		w.afterCrash(t, seed, r, inside+"/r.db")
	})
	if err := os.Remove(inside + "/filler"); err != nil {
		t.Fatal(err)
	}
	w.run(3, usual())
	w.checkHealed(r)
	r.check("I8", w.written(), "changes stay unwritten although the disk has room again")
	w.afterCrash(t, seed, r, inside+"/r.db")
	return w
}

// fill fills a file system with one file.
func fill(t *testing.T, path string) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int{64 << 10, 4 << 10, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// afterCrash starts a second proxy on a copy of the file, as after a crash at this moment, and asks it what it still answers.
func (w *world) afterCrash(t *testing.T, seed uint64, r *report, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(again, data, 0o600); err != nil {
		t.Fatal(err)
	}
	from := w.h.tick()
	x := newProcess(t, seed, launch{setup: setup{history: w.h, engine: w.up}, env: []string{"REPRISE_STORE=file:" + again}})
	x.askAll()
	x.finish()
	w.h.texts["the log of "+fmt.Sprint(from)] = x.log.String()
	w.u.recounts = true // the requests of x are not in the counters of w
}

// askAll asks every prompt of the usual load for what is stored.
func (w *world) askAll() {
	for _, tenant := range tenants {
		for _, prompt := range prompts {
			w.ask(question{tenant: tenant, model: models[0], prompt: prompt, directive: "Cache-Control: only-if-cached"}, 0)
		}
	}
}

// faultyBacking fails its writes with an error while there is one.
type faultyBacking struct {
	store.Backing
	err atomic.Pointer[error]
}

func (f *faultyBacking) Write(b *store.Batch) error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return f.Backing.Write(b)
}

// failingDisk is the fault of a disk within this process, for machines without mounts for tests.
func failingDisk(t *testing.T, seed uint64, r *report, err error) *world {
	disk := &faultyBacking{}
	w := newWorld(t, seed, setup{path: filepath.Join(t.TempDir(), "r.db"), backing: func(b store.Backing) store.Backing { disk.Backing = b; return disk }})
	storm(w, r, func() { disk.err.Store(&err) }, func() { disk.err.Store(nil) })
	return w
}

// readOnlyDisk starts on a file that can be read and not be written.
func readOnlyDisk(t *testing.T, seed uint64, r *report) *world {
	if !hasMounts() {
		return failingDisk(t, seed, r, syscall.EROFS)
	}
	dir := t.TempDir()
	l := launch{setup: setup{rules: rules{recounts: true}}, env: []string{"REPRISE_STORE=file:" + dir + "/r.db"}}
	w := newProcess(t, seed, l)
	w.run(1, usual())
	r.check("I8", w.proc.Stop(time.Minute), "the proxy did not end well")
	sealed := l
	sealed.private, sealed.shell = true, fmt.Sprintf("mount --bind %s %s && mount -o remount,ro,bind %s", dir, dir, dir)
	w.restart(sealed)
	w.during(func() {}, func() {}, func() {
		w.askAll()
		w.run(2, usual())
		w.purge(purge{}, `{"all":true,"dry_run":false}`)
		w.checkHealed(r) // answers are kept in memory
	})
	w.crash(func() { w.restart(l) })
	w.askAll()
	w.run(3, usual())
	w.checkFlight(r)
	w.checkHealed(r)
	return w
}

// damagedFile opens copies of a file with one flipped byte, or cut short, and asks what they still answer.
func damagedFile(t *testing.T, seed uint64, r *report) *world {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.db")
	w := newWorld(t, seed, setup{path: path})
	w.run(1, usual())
	w.purge(purge{model: models[1]}, `{"model":"`+models[1]+`","dry_run":false}`)
	w.run(2, load2())
	w.end()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 39))
	var x *world
	for i := range pick(400, 20) {
		damaged := append([]byte(nil), data...)
		at := rng.IntN(len(data))
		if i%4 == 3 {
			damaged = damaged[:at]
		} else {
			damaged[at] ^= byte(1 + rng.IntN(255))
		}
		path := filepath.Join(dir, fmt.Sprintf("damaged-%d.db", i))
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if x != nil {
			x.finish()
		}
		x = newWorld(t, seed, setup{path: path, history: w.h, engine: w.up, rules: rules{recounts: true}})
		for range 12 {
			q := newQuestion(rng)
			q.directive = "Cache-Control: only-if-cached"
			x.ask(q, 0)
		}
		x.run(uint64(10+i), load{clients: 2, each: 2, quiet: true})
	}
	x.lent = false // closes the engine
	x.checkFlight(r)
	x.fresh.Store(1000)
	x.checkHealed(r)
	return x
}

// twoProcesses starts a second process on the file of the first.
func twoProcesses(t *testing.T, seed uint64, r *report) *world {
	path := filepath.Join(t.TempDir(), "r.db")
	l := launch{env: []string{"REPRISE_STORE=file:" + path}}
	w := newProcess(t, seed, l)
	w.run(1, usual())
	second := bareWorld(t, seed, setup{history: w.h, engine: w.up})
	w.during(func() {}, func() {}, func() {
		var load sync.WaitGroup
		load.Go(func() { w.run(2, usual()) })
		err := second.start(l)
		second.end()
		r.check("I8", err != nil && strings.Contains(err.Error(), path), "the second process on %s: %v", path, err)
		load.Wait()
	})
	w.run(3, usual())
	w.checkFlight(r)
	w.checkHealed(r)
	w.u.recounts = true
	w.crash(func() { w.restart(l) })
	w.askAll()
	return w
}

// descriptors holds more connections than the process has descriptors. They are closed by the limit for a header.
func descriptors(t *testing.T, seed uint64, r *report) *world {
	w := newProcess(t, seed, launch{shell: "ulimit -n 64", setup: setup{rules: rules{blind: true, own: []int{503}}}, env: []string{"REPRISE_CLIENT_TIMEOUT=36s"}}) // which no pause of a client fills
	w.run(1, usual())
	var held []net.Conn
	w.during(func() {
		for range 100 {
			c, err := net.Dial("tcp", strings.TrimPrefix(w.api, "http://"))
			if err == nil {
				held = append(held, c)
			}
		}
	}, func() {
		for _, c := range held {
			c.Close()
		}
		eventually(t, "the process has descriptors again", func() bool {
			_, status := w.adminCall(http.MethodGet, "/admin/stats", "")
			return status == http.StatusOK && w.descriptors() < 40
		})
		// A client that left while it dialled has kept a connection that has sent nothing. The limit for a header would close it under
		// a later request.
		fresh := w.client.Transport.(*http.Transport).Clone()
		w.client.CloseIdleConnections()
		fresh.DisableKeepAlives = true
		w.client.Transport = fresh
	}, func() { w.run(2, usual()) })
	w.run(3, usual())
	w.checkFlight(r)
	w.checkHealed(r)
	return w
}

// littleMemory asks large questions of a process with little memory. It may refuse some, and its memory stays within the limit.
func littleMemory(t *testing.T, seed uint64, r *report) *world {
	const limit = 96 << 20
	w := newProcess(t, seed, launch{setup: setup{rules: rules{blind: true, own: []int{503}}}, env: []string{fmt.Sprint("REPRISE_MEMORY_LIMIT=", limit)}})
	w.h.largest = 4 << 20
	w.run(1, usual())
	w.during(func() {}, func() {}, func() {
		var clients sync.WaitGroup
		clients.Go(func() { w.run(2, usual()) })
		for i := range 12 {
			clients.Go(func() {
				for range pick(20, 1) {
					w.ask(question{tenant: tenants[i%3], model: models[0], prompt: w.freshPrompt(), padding: 4 << 20}, 0)
				}
			})
		}
		clients.Wait()
	})
	_, most := w.proc.Memory()
	t.Logf("measured: %d MiB at most, the limit is %d MiB", most>>10, limit>>20)
	r.check("I7", most <= limit>>10*5/4, "the process took %d KiB, the limit is %d bytes", most, limit)
	w.run(3, usual())
	w.checkFlight(r)
	w.checkHealed(r)
	return w
}

// jumpingClock moves the clock of the proxy in both directions while clients ask.
func jumpingClock(t *testing.T, seed uint64, r *report) *world {
	w := newWorld(t, seed, setup{})
	rng := rand.New(rand.NewPCG(seed, 44))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var clock sync.WaitGroup
	storm(w, r, func() {
		w.clock.Add(-int64(time.Hour))
		clock.Go(func() {
			for w.sleep(ctx, time.Millisecond) {
				w.clock.Add(int64(rng.IntN(120)-60) * int64(time.Second))
			}
		})
	}, func() { stop(); clock.Wait(); w.clock.Store(int64(rng.IntN(7200)-3600) * int64(time.Second)) })
	return w
}

// panics injects panics into the parts that can be replaced from outside.
func panics(t *testing.T, seed uint64, r *report) *world {
	p := &toys{rng: rand.New(rand.NewPCG(seed, 45))}
	w := newWorld(t, seed, setup{
		evictor: func(e policy.Evictor) policy.Evictor { return panickyEvictor{e, p} },
		embed:   func(e embed.Embedder) embed.Embedder { return panickyEmbedder{e, p} },
		judge: func(rates *evidence.Rates) cache.Judge {
			return panickyJudge{&reuse.Judge{Words: true, MaxError: 0.01, Rates: rates}, p}
		},
	})
	storm(w, r, func() { p.on.Store(true) }, func() { p.on.Store(false) })
	return w
}

// reloads changes the file of settings and sends SIGHUP, again and again. A file with a mistake changes nothing.
func reloads(t *testing.T, seed uint64, r *report) *world {
	path := filepath.Join(t.TempDir(), "reprise.yaml")
	set := func(line string) {
		if err := os.WriteFile(path, []byte("settings: {"+line+"}\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	set("client_timeout: 6m")
	w := newProcess(t, seed, launch{env: []string{"REPRISE_CONFIG=" + path}})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var signals sync.WaitGroup
	storm(w, r, func() {
		signals.Go(func() {
			lines := []string{"max_concurrent: 1000", "drain_timeout: 20s", "drain_timeout: soon", "no_such: 1", ""}
			for i := 0; w.sleep(ctx, 3*time.Millisecond); i++ {
				set(lines[i%len(lines)])
				w.proc.Process.Signal(syscall.SIGHUP)
			}
		})
	}, func() { stop(); signals.Wait() })
	return w
}

// terminated ends the proxy while streams are open: all of them are completed first.
func terminated(t *testing.T, seed uint64, r *report) *world {
	w := newProcess(t, seed, launch{})
	w.run(1, usual())
	const flights = 50
	var all []*reader
	var opened sync.Mutex
	var opening sync.WaitGroup
	var releases []func()
	for range flights {
		q := question{tenant: tenants[0], model: models[0], prompt: w.freshPrompt(), stream: true}
		releases = append(releases, w.up.holds.hold(q.prompt))
		opening.Go(func() {
			for range pick(1000, 400) / flights {
				one := w.open(q)
				opened.Lock()
				all = append(all, one)
				opened.Unlock()
			}
		})
	}
	opening.Wait()
	ended := make(chan bool, 1)
	w.during(func() { go func() { ended <- w.proc.Stop(3 * time.Minute) }() }, func() {}, func() {
		refused := eventually(t, "the proxy refuses connections", func() bool {
			c, err := net.Dial("tcp", strings.TrimPrefix(w.api, "http://"))
			if err == nil {
				c.Close()
			}
			return err != nil
		})
		r.check("I6", refused, "the proxy that drains takes new connections")
		for _, release := range releases {
			release()
		}
		for _, one := range all {
			<-one.ended
			r.check("I6", one.err == nil && one.form.whole, "a stream that was open at SIGTERM was cut: %v, %q", one.err, one.head)
			one.leave()
		}
	})
	r.check("I11", <-ended, "the proxy did not end by itself, with code 0: %v", w.proc.ProcessState)
	w.over = true
	return w
}
