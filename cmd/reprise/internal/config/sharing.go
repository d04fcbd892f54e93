package config

import "strings"

// Sharing is a sentence about clients that share answers although they have different credentials, "" where none do.
func (c *Config) Sharing() string {
	name, isHeader := strings.CutPrefix(c.TenantFrom, "header:")
	switch {
	case c.TenantFrom == "none":
		return c.shown("TENANT_FROM") + ": all clients share one cache. Each of them, with any key or without one, gets every stored answer whose " +
			"request it repeats; with a key that was revoked as well, until the answer expires (" + c.shown("TTL") + ")"
	case isHeader:
		return c.shown("TENANT_FROM") + ": clients with the same " + name + " share their answers, whatever their keys. A client with a key that was " +
			"revoked still gets the stored ones, until they expire (" + c.shown("TTL") + "). The proxy does not check " + name + ": only a gateway " +
			"before it should be able to set it. Without " + name + " a client's credential separates it from others"
	}
	return ""
}
