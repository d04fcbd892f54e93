package proxy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
)

// vectors is an answer with embeddings, of which every member is known.
type vectors struct {
	json  string
	frame string         // json with no data, so that the cost of a split is linear
	data  []gjson.Result // its elements, in the order of the inputs
	usage gjson.Result   // may be absent
	alike string         // what answers that can be joined have in common
}

// readVectors reads an answer that can be split and joined; nil: it has members of which it is not known what they mean for its parts, or its
// elements are not in the order of the inputs. The answer is strict JSON, and must not change.
func readVectors(body []byte) *vectors {
	v := &vectors{json: rawjson.View(body)}
	var names, alike []string
	frame := make([]byte, 1, 256)
	frame[0] = '{'
	ok := gjson.Parse(v.json).IsObject()
	gjson.Parse(v.json).ForEach(func(name, value gjson.Result) bool {
		names = append(names, name.Str)
		raw := value.Raw
		switch name.Str {
		case "data":
			ok, raw = ok && value.IsArray(), "[]"
			v.data = value.Array()
		case "usage":
			ok = ok && value.IsObject()
			v.usage = value
		case "object", "model":
			alike = append(alike, name.Str+value.String())
		case "id", "created": // of the answer as a whole
		default:
			ok = false
		}
		frame = rawjson.AppendMember(frame, 1, name.Raw, raw)
		return ok
	})
	v.frame = rawjson.View(append(frame, '}'))
	if !ok || len(v.data) == 0 {
		return nil
	}
	v.usage.ForEach(func(name, value gjson.Result) bool {
		names = append(names, "usage."+name.Str)
		switch name.Str {
		case "prompt_tokens", "total_tokens":
			_, err := strconv.ParseUint(value.Raw, 10, 31)
			ok = ok && err == nil
		default: // what is nothing for the list is nothing for its items
			ok = ok && (value.Raw == "0" || value.Type == gjson.Null)
		}
		return ok
	})
	shape := ""
	for i, e := range v.data {
		var of [2]gjson.Result
		rawjson.Members(e, of[:], "index", "embedding")
		this := of[1].Type.String() + strconv.Itoa(strings.Count(of[1].Raw, ","))
		if of[1].Type == gjson.String {
			this = strconv.Itoa(len(of[1].Raw))
		}
		if of[0].Raw != strconv.Itoa(i) || i > 0 && this != shape {
			return nil
		}
		shape = this
	}
	if !ok {
		return nil
	}
	slices.Sort(names)
	slices.Sort(alike)
	v.alike = strings.Join(append(append(names, alike...), shape), "\x00")
	return v
}

// fits reports whether two answers can be joined: the same members, of the same model, with vectors of one length.
func (v *vectors) fits(o *vectors) bool { return o != nil && v.alike == o.alike }

// tokens is how many tokens of input the answer has taken.
func (v *vectors) tokens() int64 { return v.usage.Get("prompt_tokens").Int() }

// with is the answer with other data, and other figures in its usage.
func (v *vectors) with(data string, figure func(name string) int64) string {
	usage := v.usage.Raw
	if usage != "" {
		number := func(name string) rawjson.Edit { return rawjson.Change(name, strconv.FormatInt(figure(name), 10)) }
		usage = rawjson.Edited(v.usage, number("prompt_tokens"), number("total_tokens"))
	}
	return rawjson.Edited(gjson.Parse(v.frame), rawjson.Change("data", data), rawjson.Change("usage", usage))
}

// at is an element of data, at a place.
func at(element gjson.Result, place int) string {
	return rawjson.Edited(element, rawjson.Change("index", strconv.Itoa(place)))
}

// split returns the answers to the elements of input, of the answer to all of them; nil where it cannot be split. The parts share no memory with
// body.
func split(body []byte, input gjson.Result) []*vectors {
	all, lengths, sum := readVectors(body), []int64{}, int64(0)
	for _, e := range rawjson.Elements(input) {
		n := int64(len(e.Raw))
		if e.IsArray() {
			n = int64(strings.Count(e.Raw, ",") + 1)
		}
		lengths, sum = append(lengths, n), sum+n
	}
	if all == nil || len(all.data) != len(lengths) {
		return nil
	}
	parts, before := make([]*vectors, len(lengths)), int64(0)
	for i, n := range lengths {
		share := func(name string) int64 {
			total := all.usage.Get(name).Int()
			return total*(before+n)/sum - total*before/sum
		}
		if parts[i] = readVectors(rawjson.Bytes(all.with("["+at(all.data[i], 0)+"]", share))); parts[i] == nil {
			return nil
		}
		before += n
	}
	return parts
}

// join returns the answer to several items, of the answer to each of them, with the other members of first; nil where they do not fit.
func join(first *vectors, parts []*vectors) []byte {
	size, sums := len(first.json), map[string]int64{}
	for _, p := range parts {
		if !first.fits(p) || len(p.data) != 1 {
			return nil
		}
		size += len(p.data[0].Raw) + 8
		for _, name := range []string{"prompt_tokens", "total_tokens"} {
			sums[name] += p.usage.Get(name).Int()
		}
	}
	data := append(make([]byte, 0, size), '[')
	for i, p := range parts {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(data, at(p.data[0], i)...)
	}
	return rawjson.Bytes(first.with(rawjson.View(append(data, ']')), func(name string) int64 { return sums[name] }))
}
