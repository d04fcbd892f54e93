package config

import (
	"fmt"

	"reprise/proxy"
)

// leastMemory is the smallest memory limit that can be set; the process alone takes half of it.
const leastMemory = 64 << 20

// nearBytes is the memory for answers that Redis has too, or a quarter of the memory limit where that is less.
const nearBytes = 64 << 20

// memoryLimit reads a size, or off.
func memoryLimit(to *int64) func(string) error {
	return into(to, func(v string) (int64, error) {
		n, ok := parseSize(v)
		return n, allowedIf(v == "off" || ok && n >= leastMemory)
	})
}

// FitMemory sets the memory limit, where it is not set, to what the process may take, and lowers the default of the capacity to
// what fits. from is where that limit comes from, and 0 is none. A capacity that is set and does not fit is an error that wraps
// ErrBad; that of a shared store may be larger, because its answers are elsewhere.
func (c *Config) FitMemory(available int64, from string) error {
	if c.Source("MEMORY_LIMIT") == fromDefault && available > 0 {
		c.MemoryLimit = available
		c.show("MEMORY_LIMIT", inMiB(available), from)
	}
	most, half := proxy.MostEntries(c.MemoryLimit), "half of REPRISE_MEMORY_LIMIT"
	c.Shared.NearBytes = nearBytes
	if c.MemoryLimit > 0 && c.Store.Shared() != "" {
		c.Shared.NearBytes = min(nearBytes, most/2)
		most, half = most-c.Shared.NearBytes, half+" less what is kept of the answers in Redis"
	}
	switch {
	case c.MemoryLimit == 0 || c.CapacityBytes <= most:
	case c.Source("CAPACITY_BYTES") == fromDefault:
		c.CapacityBytes = most
		c.show("CAPACITY_BYTES", inMiB(most), half)
	case c.Store.Shared() != "":
	default:
		return Bad("%s does not fit %s: at most half of the limit is allowed, %s, because requests need memory too; lower the first, or raise the second "+
			"(off takes the limit away)", c.shown("CAPACITY_BYTES"), c.shown("MEMORY_LIMIT"), inMiB(most))
	}
	return nil
}

func inMiB(bytes int64) string { return fmt.Sprintf("%dMiB", bytes>>20) }
