package workload

import (
	"errors"
	"strings"
	"testing"

	"reprise/cmd/reprise-lab/sim/internal/params"
)

func TestSpecErrors(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", `unknown workload "": want one of syn, drift, troot, g1, na4, irm, lru, loop, zscan, phase, mix`},
		{"zipf", `unknown workload "zipf": want one of syn,`},
		{"syn:long", `workload "syn:long": "long" is no parameter: want key=value`},
		{"irm:", ""},
		{"irm:gamma=1", `no parameter "gamma": want n, items, s, together, seed`},
		{"irm:n=0", "n=0: want a whole number from 1 to 100000000"},
		{"irm:n=1.5", "n=1.5: want a whole number from 1 to"},
		{"irm:s=NaN", "s=NaN: want a number from 0 to 10"},
		{"irm:seed=-1", "seed=-1: want a whole number from 0 to 2^64-1"},
		{"syn:weight=X", "weight=X: want W or U or T"},
		{"syn:long=1.1", "long=1.1: want a number from 0 to 1"},
	} {
		_, err := Generate(c.spec, 1)
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.spec, err, c.want)
		}
	}
	if _, err := Generate("none", 1); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v is not ErrUnknown", err)
	}
}

// TestTitle: the name of a trace makes it again, and the seed in a spec overrides the argument.
func TestTitle(t *testing.T) {
	for spec, want := range map[string]string{
		"irm":                 "irm:seed=4",
		"irm:n=10":            "irm:n=10,seed=4",
		"irm:seed=9,n=10":     "irm:n=10,seed=9",
		"lru:new=0.5,seed=07": "lru:new=0.5,seed=7",
	} {
		s, err := Generate(spec, 4)
		if err != nil || s.Name() != want {
			t.Errorf("%s: %q, %v, want %q", spec, s.Name(), err, want)
		}
	}
}

// TestDefaultsAreValid makes each workload of List, and syn, whose parameters are those of all sessions, with each choice.
func TestDefaultsAreValid(t *testing.T) {
	for _, info := range List() {
		if info.Says == "" {
			t.Errorf("%s has no description", info.Name)
		}
		for _, p := range info.Params {
			if p.Says == "" {
				t.Errorf("%s: %s has no description", info.Name, p.Name)
			}
		}
		if got := len(trace(t, info.Name+":n=500", 1)); got != 500 {
			t.Errorf("%s: %d requests", info.Name, got)
		}
	}
	for _, p := range sessionParams {
		for _, choice := range p.Choices {
			spec := "syn:n=500,long=0," + p.Name + "=" + choice
			if got := len(trace(t, spec, 1)); got != 500 {
				t.Errorf("%s: %d requests", spec, got)
			}
		}
	}
}

func FuzzGenerate(f *testing.F) {
	for _, spec := range []string{"syn:n=50", "irm:n=9,items=3", "mix:n=20,stretch=3", "lru:n=9,median=1e308", "g1:long=0,n=1,gamma=10"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		name, text, _ := strings.Cut(spec, ":")
		for _, m := range models {
			if m.Name == name {
				_, _ = params.Read(m.Params, 1, text) // any text gives an error and no panic
			}
		}
	})
}
