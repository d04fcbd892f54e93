package enginesim

import (
	"math/rand/v2"
	"strings"
)

// schemaDepth bounds schemas that contain themselves.
const schemaDepth = 16

// filler makes values that a JSON schema allows: the required properties of objects, arrays of one item, the first of several
// alternatives. Other keywords are ignored.
type filler struct {
	rng         *rand.Rand
	definitions map[string]any
}

func fill(rng *rand.Rand, schema map[string]any) any {
	definitions, _ := schema["$defs"].(map[string]any)
	return filler{rng, definitions}.value(schema, 0)
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
	if ref, ok := s["$ref"].(string); ok {
		inner, _ := f.definitions[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		return f.value(inner, depth+1)
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[word].([]any); ok && len(list) > 0 {
			first, _ := list[0].(map[string]any)
			return f.value(first, depth+1)
		}
	}
	switch typeOf(s) {
	case "object":
		return f.object(s, depth)
	case "array":
		items, _ := s["items"].(map[string]any)
		return []any{f.value(items, depth+1)}
	case "integer", "number":
		return 1 + f.rng.IntN(9)
	case "boolean":
		return f.rng.IntN(2) == 0
	case "null":
		return nil
	}
	return pick(f.rng, objects)
}

// typeOf returns the type of a schema, of several the first that is not null.
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
