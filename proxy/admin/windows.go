package admin

import (
	"slices"
	"sync"
	"time"

	"reprise/policy"
	"reprise/store"
)

// What is kept of the past: the last hour of a proxy that has requests all the time. 60 windows of a panel take some 30 kB.
const (
	windowLength = time.Minute
	mostWindows  = 60
)

// Windows are what the policy did in each of the last minutes that had requests. The counters that the store has anyway are read once a
// minute, at multiples of it, so that those of several proxies can be compared; requests do nothing for it.
type Windows struct {
	read func() store.Stats
	stop chan struct{}
	done chan struct{}

	mu     sync.Mutex // protects what follows; the store is read under it, so that readings are in order
	ended  []windowView
	begin  time.Time // of the open window
	before store.Stats
}

// windowView is a window as the admin API shows it.
type windowView struct {
	From     time.Time `json:"from"`
	Seconds  float64   `json:"seconds"`
	Requests int64     `json:"requests"` // that the policy saw: hits, flights that were shared, and answers that were kept
	Hits     int64     `json:"hits"`
	HitRatio float64   `json:"hit_ratio"`

	Panel *panelWindowView `json:"panel,omitempty"`
}

// panelWindowView is a PanelWindow whose changes have a time and a reason.
type panelWindowView struct {
	policy.PanelWindow
	Changes []changeView `json:"changes,omitempty"`
}

// KeepWindows begins to keep the windows of a policy, of which read returns the figures. Close ends that.
func KeepWindows(read func() store.Stats) *Windows {
	w := &Windows{read: read, stop: make(chan struct{}), done: make(chan struct{}), begin: time.Now(), before: read()}
	go w.run()
	return w
}

// Close ends the work of w. What it has can still be read. A nil w has none.
func (w *Windows) Close() {
	if w == nil {
		return
	}
	close(w.stop)
	<-w.done
}

func (w *Windows) run() {
	defer close(w.done)
	for {
		now := time.Now()
		last := now.Add(windowLength / 4).Truncate(windowLength) // the clock of the timer and that of the wall differ a little
		wait := time.NewTimer(last.Add(windowLength).Sub(now))
		select {
		case <-w.stop:
			wait.Stop()
			return
		case <-wait.C:
			w.end()
		}
	}
}

// end ends the open window and begins the next one.
func (w *Windows) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, now := time.Now(), w.read()
	if v := w.since(at, &now); v.Requests > 0 {
		w.ended = append(w.ended, v)
		w.ended = slices.Delete(w.ended, 0, max(len(w.ended)-mostWindows, 0))
	}
	w.begin, w.before = at, now
}

// list returns the windows, the oldest first and the open one last, and the present figures.
func (w *Windows) list() ([]windowView, store.Stats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.read()
	return append(slices.Clone(w.ended), w.since(time.Now(), &now)), now
}

// since is the open window.
func (w *Windows) since(at time.Time, now *store.Stats) windowView {
	v := windowView{From: w.begin.UTC(), Seconds: at.Sub(w.begin).Seconds(), Requests: now.Requests - w.before.Requests, Hits: now.Hits - w.before.Hits}
	if v.Requests > 0 {
		v.HitRatio = float64(v.Hits) / float64(v.Requests)
	}
	if now.Panel != nil && w.before.Panel != nil { // nil also where the policy has panicked
		did := now.Panel.Since(w.before.Panel)
		v.Panel = &panelWindowView{did, changeViews(did.Changes)}
	}
	return v
}
