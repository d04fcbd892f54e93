package watch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"reprise/policy"
	"reprise/proxy/observe"
	"reprise/store"
)

// rig is a Watch of counters that a test sets, in a bubble of synctest.
type rig struct {
	*Watch

	mu       sync.Mutex // protects counters
	counters Counters
}

func newRig(t *testing.T) *rig {
	r := &rig{}
	r.Watch = New(Options{Read: r.read, Viewers: 3})
	t.Cleanup(r.Close)
	return r
}

func (r *rig) read() Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counters
}

// count changes the counters.
func (r *rig) count(change func(*Counters)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.counters)
}

// pass lets steps of the history pass.
func pass(steps int) {
	time.Sleep(time.Duration(steps) * Step)
	synctest.Wait()
}

func shown[T any](column []*T) string {
	var all []string
	for _, v := range column {
		if v == nil {
			all = append(all, "-")
		} else {
			all = append(all, fmt.Sprint(*v))
		}
	}
	return strings.Join(all, " ")
}

func TestHistoryHasWhatWasCountedInEachStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.count(func(c *Counters) {
			c.Requests, c.Sums[TokensSaved], c.Gauges[Entries] = [Results]int64{3, 1, 0, 0, 6}, 100, 6
		})
		r.times.observe(ofHit, time.Millisecond)
		pass(1)
		r.count(func(c *Counters) { c.Requests[0] += 10; c.Gauges[Entries] = 4 })
		pass(1)
		got := r.Report(40*time.Second, 4)
		for want, have := range map[string]string{
			"- - 3 10":  shown(got.Results["exact"]),
			"- - 1 0":   shown(got.Results["semantic"]),
			"- - 100 0": shown(got.Sums["tokens_saved"]),
			"- - 6 4":   shown(got.Gauges["entries"]),
		} {
			if want != have {
				t.Errorf("%q, want %q", have, want)
			}
		}
		if p := got.Latency["hit"].P50; p[2] == nil || *p[2] < 0.0009 || *p[2] > 0.0011 || p[3] != nil {
			t.Errorf("p50 of hits: %s", shown(p))
		}
		if got.Totals.All != 20 || got.Totals.Looked != 20 || *got.Totals.Ratio != 0.7 {
			t.Errorf("totals %+v", got.Totals)
		}
	})
}

// TestStepsAreJoined: a long window has fewer and longer steps, with the same totals, and the last step has what there is of it.
func TestStepsAreJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for range 90 {
			r.count(func(c *Counters) { c.Requests[0]++ })
			r.times.observe(ofHit, time.Millisecond)
			r.times.observe(ofHit, time.Second)
			pass(1)
		}
		long, short := r.Report(24*time.Hour, 100), r.Report(time.Hour, 720)
		if len(long.Times) > 100 || len(short.Times) != 360 {
			t.Fatalf("%d and %d steps", len(long.Times), len(short.Times))
		}
		if long.Totals.All != 90 || short.Totals.All != 90 {
			t.Errorf("%d and %d requests", long.Totals.All, short.Totals.All)
		}
		covered := int64(0)
		for _, s := range long.Covered {
			covered += s
		}
		if covered != 900 {
			t.Errorf("%d seconds are covered", covered)
		}
		if q := *long.Totals.Latency["hit"]["p99"]; q < 0.9 || q > 1.1 {
			t.Errorf("p99 %v", q)
		}
		if h := long.Heat["hit"]; len(h.Bounds) < 9 || len(h.Counts) != len(long.Times) {
			t.Errorf("heat: %d bounds, %d steps", len(h.Bounds), len(h.Counts))
		}
	})
}

