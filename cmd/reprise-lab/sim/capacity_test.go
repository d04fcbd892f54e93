package sim

import (
	"strings"
	"testing"

	"reprise/policy"
)

func TestParseCapacity(t *testing.T) {
	for _, c := range []struct {
		text, again string
		want        Capacity
	}{
		{"2.5%", "2.5%", Capacity{Share: 0.025}},
		{" 7 % ", "7%", Capacity{Share: 0.07}},
		{"100%", "100%", Capacity{Share: 1}},
		{"100", "100", Capacity{Entries: 100}},
		{"1B", "1B", Capacity{Bytes: 1}},
		{"64MiB", "64MiB", Capacity{Bytes: 64 << 20}},
		{"0.5 GiB", "512MiB", Capacity{Bytes: 1 << 29}},
		{"3KiB", "3KiB", Capacity{Bytes: 3072}},
		{"1500KB", "1500KB", Capacity{Bytes: 1_500_000}},
		{"2MB", "2MB", Capacity{Bytes: 2e6}},
		{"5GB", "5GB", Capacity{Bytes: 5e9}},
	} {
		got, err := ParseCapacity(c.text)
		if err != nil || got != c.want || got.String() != c.again {
			t.Errorf("%q: %+v as %s, %v; want %+v as %s", c.text, got, got, err, c.want, c.again)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "%", "0%", "-1%", "101%", "NaN%", "0B", "0.5B", "-1MiB", "NaNB", "1e30GB", "10TB", "10 entries"} {
		if c, err := ParseCapacity(text); err == nil || !strings.Contains(err.Error(), "want a share as 2.5%") {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

// FuzzParseCapacity: every text that is accepted gives a valid value, whose text gives the same value.
func FuzzParseCapacity(f *testing.F) {
	for _, s := range []string{"2.5%", "100", "64MiB", "0.1GB", "1e3B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCapacity(s)
		if err != nil {
			return
		}
		again, err := ParseCapacity(c.String())
		if err != nil || again.String() != c.String() || c.Validate() != nil {
			t.Errorf("%q is %+v, printed %s and read again %+v, %v", s, c, c, again, err)
		}
	})
}

func TestCapacityInATrace(t *testing.T) {
	for _, c := range []struct {
		capacity Capacity
		limit    policy.Limit
		entries  int
	}{
		{Capacity{Share: 0.1}, policy.Limit{Entries: 20}, 20},
		{Capacity{Share: 0.0273}, policy.Limit{Entries: 5}, 5},
		{Capacity{Share: 0.001}, policy.Limit{Entries: 1}, 1},
		{Capacity{Entries: 7}, policy.Limit{Entries: 7}, 7},
		{Capacity{Bytes: 100}, policy.Limit{Bytes: 100}, 6},
		{Capacity{Bytes: 3}, policy.Limit{Bytes: 3}, 1},
		{Capacity{Bytes: 1 << 60}, policy.Limit{Bytes: 1 << 60}, 200}, // no more than there are
	} {
		if limit, entries := c.capacity.limit(200, 3000); limit != c.limit || entries != c.entries {
			t.Errorf("%s of 200 entries of 15 bytes: %+v, %d; want %+v, %d", c.capacity, limit, entries, c.limit, c.entries)
		}
		if _, entries := c.capacity.limit(0, 0); entries < 1 {
			t.Errorf("%s of an empty trace: %d entries", c.capacity, entries)
		}
	}
}
