package proxy

import (
	"path/filepath"
	"testing"

	"reprise/embed"
	"reprise/policy"
	"reprise/policy/registry"
	"reprise/store"
	"reprise/store/file"
)

// fileStore opens the store in a file as a process would.
func fileStore(t testing.TB, path string, capacity int) *store.Store {
	return fileStoreOf(t, "rac", path, capacity)
}

func fileStoreOf(t testing.TB, spec, path string, capacity int) *store.Store {
	t.Helper()
	f, err := file.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	evictor, err := registry.New(spec, policy.Options{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Options{Evictor: evictor, Limit: policy.Limit{Entries: capacity}, Space: embed.NewBuiltin().Space(), Backing: f})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRestart: exact and semantic hits, aliases and conversations are found again after a restart, under the same tenant and
// in the same topics.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reprise.db")
	life := func() *rig { return newRig(t, func(o *Options) { o.Store = fileStore(t, path, 100) }) }
	const question, paraphrase, follow = "Tell me about the city of Paris, please", "tell me about the city of paris please", "How many people live there?"

	r := life()
	answer := r.ask(t, "/v1/chat/completions", turns(question)).content(t)
	r.ask(t, "/v1/chat/completions", turns(paraphrase))
	second := r.ask(t, "/v1/chat/completions", turns(question, answer, follow), `User-Agent: none`)
	r.ask(t, "/v1/chat/completions", chat("What is a compiler?", `"stream":true`))
	for _, noun := range nouns[:20] {
		r.ask(t, "/v1/chat/completions", chat("Explain the word "+noun+" to a child"))
	}
	before, weights := r.Stats(), map[policy.ID]float64{}
	for e := range r.store.All() {
		weights[e.ID] = r.store.Ranks().Importance(e.ID)
	}
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}

	r = life()
	defer r.store.Close()
	after := r.Stats()
	if after.Entries != before.Entries || after.Topics != before.Topics || after.Bytes != before.Bytes {
		t.Errorf("%d entries, %d bytes, %d topics became %d, %d, %d", before.Entries, before.Bytes, before.Topics, after.Entries, after.Bytes, after.Topics)
	}
	for id, want := range weights {
		if got := r.store.Ranks().Importance(id); got != want {
			t.Errorf("importance of entry %d: %v became %v", id, want, got)
		}
	}
	for _, tc := range []struct{ body, want string }{
		{turns(question), "exact"}, {turns(paraphrase), "exact"}, {turns("Tell me about the city of Paris please!"), "semantic"},
		{turns(paraphrase, answer, follow), "semantic"}, {turns(question, answer, follow), "exact"},
		{chat("What is a compiler?"), "exact"}, {chat("what is a compiler"), "semantic"}, {chat("What is a linker?"), "miss"},
	} {
		if got := r.ask(t, "/v1/chat/completions", tc.body); got.cache() != tc.want {
			t.Errorf("%s: %s, want %s", tc.body, got.cache(), tc.want)
		}
	}
	if got := r.ask(t, "/v1/chat/completions", turns(question), "Authorization: Bearer sk-other"); got.cache() != "miss" {
		t.Errorf("another tenant: %s", got.cache())
	}
	if e, ok := r.store.Get(entryOf(t, second)); !ok || e.Parent == 0 || e.Turn != 1 {
		t.Errorf("the dependency is lost: %+v", e)
	}
}

// TestRestartWithoutMeaning: a process in exact mode holds no vectors in memory, and loses none of the file.
func TestRestartWithoutMeaning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reprise.db")
	for _, life := range []struct {
		mode   Mode
		topics int64
		cache  string
	}{{ModeSemantic, 0, "miss"}, {ModeExact, 0, "exact"}, {ModeSemantic, 1, "exact"}} {
		r := newRig(t, func(o *Options) { o.Store, o.Mode = fileStore(t, path, 100), life.mode })
		if n := r.Stats().Topics; n != life.topics {
			t.Errorf("%s begins with %d topics, want %d", life.mode, n, life.topics)
		}
		if got := r.ask(t, "/v1/chat/completions", chat(capital)); got.cache() != life.cache {
			t.Errorf("%s: %s, want %s", life.mode, got.cache(), life.cache)
		}
		r.counted(t, 1)
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRaisedThreshold: a hit threshold that is raised after a wrong answer takes effect on what was served before, also where that was an
// exact hit by then. Equal normal forms go on to be served.
func TestRaisedThreshold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reprise.db")
	life := func(hit float64) *rig {
		return newRig(t, func(o *Options) { o.Store, o.Thresholds.Hit = fileStore(t, path, 100), hit })
	}
	const question, edited, courteous = "Which is better, tea or coffee?", "Which is better, coffee or tea?",
		"Hello, which is better, tea or coffee? Thanks!"
	for _, l := range []struct {
		hit  float64
		want map[string][]string // results of one prompt, request by request
	}{
		{0.7, map[string][]string{question: {"miss"}}},
		{0.7, map[string][]string{edited: {"semantic", "semantic", "exact"}, courteous: {"semantic", "exact"}}},
		{0.75, map[string][]string{edited: {"exact"}, courteous: {"exact"}}},
		{0.9999, map[string][]string{edited: {"miss", "exact"}, courteous: {"exact"}}},
	} {
		r := life(l.hit)
		for prompt, all := range l.want {
			for i, want := range all {
				if got := r.ask(t, "/v1/chat/completions", chat(prompt)); got.cache() != want {
					t.Errorf("threshold %v, %q, request %d: %s, want %s (%s)", l.hit, prompt, i+1, got.cache(), want, got.header.Get("Cache-Status"))
				}
			}
		}
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
