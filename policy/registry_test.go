package policy

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestNewNamesWhatIsAllowed(t *testing.T) {
	_, err := New("mru", DefaultOptions(10))
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "lru, rac, rac-paper") {
		t.Errorf("error %v", err)
	}
}

func TestOptionsValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		names  string // in the error; "" is valid
	}{
		{func(*Options) {}, ""},
		{func(o *Options) { o.HalfLife, o.DependencyWeight, o.CostAware = 500, 0, true }, ""},
		{func(o *Options) { o.Capacity = 0 }, "capacity 0"},
		{func(o *Options) { o.HalfLife = -1 }, "half-life -1"},
		{func(o *Options) { o.HalfLife = math.NaN() }, "half-life NaN"},
		{func(o *Options) { o.DependencyWeight = math.Inf(1) }, "dependency weight +Inf"},
	} {
		o := DefaultOptions(10)
		c.change(&o)
		_, err := New("rac", o)
		if (err == nil) != (c.names == "") || err != nil && !strings.Contains(err.Error(), c.names) {
			t.Errorf("%+v: error %v, want one with %q", o, err, c.names)
		}
	}
}

func TestSettingsReachThePolicy(t *testing.T) {
	get := func(name string, o Options) RACOptions {
		e, err := New(name, o)
		if err != nil {
			t.Fatal(err)
		}
		return e.(*RAC).opts
	}
	if got := get("rac", DefaultOptions(100)); got != RACTuned(100) {
		t.Errorf("rac by default: %+v", got)
	}
	o := Options{Capacity: 100, HalfLife: 4, DependencyWeight: 3, CostAware: true}
	if got := get("rac", o); got.Alpha != 0.25 || got.Lambda != 3 || !got.CostAware {
		t.Errorf("rac: %+v", got)
	}
	if got := get("rac-paper", o); got != RACPaper() {
		t.Errorf("rac-paper: %+v", got)
	}
}
