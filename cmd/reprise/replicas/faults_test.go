package replicas_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"reprise/internal/redistest"
)

// site is a fleet whose replicas each have their own way to Redis.
type site struct {
	*fleet
	server   *redistest.Server
	failover *redistest.Failover // nil: server alone
	nets     []*redistest.Proxy
	frozen   []int // replicas whose process was stopped for a while
}

// fault is one row of the table of TestFaults.
type fault struct {
	name     string
	replicas int               // default 2
	options  redistest.Options // of the server
	sentinel bool
	away     []int // replicas that have no Redis, or one that is of no help, while the fault lasts
	loses    bool  // what Redis had is gone, or a part of it
	strike   func(*site)
	heal     func(*site)
}

var all = []int{0, 1, 2, 3}

func faults() []fault {
	return []fault{
		{name: "Redis is killed", options: redistest.Options{AppendOnly: true}, away: all,
			strike: func(s *site) { s.server.Kill() }, heal: func(s *site) { s.server.Restart() }},
		{name: "Redis is killed and starts empty", away: all, loses: true,
			strike: func(s *site) { s.server.Kill() }, heal: func(s *site) { s.server.Restart() }},
		{name: "Redis is frozen", away: all,
			strike: func(s *site) { s.server.Freeze() }, heal: func(s *site) { s.server.Thaw() }},
		{name: "a replica is killed",
			strike: func(s *site) { s.kill(1) }, heal: func(s *site) { s.again(1) }},
		{name: "a replica and Redis are killed", options: redistest.Options{AppendOnly: true}, away: all,
			strike: func(s *site) { s.kill(1); s.server.Kill(); s.again(1) }, heal: func(s *site) { s.server.Restart() }},
		{name: "the primary is killed", sentinel: true, away: all,
			strike: func(s *site) { s.failover.Primary.Kill() }, heal: func(s *site) { s.failover.AwaitSwitch(s.t) }},
		{name: "primary and replica of Redis change places", sentinel: true, away: all,
			strike: (*site).change, heal: func(*site) {}},
		{name: "Redis answers after 2 s", away: all,
			strike: func(s *site) { s.network(all, func(p *redistest.Proxy) { p.Delay(time.Second) }) }, heal: (*site).healNetwork},
		{name: "a replica is cut off", replicas: 3, away: []int{1},
			strike: func(s *site) { s.network([]int{1}, (*redistest.Proxy).Cut) }, heal: (*site).healNetwork},
		{name: "packets of a replica are lost", replicas: 3, away: []int{1},
			strike: func(s *site) { s.network([]int{1}, (*redistest.Proxy).Hold) }, heal: (*site).healNetwork},
		{name: "connections are reset again and again", away: all, strike: func(s *site) {
			for range 20 {
				s.network(all, (*redistest.Proxy).Cut)
				s.healNetwork()
				time.Sleep(20 * time.Millisecond) // a random moment is what is tested
			}
		}, heal: (*site).healNetwork},
		{name: "a replica reads 64 KB a second", away: []int{1},
			strike: func(s *site) { s.network([]int{1}, func(p *redistest.Proxy) { p.Throttle(64 << 10) }) }, heal: (*site).healNetwork},
		{name: "Redis is out of memory", away: all, loses: true, // the keeper makes room
			strike: func(s *site) { s.server.Must("CONFIG", "SET", "maxmemory", "1") }, heal: func(s *site) { s.server.Must("CONFIG", "SET", "maxmemory", "0") }},
		{name: "Redis is read-only", away: all,
			strike: func(s *site) { s.server.Must("REPLICAOF", "127.0.0.1", "1") }, heal: func(s *site) { s.server.Must("REPLICAOF", "NO", "ONE") }},
		{name: "the user loses its rights", away: all, strike: func(s *site) { s.server.Must("ACL", "SETUSER", "reprise", "-@all") },
			heal: func(s *site) { s.server.Must("ACL", "SETUSER", "reprise", "+@all") }},
		{name: "the user is gone", away: all, strike: func(s *site) {
			s.server.Must("ACL", "SETUSER", "reprise", "off")
			s.server.Must("CLIENT", "KILL", "USER", "reprise")
		}, heal: func(s *site) { s.server.Must("ACL", "SETUSER", "reprise", "on") }},
		{name: "FLUSHALL", away: all, loses: true,
			strike: func(s *site) { s.server.Must("FLUSHALL") }, heal: func(s *site) { s.server.Must("FLUSHALL") }},
		{name: "SCRIPT FLUSH",
			strike: func(s *site) { s.server.Must("SCRIPT", "FLUSH") }, heal: func(s *site) { s.server.Must("SCRIPT", "FLUSH") }},
		{name: "foreign values under keys of the cache", away: all, loses: true, strike: (*site).defile, heal: func(*site) {}},
		{name: "the log is cut behind a frozen replica", replicas: 3, away: []int{1},
			strike: func(s *site) { s.freeze(1) },
			heal: func(s *site) {
				s.cutOff(0, 2) // what they have not read yet is gone for them too
				s.server.Must("XTRIM", "{reprise}:log", "MAXLEN", "0")
				s.replica(1).thaw()
			}},
	}
}

