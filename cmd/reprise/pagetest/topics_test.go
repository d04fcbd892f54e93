package pagetest

import (
	"fmt"
	"math"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"reprise/policy"
	"reprise/policy/registry"
	"reprise/proxy/admin"
	"reprise/proxy/observe/watch"
	"reprise/store"
	"reprise/topics"
)

// unasked is a proxy of which the view asks nothing.
type unasked struct{ admin.Proxy }

func (unasked) Metrics() prometheus.Collector {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: "unasked"})
}

// manyTopics is the admin API over a store of its own, which is filled without requests: 10,000 topics of two entries, with prompts that may be
// shown. The first topics are used most.
func manyTopics(t *testing.T) string {
	const groups, n = 10_000, 20_000
	evictor, err := registry.New("rac+", policy.Options{Capacity: n})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Evictor: evictor, Limit: policy.Limit{Entries: n}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	of, err := topics.New(topics.Options{Dim: 2, Hit: 0.9, Route: 0.5, Edge: 0.6})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(of.Close)
	for i := range n {
		e := &store.Entry{Topic: policy.TopicID(1 + i%groups), Labels: &store.Labels{Model: "gpt-4o-mini", Tenant: "0123456789abcdef"},
			Prompt: fmt.Sprintf("How do I reset my password in release %d? %s", i, hostile), Answer: make([]byte, 100+i%1000), InputTokens: 20, OutputTokens: int64(50 + i%70), Created: time.Now(), Expires: time.Now().Add(time.Hour)}
		e.Key[0], e.Key[1], e.Key[2] = 1, byte(i), byte(i>>8)
		s.Put(e, s.Tick())
		sin, cos := math.Sincos(float64(i % groups))
		if _, _, err := of.Add(topics.Member{ID: topics.EntryID(e.ID), Vector: []float32{float32(sin), float32(cos)}, Topic: topics.TopicID(e.Topic)}); err != nil {
			t.Fatal(err)
		}
	}
	for topic := 1; topic <= 60; topic++ {
		for range 600 / topic {
			s.Hit(policy.ID(topic), 0, s.Tick())
		}
	}
	seen := watch.New(watch.Options{Read: func() (c watch.Counters) { return c }})
	t.Cleanup(seen.Close)
	server := httptest.NewServer(admin.New(admin.Options{Proxy: unasked{}, Entries: s, Topics: of, Policy: "rac+", Watch: seen,
		Overview: func(o *admin.Overview) { o.Version, o.Prompts = "test", true }}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestTopics uses the view of topics with 10,000 of them, by the keyboard.
func TestTopics(t *testing.T) {
	script(t, "topics", map[string]any{"site": manyTopics(t)}, nil)
}
