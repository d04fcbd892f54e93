package admin

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"reprise/policy"
	"reprise/proxy/observe/watch"
	"reprise/store"
)

// policyPage is GET /admin/policy as a client reads it.
type policyPage struct {
	Policy, Leader string
	Changed        *int64
	Changes        []changeLine
	Experts        []struct{ Name string }
	Windows        []windowLine
}

type changeLine struct {
	At            time.Time
	Seq           int64
	From, To, Why string
	Ahead, Needed float64
}

type windowLine struct {
	From           time.Time
	Seconds        float64
	Requests, Hits int64
	HitRatio       float64 `json:"hit_ratio"`
	Panel          *struct {
		Leader   string
		Changed  int64
		Changes  []changeLine
		HitRatio float64 `json:"hit_ratio"`
		Regret   float64
		Experts  []struct {
			Name     string
			HitRatio float64 `json:"hit_ratio"`
			Led      float64
		}
	}
}

// windowRig keeps windows in a bubble of synctest, whose clock begins at midnight.
func windowRig(t *testing.T, spec string) *rig {
	return newRig(t, spec, func(o *Options) {
		o.Watch = watch.New(watch.Options{Store: o.Entries.Stats, Read: func() (c watch.Counters) { return c }})
		t.Cleanup(o.Watch.Close)
	})
}

func (r *rig) policy(t *testing.T) (p policyPage) {
	t.Helper()
	if err := json.Unmarshal(r.get("/admin/policy").Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// loop asks n times for the keys of a loop in turn: without hits where the cache holds fewer than all and drops the oldest.
func (r *rig) loop(n, keys int) {
	for i := range n {
		r.ask(store.Key{byte(i % keys), 7})
		time.Sleep(time.Millisecond)
	}
}

// TestWindowsOfAChange: a loop makes another expert lead. The page says who leads, when that changed and why, in the window in which it
// happened, and the regret is that to the experts' own shadows.
func TestWindowsOfAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := windowRig(t, "rac+:factor=0") // a change needs 3 hits, so that the workload matters little
		for keys := range 6 {
			r.loop(500, 22+3*keys)
			wait(time.Minute)
		}
		page := r.get("/metrics").Body.String()
		p := r.policy(t)
		if p.Changed == nil || *p.Changed == 0 || int64(len(p.Changes)) != min(*p.Changed, policy.MostChanges) || p.Leader != p.Changes[len(p.Changes)-1].To {
			t.Fatalf("leader %s, changes: %+v", p.Leader, p.Changes)
		}
		if c := values(t, page, "reprise_policy_leader_changes_total"); len(c) != 1 || c[0] != float64(*p.Changed) {
			t.Errorf("the metric of changes is %v, want %d", c, *p.Changed)
		}
		var listed []changeLine
		changed := int64(0)
		for _, w := range p.Windows {
			led, best, own := 0.0, math.Inf(-1), w.Panel
			for _, c := range own.Changes {
				if to := w.From.Add(time.Duration(w.Seconds * float64(time.Second))); c.At.Before(w.From) || c.At.After(to) {
					t.Errorf("a change at %v in the window from %v to %v", c.At, w.From, to)
				}
				if c.Ahead <= c.Needed || !strings.Contains(c.Why, fmt.Sprintf("%s was ahead of that of %s by %.1f hits", c.To, c.From, c.Ahead)) {
					t.Errorf("no reason: %+v", c)
				}
			}
			listed, changed = append(listed, own.Changes...), changed+own.Changed
			for _, x := range own.Experts {
				led, best = led+x.Led, max(best, x.HitRatio)
			}
			if w.Requests > 0 && (math.Abs(led-1) > 1e-9 || math.Abs(own.Regret-(best-own.HitRatio)) > 1e-9 || own.HitRatio != w.HitRatio) {
				t.Errorf("led %v, best expert %v: %+v", led, best, w)
			}
		}
		if latest := listed[len(listed)-len(p.Changes):]; fmt.Sprint(latest) != fmt.Sprint(p.Changes) || changed != *p.Changed {
			t.Errorf("%d changes in windows, the latest %+v; in all %d, the latest %+v", changed, latest, *p.Changed, p.Changes)
		}
	})
}

// TestWindowsWithoutLeader: a policy that is no panel has neither leader nor changes.
func TestWindowsWithoutLeader(t *testing.T) {
	r := newRig(t, "lru")
	if p := r.policy(t); p.Leader != "" || p.Changed != nil || p.Changes != nil || p.Windows != nil {
		t.Errorf("%+v", p)
	}
}

// TestWindowsWhileServed: requests, readers and the end of windows at the same time; with -race.
func TestWindowsWhileServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := windowRig(t, "rac+")
		var seen atomic.Int64 // by the policy: all but those whose entry another one evicts between the look-up and the hit
		for i := range 4 {
			go func() {
				for j := range 300 {
					if i == 0 {
						r.get("/admin/policy")
					} else if r.ask(store.Key{byte(j * i % 40)}) {
						seen.Add(1)
					}
					time.Sleep(time.Second)
				}
			}()
		}
		wait(10 * time.Minute)
		requests := int64(0)
		for _, w := range r.policy(t).Windows {
			requests += w.Requests
		}
		if requests != seen.Load() || requests < 800 {
			t.Errorf("%d requests in all windows, want the %d that the policy saw", requests, seen.Load())
		}
	})
}
