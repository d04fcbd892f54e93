package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// deed is a scenario done by a Go client; what it returns is compared as JSON.
type deed func(ctx context.Context, base, key string) (any, error)

// inProcess runs deeds, each with a base URL and a key of its own.
func inProcess(deeds map[string]deed) func(*testing.T, string, []string) map[string]any {
	return func(t *testing.T, site string, scenarios []string) map[string]any {
		t.Helper()
		got := map[string]any{}
		for _, name := range scenarios {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			result, err := deeds[name](ctx, site+"/"+name+"/v1", "sk-"+name)
			cancel()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got[name] = plain(t, result)
		}
		return got
	}
}

// plain is v after encoding to JSON and decoding.
func plain(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

var errNone = errors.New("no error was returned")

// failing is a deed that must fail; part returns the part of the error that an application would use.
func failing(d deed, part func(error) (any, error)) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		if _, err := d(ctx, base, key); err != nil {
			return part(err)
		}
		return nil, errNone
	}
}

// broken is the part of an error of a cut connection: that there is one, because the text is that of the transport.
func broken(error) (any, error) { return "broken", nil }

// both does one deed after the other.
func both(a, b deed) deed {
	return func(ctx context.Context, base, key string) (any, error) {
		first, err := a(ctx, base, key)
		if err != nil {
			return nil, err
		}
		second, err := b(ctx, base, key)
		return []any{first, second}, err
	}
}

// kinds is the order of the events of a stream, without repeats: a replay may cut the text at other places.
type kinds []string

func (k *kinds) add(kind string) {
	if n := len(*k); n == 0 || (*k)[n-1] != kind {
		*k = append(*k, kind)
	}
}

func (k kinds) MarshalJSON() ([]byte, error) { return json.Marshal(strings.Join(k, " ")) }

// object is a JSON schema, as clients send it.
func object(required ...string) map[string]any {
	properties := map[string]any{}
	for _, name := range required {
		properties[name] = map[string]any{"type": "string"}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
