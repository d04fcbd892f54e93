// Package replicas_test runs several proxies on one Redis, as an operator would: processes of their own, real redis-servers, real clients,
// and an upstream that records its calls. Faults happen while clients ask, and end while they go on asking; then what the clients have
// received is compared with what the upstream has sent.
//
//	go test ./cmd/reprise/replicas -v             # prints what was measured
package replicas_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/internal/built"
	"reprise/internal/redistest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "4") // the tests wait more than they compute
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// on is a fleet of n replicas on one server.
func on(t *testing.T, n int, server *redistest.Server, env ...string) *fleet {
	t.Helper()
	urls := make([]string, n)
	for i := range urls {
		urls[i] = "redis://" + server.Addr
	}
	f := newFleet(t, urls, env...)
	f.uses(server)
	return f
}

// forms are the forms of REPRISE_STORE, each with what a server of that form needs.
func forms(t *testing.T) map[string]func(t *testing.T) (url string, env []string) {
	return map[string]func(t *testing.T) (url string, env []string){
		"redis": func(t *testing.T) (string, []string) {
			return "redis://" + redistest.Start(t, redistest.Options{}).Addr, nil
		},
		"redis with a user, a database and a prefix": func(t *testing.T) (string, []string) {
			server := redistest.Start(t, redistest.Options{Password: "another", ACL: []string{"proxy on >se/cr%t ~{one}:* &* +@all -@dangerous"}})
			return "redis://proxy@" + server.Addr + "/5", []string{"REPRISE_REDIS_PASSWORD=se/cr%t", "REPRISE_REDIS_PREFIX=one"}
		},
		"rediss": func(t *testing.T) (string, []string) {
			certificates := redistest.NewCertificates(t)
			return "rediss://" + redistest.Start(t, redistest.Options{TLS: certificates}).Addr,
				[]string{"REPRISE_REDIS_TLS=" + certificates.Dir}
		},
		"redis-cluster": func(t *testing.T) (string, []string) {
			return "redis-cluster://" + strings.Join(redistest.StartCluster(t, redistest.Options{}).Addrs(), ","), nil
		},
		"redis-sentinel": func(t *testing.T) (string, []string) {
			s := redistest.StartFailover(t, redistest.Options{Password: "of-redis"}, 1, "of-sentinels")
			return "redis-sentinel://" + s.Sentinels[0].Addr + "/" + s.Master, []string{"REPRISE_REDIS_PASSWORD=of-redis", "REPRISE_REDIS_SENTINEL_PASSWORD=of-sentinels"}
		},
	}
}

// TestHitsAreShared: line 27 of the list in SECURITY.md. With each form of Redis, what one replica has stored is a hit at the others for a client
// with the same credential, and for no other.
func TestHitsAreShared(t *testing.T) {
	t.Parallel()
	for name, form := range forms(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, env := form(t)
			shareHits(t, newFleet(t, []string{url, url, url}, env...))
		})
	}
}

// shareHits asks for what another replica has stored: word for word, by an alias, by meaning, plain and as a stream.
func shareHits(t *testing.T, f *fleet) {
	q := question{tenant: tenants[0], prompt: island(7, 0)}
	first := f.ask(0, q)
	if first.result() != "miss" {
		t.Fatalf("the first request: %s", first.result())
	}
	for i := range 3 {
		f.sees(i, q, "exact", first)
	}
	meant := question{tenant: tenants[0], prompt: island(7, 1)}
	f.sees(1, meant, "semantic", first)
	f.ask(1, meant) // makes an alias
	for i := range 3 {
		f.sees(i, meant, "exact", first)
	}
	f.sees(2, question{tenant: tenants[0], prompt: island(7, 2)}, "semantic", first)
	streams := make([]string, 3)
	for i := range streams {
		q.stream = true
		streams[i] = stored(f.sees(i, q, "exact", first).Body)
	}
	if streams[1] != streams[0] || streams[2] != streams[0] {
		t.Errorf("three replicas make three streams of one answer: %q", streams)
	}
	streamed := question{tenant: tenants[0], prompt: island(8, 0), stream: true}
	first = f.ask(1, streamed)
	streamed.stream = false
	for i := range 3 {
		f.sees(i, streamed, "exact", first)
	}
	if a := f.cached(1, question{tenant: tenants[1], prompt: q.prompt}); a != nil {
		t.Errorf("another tenant has a hit: %s", a)
	}
	f.check()
}

