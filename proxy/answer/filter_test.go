package answer_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/answer"
)

func TestUsageFilterPasses(t *testing.T) {
	for _, c := range []struct{ name, in string }{
		{"a cut event", "data: {\"choices\":[],\"usage\":{}"},
		{"what is not JSON", "data: \"usage\" oops\n\n"},
		{"text about usage", "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"usage\\\":null\"}}]}\n\n"},
		{"an event too large", "data: " + strings.Repeat(" ", 2<<20) + "{\"usage\":null}\n\ndata: {\"usage\":null}\n\n"},
		{"keep-alives", ": a\n\n: b\r\n\r\n"},
	} {
		f := answer.UsageFilter{Streams: chat.Streams}
		got := append([]byte(nil), f.Write([]byte(c.in[:len(c.in)/2]))...)
		got = append(got, f.Write([]byte(c.in[len(c.in)/2:]))...)
		if got = append(got, f.Rest()...); string(got) != c.in {
			t.Errorf("%s: %d bytes became %d", c.name, len(c.in), len(got))
		}
		if got = f.Rest(); len(got) != 0 {
			t.Errorf("%s: the rest is there twice", c.name)
		}
	}
}

// A whole event goes out at once: nothing waits for the one behind it.
func TestUsageFilterDoesNotDelay(t *testing.T) {
	f := answer.UsageFilter{Streams: chat.Streams}
	for _, event := range []string{"data: {\"a\":1}\n\n", ": ping\n\n", "data: {\"b\":2}\r\n\r\n"} {
		if got := f.Write([]byte(event)); string(got) != event {
			t.Errorf("%q lets out %q", event, got)
		}
	}
}

