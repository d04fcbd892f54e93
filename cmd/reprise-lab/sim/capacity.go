package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"reprise/policy"
)

// Capacity is how much of a trace can be resident at a time. Exactly one of its fields is set.
type Capacity struct {
	Share   float64 // of the distinct identities, to the nearest entry, at least 1; 0.1 is 10 %
	Entries int
	Bytes   int64
}

// units of bytes; the first one that divides a value is printed.
var units = []struct {
	name string
	size int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// ParseCapacity reads "2.5%" (of the distinct identities), "100" (entries) or "64MiB" (B, KB, KiB, MB, MiB, GB, GiB).
func ParseCapacity(s string) (Capacity, error) {
	c, ok := parseCapacity(strings.TrimSpace(s))
	if err := c.Validate(); !ok || err != nil {
		return Capacity{}, fmt.Errorf(
			`capacity %q: want a share as 2.5%% (above 0, up to 100%%), entries as 100, or bytes as 64MiB (B, KB, KiB, MB, MiB, GB, GiB)`, s)
	}
	return c, nil
}

func parseCapacity(s string) (Capacity, bool) {
	if share, ok := strings.CutSuffix(s, "%"); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		return Capacity{Share: v / 100}, err == nil
	}
	for _, u := range units {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		v *= float64(u.size)
		return Capacity{Bytes: int64(v)}, err == nil && v < math.MaxInt64
	}
	n, err := strconv.Atoi(s)
	return Capacity{Entries: n}, err == nil
}

// Validate returns what is wrong with c.
func (c Capacity) Validate() error {
	set := 0
	for _, ok := range []bool{c.Share != 0, c.Entries != 0, c.Bytes != 0} {
		if ok {
			set++
		}
	}
	switch {
	case set != 1:
		return fmt.Errorf("capacity %+v: want exactly one of share, entries and bytes", c)
	case !(c.Share >= 0 && c.Share <= 1) || c.Entries < 0 || c.Bytes < 0:
		return fmt.Errorf("capacity %s: want a share above 0 up to 100%%, or a positive number", c)
	}
	return nil
}

// String is in the form that ParseCapacity reads.
func (c Capacity) String() string {
	switch {
	case c.Share != 0:
		return strconv.FormatFloat(c.Share*100, 'g', 12, 64) + "%"
	case c.Entries != 0:
		return strconv.Itoa(c.Entries)
	}
	for _, u := range units {
		if c.Bytes%u.size == 0 && c.Bytes != 0 {
			return strconv.FormatInt(c.Bytes/u.size, 10) + u.name
		}
	}
	return "0B"
}

// limit is the capacity over a trace of so many distinct identities, and entries how many will be resident under it: an
// estimate where the limit is in bytes.
func (c Capacity) limit(distinct int, bytes int64) (l policy.Limit, entries int) {
	switch {
	case c.Share != 0:
		l.Entries = max(1, int(math.Round(c.Share*float64(distinct))))
	case c.Entries != 0:
		l.Entries = c.Entries
	default:
		mean := float64(bytes) / float64(max(distinct, 1)) // at least 1, but 0 in an empty trace
		return policy.Limit{Bytes: c.Bytes}, int(min(max(1, float64(c.Bytes)/mean), float64(max(1, distinct))))
	}
	return l, l.Entries
}
