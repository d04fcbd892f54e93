package shared

import (
	"testing"
	"time"
)

// TestFateUnknownAtGap: a batch whose fate is not known when the log has a gap was appended, and another member has replaced its answer since:
// the member ends with the entries that the others have.
func TestFateUnknownAtGap(t *testing.T) {
	among(t, 2, func(t *testing.T, s *server, all []*member) {
		all[0].link.setOnly("", "lost", 0)
		all[0].put("a", "first")
		time.Sleep(20 * time.Millisecond)
		all[0].link.set("refuse", 0)
		settle()
		all[1].wants("a", "first")
		all[1].put("a", "second")
		settle()
		s.trimAll()
		all[0].link.set("", 0)
		time.Sleep(5 * time.Second)
		all[0].wants("a", "second")
		all[1].wants("a", "second")
		mine, _, ok := all[0].cache.Lookup(t.Context(), all[0].request("a"))
		theirs, _, other := all[1].cache.Lookup(t.Context(), all[1].request("a"))
		e, _ := all[0].cache.Get(theirs.Entry.ID)
		if ok != nil || other != nil || e == nil || !e.SameAnswer(theirs.Entry) {
			t.Errorf("%+v and %+v", mine, e)
		}
		if a, b := all[0].cache.Stats().Store.Entries, all[1].cache.Stats().Store.Entries; a != b {
			t.Errorf("%d entries and %d", a, b)
		}
	})
}

// trimAll leaves nothing in the log but its last batch.
func (s *server) trimAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data.log, s.data.trimmed = s.data.log[len(s.data.log)-1:], s.data.n-1
}
