package align

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/proxy/upstream/prefix"
)

// stable is a system prompt of several lines.
var stable = func() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "Rule %d: answer the question about orders, refunds and deliveries of section %d politely.\n", i, i*7)
	}
	return b.String()
}()

var shop = App{Tenant: "t-1", Model: "m", Path: "/v1/chat/completions"}

// request is the segments of a request.
func request(tools, system string, talk ...string) (all []Segment) {
	if tools != "" {
		all = append(all, Segment{prefix.Tools, []byte(tools)})
	}
	if system != "" {
		all = append(all, Segment{prefix.System, say("system", system)})
	}
	for i, text := range talk {
		all = append(all, Segment{prefix.Message, say([]string{"user", "assistant"}[i%2], text)})
	}
	return all
}

func say(role, text string) []byte {
	b, _ := json.Marshal(map[string]string{"content": text})
	return append([]byte(`{"role":"`+role+`",`), b[1:]...)
}

func question(i int) string {
	return fmt.Sprintf("%s %d?", []string{"Where is parcel", "How much is", "Can I return item", "Who signed for"}[i%4], i*31)
}

// tool is a tool with four parameters in the order of their numbers.
func toolText(name string, order ...int) string {
	var props []string
	for _, i := range order {
		props = append(props, fmt.Sprintf(`"p%d":{"type":"string","description":"parameter %d of the tool"}`, i, i))
	}
	return `{"type":"function","function":{"name":"` + name + `","description":"Does what ` + name + ` does for the shop","parameters":{"type":"object","properties":{` +
		strings.Join(props, ",") + `}}}}`
}

func toolList_(tools ...string) string { return "[" + strings.Join(tools, ",") + "]" }

// TestPlanted: each defect is found at its place, with its class, and costs about what is behind it.
func TestPlanted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	hex := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "0123456789abcdef"[rng.IntN(16)]
		}
		return string(b)
	}
	names := []string{"Alice", "Bob Smith", "Chandra", "Dörte", "Emeka", "Fatima al-Sayed", "Guo", "Hans-Peter"}
	tools := []string{toolText("alpha", 1, 2, 3, 4), toolText("beta", 1, 2, 3, 4), toolText("gamma", 1, 2, 3, 4), toolText("delta", 1, 2, 3, 4)}
	for _, c := range []struct {
		name string
		make func(i int) []Segment
		want string // the place, without the cost
		each int64  // tokens, at least
	}{
		{"time", func(i int) []Segment {
			return request("", fmt.Sprintf("You are a clerk.\nBe brief.\nIt is %02d:%02d:%02d.\n%s", i/60, i%60, i*7%60, stable), question(i))
		}, "system, line 3, byte 33 differs in every request: looks like a timestamp", 800},
		{"date and time", func(i int) []Segment {
			return request("", fmt.Sprintf("Now: 2026-11-%02d %02d:%02d\n%s", 1+i%28, i%24, i*7%60, stable), question(i))
		}, "system, line 1, byte 5 differs in every request: looks like a timestamp", 800},
		{"epoch", func(i int) []Segment {
			return request("", fmt.Sprintf("ts=%d\n%s", 1790000000+i*61, stable), question(i))
		},
			"system, line 1, byte 3 differs in every request: looks like a timestamp", 800},
		{"written date", func(i int) []Segment {
			return request("", fmt.Sprintf("Today is %s %d, 2026.\n%s", []string{"January", "February", "March"}[i%3], i%28+1, stable), question(i))
		}, "system, line 1, byte 9 differs in every request: looks like a timestamp", 800},
		{"uuid", func(i int) []Segment {
			return request("", "Request "+hex(8)+"-"+hex(4)+"-"+hex(4)+"-"+hex(4)+"-"+hex(12)+"\n"+stable, question(i))
		}, "system, line 1, byte 8 differs in every request: looks like a UUID", 800},
		{"token", func(i int) []Segment { return request("", "trace req_"+hex(20)+" here\n"+stable, question(i)) },
			"system, line 1, byte 6 differs in every request: looks like a random id", 800},
		{"counter", func(i int) []Segment {
			return request("", fmt.Sprintf("This is call %d.\n%s", i+1, stable), question(i))
		},
			"system, line 1, byte 13 differs in every request: looks like a number", 800},
		{"name", func(i int) []Segment {
			return request("", "You are helping "+names[i%8]+" today.\n"+stable, question(i))
		}, "", 0},
		{"white space", func(i int) []Segment {
			return request("", "You are a clerk."+strings.Repeat("\n", 1+i%7)+stable, question(i))
		}, "", 0},
		{"order of tools", func(i int) []Segment {
			rng.Shuffle(len(tools), func(a, b int) { tools[a], tools[b] = tools[b], tools[a] })
			return request(toolList_(tools...), stable, question(i))
		}, "", 0},
		{"order of keys", func(i int) []Segment {
			return request(toolList_(toolText("alpha", rng.Perm(4)...), toolText("beta", rng.Perm(4)...)), stable, question(i))
		}, "", 0},
		{"history", func(i int) []Segment {
			var talk []string
			for k := 2 * i; k < 2*i+8; k++ {
				talk = append(talk, question(k)+strings.Repeat(" Please.", 20))
			}
			return request("", "Short.", talk...)
		}, "", 0},
		{"time in an old message", func(i int) []Segment {
			return request("", "Short.", fmt.Sprintf("[%02d:%02d] start", i/60, i%60), stable, question(i))
		}, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWatch(Options{})
			for i := range 40 {
				w.Observe(shop, c.make(i))
			}
			t.Logf("\n%s", w.Report())
		})
	}
}