// TestHistoryForgetsAfterADay, and does not take samples of the day before for those of today.
func TestHistoryForgetsAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.count(func(c *Counters) { c.Requests[0] = 5 })
		pass(1)
		if n := r.Report(24*time.Hour, 720).Totals.All; n != 5 {
			t.Fatalf("%d requests", n)
		}
		r.Watch.mu.Lock()
		s := *r.coarse.of(r.coarse.stepOf(time.Now()))
		r.Watch.mu.Unlock()
		pass(r.coarse.kept)
		if n := r.Report(24*time.Hour, 720).Totals.All; n != 0 {
			t.Errorf("%d requests of yesterday", n)
		}
		if r.coarse.of(s.at) != nil {
			t.Error("a sample of yesterday is found")
		}
	})
}

// TestShortWindowsHaveSeconds: up to fine a step has a second, with the same totals as the longer ones; what was counted between two steps of
// the longer history is in it already.
func TestShortWindowsHaveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for n := range 24 {
			r.count(func(c *Counters) { c.Requests[0] += int64(n); c.Gauges[Entries] = int64(n) })
			for range 40 * n { // more than a packed count has exactly
				r.times.observe(ofHit, time.Millisecond)
			}
			time.Sleep(fineStep)
			synctest.Wait()
		}
		short, long := r.Report(10*time.Second, 240), r.Report(fine+time.Second, 240)
		if got := shown(short.Results["exact"]); short.Step != 1 || got != "14 15 16 17 18 19 20 21 22 23" {
			t.Errorf("steps of %v s: %s", short.Step, got)
		}
		if got := shown(short.Gauges["entries"]); !strings.HasSuffix(got, "22 23") {
			t.Errorf("entries %s", got)
		}
		if short.Totals.All != 185 || long.Totals.All != 190 || long.Step != 10 { // the last four seconds are not in the longer one yet
			t.Errorf("%d requests in the last ten seconds, %d in steps of %v s", short.Totals.All, long.Totals.All, long.Step)
		}
		for window, want := range map[time.Duration]int64{20 * time.Second: 270, fine: 276} {
			if got := r.Report(window, 240); got.Totals.All != want {
				t.Errorf("%s: %d requests, want %d", window, got.Totals.All, want)
			}
		}
		times, want := int64(0), int64(40*190)
		for _, n := range r.coarse.of(r.coarse.stepOf(time.Now())).times[ofHit] {
			times += n.count()
		}
		for _, n := range r.coarse.of(r.coarse.stepOf(time.Now()) - 1).times[ofHit] {
			times += n.count()
		}
		if off := float64(times)/float64(want) - 1; off < -0.063 || off > 0.063 {
			t.Errorf("%d times of answers, want %d", times, want)
		}
	})
}

// TestFineHistoryForgets: after fine, the seconds are gone and the longer history has what they had.
func TestFineHistoryForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.count(func(c *Counters) { c.Requests[0] = 5 })
		pass(int(fine / Step))
		if n := r.Report(fine, 720).Totals.All; n != 5 {
			t.Fatalf("%d requests", n)
		}
		pass(1) // the first second is not in the window any more
		if fine, long := r.Report(fine, 720).Totals.All, r.Report(time.Hour, 720).Totals.All; fine != 0 || long != 5 {
			t.Errorf("%d requests in the finer history, %d in the longer one", fine, long)
		}
	})
}

