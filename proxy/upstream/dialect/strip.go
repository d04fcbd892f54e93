package dialect

import (
	"bytes"
	"errors"
)

// names are members of an object that a client must not set: those with nil are removed, of the others the members inside.
type names map[string]names

// engineInternals are the members by which requests of a serving system's own parts steer an engine: which rank computes a request, from
// which host it reads KV blocks, and before whom it is computed.
var engineInternals = names{"kv_transfer_params": nil, "routed_dp_rank": nil, "data_parallel_rank": nil, "bootstrap_host": nil,
	"bootstrap_port": nil, "bootstrap_room": nil, "priority": nil, "vllm_xargs": {"kv_transfer_params": nil}}

// ErrEncoding refuses a body in UTF-16 or UTF-32, in which no member can be found. JSON is UTF-8 (RFC 8259 §8.1), but Python's reader takes
// these too.
var ErrEncoding = errors.New("the body is not in UTF-8")

// Strips reports whether d removes members that a client must not set, so that a body of which it may need to must be in memory.
func Strips(d Dialect) bool {
	t, ok := d.(*table)
	return ok && t.strip != nil
}

// MayBeObject reports whether a body that begins with head may be an object, or is in an encoding in which that cannot be seen.
func MayBeObject(head []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), " \t\r\n")
	return len(text) == 0 || text[0] == '{' || NotUTF8(head)
}

// NotUTF8 reports whether a body begins as JSON does in UTF-16 or UTF-32.
func NotUTF8(body []byte) bool {
	return bytes.IndexByte(body[:min(len(body), 4)], 0) >= 0 || bytes.HasPrefix(body, []byte{0xff, 0xfe}) || bytes.HasPrefix(body, []byte{0xfe, 0xff})
}

// cutter removes members of an object, each with one of the commas beside it.
type cutter struct {
	*editor
	kept    bool
	before  int    // the end of the member before
	pending member // removed members before the first that stays: up to the next member
	open    bool   // pending is not removed yet
}

// keep passes over a member.
func (c *cutter) keep(m member) {
	c.flush(m.key)
	c.kept, c.before = true, m.end
}

// remove removes a member, the field.
func (c *cutter) remove(m member, field Field) {
	c.edits.Removed = append(c.edits.Removed, field)
	switch {
	case c.kept:
		c.patches = append(c.patches, patch{at: c.before, drop: m.end - c.before})
	case c.open:
		c.pending.end = m.end
	default:
		c.pending, c.open = m, true
	}
	c.before = m.end
}

// flush removes what is pending, up to a place.
func (c *cutter) flush(to int) {
	if c.open {
		c.patches = append(c.patches, patch{at: c.pending.key, drop: to - c.pending.key})
	}
	c.open = false
}

// end ends the object.
func (c *cutter) end() { c.flush(c.pending.end) }

// stripInside removes members of the object m, which is at a path.
func (e *editor) stripInside(m member, path string, inside names) {
	s := scan(e.Body, m.start)
	cut := cutter{editor: e}
	for {
		in, ok := s.next()
		if !ok {
			break
		}
		deeper, dangerous := inside[string(in.name)]
		if dangerous && deeper == nil {
			cut.remove(in, Field(path+"."+string(in.name)))
			continue
		}
		if dangerous {
			e.stripInside(in, path+"."+string(in.name), deeper)
		}
		cut.keep(in)
	}
	cut.end()
}