// TestFaults strikes while clients of two tenants ask and purges come, heals while they go on, and checks what they have received.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, x := range faults() {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			x.test(t)
		})
	}
}

func (x *fault) test(t *testing.T) {
	s := x.site(t)
	l := s.newLoad()
	purges, stopPurges := context.WithCancel(context.Background())
	for i := range s.size() {
		l.wg.Go(func() { l.purges(purges, i) })
	}
	t.Cleanup(stopPurges)
	s.rejoined()
	held := s.held()
	s.asked(some)
	before := time.Now()
	if x.sentinel {
		s.replicated()
	}
	s.cutOff(slices.DeleteFunc(slices.Clone(x.away), func(i int) bool { return i >= s.size() })...)
	x.strike(s)
	s.asked(some)
	if len(x.away) > 0 && !s.allCut() { // they have to stop serving what is purged meanwhile
		s.purged(3)
		s.asked(some)
	}
	x.heal(s)
	healed := time.Now()
	t.Logf("measured: %s: all replicas share again %d ms after its end", x.name, s.rejoined().Milliseconds())
	s.asked(some)
	stopPurges()
	l.stop()
	s.rejoined()
	switch {
	case x.loses:
		s.checkKept(s.acknowledged(healed, time.Now()))
	case x.sentinel: // what the primary acknowledged in its last moments may be lost
		s.checkKept(append(s.acknowledged(time.Time{}, before), s.acknowledged(healed, time.Now())...))
	default:
		s.checkKept(s.acknowledged(time.Time{}, time.Now()))
	}
	s.check()
	s.checkDurations()
	s.checkHeld(held)
}

// some is how many requests each step of a test takes.
const some = 200

// purged waits until so many more purges have been durable.
func (s *site) purged(more int) {
	s.t.Helper()
	count := func() (n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, u := range s.purges {
			if u.status == http.StatusOK {
				n++
			}
		}
		return n
	}
	target := count() + more
	eventually(s.t, "purges return", func() bool { return count() >= target })
}

// checkDurations: no request hangs because of Redis. The time in which the witness had to wait for the replica too does not count.
func (s *site) checkDurations() {
	s.t.Helper()
	var took []time.Duration
	for _, a := range s.asks {
		if slices.Contains(s.frozen, a.replica) {
			continue
		}
		d := a.end.Sub(a.start)
		took = append(took, d)
		if late := s.witness.lateFor(a.start, a.end, a.replica); d-late > 10*time.Second {
			s.t.Errorf("a request took %v, and the machine was late for %v of it", d, late)
		}
	}
	slices.Sort(took)
	n := len(took) - 1
	s.t.Logf("measured: %d requests, p50 %v, p99 %v, longest %v", n+1, took[n/2], took[n*99/100], took[n])
}

func (s *site) freeze(i int) {
	s.frozen = append(s.frozen, i)
	s.replica(i).freeze()
	s.t.Cleanup(s.replica(i).thaw)
}

// kill kills the process of a replica. A purge that it reported as not durable may be lost with it.
func (s *site) kill(i int) {
	s.replica(i).kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.purges {
		if u.replica == i && u.status == http.StatusServiceUnavailable && u.everywhere.IsZero() {
			u.status = 0
		}
	}
}

