package enginesim

import (
	"math/rand/v2"
	"strings"
)

// schemaDepth bounds schemas that contain themselves.
const schemaDepth = 16

// filler makes values that a JSON schema allows: the required properties of objects, the fewest items of arrays, the first
// of several alternatives. Other keywords are ignored.
type filler struct {
	rng  *rand.Rand
	root map[string]any
}

func fill(rng *rand.Rand, schema map[string]any) any {
	return filler{rng, schema}.value(schema, 0)
}

func (f filler) value(s map[string]any, depth int) any {
	if depth > schemaDepth {
		return nil
	}
	if v, ok := s["const"]; ok {
		return v
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[f.rng.IntN(len(list))]
	}
	if inner, ok := f.inner(s); ok {
		return f.value(inner, depth+1)
	}
	return f.typed(s, depth)
}

// inner follows a reference, or the first alternative.
func (f filler) inner(s map[string]any) (map[string]any, bool) {
	if ref, ok := s["$ref"].(string); ok {
		return f.resolve(ref)
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[word].([]any); ok && len(list) > 0 {
			first, ok := list[0].(map[string]any)
			return first, ok
		}
	}
	return nil, false
}

func (f filler) resolve(ref string) (map[string]any, bool) {
	at := f.root
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(ref, "#"), "/"), "/") {
		if part == "" {
			continue
		}
		next, ok := at[part].(map[string]any)
		if !ok {
			return nil, false
		}
		at = next
	}
	return at, true
}

func (f filler) typed(s map[string]any, depth int) any {
	switch typeOf(s) {
	case "object":
		return f.object(s, depth)
	case "array":
		return f.array(s, depth)
	case "integer":
		return int(f.number(s))
	case "number":
		return f.number(s) + 0.5*f.slack(s)
	case "boolean":
		return f.rng.IntN(2) == 0
	case "null":
		return nil
	}
	return pick(f.rng, objects)
}

func typeOf(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		for _, v := range t {
			if name, ok := v.(string); ok && name != "null" {
				return name
			}
		}
	}
	if _, ok := s["properties"]; ok {
		return "object"
	}
	return "string"
}

func (f filler) object(s map[string]any, depth int) any {
	out := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		property, _ := properties[name].(map[string]any)
		out[name] = f.value(property, depth+1)
	}
	return out
}

func (f filler) array(s map[string]any, depth int) any {
	items, _ := s["items"].(map[string]any)
	least, ok := s["minItems"].(float64)
	if !ok {
		least = 1
	}
	if most, ok := s["maxItems"].(float64); ok {
		least = min(least, most)
	}
	out := make([]any, 0, int(least))
	for range int(least) {
		out = append(out, f.value(items, depth+1))
	}
	return out
}

// number is a whole number between minimum and maximum, 1 to 9 where there are none.
func (f filler) number(s map[string]any) float64 {
	low, hasLow := s["minimum"].(float64)
	high, hasHigh := s["maximum"].(float64)
	n := float64(1 + f.rng.IntN(9))
	switch {
	case hasLow && n < low:
		return low
	case hasHigh && n > high:
		return high
	}
	return n
}

// slack is 1 where a half can be added without exceeding a maximum, else 0.
func (f filler) slack(s map[string]any) float64 {
	if _, bounded := s["maximum"]; bounded {
		return 0
	}
	return 1
}