// What passes as it is, is not copied.
func TestUsageFilterCopiesNothing(t *testing.T) {
	f := answer.UsageFilter{Streams: chat.Streams}
	piece := []byte("data: {\"a\":1}\n\ndata: {\"b\":2}\n\n")
	if n := testing.AllocsPerRun(100, func() { f.Write(piece) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got := f.Write(piece); &got[0] != &piece[0] {
		t.Error("a piece was copied")
	}
}

// TestUsageFilterHolds: of llama.cpp the chunk with the finish reason waits for the next event, and for nothing else; what is held is not
// lost, whatever comes and wherever the stream is cut.
func TestUsageFilterHolds(t *testing.T) {
	const (
		finished = "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"system_fingerprint\":\"b12-ab\"}\n\n"
		told     = "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"system_fingerprint\":\"b12-ab\",\"timings\":{}}\n\n"
		timings  = "data: {\"choices\":[],\"usage\":{},\"timings\":{}}\n\n"
		comment  = ": a\n\n"
		done     = "data: [DONE]\n\n"
		large    = 2<<20 + 10
	)
	long := ":" + strings.Repeat(" ", large/2) + "\n\n"
	for _, c := range []struct {
		name         string
		pieces, want []string // what each piece lets out, and at last what is left
	}{
		{"timings", []string{finished, timings, done}, []string{"", told, done, ""}},
		{"at once", []string{finished + timings + done}, []string{told + done, ""}},
		{"a comment between", []string{finished, comment, timings}, []string{"", "", told + comment, ""}},
		{"no usage", []string{finished, done}, []string{"", finished + done, ""}},
		{"usage alone", []string{finished, "data: {\"choices\":[],\"usage\":{}}\n\n"}, []string{"", finished, ""}},
		{"two choices", []string{finished, finished, timings}, []string{"", finished, told, ""}},
		{"text between", []string{finished, "data: {\"a\":1}\n\n", timings}, []string{"", finished + "data: {\"a\":1}\n\n", "data: {\"choices\":[],\"timings\":{}}\n\n", ""}},
		{"what is not JSON", []string{finished, "data: {\n\n"}, []string{"", finished + "data: {\n\n", ""}},
		{"cut", []string{finished}, []string{"", finished}},
		{"cut in the next", []string{finished, timings[:20]}, []string{"", "", finished + timings[:20]}},
		{"a large event", []string{finished, "data: " + strings.Repeat("x", large)}, []string{"", finished + "data: " + strings.Repeat("x", large), ""}},
		{"comments without end", []string{finished, long, long, comment}, []string{"", "", finished + long + long, comment, ""}},
		{"another server", []string{strings.Replace(finished, "b12", "fp_12", 1)}, []string{strings.Replace(finished, "b12", "fp_12", 1), ""}},
	} {
		f := answer.UsageFilter{Streams: chat.Streams}
		for i, piece := range c.pieces {
			if got := string(f.Write([]byte(piece))); got != c.want[i] {
				t.Errorf("%s: piece %d lets out %.200q, want %.200q", c.name, i, got, c.want[i])
			}
		}
		if got, want := string(f.Rest()), c.want[len(c.pieces)]; got != want {
			t.Errorf("%s: %q is left, want %q", c.name, got, want)
		}
	}
}

// withoutUsage is what a client should get of events that did not ask for usage, member by member; nil is [DONE].
func withoutUsage(events []map[string]any) (all []map[string]any) {
	everywhere := []string{"id", "object", "created", "model", "system_fingerprint", "service_tier", "provider", "obfuscation", "choices", "usage"}
	finished := false // the last event ends a choice of llama.cpp
	for _, e := range events {
		e = maps.Clone(e)
		usage, _ := e["usage"].(map[string]any)
		list, _ := e["choices"].([]any)
		text, _ := json.Marshal(e)
		others := maps.Clone(e)
		maps.DeleteFunc(others, func(k string, v any) bool { return slices.Contains(everywhere, k) || v == nil })
		if e["usage"] == nil && !strings.Contains(string(text), `"matched_stop"`) || usage != nil && len(list) == 0 {
			delete(e, "usage")
		}
		if usage == nil || len(list) > 0 || len(others) > 0 && !finished {
			all = append(all, e)
		} else if finished {
			maps.Copy(all[len(all)-1], others)
		}
		fingerprint, _ := e["system_fingerprint"].(string)
		finished = len(list) > 0 && strings.HasPrefix(fingerprint, "b1") && strings.Contains(string(text), `"finish_reason":"stop"`)
	}
	return all
}

// TestUsageFilterIsTheReplay: of any stream, in pieces of any size, the filter passes what a replay has, and that has what it should.
func TestUsageFilterIsTheReplay(t *testing.T) {
	r, moved := rand.New(rand.NewPCG(28, 2)), 0
	members := []string{`"id":"a"`, `"created":7`, `"system_fingerprint":"b12-ab"`, `"system_fingerprint":"b12-ab"`, `"system_fingerprint":"fp"`, `"choices":[]`, `"choices":[{"finish_reason":"stop"}]`,
		`"choices":[{"finish_reason":null,"matched_stop":null}]`, `"choices":[{"delta":{"content":"\"usage\":null"}}]`, `"usage":null`, `"usage":{"a":{"usage":null}}`, `"usage": {}`, `"usage":[1]`,
		`"timings":{"x" : 1}`, `"timings":null`, `"x_groq":{"usage":{}}`, `"service_tier":"s"`}
	for range 20_000 {
		var text strings.Builder
		var events []map[string]any
		for range 1 + r.IntN(6) {
			object := map[string]string{}
			for range r.IntN(7) {
				m := members[r.IntN(len(members))]
				name, value, _ := strings.Cut(m, ":")
				object[name] = value
			}
			var parts []string
			for _, name := range slices.Sorted(maps.Keys(object)) {
				parts = append(parts, name+":"+object[name])
			}
			r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			e := map[string]any{}
			data := "{" + strings.Join(parts, ",") + "}"
			if json.Unmarshal([]byte(data), &e) != nil {
				t.Fatal(data)
			}
			events = append(events, e)
			text.WriteString("data: " + data + "\n\n" + strings.Repeat(": comment\n\n", r.IntN(2)))
		}
		stream := text.String() + "data: [DONE]\n\n"
		z, err := answer.Freeze(chat, typeStream, []byte(stream))
		if err != nil {
			t.Fatal(err)
		}
		want := string(replay(t, z, answer.ReplayOptions{Stream: true}))
		f, got := answer.UsageFilter{Streams: chat.Streams}, ""
		for at, n := 0, 0; at < len(stream); at += n {
			n = 1 + r.IntN(min(100, len(stream)-at))
			got += string(f.Write([]byte(stream[at : at+n])))
		}
		if got += string(f.Rest()); got != want {
			t.Fatalf("the filter has\n%s\nthe replay\n%s\nof\n%s", got, want, stream)
		}
		var has []map[string]any
		for ev := range answer.EventsOf([]byte(want)).All() {
			e := map[string]any{}
			if ev.Data != nil && json.Unmarshal(ev.Data, &e) == nil {
				has = append(has, e)
			}
		}
		should := withoutUsage(events)
		if len(has)+len(should) > 0 && !reflect.DeepEqual(has, should) {
			t.Fatalf("the replay has\n%v\nwant\n%v\nof\n%s", has, should, stream)
		}
		if len(should) < len(events) && strings.Count(want, "timings") == strings.Count(stream, "timings") && strings.Contains(want, "timings") {
			moved++
		}
		if shown := replay(t, z, answer.ReplayOptions{Stream: true, IncludeUsage: true}); string(shown) != stream {
			t.Fatalf("with usage:\n%s\nwant\n%s", shown, stream)
		}
	}
	if moved < 50 {
		t.Errorf("timings moved in %d streams", moved)
	}
}
