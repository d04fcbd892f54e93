package align

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/proxy/observe"
)

// readLines calls f with the lines of a packed file below the folder that REPRISE_DATA names, until it returns false.
func readLines(t *testing.T, name string, f func(line []byte) bool) {
	t.Helper()
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: the report is not measured on real prompts")
	}
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() && f(lines.Bytes()) {
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
}

// inputs are the prompts of the calls of a trace.
func inputs(t *testing.T, name string) (all []string) {
	t.Helper()
	readLines(t, "kv/"+name, func(line []byte) bool {
		var c struct{ Input string }
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if c.Input != "" {
			all = append(all, c.Input)
		}
		return true
	})
	return all
}

// dialogues are the texts of count dialogues, user and assistant in turn, of two public sets.
func dialogues(t *testing.T, count int) map[string][][]string {
	sets := map[string][][]string{}
	readLines(t, "dialogue/sgd.jsonl.gz", func(line []byte) bool {
		var d struct{ Turns [][2]string }
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		var talk []string
		for _, turn := range d.Turns {
			talk = append(talk, turn[1])
		}
		sets["sgd"] = append(sets["sgd"], talk)
		return len(sets["sgd"]) < count
	})
	var path []string
	readLines(t, "dialogue/oasst1_en.jsonl.gz", func(line []byte) bool {
		var d struct {
			Depth int
			Text  string
		}
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		if d.Depth < len(path) { // another branch: what was read is a dialogue
			sets["oasst1"] = append(sets["oasst1"], append([]string(nil), path...))
		}
		path = append(path[:min(d.Depth, len(path))], d.Text)
		return len(sets["oasst1"]) < count
	})
	for set, talks := range sets {
		sets[set] = joined(talks)
	}
	return sets
}

// joined makes long dialogues out of short ones.
func joined(talks [][]string) (long [][]string) {
	for _, talk := range talks {
		talk = talk[:len(talk)/2*2]
		if n := len(long); n > 0 && len(long[n-1]) < 30 {
			long[n-1] = append(long[n-1], talk...)
		} else {
			long = append(long, talk)
		}
	}
	return long
}

// prompts are system prompts of real agents: the instructions in the traces.
func prompts(t *testing.T) map[string]string {
	found := map[string]string{"rules": stable}
	for _, input := range inputs(t, "agent_magagent.jsonl.gz") {
		if text, ok := strings.CutPrefix(input, "system: "); ok && found["magagent"] == "" {
			found["magagent"], _, _ = strings.Cut(text, "\n\nuser: ")
		}
	}
	_, text, _ := strings.Cut(inputs(t, "agent_miniswe.jsonl.gz")[0], "<instructions>")
	found["miniswe"], _, _ = strings.Cut(text, "</instructions>")
	return found
}

// planted is a request without or with a defect, before it becomes segments.
type planted struct {
	tools  []string
	system []string // lines
	talk   []string
	now    time.Time
	rng    *rand.Rand
	number int
	user   string
}

func (p *planted) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdef"[p.rng.IntN(16)]
	}
	return string(b)
}

var (
	givenNames  = []string{"Ada", "Bo", "Carla", "Dmitri", "Eve", "Fatou", "Grażyna", "Hiro"}
	familyNames = []string{"Adams", "Brandt", "Chen", "Diallo", "Eriksson", "Fischer", "García", "Horváth"}
)

// line puts a line into the system prompt as its third.
func (p *planted) line(format string, args ...any) {
	at := min(2, len(p.system))
	p.system = append(p.system[:at:at], append([]string{fmt.Sprintf(format, args...)}, p.system[at:]...)...)
}

type defect struct {
	name    string
	class   Class
	segment string
	plant   func(p *planted)
}

