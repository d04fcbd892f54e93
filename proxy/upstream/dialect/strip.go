package dialect

// names are members of an object that a client must not set: those with nil are removed, of the others the members inside.
type names map[string]names

// engineInternals are the members by which requests of a serving system's own parts steer an engine: which rank computes a request, from
// which host it reads KV blocks, and before whom it is computed.
var engineInternals = names{"kv_transfer_params": nil, "routed_dp_rank": nil, "data_parallel_rank": nil, "bootstrap_host": nil,
	"bootstrap_port": nil, "bootstrap_room": nil, "priority": nil, "vllm_xargs": {"kv_transfer_params": nil}}

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
