package policy

import (
	"errors"
	"strings"
	"testing"
)

func TestNewTellsWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     Options
		names string // in the error; "" is none
	}{
		{"lru", Options{Capacity: 10}, ""},
		{"rac:alpha=0.1/C,lambda=2", Options{Capacity: 10}, ""},
		{"rac:alpha=1e5", Options{Capacity: 10}, ""},
		{"lru", Options{Capacity: 10, Params: map[string]string{"alpha": "many"}}, ""}, // lru has none
		{"rac", Options{Capacity: 10, Params: map[string]string{"alpha": "many"}}, "alpha=many: want a number from 0 to 1000000"},
		{"lru", Options{}, "capacity 0"},
		{"mru", Options{Capacity: 10}, "want one of fifo, lru,"},
		{"lru:alpha=1", Options{Capacity: 10}, "lru has none"},
		{"rac:beth=1", Options{Capacity: 10}, `no parameter "beth": want alpha, lambda, beta`},
		{"rac:alpha", Options{Capacity: 10}, "want key=value"},
		{"rac:alpha=-1", Options{Capacity: 10}, "alpha=-1: want"},
		{"rac:alpha=NaN", Options{Capacity: 10}, "alpha=NaN: want"},
		{"rac:alpha=", Options{Capacity: 10}, "alpha=: want"},
	} {
		_, err := New(c.name, c.o)
		if (err == nil) != (c.names == "") || err != nil && !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s %+v: error %v, want one with %q", c.name, c.o, err, c.names)
		}
	}
	if _, err := New("mru", Options{Capacity: 10}); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v is not ErrUnknown", err)
	}
}

func TestParametersReachThePolicy(t *testing.T) {
	get := func(name string, o Options) RACOptions {
		e, err := New(name, o)
		if err != nil {
			t.Fatal(err)
		}
		return e.(*RAC).opts
	}
	if got := get("rac", Options{Capacity: 100}); got != RACTuned(100) {
		t.Errorf("rac by default: %+v", got)
	}
	o := Options{Capacity: 100, Bytes: true, Params: map[string]string{"alpha": "0.25", "lambda": "7"}}
	if got := get("rac:lambda=3", o); got.Alpha != 0.25 || got.Lambda != 3 || got.worth != worthTokensPerByte {
		t.Errorf("rac: %+v", got)
	}
	if got := get("rac:alpha=2C", o); got.Alpha != 200 {
		t.Errorf("alpha in capacities: %v", got.Alpha)
	}
	every := RACOptions{
		Alpha: 2, Lambda: 3, Beta: 0.25, DepCap: 5, Doubt: 0.5, PerVisit: true, Clock: ClockEpisodes,
		Ghosts: 50, EntryGhosts: 400, Window: 10, worth: worthTokens,
	}
	text := ":alpha=2,lambda=3,beta=0.25,dep-cap=5,first=0.5,norm=visits,clock=episodes,ghosts=0.5C,entry-ghosts=4C," +
		"window=0.1C,value=tokens,admission=paper"
	if got := get("rac"+text, Options{Capacity: 100}); got != every {
		t.Errorf("rac with every parameter: %+v", got)
	}
	every.NoTP = true
	if got := get("rac-no-tp"+text, Options{Capacity: 100}); got != every {
		t.Errorf("rac-no-tp with every parameter: %+v", got)
	}
	every.NoTP, every.NoTSI = false, true
	if got := get("rac-no-tsi"+text, Options{Capacity: 100}); got != every {
		t.Errorf("rac-no-tsi with every parameter: %+v", got)
	}
	if got := get("rac:admission=paper", Options{Capacity: 100}); got.Window != 0 {
		t.Errorf("the paper's admission: %+v", got)
	}
	literal := RACOptions{Alpha: 0.5, Lambda: 2, Beta: 0.5, YoungParents: true}
	if got := get("rac-paper:alpha=0.5,lambda=2,beta=0.5", o); got != literal {
		t.Errorf("rac-paper with parameters: %+v", got)
	}
	if got := get("rac-paper", Options{Capacity: 100}); got != RACPaper() {
		t.Errorf("rac-paper: %+v", got)
	}
}

func TestEveryPolicyIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range List() {
		if p.Says == "" || seen[p.Name] || strings.ContainsAny(p.Name, ":,= ") {
			t.Errorf("policy %q: described %q, seen %v", p.Name, p.Says, seen[p.Name])
		}
		seen[p.Name] = true
		for _, par := range p.Params {
			if par.Says == "" || strings.ContainsAny(par.Name, ":,= ") {
				t.Errorf("parameter %s:%s is not described", p.Name, par.Name)
			}
		}
		if err := Check(p.Name); err != nil {
			t.Errorf("defaults of %s: %v", p.Name, err)
		}
	}
}
