package rac

import (
	"testing"

	"reprise/policy"
)

func TestParametersReachThePolicy(t *testing.T) {
	get := func(name string, o policy.Options) Options {
		e, err := specs.New(name, o)
		if err != nil {
			t.Fatal(err)
		}
		return e.(*Policy).opts
	}
	if got := get("rac", policy.Options{Capacity: 100}); got != Tuned(100) {
		t.Errorf("rac by default: %+v", got)
	}
	o := policy.Options{Capacity: 100, Bytes: true, Params: map[string]string{"alpha": "0.25", "lambda": "7"}}
	if got := get("rac:lambda=3", o); got.Alpha != 0.25 || got.Lambda != 3 || got.worth != policy.TokensPerByte {
		t.Errorf("rac: %+v", got)
	}
	if got := get("rac:alpha=2C", o); got.Alpha != 200 {
		t.Errorf("alpha in capacities: %v", got.Alpha)
	}
	every := Options{Alpha: 2, Lambda: 3, DepCap: 5, Ghosts: 50, worth: policy.Tokens}
	const text = ":alpha=2,lambda=3,dep-cap=5,ghosts=0.5C,value=tokens,admission=paper"
	if got := get("rac"+text, policy.Options{Capacity: 100}); got != every {
		t.Errorf("rac with every parameter: %+v", got)
	}
	literal := Options{Alpha: 0.5, Lambda: 2, YoungParents: true}
	if got := get("rac-paper:alpha=0.5,lambda=2", o); got != literal {
		t.Errorf("rac-paper with parameters: %+v", got)
	}
	if got := get("rac-paper", policy.Options{Capacity: 100}); got != paper() {
		t.Errorf("rac-paper: %+v", got)
	}
}
