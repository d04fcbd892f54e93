package clienttest

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
)

// unlike are the members that differ between any two answers: ids and times.
var unlike = regexp.MustCompile(`^(id|.*_id|.*Id|` + times + `)$`)

const times = `created|created_at|createdAt|completed_at|timestamp`

// apartFromOrder are those of unlike of which not even the order is the same: times, and the id of an earlier answer in one that continues a
// conversation at the server, which is that of the upstream's own answer where the client has one from the cache.
var apartFromOrder = regexp.MustCompile(`^(previous_response_id|` + times + `)$`)

// masked is v with the values of such members replaced by their types.
func masked(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if !absent(name, value) {
				out[name] = masked(name, value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = masked(name, value)
		}
		return out
	case string:
		if unlike.MatchString(name) && v != "" {
			return "masked"
		}
	case float64:
		if unlike.MatchString(name) && v != 0 {
			return 1
		}
	}
	return v
}

// absent reports whether a member is as good as none: a stream cannot contain an empty list, so an answer stored from one lacks it, and Python's
// libraries show null then.
func absent(name string, value any) bool {
	list, ok := value.([]any)
	return name == "annotations" && (value == nil || ok && len(list) == 0)
}

// linked is v with the values of such members replaced by the order of their first appearance, so that one id in two places stays one.
func linked(v any) any {
	seen := map[string]string{}
	var walk func(name string, v any) any
	walk = func(name string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := make(map[string]any, len(v))
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if !absent(name, v[name]) {
					out[name] = walk(name, v[name])
				}
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i, value := range v {
				out[i] = walk(name, value)
			}
			return out
		case string:
			if !unlike.MatchString(name) || apartFromOrder.MatchString(name) {
				return masked(name, v)
			}
			if _, ok := seen[v]; !ok {
				seen[v] = "id " + strconv.Itoa(len(seen))
			}
			return seen[v]
		}
		return masked(name, v)
	}
	return walk("", v)
}

// differences are the places where got and want differ.
func differences(at string, got, want any) []string {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	var out []string
	switch g := got.(type) {
	case map[string]any:
		if w, ok := want.(map[string]any); ok {
			names := maps.Clone(g)
			maps.Copy(names, w)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				out = append(out, differences(at+"."+name, g[name], w[name])...)
			}
			return out
		}
	case []any:
		if w, ok := want.([]any); ok && len(w) == len(g) {
			for i := range g {
				out = append(out, differences(at+"["+strconv.Itoa(i)+"]", g[i], w[i])...)
			}
			return out
		}
	}
	return []string{fmt.Sprintf("%s is %#v, not %#v", at, got, want)}
}

// answerIDs collects the ids of answers, and of the calls and items in them.
func answerIDs(v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if id, _ := value.(string); unlike.MatchString(name) && !apartFromOrder.MatchString(name) && made.MatchString(id) {
				into[id] = true
			}
			answerIDs(value, into)
		}
	case []any:
		for _, value := range v {
			answerIDs(value, into)
		}
	}
}

// made matches the ids that an upstream makes.
var made = regexp.MustCompile(`^(chatcmpl-|cmpl-|resp_|msg_|fc_|call_|toolu_).{6}`)