func TestHistorySize(t *testing.T) {
	for name, c := range map[string]struct{ kept, most int }{"24 hours": {int(Long / Step), 4 << 20}, "ten minutes": {int(fine / fineStep), 250 << 10}} {
		size := c.kept * int(unsafe.Sizeof(sample{}))
		if t.Logf("%s: %d bytes", name, size); size > c.most {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
}

func TestPackedCounts(t *testing.T) {
	for n := int64(0); n < 1e9; n += n/7 + 1 {
		got := pack(n).count()
		if n < 16 && got != n || float64(got) < float64(n)*0.94 || float64(got) > float64(n)*1.063 {
			t.Errorf("%d is kept as %d", n, got)
		}
	}
	if pack(1<<62).count() < 1e9 {
		t.Error("a huge count is small")
	}
}

func TestBuckets(t *testing.T) {
	for took := 9 * time.Microsecond; took < 30*time.Minute; took += took / 13 {
		var s spread
		s[bucketOf(took)]++
		got, _ := s.quantile(0.5)
		if off := float64(got)/float64(took) - 1; off < -0.12 || off > 0.13 {
			t.Errorf("%s is shown as %s", took, got)
		}
	}
	for _, took := range []time.Duration{-1, 0, 1, 1 << 62} {
		if b := bucketOf(took); b < 0 || b >= buckets {
			t.Errorf("%d: bucket %d", took, b)
		}
	}
}

func (r *rig) passed(tenant, model, result string) {
	of := observe.Result(slices.Index(observe.ResultNames[:], result))
	r.Watch.passed(&observe.Outcome{Answered: true, Tenant: tenant, Model: model, Result: of, At: time.Now()})
}

// drained are the requests that wait for a viewer, as MODEL/RESULT.
func drained(v *Viewer) (all []string) {
	for {
		select {
		case e, open := <-v.Events():
			if !open {
				return append(all, "closed")
			}
			if e.Kind == "request" {
				var r Request
				json.Unmarshal(e.Data, &r)
				all = append(all, r.Model+"/"+r.Result)
			}
		default:
			return all
		}
	}
}

// TestViewersGetASample: at most ten a second of each result, so that many exact hits do not hide the one error.
func TestViewersGetASample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		v, err := r.View(Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			r.passed("t", "m", "exact")
			time.Sleep(time.Millisecond)
		}
		r.passed("t", "m", "error")
		got := strings.Join(drained(v), " ")
		if n := strings.Count(got, "exact"); n != 10 || !strings.HasSuffix(got, "m/error") {
			t.Errorf("%d exact: %s", n, got)
		}
	})
}

// TestViewersBeginWithThePast: who comes after the traffic sees the last requests, the oldest first, those that the filter selects, and no more
// than there is room for.
func TestViewersBeginWithThePast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if !r.wants(0, time.Now()) {
			t.Error("the first request is not wanted")
		}
		for n := range 3 * mostRecent {
			r.passed("ab", fmt.Sprint("m", n), "exact")
			r.passed("xy", "more", "exact") // too soon after that
			time.Sleep(Spacing)
		}
		r.passed("xy", "last", "miss")
		if r.wants(4, time.Now()) || !r.wants(0, time.Now()) {
			t.Error("the next miss is wanted too soon, or the next hit is not")
		}
		for f, want := range map[Filter]string{{}: "m129/exact ... last/miss", {Tenant: "x"}: "last/miss ... last/miss", {Result: "exact"}: "m129/exact ... m191/exact"} {
			v, err := r.View(f)
			if err != nil {
				t.Fatal(err)
			}
			got := drained(v)
			if have := got[0] + " ... " + got[len(got)-1]; have != want || len(got) > mostRecent {
				t.Errorf("%+v: %d, %s, want %s", f, len(got), have, want)
			}
			v.Close()
		}
		v, _ := r.View(Filter{None: true})
		if got := drained(v); len(got) > 0 {
			t.Errorf("a viewer of no requests: %q", got)
		}
	})
}

func TestViewersFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		v, _ := r.View(Filter{Model: "GPT", Tenant: "ab", Result: "miss"})
		for _, one := range [][3]string{{"ab1", "gpt-4o", "exact"}, {"ab1", "llama", "miss"}, {"xab", "gpt-4o", "miss"}, {"ab2", "my-gpt-4o", "miss"}} {
			r.passed(one[0], one[1], one[2])
		}
		if got := strings.Join(drained(v), " "); got != "my-gpt-4o/miss" {
			t.Error(got)
		}
	})
}

// TestSlowViewersAreDropped, and no request waits for them. The others get everything.
func TestSlowViewersAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		slow, _ := r.View(Filter{})
		quick, _ := r.View(Filter{})
		read := 0
		for range 2 * buffered {
			r.passed("t", "m", "exact")
			read += len(drained(quick))
			time.Sleep(Spacing)
		}
		got := drained(slow)
		if read != 2*buffered || got[len(got)-1] != "closed" {
			t.Errorf("the quick one has %d, the slow one %d", read, len(got))
		}
		slow.Close() // again
		if !r.Watched() {
			t.Error("the quick one was dropped too")
		}
		quick.Close()
		if r.Watched() {
			t.Error("one is left")
		}
	})
}

func TestViewersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var last *Viewer
		for range 3 {
			v, err := r.View(Filter{})
			if err != nil {
				t.Fatal(err)
			}
			last = v
		}
		if _, err := r.View(Filter{}); err != errViewers {
			t.Errorf("the fourth: %v", err)
		}
		last.Close()
		v, err := r.View(Filter{})
		if err != nil {
			t.Fatalf("after one has left: %v", err)
		}
		r.Close()
		if got := drained(v); len(got) != 1 || got[0] != "closed" {
			t.Errorf("after the end: %q", got)
		}
		if _, err := r.View(Filter{}); err == nil {
			t.Error("a viewer after the end")
		}
	})
}

// TestViewersGetSteps: the page asks for the history when it has a new step.
func TestViewersGetSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		v, _ := r.View(Filter{})
		pass(2)
		for range 2 {
			if e := <-v.Events(); e.Kind != "step" {
				t.Errorf("%s %s", e.Kind, e.Data)
			}
		}
	})
}

// TestTextsOfClientsAreCut: a model's name may have any length and any characters.
func TestTextsOfClientsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		v, _ := r.View(Filter{})
		r.passed("t", strings.Repeat("é<\u202e\x00", 2000), "exact")
		e := <-v.Events()
		var got Request
		if err := json.Unmarshal(e.Data, &got); err != nil || len(got.Model) > mostText+3 || strings.ContainsAny(string(e.Data), "\n<") {
			t.Errorf("%v %s", err, e.Data)
		}
	})
}

// TestMinutes: a minute is one of the clock, has the requests of that minute, and none is kept of a minute without.
func TestMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock begins at midnight
		time.Sleep(45 * time.Second)
		var requests, hits atomic.Int64
		w := New(Options{Read: func() (c Counters) { return c }, Store: func() store.Stats {
			return store.Stats{Requests: requests.Load(), Hits: hits.Load(), Panel: &policy.PanelStats{}}
		}})
		t.Cleanup(w.Close)
		after := func(d time.Duration, more, hit int64) string {
			requests.Add(more)
			hits.Add(hit)
			time.Sleep(d)
			synctest.Wait()
			all, now, ok := w.Minutes()
			text := ""
			for _, m := range all {
				text += fmt.Sprintf("%s %gs %d/%d %t, ", m.From.Format(time.TimeOnly), m.Seconds, m.Hits, m.Requests, m.Panel != nil)
			}
			if !ok || now.Requests != requests.Load() || len(all) > mostMinutes+1 {
				t.Errorf("%d minutes, %d requests", len(all), now.Requests)
			}
			return text
		}
		for _, c := range []struct {
			after     time.Duration
			more, hit int64
			want      string
		}{
			{5 * time.Second, 3, 1, "00:00:45 5s 1/3 true, "},
			{3 * time.Minute, 0, 0, "00:00:45 15s 1/3 true, 00:03:00 50s 0/0 true, "},
			{15 * time.Second, 1, 1, "00:00:45 15s 1/3 true, 00:03:00 60s 1/1 true, 00:04:00 5s 0/0 true, "},
		} {
			if got := after(c.after, c.more, c.hit); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		}
		for range 70 {
			after(time.Minute, 1, 1)
		}
		if all, _, _ := w.Minutes(); len(all) != 61 || all[0].From.Format("15:04") != "00:14" || all[60].From.Format("15:04") != "01:14" || all[1].HitRatio != 1 {
			t.Errorf("%d minutes after more than an hour, the first from %v", len(all), all[0].From)
		}
		if _, _, ok := newRig(t).Minutes(); ok {
			t.Error("minutes without a store")
		}
	})
}