// defile writes what no replica has written: over stored answers, records of entries and the log.
func (s *site) defile() {
	do := func(args ...string) { s.server.Must(args...) }
	keys, _ := s.server.Must("KEYS", "{reprise}:a:*").([]any)
	for i, k := range keys {
		switch key := k.(string); i % 8 {
		case 0:
			do("SET", key, "a foreign value")
		case 1:
			do("SET", key, "")
		case 2:
			do("LPUSH", "{reprise}:list", "a", "list")
			do("RENAME", "{reprise}:list", key) // at once: a replica may store this answer again at any time
		case 3:
			do("SETRANGE", key, "20", "damage in the middle")
		}
	}
	for bucket := range 64 {
		key := fmt.Sprint("{reprise}:r:", bucket)
		do("HSET", key, "a foreign field", "a foreign value", "", "")
	}
	do("DEL", "{reprise}:r:1000")
	do("SET", "{reprise}:r:1000", "no hash")
	do("XADD", "{reprise}:log", "*", "foreign", "field")
	do("XADD", "{reprise}:log", "*", "n", "x", "o", "1", "s", "1", "d", "no events")
}

func (x *fault) site(t *testing.T) *site {
	s := &site{}
	n := max(2, x.replicas)
	urls := make([]string, n)
	if x.sentinel {
		s.failover = redistest.StartFailover(t, x.options, 1, "")
		for i := range urls {
			urls[i] = "redis-sentinel://" + s.failover.Sentinels[0].Addr + "/" + s.failover.Master
		}
	} else {
		x.options.ACL = []string{"reprise on >secret ~* &* +@all"}
		s.server = redistest.Start(t, x.options)
		for i := range urls {
			s.nets = append(s.nets, redistest.NewProxy(t, s.server.Addr))
			urls[i] = "redis://reprise:secret@" + s.nets[i].Addr
		}
	}
	s.fleet = newFleet(t, urls)
	if x.sentinel {
		s.uses(s.failover.Primary, s.failover.Replica)
	} else {
		s.uses(s.server)
	}
	return s
}

// network does something to the network of some replicas.
func (s *site) network(of []int, do func(*redistest.Proxy)) {
	for i, p := range s.nets {
		if slices.Contains(of, i) {
			do(p)
		}
	}
}

func (s *site) healNetwork() { s.network(all, (*redistest.Proxy).Heal) }

// change makes the replica of Redis its primary, and waits until the primary of before follows: what that has acknowledged meanwhile is lost.
func (s *site) change() {
	s.t.Helper()
	s.failover.Switch(s.t)
	eventually(s.t, "the primary of before is a replica", func() bool {
		role, _ := s.failover.Replica.Do("ROLE") // an error: the sentinel closes its connections when it makes it a replica
		list, _ := role.([]any)
		return len(list) > 3 && list[0] == "slave" && list[3] == "connected"
	})
}

// replicated waits until the replica of Redis has all that its primary has acknowledged so far.
func (s *site) replicated() {
	s.t.Helper()
	now := func(p *redistest.Server, name string) string { return p.Info("replication")[name] }
	at := now(s.failover.Primary, "master_repl_offset")
	eventually(s.t, "replication", func() bool {
		v := now(s.failover.Replica, "slave_repl_offset")
		return len(v) > len(at) || len(v) == len(at) && v >= at
	})
}

// held are the goroutines and open files of each process.
func (f *fleet) held() map[*process][2]float64 {
	all := map[*process][2]float64{}
	for i := range f.size() {
		p := f.replica(i)
		goroutines, _ := p.Metric("go_goroutines")
		files, _ := p.Metric("process_open_fds")
		all[p] = [2]float64{goroutines, files}
	}
	return all
}

// checkHeld waits until the processes that are still the same have no more goroutines and files than a few connections of clients.
func (f *fleet) checkHeld(before map[*process][2]float64) {
	f.t.Helper()
	const clients = 30
	eventually(f.t, "goroutines and files are given back", func() bool {
		for p, now := range f.held() {
			if had, same := before[p]; same && (now[0] > had[0]+clients || now[1] > had[1]+clients) {
				return false
			}
		}
		return true
	})
}
