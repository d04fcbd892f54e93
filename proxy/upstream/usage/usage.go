// Package usage reads from an answer how many tokens its prompt had, how many of them came from a cache, and how many were made. It does
// not parse answers: a [Meter] keeps the beginning and the end of what passes, where the APIs report their usage.
package usage

import (
	"bytes"
	"sync"

	"github.com/tidwall/gjson"
)

// Usage is what an answer reports, in tokens.
type Usage struct {
	Prompt, Cached int
	Known          bool // how many were cached: many engines do not report it, which is not the same as none
	Written        int  // to a cache at a price of their own, where that is reported
	Output         int  // that were made, those of thoughts included
}

const (
	headBytes = 2 << 10 // Anthropic reports the usage of a stream's prompt in its first event
	tailBytes = 8 << 10 // of a stream the last events, of an object the members after what was generated
)

// Meter keeps the beginning and the end of an answer. It must be ended.
type Meter struct {
	head, tail []byte
}

var meters = sync.Pool{New: func() any {
	return &Meter{head: make([]byte, 0, headBytes), tail: make([]byte, 0, 2*tailBytes)}
}}

// NewMeter returns an empty meter.
func NewMeter() *Meter { return meters.Get().(*Meter) }

// Write notes the next bytes of the answer. It copies 8 KiB of them at most.
func (m *Meter) Write(p []byte) {
	if room := cap(m.head) - len(m.head); room > 0 {
		m.head = append(m.head, p[:min(room, len(p))]...)
	}
	if len(p) >= tailBytes {
		m.tail = append(m.tail[:0], p[len(p)-tailBytes:]...)
		return
	}
	if len(m.tail)+len(p) > cap(m.tail) {
		m.tail = append(m.tail[:0], m.tail[len(m.tail)-tailBytes:]...)
	}
	m.tail = append(m.tail, p...)
}

// Head is the beginning of the answer, 2 KiB at most, until End.
func (m *Meter) Head() []byte { return m.head }

// End returns the usage that the answer reports, and frees the meter.
func (m *Meter) End() Usage {
	u := Read(m.head, m.tail)
	m.Free()
	return u
}

// Free frees the meter without a look at the answer.
func (m *Meter) Free() {
	m.head, m.tail = m.head[:0], m.tail[:0]
	meters.Put(m)
}

// Model is the model that the answer names at its beginning, "" if it names none there.
func (m *Meter) Model() string {
	_, rest, found := bytes.Cut(m.head, []byte(`"model":`))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if !found || len(rest) == 0 || rest[0] != '"' {
		return ""
	}
	name, _, ended := bytes.Cut(rest[1:], []byte(`"`))
	if !ended || bytes.IndexByte(name, '\\') >= 0 {
		return ""
	}
	return string(name)
}

// Read returns the usage in the last part of an answer, or else in its first one. Anthropic reports the prompt in the first event of a
// stream, and with it an output that is not the last.
func Read(head, tail []byte) Usage {
	u, ok := last(tail)
	if !ok {
		if u, ok = last(head); !ok {
			u, _ = ollama(tail)
		}
	}
	if n, ok := output(tail); ok {
		u.Output = n
	} else if n, ok := output(head); ok {
		u.Output = n
	}
	return u
}

// output returns the number of tokens made in the last usage of a text that has one.
func output(text []byte) (n int, ok bool) {
	for _, name := range names {
		for end := len(text); ; {
			at := lastIndex(text[:end], name)
			if at < 0 {
				break
			}
			if o, found := member(text[at+len(name):]); found {
				for _, made := range []string{"completion_tokens", "output_tokens", "predicted_n"} {
					if v := o.Get(made); isNumber(v) {
						return written(v), true
					}
				}
			}
			end = at
		}
	}
	return 0, false
}

// ollama reads the end of an answer of Ollama, which has its counts beside other members.
func ollama(tail []byte) (u Usage, ok bool) {
	count := func(name string) int {
		at := lastIndex(tail, []byte(name))
		if at < 0 {
			return 0
		}
		ok = true
		return written(gjson.ParseBytes(tail[at+len(name):]))
	}
	u.Prompt, u.Output = count(`"prompt_eval_count":`), count(`"eval_count":`)
	return u, ok
}

// names are the members that hold what is looked for, in quotation marks: they are no part of a string, in which these are escaped.
var names = [][]byte{[]byte(`"usage"`), []byte(`"timings"`)}

