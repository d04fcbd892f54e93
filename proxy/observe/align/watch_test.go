package align

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/proxy/observe"
	"reprise/proxy/upstream/prefix"
	"reprise/store"
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

func toolListText(tools ...string) string { return "[" + strings.Join(tools, ",") + "]" }

// TestPlanted: each defect is found at its place, with its class, and costs about what is behind it.
func TestPlanted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &planted{rng: rng}
	hex := p.hex
	tools := []string{toolText("alpha", 1, 2, 3, 4), toolText("beta", 1, 2, 3, 4), toolText("gamma", 1, 2, 3, 4), toolText("delta", 1, 2, 3, 4)}
	long := strings.Repeat(" Please.", 20)
	for _, c := range []struct {
		name string
		make func(i int) []Segment
		want string // the beginning of the sentence, before the cost
		each int64  // tokens, at least
	}{
		{"time", func(i int) []Segment {
			return request("", fmt.Sprintf("You are a clerk.\nBe brief.\nIt is %02d:%02d:%02d.\n%s", i/60, i%60, i*7%60, stable), question(i))
		}, "system, line 3, byte 33 differs in every request: looks like a timestamp", 900},
		{"date and time", func(i int) []Segment {
			return request("", fmt.Sprintf("Now: 2026-11-%02d %02d:%02d\n%s", 1+i%28, i%24, i*7%60, stable), question(i))
		}, "system, line 1, byte 5 differs in every request: looks like a timestamp", 900},
		{"epoch", func(i int) []Segment {
			return request("", fmt.Sprintf("ts=%d\n%s", 1790000000+i*61, stable), question(i))
		},
			"system, line 1, byte 3 differs in every request: looks like a timestamp", 900},
		{"written date", func(i int) []Segment {
			return request("", fmt.Sprintf("Today is %s %d, 2026.\n%s", []string{"January", "February", "March"}[i%3], i%28+1, stable), question(i))
		}, "system, line 1, byte 9 differs in every request: looks like a timestamp", 900},
		{"uuid", func(i int) []Segment {
			return request("", "Request "+hex(8)+"-"+hex(4)+"-"+hex(4)+"-"+hex(4)+"-"+hex(12)+"\n"+stable, question(i))
		}, "system, line 1, byte 8 differs in every request: looks like a UUID", 900},
		{"token", func(i int) []Segment { return request("", "trace req_"+hex(20)+" here\n"+stable, question(i)) },
			"system, line 1, byte 6 differs in every request: looks like a random id", 900},
		{"counter", func(i int) []Segment {
			return request("", fmt.Sprintf("This is call %d.\n%s", i+1, stable), question(i))
		},
			"system, line 1, byte 13 differs in every request: looks like a number", 900},
		{"name", func(i int) []Segment {
			return request("", "You are helping "+givenNames[i%8]+" "+familyNames[i/8%8]+" today.\n"+stable, question(i))
		}, "system, line 1, byte 16 differs in every request: looks like the name of a user or a session", 900},
		{"other text", func(i int) []Segment {
			return request("", "Focus on "+stable[i*61:i*61+40]+".\n"+stable, question(i))
		}, "system, line 1, byte 9 differs in 95 % of the requests: text that changes", 900},
		{"escaped characters", func(i int) []Segment {
			return request("", fmt.Sprintf("<b>\u2028é\"\t\n\nCall %d\n%s", i, stable), question(i))
		}, "system, line 3, byte 17 differs in every request: looks like a number", 900},
		{"white space", func(i int) []Segment {
			return request("", "You are a clerk."+strings.Repeat("\n", 1+i%31)+stable, question(i))
		}, "system, line 2, byte 17 differs in 77 % of the requests: other white space", 900},
		{"order of tools", func(i int) []Segment {
			rng.Shuffle(len(tools), func(a, b int) { tools[a], tools[b] = tools[b], tools[a] })
			return request(toolListText(tools...), stable, question(i))
		}, "tools, tool 1 differs in", 1100},
		{"order of keys", func(i int) []Segment {
			return request(toolListText(toolText("alpha", rng.Perm(5)...), toolText("beta", rng.Perm(5)...)), stable, question(i))
		}, "tools, tool 1 differs in every request: the same JSON members in another order", 1000},
		{"changed tool", func(i int) []Segment {
			return request(toolListText(tools[0], strings.Replace(tools[1], "for the shop", fmt.Sprintf("on day %d of 365", i), 1), tools[2]), stable, question(i))
		}, "tools, tool 2, line 1, byte 27 differs in every request: looks like a number", 1100},
		{"tools now and then", func(i int) []Segment {
			var talk []string
			for k := range 2*i + 1 {
				talk = append(talk, question(k)+long)
			}
			if i%3 == 2 {
				return request("", stable, talk...)
			}
			return request(toolListText(tools...), stable, talk...)
		}, "tools differs in 67 % of the requests: other tools; costs about", 150},
		{"order of text", func(i int) []Segment {
			lines := strings.Split(strings.TrimSpace(stable), "\n")
			rng.Shuffle(5, func(a, b int) { lines[a], lines[b] = lines[b], lines[a] })
			return request("", strings.Join(lines, "\n"), question(i))
		}, "system, line 1, byte 5 differs in", 700},
		{"history", func(i int) []Segment {
			var talk []string
			for k := 2 * i; k < 2*i+8; k++ {
				talk = append(talk, question(k)+long)
			}
			return request("", "Short.", talk...)
		}, "message 1 differs in every request: messages were dropped or put in before it", 250},
		{"time in an old message", func(i int) []Segment {
			return request("", "Short.", fmt.Sprintf("[%02d:%02d] start", i/60, i%60), stable, question(i))
		}, "message 1, line 1, byte 1 differs in every request: looks like a timestamp", 900},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWatch(0, time.Now)
			for i := range 40 {
				w.observe(observe.Stamp{}, shop, c.make(i))
			}
			a := w.Report().Applications[0]
			if len(a.Places) == 0 || !strings.HasPrefix(a.Places[0].Words, c.want) || a.Places[0].Each < c.each {
				t.Errorf("got\n%+vwant %q, %d tokens each", w.Report(), c.want, c.each)
			}
			if len(a.Places) > 1 && c.name != "order of text" {
				t.Errorf("more than one place:\n%+v", w.Report())
			}
			var requests, again int64
			for _, total := range w.Totals() {
				requests, again = requests+total.Requests, again+total.Tokens
			}
			if requests < a.Parted || again < a.Again-int64(len(w.Totals())) {
				t.Errorf("totals have %d requests and %d tokens, the application %d and %d", requests, again, a.Parted, a.Again)
			}
		})
	}
}