// defects change a request; class and segment are what the report must say.
var defects = []defect{
	{"none", "", "", func(*planted) {}},
	{"none, time at the end", "", "", func(p *planted) {
		p.talk[len(p.talk)-1] += "\n\nIt is " + p.now.Format(time.RFC3339)
	}},
	{"RFC 3339 in line 3", Timestamp, "system", func(p *planted) { p.line("Current time: %s", p.now.Format(time.RFC3339Nano)) }},
	{"written time in line 3", Timestamp, "system", func(p *planted) { p.line("It is %s now.", p.now.Format("Monday, January 2, 2006, 3:04 PM")) }},
	{"Unix time in line 3", Timestamp, "system", func(p *planted) { p.line("ts: %d", p.now.UnixMilli()) }},
	{"UUID in line 3", UUID, "system", func(p *planted) {
		p.line("Request-ID: %s-%s-4%s-a%s-%s", p.hex(8), p.hex(4), p.hex(3), p.hex(3), p.hex(12))
	}},
	{"id in line 3", Token, "system", func(p *planted) { p.line("Trace chatcmpl_%s is on.", p.hex(24)) }},
	{"counter in line 3", Number, "system", func(p *planted) { p.line("Requests so far: %d", p.number) }},
	{"user in line 3", Name, "system", func(p *planted) { p.line("You talk to the user %s.", p.user) }},
	{"shuffled tools", ToolOrder, "tools", func(p *planted) {
		p.rng.Shuffle(len(p.tools), func(a, b int) { p.tools[a], p.tools[b] = p.tools[b], p.tools[a] })
	}},
	{"schemas in map order", KeyOrder, "tools", func(p *planted) {
		for i := range p.tools {
			p.tools[i] = toolText(fmt.Sprintf("tool_%d", i), p.rng.Perm(6)...)
		}
	}},
	{"some of the tools", ToolSet, "tools", func(p *planted) {
		skip := p.rng.IntN(len(p.tools))
		p.tools = append(p.tools[:skip:skip], p.tools[skip+1:]...)
	}},
	{"cut history", History, "message", func(p *planted) {
		if n := len(p.talk); n > 21 {
			p.talk = p.talk[n-21:]
		}
	}},
	{"time in the first message", Timestamp, "message", func(p *planted) {
		p.talk = append([]string{"[" + p.now.Format(time.DateTime) + "] " + p.talk[0]}, p.talk[1:]...)
	}},
}

// play plays dialogues, some at a time, in the canonical form of c, and returns the report.
func play(talks [][]string, together int, system string, plant func(*planted), c *Canonicaliser) Report {
	w := NewWatch(0, time.Now)
	rng := rand.New(rand.NewPCG(7, 11))
	now := time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)
	type state struct{ dialogue, turn int }
	open := []state{}
	next, number := 0, 0
	for next < len(talks) || len(open) > 0 {
		for len(open) < together && next < len(talks) {
			open, next = append(open, state{next, 1}), next+1
		}
		i := rng.IntN(len(open))
		s := &open[i]
		number++
		now = now.Add(time.Duration(rng.IntN(40_000)) * time.Millisecond)
		p := planted{system: strings.Split(system, "\n"), talk: append([]string(nil), talks[s.dialogue][:s.turn]...), now: now, rng: rng, number: number,
			user: givenNames[s.dialogue%8] + " " + familyNames[s.dialogue/8%8]}
		for k := range 5 {
			p.tools = append(p.tools, toolText(fmt.Sprintf("tool_%d", k), 0, 1, 2, 3, 4, 5))
		}
		plant(&p)
		w.observe(observe.Stamp{}, shop, c.segments(request(toolListText(p.tools...), strings.Join(p.system, "\n"), p.talk...)))
		if s.turn += 2; s.turn > len(talks[s.dialogue]) {
			open = append(open[:i], open[i+1:]...)
		}
	}
	return w.Report()
}