// lastIndex is bytes.LastIndex, which takes a nanosecond for each byte, by a faster search in parts from the end: many answers have no
// such name, and in the others it is near the end.
func lastIndex(text, name []byte) int {
	const part = 1 << 10
	for end := len(text); end > 0; end -= part {
		from := max(0, end-part)
		if within := text[from:min(end+len(name)-1, len(text))]; bytes.Contains(within, name) {
			return from + bytes.LastIndex(within, name)
		}
	}
	return -1
}

// last returns the last usage in a text, preferably one with the cached tokens.
func last(text []byte) (best Usage, ok bool) {
	for _, name := range names {
		for end := len(text); ; {
			at := lastIndex(text[:end], name)
			if at < 0 {
				break
			}
			if u, found := read(text[at+len(name):]); found {
				if u.Known {
					return u, true
				}
				if !ok {
					best, ok = u, true
				}
				break
			}
			end = at
		}
	}
	return best, ok
}

// member returns the object after a member's name, false if there is none.
func member(rest []byte) (o gjson.Result, ok bool) {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if len(rest) == 0 || rest[0] != ':' {
		return o, false
	}
	object := object(bytes.TrimLeft(rest[1:], " \t\r\n"))
	if object == nil || !gjson.ValidBytes(object) {
		return o, false
	}
	return gjson.ParseBytes(object), true
}

// read returns the usage in the object after a member's name, false if there is none.
func read(rest []byte) (u Usage, ok bool) {
	o, ok := member(rest)
	if !ok {
		return u, false
	}
	for _, form := range forms {
		if u, ok := form(o); ok {
			u.Prompt = min(max(u.Prompt, 0), mostTokens)
			if u.Known = u.Known && u.Prompt > 0 && 0 <= u.Cached && u.Cached <= u.Prompt; !u.Known {
				u.Cached = 0
			}
			return u, true
		}
	}
	return u, false
}

// object returns the JSON object with which a text begins, nil if there is none or it is cut.
func object(text []byte) []byte {
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return text[:i+1]
			}
		}
	}
	return nil
}

// forms are the ways in which APIs report the usage of a prompt.
var forms = []func(o gjson.Result) (Usage, bool){deepSeek, openAI, anthropic, llamaCPP}

// deepSeek reports hits and misses beside prompt_tokens.
func deepSeek(o gjson.Result) (Usage, bool) {
	hit, miss := o.Get("prompt_cache_hit_tokens"), o.Get("prompt_cache_miss_tokens")
	if !isNumber(hit) || !isNumber(miss) {
		return Usage{}, false
	}
	return Usage{Prompt: int(hit.Int() + miss.Int()), Cached: int(hit.Int()), Known: true}, true
}

// openAI is the form of chats and completions, and with other names that of responses.
func openAI(o gjson.Result) (Usage, bool) {
	for _, name := range []string{"prompt_tokens", "input_tokens"} {
		prompt, details := o.Get(name), o.Get(name+"_details")
		if !isNumber(prompt) || name == "input_tokens" && !details.Exists() {
			continue
		}
		cached := details.Get("cached_tokens")
		return Usage{Prompt: int(prompt.Int()), Cached: int(cached.Int()), Known: isNumber(cached), Written: written(details.Get("cache_write_tokens"))}, true
	}
	return Usage{}, false
}

// anthropic does not count the tokens that were read from the cache, or written to it, among input_tokens.
func anthropic(o gjson.Result) (Usage, bool) {
	fresh, read, wrote := o.Get("input_tokens"), o.Get("cache_read_input_tokens"), o.Get("cache_creation_input_tokens")
	if !isNumber(fresh) {
		return Usage{}, false
	}
	return Usage{Prompt: int(fresh.Int() + read.Int() + wrote.Int()), Cached: int(read.Int()), Known: isNumber(read), Written: written(wrote)}, true
}

// llamaCPP is the member timings of llama.cpp's server. Its tokens_cached is what the slot holds after the answer, with what was generated.
func llamaCPP(o gjson.Result) (Usage, bool) {
	fresh, cached := o.Get("prompt_n"), o.Get("cache_n")
	if !isNumber(fresh) {
		return Usage{}, false
	}
	return Usage{Prompt: int(fresh.Int() + cached.Int()), Cached: int(cached.Int()), Known: isNumber(cached)}, true
}

func isNumber(v gjson.Result) bool { return v.Type == gjson.Number }

// written is a number of tokens that an answer reports, which may be wrong.
func written(v gjson.Result) int { return int(min(max(v.Int(), 0), mostTokens)) }

// mostTokens is the largest count of tokens that is taken from an answer.
const mostTokens = 1 << 30
