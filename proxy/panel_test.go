package proxy

import (
	"path/filepath"
	"testing"

	"reprise/policy"
)

// TestPanelFollowsConversations: each later turn depends on the entry of the turn before, and a panel adds that to the
// importance of the first one, before a restart and after.
func TestPanelFollowsConversations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reprise.db")
	life := func() *rig {
		return newRig(t, func(o *Options) { o.Store = fileStoreOf(t, "rac+", path, 100) })
	}
	r := life()
	alone := entryOf(t, r.ask(t, "/v1/chat/completions", chat("What is a compiler?")))
	talk := []string{"Tell me about the city of Paris, please"}
	var ids []policy.ID
	for _, next := range []string{"How many people live there?", "And in the year 1900?", ""} {
		got := r.ask(t, "/v1/chat/completions", turns(talk...))
		ids = append(ids, entryOf(t, got))
		talk = append(talk, got.content(t), next)
	}
	for i, id := range ids {
		if e, ok := r.store.Get(id); !ok || int(e.Turn) != i || i > 0 && e.Parent != ids[i-1] {
			t.Errorf("turn %d is entry %+v, %v", i, e, ok)
		}
	}
	first, other := r.store.Ranks().Importance(ids[0]), r.store.Ranks().Importance(alone)
	if first <= other {
		t.Errorf("the first turn has an importance of %v, another first request %v", first, other)
	}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r = life()
	defer r.store.Close()
	if e, ok := r.store.Get(ids[2]); !ok || e.Turn != 2 {
		t.Errorf("after a restart: %+v, %v", e, ok)
	}
	if again := r.store.Ranks().Importance(ids[0]); again <= r.store.Ranks().Importance(alone) {
		t.Errorf("importance of the first turn: %v became %v", first, again)
	}
}
