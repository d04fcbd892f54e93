package openai

import (
	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// chunks renders an answer as the chunks of a stream.
type chunks struct {
	*answer.Script
	base  []byte // members that every chunk begins with
	extra []byte // members that only the first has
	usage string // of the answer; "": it has none

	timings string // of llama.cpp, in the chunk with the usage; "": there are none
}

// Render renders a whole answer as a stream, choice by choice.
func (c choices) Render(r gjson.Result) []byte {
	out := newChunks(r, c.chunk)
	for _, choice := range rawjson.Elements(r.Get("choices")) {
		if c.deltas {
			play(out, choice)
		} else {
			out.choice(choice.Raw)
		}
	}
	if out.usage != "" {
		out.send(out.usage)
	}
	out.Event("", "[DONE]")
	return out.Stream()
}

// newChunks takes the members of answer r. Members that are not known to be in every chunk go into the first.
func newChunks(r gjson.Result, kind string) *chunks {
	c := &chunks{Script: answer.NewScript(r)}
	r.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "choices":
		case "usage":
			if rawjson.Given(v) {
				c.usage = v.Raw
			}
		case "object":
			c.base = rawjson.AppendMember(c.base, 0, k.Raw, kind)
		case "timings":
			c.timings = v.Raw
		case "id", "created", "model", "system_fingerprint", "service_tier":
			c.base = rawjson.AppendMember(c.base, 0, k.Raw, v.Raw)
		default:
			c.extra = rawjson.AppendMember(c.extra, 0, k.Raw, v.Raw)
		}
		return true
	})
	if c.usage == "" && c.timings != "" {
		c.extra = rawjson.AppendMember(c.extra, 0, `"timings"`, c.timings)
	}
	if !r.Get("object").Exists() {
		c.base = rawjson.AppendMember(c.base, 0, `"object"`, kind)
	}
	c.base = append(c.base, ',')
	if len(c.extra) > 0 {
		c.extra = append(c.extra, ',')
	}
	return c
}

// choice renders one chunk with one choice, of parts that are joined. Where usage is to come, every chunk before has a usage of null, as
// with include_usage.
func (c *chunks) choice(parts ...string) { c.send("null", parts...) }

func (c *chunks) send(usage string, choice ...string) {
	parts := append([]string{"{", rawjson.View(c.base), rawjson.View(c.extra), `"choices":[`}, choice...)
	parts = append(parts, "]")
	if c.usage != "" {
		parts = append(parts, `,"usage":`, usage)
	}
	if usage == c.usage && c.timings != "" {
		parts = append(parts, `,"timings":`, c.timings)
	}
	c.Event("", append(parts, "}")...)
	c.extra = nil
}
