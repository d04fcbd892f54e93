package panel

import (
	"testing"

	"reprise/policy"
)

// TestRACPlusUnderTwoLimits: shadows that were larger than a cache that its bytes keep below its entries would judge the
// experts at another size, and hold whatever is resident.
func TestRACPlusUnderTwoLimits(t *testing.T) {
	for _, sample := range []string{"", "sample=50"} {
		e, err := Spec.Args(policy.Options{Capacity: 200}, sample)
		if err != nil {
			t.Fatal(err)
		}
		p := Spec.New(e)
		shadows, k := &shadows{}, int64(1)
		switch p := p.(type) {
		case *full:
			shadows = &p.shadows
		case *sampled:
			shadows, k = &p.mini, int64(p.k)
		}
		limit := policy.Limit{Entries: 200, Bytes: 40 * 100}
		l := policy.NewLedger(p, limit)
		play := func(from, to int, size int64) {
			for i := from; i < to; i++ {
				l.Insert(policy.Item{ID: policy.ID(i), Topic: policy.TopicID(i % 50), Size: size}, policy.Tick{Seq: int64(i)}, nil)
			}
		}
		play(1, 1000, 100)
		for _, x := range shadows.experts {
			if x.bytes > limit.Bytes/k || x.bytes < limit.Bytes/k/2 {
				t.Errorf("%q: %s holds %d bytes, the limit is %d", sample, x.name, x.bytes, limit.Bytes/k)
			}
		}
		play(1000, 3000, 10) // now the entries count
		for _, x := range shadows.experts {
			if x.entries > 200/int(k) || x.entries < 100/int(k) && x.name == "haz" { // LIRS may keep what it has
				t.Errorf("%q: %s holds %d entries, the limit is %d", sample, x.name, x.entries, 200/k)
			}
		}
	}
}

// TestRACPlusLargeRestoresItsLeader: after a restart the expert that led does so from the first request on, and has the residents.
func TestRACPlusLargeRestoresItsLeader(t *testing.T) {
	made := func() *sampled {
		a, err := Spec.Args(policy.Options{Capacity: 200}, "sample=50")
		if err != nil {
			t.Fatal(err)
		}
		return Spec.New(a).(*sampled)
	}
	p, best := made(), 0
	for i, x := range p.mini.experts {
		if x.name == "lirs" {
			best = i
		}
	}
	p.mini.lazy.ahead = 1e4
	for i := policy.ID(1); p.leads != best && i < 100; i++ { // the first that is in the sample
		p.Insert(policy.Item{ID: i}, policy.Tick{Seq: int64(i)})
	}
	if p.leads != best {
		t.Fatalf("expert %d leads, want %d", p.leads, best)
	}
	r := made()
	for i := range 200 {
		r.Insert(policy.Item{ID: policy.ID(i + 1)}, policy.Tick{Seq: int64(i + 1)})
	}
	r.Hit(1, policy.Tick{Seq: 300})
	if err := r.Restore(p.Snapshot()); err != nil {
		t.Fatal(err)
	}
	if r.leads != best || r.Stats().Leader != best || r.experts[0].entries != 200 {
		t.Errorf("expert %d leads with %d entries, want %d with 200", r.leads, r.experts[0].entries, best)
	}
	if id, _ := r.Victim(); id != 2 {
		t.Errorf("victim %d, want 2, which was used longest ago", id)
	}
}
