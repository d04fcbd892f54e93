package shared

import (
	"bytes"
	"testing"

	"reprise/proxy/cache"
	"reprise/store"
	"reprise/topics/reuse"
	"reprise/topics/reuse/compare"
	"reprise/topics/reuse/evidence"
)

// counts are what a member has counted.
func (m *member) counts() []byte { return m.cache.Rates().Append(nil) }

// TestEvidenceIsShared: each member counts what every other one has learned, once, and one that starts counts from what the keeper has written.
func TestEvidenceIsShared(t *testing.T) {
	among(t, 3, func(t *testing.T, s *server, all []*member) {
		for i := range 30 {
			outcome := evidence.Same
			if i%10 == 0 {
				outcome = evidence.Different
			}
			verdict := reuse.Verdict{Case: evidence.Case{Tenant: uint64(1 + i%2), Scope: 5, Explained: true, Hit: true}}
			compared := &cache.Finding{Explore: &cache.Hit{Entry: &store.Entry{Labels: &store.Labels{}}}, Verdict: verdict}
			all[i%3].cache.Verdicts().Compared(&cache.Request{}, compared, compare.Result{Outcome: outcome}, evidence.Explored)
		}
		settle()
		want := all[0].counts()
		for _, m := range all[1:] {
			if got := m.counts(); !bytes.Equal(got, want) {
				t.Errorf("%d bytes of counts, the first member has %d", len(got), len(want))
			}
		}
		if first := all[0].cache.Rates().Estimates()[0]; first.N != 30 || first.Wrong != 3 {
			t.Errorf("%+v, want 3 of 30 wrong", first)
		}
		s.mu.Lock()
		s.counted = want
		s.mu.Unlock()
		late := newMember(t, s, 9)
		settle()
		if got := late.counts(); !bytes.Equal(got, want) {
			t.Error("a member that starts has other counts")
		}
	})
}
