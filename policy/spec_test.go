package policy_test

import (
	"errors"
	"strings"
	"testing"

	"reprise/policy"
	"reprise/policy/registry"
)

func TestNewErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     policy.Options
		names string // in the error; "" is none
	}{
		{"lru", policy.Options{Capacity: 10}, ""},
		{"rac:alpha=0.1/C,lambda=2", policy.Options{Capacity: 10}, ""},
		{"rac:alpha=1e5", policy.Options{Capacity: 10}, ""},
		{"lru", policy.Options{Capacity: 10, Params: map[string]string{"alpha": "many"}}, ""}, // lru has none
		{"rac", policy.Options{Capacity: 10, Params: map[string]string{"alpha": "many"}}, "alpha=many: want a number from 0 to 1000000"},
		{"lru", policy.Options{}, "capacity 0"},
		{"lruu", policy.Options{Capacity: 10}, "want one of lru, ttl,"},
		{"lru:alpha=1", policy.Options{Capacity: 10}, "lru has none"},
		{"rac:beth=1", policy.Options{Capacity: 10}, `no parameter "beth": want alpha, lambda, dep-cap`},
		{"rac:alpha", policy.Options{Capacity: 10}, "want key=value"},
		{"rac:alpha=-1", policy.Options{Capacity: 10}, "alpha=-1: want"},
		{"rac:alpha=NaN", policy.Options{Capacity: 10}, "alpha=NaN: want"},
		{"rac:alpha=", policy.Options{Capacity: 10}, "alpha=: want"},
	} {
		_, err := registry.New(c.name, c.o)
		if (err == nil) != (c.names == "") || err != nil && !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s %+v: error %v, want one with %q", c.name, c.o, err, c.names)
		}
	}
	if _, err := registry.New("lruu", policy.Options{Capacity: 10}); !errors.Is(err, policy.ErrUnknown) {
		t.Errorf("error %v is not ErrUnknown", err)
	}
}