// TestAligned: what requests of one application share ends at a natural place, and nothing is reported.
func TestAligned(t *testing.T) {
	tools := []string{toolText("alpha", 1, 2, 3, 4), toolText("beta", 1, 2, 3, 4)}
	list := toolListText(tools...)
	for _, c := range []struct {
		name  string
		make  func(i int) []Segment
		count int // of requests; 0: 100
	}{
		{"equal requests", func(int) []Segment { return request(list, stable, "hi") }, 0},
		{"questions", func(i int) []Segment { return request(list, stable, question(i)) }, 0},
		{"a conversation", func(i int) []Segment {
			var talk []string
			for k := range 2*i + 1 {
				talk = append(talk, question(k))
			}
			return request(list, stable, talk...)
		}, 0},
		{"twenty conversations", func(i int) []Segment {
			var talk []string
			for k := range 2*(i/20) + 1 {
				talk = append(talk, fmt.Sprint(i%20, question(k)))
			}
			return request(list, stable, talk...)
		}, 0},
		{"twenty system prompts with a common end", func(i int) []Segment {
			return request(list, fmt.Sprintf("You are clerk %d.\n%s", i%20, stable), question(i))
		}, 4000},
		{"time at the end", func(i int) []Segment {
			return request(list, stable, question(i)+fmt.Sprintf("\n\nIt is %02d:%02d", i/60, i%60))
		}, 0},
		{"one text that grows", func(i int) []Segment {
			return []Segment{{prefix.Message, say("user", stable[:i*20+100])}}
		}, 0},
		{"moving breakpoints", func(i int) []Segment {
			all := request(list, stable)
			for k := range i + 1 {
				mark := ""
				if k == i {
					mark = `,"cache_control":{"type":"ephemeral"}`
				}
				all = append(all, Segment{prefix.Message, []byte(fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":"%s"%s}]}`, strings.Repeat(question(k), 20), mark))})
			}
			return all
		}, 0},
		{"a list of one text, and the text", func(i int) []Segment {
			all := request(list, stable, question(0)+strings.Repeat(" please", 100), stable[:500], question(i))
			if i%2 == 0 {
				all[2].Text = []byte(`{ "content" : [ {"text":"` + question(0) + strings.Repeat(" please", 100) + `","type":"text"} ] , "role" : "user" }`)
			}
			return all
		}, 0},
		{"another agent with the same messages", func(i int) []Segment {
			if i%2 == 0 {
				return request("", "", question(i/2), stable[i:])
			}
			return request("", "You do something else.", question(i/2), stable[i-1:])
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWatch(0, time.Now)
			for i := range cmp.Or(c.count, 100) {
				w.observe(observe.Stamp{}, shop, c.make(i))
			}
			if a := w.Report().Applications[0]; len(a.Places) > 0 {
				t.Errorf("got\n%+v", w.Report())
			}
		})
	}
}

// TestApplicationsAreApart: another tenant, model, path or namespace is another application.
func TestApplicationsAreApart(t *testing.T) {
	w := NewWatch(0, time.Now)
	for i := range 60 {
		app := shop
		switch i % 5 {
		case 1:
			app.Tenant = "t-2"
		case 2:
			app.Model = "m2"
		case 3:
			app.Path = "/v1/responses"
		case 4:
			app.Namespace = "n"
		}
		w.observe(observe.Stamp{}, app, request("", fmt.Sprintf("For %d:\n%s", i%5, stable), question(i)))
	}
	r := w.Report()
	if len(r.Applications) != 5 {
		t.Fatalf("%d applications", len(r.Applications))
	}
	for _, a := range r.Applications {
		if a.Requests != 12 || a.Compared != 11 || a.Parted != 0 {
			t.Errorf("got %+v", a)
		}
	}
}

// TestBounds: applications, texts and names are bounded, and the least recently seen goes.
func TestBounds(t *testing.T) {
	w := NewWatch(0, time.Now)
	w.limits = limits{4, 64 << 10, 200_000}
	app := func(i int) App { a := shop; a.Tenant = fmt.Sprint("t-", i); return a }
	for i := range 100 {
		w.observe(observe.Stamp{}, shop, request("", stable, question(i)))
		w.observe(observe.Stamp{}, app(i), request("", stable, question(i)))
	}
	r := w.Report()
	names := []string{}
	for _, a := range r.Applications {
		names = append(names, a.Tenant)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"t-1", "t-97", "t-98", "t-99"}) {
		t.Errorf("kept %q", names)
	}
	for i := range 40 { // prompts without end
		w.observe(observe.Stamp{}, app(i%8), request("", strings.Repeat(stable, 20), question(i)))
	}
	var sum int64
	for _, a := range w.apps {
		sum += int64(a.size())
	}
	if sum != w.bytes.Load() || len(w.apps) > 4 || sum > 200_000 && len(w.apps) > 1 {
		t.Errorf("%d applications with %d bytes, counted as %d", len(w.apps), sum, w.bytes.Load())
	}
	long := shop
	long.Model = strings.Repeat("m", maxName+1)
	w.observe(observe.Stamp{}, long, request("", stable))
	before := w.Report()
	if w.Forget(store.Filter{Entry: 1}); !reflect.DeepEqual(w.Report(), before) {
		t.Errorf("the report has changed: %+v", w.Report())
	}
	sum = 0
	for _, a := range w.apps {
		sum += int64(a.size())
		if a.heads != nil || a.next.used != 0 || !reflect.DeepEqual(a.latest, [slots]prompt{}) || a.sent != [beginnings]uint32{} {
			t.Errorf("something of the prompts of %s is left", a.name.Tenant)
		}
	}
	if sum != w.bytes.Load() {
		t.Errorf("%d bytes, counted as %d", sum, w.bytes.Load())
	}
	w.observe(observe.Stamp{}, app(1), request("", stable))
	w.Forget(store.Filter{})
	if r := w.Report(); len(r.Applications) != 0 || w.bytes.Load() != 0 {
		t.Errorf("after a purge: %+v, %d bytes", r, w.bytes.Load())
	}
}

// TestOddSegments: none of them is a reason to fail.
func TestOddSegments(t *testing.T) {
	w := NewWatch(0, time.Now)
	w.limits = limits{256, 100, 16 << 20}
	texts := []string{"", "{", `"`, `"\`, `[`, `[1,`, `[{"name":"a"},{"name":"b"}]`, `[{"name":"b"},{"name":"a"}]`, `{"role":"user","content":"a\u00`, `null`, `x`, strings.Repeat(`[`, 300), stable}
	for i, a := range texts {
		for k, b := range texts {
			w.observe(observe.Stamp{}, shop, []Segment{{prefix.Tools, []byte(a)}, {prefix.System, []byte(b)}, {prefix.Message, []byte(texts[(i+k)%len(texts)])}, {77, []byte(a)}})
		}
	}
	var many []Segment
	for range 3 * maxSegments {
		many = append(many, Segment{prefix.Message, []byte(`"a"`)})
	}
	for range 3 {
		w.observe(observe.Stamp{}, shop, many)
		w.observe(observe.Stamp{}, shop, nil)
	}
	w.Report()
}

// FuzzObserve: no pair of requests is a reason to fail, and nothing is lost that is not there.
func FuzzObserve(f *testing.F) {
	f.Add([]byte(`[{"name":"a"},{"name":"b"}]`), []byte(`[{"name":"b"},{"name":"a"}]`), []byte(`{"role":"system","content":"a\nb 12:30 c"}`), []byte(`{"role":"system","content":"a\nb 12:31 c"}`))
	f.Add([]byte(`{"a":"\u00`), []byte(`{"a":"\`), []byte(stable), []byte(stable[1:]))
	f.Fuzz(func(t *testing.T, a, b, c, d []byte) {
		w := NewWatch(0, time.Now)
		w.limits = limits{256, 2000, 16 << 20}
		for i := range 4 {
			w.observe(observe.Stamp{}, shop, []Segment{{prefix.Tools, a}, {prefix.System, c}, {prefix.Message, b}, {prefix.Message, d}}[i/3:])
			w.observe(observe.Stamp{}, shop, []Segment{{prefix.Tools, b}, {prefix.System, d}, {prefix.Message, a}, {prefix.Message, c}})
		}
		r := w.Report().Applications[0]
		if r.Again > r.Tokens || r.Again < 0 || r.Parted > r.Compared || r.Compared > r.Requests {
			t.Errorf("got %+v", r)
		}
	})
}

// TestNoTextInReport: what varies and what does not stay out of the report.
func TestNoTextInReport(t *testing.T) {
	w := NewWatch(0, time.Now)
	for i := range 40 {
		w.observe(observe.Stamp{}, shop, request(toolListText(toolText("secrettool", i, 40-i)), fmt.Sprintf("secretword %d\n%s", i, stable), question(i)))
	}
	b, err := json.Marshal(w.Report())
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); strings.Contains(text, "secret") || strings.Contains(text, "Rule") || !strings.Contains(text, `"looks_like":"number"`) {
		t.Errorf("got %s", text)
	}
}

// TestConcurrent: requests, reports and purges at once, for the race detector.
func TestConcurrent(t *testing.T) {
	w := NewWatch(0, time.Now)
	w.limits = limits{3, 64 << 10, 100_000}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				app := shop
				app.Tenant = fmt.Sprint("t-", (g+i)%5)
				w.observe(observe.Stamp{}, app, request("", fmt.Sprintf("Call %d\n%s", i, stable), question(i)))
				if i%50 == g {
					w.Report()
				}
				if i == 100 && g == 0 {
					w.Forget(store.Filter{})
					w.Forget(store.Filter{Entry: 1})
				}
			}
		})
	}
	wg.Wait()
	w.Forget(store.Filter{})
	if n := w.bytes.Load(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

// TestObserveAllocates: nothing, once an application has been seen.
func TestObserveAllocates(t *testing.T) {
	w := NewWatch(0, time.Now)
	all := make([][]Segment, 200)
	for i := range all {
		all[i] = request(toolListText(toolText("a", i%4, 5, 6), toolText("b", 5, i%4+7)), fmt.Sprintf("Call %d\n%s", i, stable), question(i))
		w.observe(observe.Stamp{}, shop, all[i])
	}
	i := 0
	if n := testing.AllocsPerRun(1000, func() { i++; w.observe(observe.Stamp{}, shop, all[i%len(all)]) }); n > 0 {
		t.Errorf("a request costs %v allocations", n)
	}
}
