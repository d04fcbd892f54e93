package choices

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// Chunks renders an answer as the chunks of a stream.
type Chunks struct {
	dst   []byte
	most  int    // bytes of dst, after which nothing is added
	base  []byte // members that every chunk begins with
	extra []byte // members that only the first has
	usage string
}

// Render renders a whole answer as a stream, choice by choice.
func (s Streams) Render(r gjson.Result) []byte {
	c := newChunks(r, s.Chunk)
	for _, choice := range rawjson.Elements(r.Get("choices")) {
		s.Play(c, choice)
	}
	if c.full() {
		return nil
	}
	return c.done()
}

// newChunks takes the members of answer r. Members that are not known to be in every chunk go into the first.
func newChunks(r gjson.Result, kind string) *Chunks {
	c := &Chunks{most: answer.MostRendered(r)}
	r.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "choices":
		case "usage":
			if rawjson.Given(v) {
				c.usage = v.Raw
			}
		case "object":
			c.base = rawjson.AppendMember(c.base, 0, k.Raw, kind)
		case "id", "created", "model", "system_fingerprint", "service_tier":
			c.base = rawjson.AppendMember(c.base, 0, k.Raw, v.Raw)
		default:
			c.extra = rawjson.AppendMember(c.extra, 0, k.Raw, v.Raw)
		}
		return true
	})
	if !r.Get("object").Exists() {
		c.base = rawjson.AppendMember(c.base, 0, `"object"`, kind)
	}
	c.base = append(c.base, ',')
	if len(c.extra) > 0 {
		c.extra = append(c.extra, ',')
	}
	return c
}

func (c *Chunks) full() bool { return len(c.dst) > c.most }

// Choice renders one chunk with one choice, of parts that are joined.
func (c *Chunks) Choice(parts ...string) {
	if c.full() {
		return
	}
	c.open()
	for _, p := range parts {
		c.dst = append(c.dst, p...)
	}
	c.close("null")
}

// open begins a chunk up to its choices.
func (c *Chunks) open() {
	c.dst = append(c.dst, "data: {"...)
	c.dst = append(c.dst, c.base...)
	c.dst = append(c.dst, c.extra...)
	c.extra = nil
	c.dst = append(c.dst, `"choices":[`...)
}

// close ends a chunk. Where usage is to come, every chunk before has a usage of null, as with include_usage.
func (c *Chunks) close(usage string) {
	c.dst = append(c.dst, ']')
	if c.usage != "" {
		c.dst = append(append(c.dst, `,"usage":`...), usage...)
	}
	c.dst = append(c.dst, "}\n\n"...)
}

func (c *Chunks) done() []byte {
	if c.usage != "" {
		c.open()
		c.close(c.usage)
	}
	return append(c.dst, "data: [DONE]\n\n"...)
}
