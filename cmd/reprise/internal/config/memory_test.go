package config

import (
	"errors"
	"strings"
	"testing"
)

func TestFitMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name            string
		env             []string
		available       int64
		limit, capacity int64  // in MiB
		bad             string // part of the error
	}{
		{"a large machine", nil, 16 << 30, 16 << 10, 1 << 10, ""},
		{"a small container", nil, 512 * mib, 512, 256, ""},
		{"none known", nil, 0, 0, 1 << 10, ""},
		{"off", []string{"REPRISE_MEMORY_LIMIT=off"}, 512 * mib, 0, 1 << 10, ""},
		{"less than the container's", []string{"REPRISE_MEMORY_LIMIT=256MiB"}, 512 * mib, 256, 128, ""},
		{"a capacity that fits", []string{"REPRISE_CAPACITY_BYTES=256MiB"}, 512 * mib, 512, 256, ""},
		{"a capacity that does not", []string{"REPRISE_CAPACITY_BYTES=257MiB"}, 512 * mib, 0, 0,
			"REPRISE_CAPACITY_BYTES=257MiB (environment) does not fit REPRISE_MEMORY_LIMIT=512MiB (cgroup): at most half of the limit is allowed, 256MiB"},
		{"and without a limit", []string{"REPRISE_MEMORY_LIMIT=off", "REPRISE_CAPACITY_BYTES=8GiB"}, 512 * mib, 0, 8 << 10, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := load(t, c.env)
			if err != nil {
				t.Fatal(err)
			}
			err = cfg.FitMemory(c.available, "cgroup")
			if c.bad != "" {
				if !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), c.bad) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || cfg.MemoryLimit != c.limit*mib || cfg.CapacityBytes != c.capacity*mib {
				t.Errorf("limit %d, capacity %d MiB, %v", cfg.MemoryLimit/mib, cfg.CapacityBytes/mib, err)
			}
		})
	}
	for _, v := range []string{"63MiB", "0", "on", "-1"} {
		if _, err := load(t, []string{"REPRISE_MEMORY_LIMIT=" + v}); !errors.Is(err, ErrBad) {
			t.Errorf("%s: %v", v, err)
		}
	}
}

// TestFitShared: of a shared store the near-cache has to fit, and the capacity where it is not set.
func TestFitShared(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		env            string
		near, capacity int64 // in MiB
	}{
		{"", 64, 192},
		{"REPRISE_MEMORY_LIMIT=128MiB", 32, 32},
		{"REPRISE_CAPACITY_BYTES=8GiB", 64, 8 << 10},
		{"REPRISE_MEMORY_LIMIT=off", 64, 1 << 10},
	} {
		cfg, err := load(t, []string{"REPRISE_STORE=redis://host", c.env})
		if err != nil {
			t.Fatal(err)
		}
		if err = cfg.FitMemory(512*mib, "cgroup"); err != nil || cfg.Shared.NearBytes != c.near*mib || cfg.CapacityBytes != c.capacity*mib {
			t.Errorf("%s: near-cache %d, capacity %d MiB, %v", c.env, cfg.Shared.NearBytes/mib, cfg.CapacityBytes/mib, err)
		}
	}
}

// TestFittedIsShown: GET /admin/config shows what is in force, and where it comes from.
func TestFittedIsShown(t *testing.T) {
	cfg, err := load(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.FitMemory(512<<20, "cgroup"); err != nil {
		t.Fatal(err)
	}
	if got := cfg.shown("MEMORY_LIMIT"); got != "REPRISE_MEMORY_LIMIT=512MiB (cgroup)" {
		t.Error(got)
	}
	if got := cfg.shown("CAPACITY_BYTES"); got != "REPRISE_CAPACITY_BYTES=256MiB (half of REPRISE_MEMORY_LIMIT)" {
		t.Error(got)
	}
}