// segments are those of the body in its canonical form.
func (c *Canonicaliser) segments(all []Segment) []Segment {
	if c == nil {
		return all
	}
	var list [][]byte
	for _, s := range all[1:] {
		list = append(list, s.Text)
	}
	body := slices.Concat([]byte(`{"tools":`), all[0].Text, []byte(`,"messages":[`), bytes.Join(list, []byte(",")), []byte("]}"))
	var form struct {
		Tools    json.RawMessage
		Messages []json.RawMessage
	}
	if err := json.Unmarshal(c.Apply(body), &form); err != nil {
		panic(err)
	}
	all[0].Text = form.Tools
	for i, m := range form.Messages {
		all[i+1].Text = m
	}
	return all
}

// TestLevelsRepair: what a canonical level does to the prompt tokens that are prefilled again.
func TestLevelsRepair(t *testing.T) {
	talks, systems := dialogues(t, 100)["sgd"], prompts(t)
	for _, c := range []struct {
		defect string
		level  Level
		most   float64 // of the tokens, with the level
	}{
		{"schemas in map order", C2, 0}, {"shuffled tools", C2, 1}, {"shuffled tools", C3, 0}, {"RFC 3339 in line 3", C3, 0.5}, {"some of the tools", C3, 1},
	} {
		i := slices.IndexFunc(defects, func(d defect) bool { return d.name == c.defect })
		var before, after [2]float64 // with whole conversations, and with first questions only
		for k, talks := range [2][][]string{talks, firstQuestions(talks)} {
			for _, system := range systems {
				share := func(form *Canonicaliser) float64 {
					a := play(talks, 3, system, defects[i].plant, form).Applications[0]
					return 100 * float64(a.Again) / float64(a.Tokens) / float64(len(systems))
				}
				before[k] += share(nil)
				after[k] += share(NewCanonicaliser(c.level, []*regexp.Regexp{regexp.MustCompile(`^Current time: `)}))
			}
		}
		t.Logf("%s, %s: prefilled again %.0f %% and then %.0f %% of the tokens; of first questions %.0f %% and then %.0f %%", c.defect, c.level, before[0], after[0], before[1], after[1])
		if after[0] > 100*c.most || after[0] > before[0]+1 {
			t.Errorf("%s: %s leaves %.1f %%, of %.1f", c.defect, c.level, after[0], before[0])
		}
	}
}

// firstQuestions are dialogues of one question each.
func firstQuestions(talks [][]string) (first [][]string) {
	for _, talk := range talks {
		for i := 0; i < len(talk); i += 2 {
			first = append(first, talk[i:i+1])
		}
	}
	return first
}

// TestPlantedInDialogues plants defects into applications with real dialogues and system prompts, and counts what the report finds.
func TestPlantedInDialogues(t *testing.T) {
	sets, systems := dialogues(t, 100), prompts(t)
	for _, d := range defects {
		found, missed, other, total := 0, 0, 0, 0
		var again float64
		for set, talks := range sets {
			for name, system := range systems {
				for _, together := range []int{1, 3, 20, 150} {
					a := play(talks, together, system, d.plant, nil).Applications[0]
					ok := false
					for _, p := range a.Places {
						if p.Segment == d.segment && p.Looks == d.class && !ok {
							ok = true
						} else {
							other++
							t.Logf("%s, %s, %s, %d together: %s", d.name, set, name, together, p.Words)
						}
					}
					total++
					again += float64(a.Again) / float64(a.Tokens)
					if ok {
						found++
					} else if d.class == History && together > 20 {
						t.Logf("%s, %s, %s, %d together: not seen, of each conversation some turns only are compared", d.name, set, name, together)
					} else if d.class != "" {
						missed++
						t.Logf("%s, %s, %s, %d together: missed", d.name, set, name, together)
					}
				}
			}
		}
		t.Logf("%-26s %d applications: found %d, missed %d, other places %d, prefilled again %.0f %%", d.name, total, found, missed, other, 100*again/float64(total))
		if missed > 0 || other > 0 {
			t.Errorf("%s: %d missed, %d false", d.name, missed, other)
		}
	}
}