// ofOneHit are the parts of an answer that each hit has of its own.
var ofOneHit = regexp.MustCompile(`"id":"chatcmpl-\w+"|"created":\d+`)

func stored(body string) string { return ofOneHit.ReplaceAllString(body, "") }

// sees waits until a question has this result at a replica, and checks that it has the answer that first has.
func (f *fleet) sees(i int, q question, result string, first *ask) (a *ask) {
	f.t.Helper()
	if !eventually(f.t, "an answer is shared", func() bool { a = f.cached(i, q); return a != nil && a.result() == result }) || a.text != first.text {
		f.t.Fatalf("%q at replica %d: %s; want %s and the answer %q", q.prompt, i, a, result, first.text)
	}
	return a
}

// finds waits until a replica follows the log and Redis answers it in time, and returns its first answer to a question.
func (f *fleet) finds(i int, q question) (a *ask) {
	f.t.Helper()
	eventually(f.t, fmt.Sprintf("%q is a hit at replica %d", q.prompt, i), func() bool { a = f.cached(i, q); return a != nil })
	return a
}

// TestPurgeIsOfAllReplicas: when a purge has returned, no replica has the answer, and each may store it again.
func TestPurgeIsOfAllReplicas(t *testing.T) {
	t.Parallel()
	f := on(t, 3, redistest.Start(t, redistest.Options{}))
	for round := range 10 {
		q := question{tenant: tenants[round%2], namespace: []string{"", "red"}[round/2%2], prompt: island(round%3, 0)}
		eventually(t, "the answer is shared", func() bool { // a replica that has the purge of before late does not keep an answer of before
			f.ask(round%3, q)
			return f.everywhere(q)
		})
		if u := f.purge((round+1)%3, q.namespace); u.status != 200 {
			t.Errorf("purge: %d", u.status)
		}
		for i := range 3 {
			if a := f.cached(i, q); a != nil {
				t.Errorf("round %d: replica %d serves what was purged: %s", round, i, a)
			}
		}
	}
	f.check()
}

// TestReplicaStartsWithAll: a replica that starts has what the others have stored, aliases and meaning too.
func TestReplicaStartsWithAll(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	f := on(t, 1, server)
	f.urls, f.replicas = append(f.urls, f.urls[0]), append(f.replicas, nil)
	var all []question
	for n := range 50 {
		q := question{tenant: tenants[n%2], prompt: island(n, 0)}
		f.ask(0, q)
		if n%2 == 0 {
			q.prompt = island(n, 1)
			f.ask(0, q)
		}
		all = append(all, q)
	}
	f.again(1)
	for _, q := range all {
		if a := f.finds(1, q); a == nil || a.result() != "exact" {
			t.Errorf("the new replica has no exact hit for %q: %s", q.prompt, a)
		}
	}
	if a := f.finds(1, question{tenant: tenants[1], prompt: island(7, 2)}); a == nil || a.result() != "semantic" {
		t.Errorf("the new replica does not find an answer by its meaning: %s", a)
	}
	f.checkKept(f.acknowledged(time.Time{}, time.Now()))
	f.check()
}

// TestReplicaLeavesItsAnswers: a replica that is ended by SIGTERM loses none of the answers that it has stored.
func TestReplicaLeavesItsAnswers(t *testing.T) {
	t.Parallel()
	f := on(t, 2, redistest.Start(t, redistest.Options{}))
	var all []question
	for n := range 60 {
		all = append(all, f.freshQuestion(tenants[n%2]))
		f.ask(0, all[n])
	}
	leaving := f.replica(0)
	leaving.Signal(syscall.SIGTERM)
	<-leaving.Ended()
	f.again(0)
	f.checkKept(all)
	f.check()
}

// TestRedisComesLater: replicas that start without Redis serve, each with a cache of its own, and share from the moment on at which it comes.
func TestRedisComesLater(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.Options{})
	server.Kill()
	f := on(t, 2, server)
	f.cutOff(0, 1)
	q := question{tenant: tenants[0], prompt: island(1, 0)}
	for i := range 2 {
		f.ask(i, q)
		if a := f.finds(i, q); a == nil {
			t.Errorf("replica %d has no cache of its own without Redis", i)
		}
	}
	server.Restart()
	t.Logf("measured: two replicas that started without Redis share %d ms after it has come", f.rejoined().Milliseconds())
	f.check()
}
