package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkAgainst compares the CPU time per request of this program with that of another build of it, each in a process of its own,
// in turn in one run, at 16 connections, with answers of 1.2 KB and the store in a file:
//
//	BENCH_AGAINST=/path/of/another/reprise go test ./cmd/reprise -run '^$' -bench Against -benchtime 1x -timeout 30m
func BenchmarkAgainst(b *testing.B) {
	other := os.Getenv("BENCH_AGAINST")
	if other == "" {
		b.Skip("BENCH_AGAINST names no other build to compare with")
	}
	this, err := build()
	if err != nil {
		b.Fatal(err)
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"`+
			strings.Repeat("word ", 200)+`"}}],"usage":{"prompt_tokens":9,"completion_tokens":200,"total_tokens":209}}`)
	}))
	defer up.Close()
	for b.Loop() {
		against(b, up.URL, this, other)
	}
}

// load is a kind of request, and how many of them one round sends.
type load struct {
	name string
	n    int
	send func(p *process, i int64) (*http.Request, error)
}

var loads = []load{
	{"pass-through", 20_000, func(p *process, _ int64) (*http.Request, error) {
		return http.NewRequest("GET", p.api+"/v1/models", nil)
	}},
	{"exact hit", 20_000, func(p *process, _ int64) (*http.Request, error) {
		return chatRequest(p, "What is the capital of France?")
	}},
	{"miss", 3_000, func(p *process, i int64) (*http.Request, error) {
		return chatRequest(p, fmt.Sprintf("%s number %d of the %d that nobody asked before?", things[i%int64(len(things))], i, i*7919%100_003))
	}},
}

var things = strings.Fields("apple bridge candle desert engine forest garden harbor island jungle kettle ladder mirror needle orange pencil quarry ribbon saddle tunnel")

func chatRequest(p *process, text string) (*http.Request, error) {
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, text)
	r, err := http.NewRequest("POST", p.api+"/v1/chat/completions", bytes.NewReader([]byte(body)))
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer sk-bench")
	}
	return r, err
}

// against plays each load to both builds in turn, and prints the medians and the ratio of each pair.
func against(b *testing.B, upstream, this, other string) {
	const rounds = 7
	var builds [2]*process
	for i, path := range []string{this, other} {
		builds[i] = startProgram(b.Context(), b, path, "REPRISE_UPSTREAM="+upstream+"/v1", "REPRISE_STORE=file:"+filepath.Join(b.TempDir(), "db"))
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var sent [2]atomic.Int64
	for _, l := range loads {
		var cost [2][]float64
		for round := range rounds + 1 { // the first warms up
			for k := range builds {
				i := (k + round) % 2
				spent := l.play(b, client, builds[i], &sent[i])
				if round > 0 {
					cost[i] = append(cost[i], spent)
				}
			}
		}
		ratios := make([]float64, rounds)
		for i := range ratios {
			ratios[i] = cost[0][i] / cost[1][i]
		}
		fmt.Printf("%-13s %7.1f µs of CPU a request, the other build %7.1f: median of the ratios %.3f (%.3f to %.3f)\n", l.name,
			median(cost[0]), median(cost[1]), median(ratios), slices.Min(ratios), slices.Max(ratios))
	}
}

// play sends a round of requests over 16 connections and returns the µs of CPU that one cost p.
func (l *load) play(b *testing.B, client *http.Client, p *process, sent *atomic.Int64) float64 {
	before := p.cpu(b)
	var left atomic.Int64
	left.Store(int64(l.n))
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				r, err := l.send(p, sent.Add(1))
				if err != nil {
					b.Error(err)
					return
				}
				resp, err := client.Do(r)
				if err != nil {
					b.Error(err)
					return
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	workers.Wait()
	return (p.cpu(b) - before) * 1e6 / float64(l.n)
}

// cpu is the CPU time of the process in seconds, user and system.
func (p *process) cpu(b *testing.B) float64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
	if err != nil {
		b.Skip("no /proc on this system: ", err)
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	fields := strings.Fields(string(rest))
	var user, system float64
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return (user + system) / 100 // in ticks of 10 ms
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
