package answer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/api"
	"reprise/proxy/api/apitest"
	"reprise/proxy/api/registry"
)

// node is a JSON value that keeps the order of its members.
type node struct {
	text  string  // of a value without elements
	kids  []*node // members or elements
	names []string
	open  byte // '{', '[' or 0
}

func parse(d *json.Decoder) *node {
	token, err := d.Token()
	if err != nil {
		return nil
	}
	open, ok := token.(json.Delim)
	if !ok {
		return valueOf(token)
	}
	n := &node{open: byte(open)}
	for d.More() {
		if open == '{' {
			name, _ := d.Token()
			s, _ := name.(string)
			n.names = append(n.names, s)
		}
		kid := parse(d)
		if kid == nil {
			return nil
		}
		n.kids = append(n.kids, kid)
	}
	if _, err := d.Token(); err != nil {
		return nil
	}
	return n
}

func parseText(text string) *node {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return parse(d)
}

func valueOf(v any) *node {
	b, _ := json.Marshal(v)
	return &node{text: string(b)}
}

func (n *node) append(dst []byte) []byte {
	if n.open == 0 {
		return append(dst, n.text...)
	}
	dst = append(dst, n.open)
	for i, kid := range n.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.open == '{' {
			dst = append(strconv.AppendQuote(dst, n.names[i]), ':')
		}
		dst = kid.append(dst)
	}
	return append(dst, n.open+2)
}

func (n *node) clone() *node {
	c := *n
	c.names, c.kids = slices.Clone(n.names), make([]*node, len(n.kids))
	for i, kid := range n.kids {
		c.kids[i] = kid.clone()
	}
	return &c
}

func (n *node) member(name string) *node {
	if i := slices.Index(n.names, name); i >= 0 {
		return n.kids[i]
	}
	return nil
}

func (n *node) set(name string, v *node) {
	if i := slices.Index(n.names, name); i >= 0 {
		n.kids[i] = v
		return
	}
	n.names, n.kids = append(n.names, name), append(n.kids, v)
}

func (n *node) remove(i int) {
	n.kids = slices.Delete(n.kids, i, i+1)
	if n.open == '{' {
		n.names = slices.Delete(n.names, i, i+1)
	}
}

// spot is a value in an event, and where it stands.
type spot struct {
	in   *node
	i    int
	path []int
}

func (s spot) value() *node { return s.in.kids[s.i] }
func (s spot) name() string {
	if s.in.open == '{' {
		return s.in.names[s.i]
	}
	return ""
}

// spots returns all values in n.
func (n *node) spots(path []int) (all []spot) {
	for i, kid := range n.kids {
		at := append(slices.Clone(path), i)
		all = append(append(all, spot{n, i, at}), kid.spots(at)...)
	}
	return all
}

// frame is a block of a stream: an event, or something else.
type frame struct {
	name string // of the event
	data *node
	text string // of a block without data that is JSON
}

// mutant is an answer that is changed.
type mutant struct {
	*rand.Rand
	form   *answer.Form
	frames []frame
	stream bool
}

func newMutant(rng *rand.Rand, form *answer.Form, contentType, body string) *mutant {
	m := &mutant{Rand: rng, form: form, stream: answer.IsStream(contentType)}
	blocks := []string{body}
	if m.stream && form.Lines {
		blocks = strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	} else if m.stream {
		blocks = strings.Split(strings.TrimSuffix(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n"), "\n\n")
	}
	for _, block := range blocks {
		f, data := frame{text: block}, block
		if m.stream && !form.Lines {
			data = ""
			for line := range strings.SplitSeq(block, "\n") {
				if value, ok := strings.CutPrefix(line, "data:"); ok {
					data += value
				} else if value, ok := strings.CutPrefix(line, "event: "); ok {
					f.name = value
				}
			}
		}
		if f.data = parseText(data); f.data != nil && f.data.open != '{' {
			f.data = nil
		}
		m.frames = append(m.frames, f)
	}
	return m
}

func (m *mutant) of(list ...string) string { return list[m.IntN(len(list))] }

// value is a value of any type.
func (m *mutant) value() *node {
	return parseText(m.of(`1`, `0`, `2.50`, `1e400`, `true`, `false`, `null`, `""`, `"x"`, `"stop"`, `"call_cccccccccccc"`, `{}`, `[]`, `{"a":1}`, `{"a":"b"}`, `{"a":{"b":null}}`,
		`["x"]`, `[null]`, `[{}]`, `[{"type":"text","text":"part"}]`, `{"type":"text","text":"part"}`, `[{"type":"reference","reference_ids":[1]}]`, `[{"index":0,"text":"i"}]`,
		`[{"index":1,"id":"call_dddddddddddd","text":"j"},{"index":1,"id":"call_eeeeeeeeeeee"}]`, `[[[[1]]]]`, `"\u0000é😀\\\"{"`, `[{"type":"thinking","thinking":[{"type":"text","text":"t"}]}]`))
}

// event returns an event, nil where there is none; most often one in the middle.
func (m *mutant) event() (int, *node) {
	for range 8 {
		if i := m.IntN(len(m.frames)); m.frames[i].data != nil {
			return i, m.frames[i].data
		}
	}
	return 0, nil
}

// spot returns a value in an event that suits.
func (m *mutant) spot(suits func(s spot) bool) (frame int, s spot, ok bool) {
	frame, event := m.event()
	if event == nil {
		return 0, s, false
	}
	all := event.spots(nil)
	all = slices.DeleteFunc(all, func(s spot) bool { return !suits(s) })
	if len(all) == 0 {
		return 0, s, false
	}
	return frame, all[m.IntN(len(all))], true
}

func anywhere(spot) bool { return true }
func (m *mutant) named(names ...string) func(spot) bool {
	return func(s spot) bool { return slices.Contains(names, s.name()) }
}

// step changes one thing.
func (m *mutant) step() {
	switch m.IntN(17) {
	case 0: // another type
		if _, s, ok := m.spot(anywhere); ok {
			s.in.kids[s.i] = m.value()
		}
	case 1: // nothing
		if _, s, ok := m.spot(anywhere); ok {
			s.in.kids[s.i] = parseText(m.of("null", `""`, "{}", "[]"))
		}
	case 2: // one less
		if _, s, ok := m.spot(anywhere); ok {
			s.in.remove(s.i)
		}
	case 3: // another order of members
		if _, s, ok := m.spot(func(s spot) bool { return len(s.value().names) > 1 }); ok {
			n := s.value()
			m.Shuffle(len(n.kids), func(i, j int) {
				n.kids[i], n.kids[j], n.names[i], n.names[j] = n.kids[j], n.kids[i], n.names[j], n.names[i]
			})
		}
	case 4, 5: // another member, here or in two events
		name, v := m.of("x_new", "note", "annotations", "reasoning_details", "reasoning", "content", "score", "text", "images"), m.value()
		for range 1 + m.IntN(2) {
			if _, s, ok := m.spot(func(s spot) bool { return s.value().open == '{' }); ok {
				s.value().set(name, v.clone())
			}
			if m.IntN(2) == 0 {
				v = m.value()
			}
		}
	case 6: // a member of the event
		if _, event := m.event(); event != nil {
			event.set(m.of("x_new", "citations", "timings", "system_fingerprint", "model", "usage", "created"), m.value())
		}
	case 7: // another index
		if _, s, ok := m.spot(m.named("index", "output_index", "content_index", "summary_index")); ok {
			s.in.kids[s.i] = parseText(m.of("0", "0", "1", "2", "3", "-1", "null", `"0"`, "1.5", "4000000000000"))
		}
	case 8: // another id
		if _, s, ok := m.spot(m.named("id", "item_id", "call_id", "name")); ok {
			s.in.kids[s.i] = parseText(m.of(`""`, "null", `"call_cccccccccccc"`, `"call_aaaaaaaaaaaa"`, `"call_dddddddddddd"`))
		}
	case 9: // parts in place of a text
		if _, s, ok := m.spot(func(s spot) bool { return strings.HasPrefix(s.value().text, `"`) }); ok {
			s.in.kids[s.i] = parseText(m.of(`[{"type":"text","text":`, `[{"type":"output_text","text":`, `[{"text":`) + s.value().text + "}]")
		}
	case 10, 11: // a text in two events
		if i, s, ok := m.spot(func(s spot) bool { return len(s.value().text) > 3 && s.value().text[0] == '"' }); ok {
			var text string
			_ = json.Unmarshal([]byte(s.value().text), &text)
			runes := []rune(text)
			cut := m.IntN(len(runes) + 1)
			second := m.frames[i].data.clone()
			s.in.kids[s.i] = valueOf(string(runes[:cut]))
			at := second
			for _, k := range s.path[:len(s.path)-1] {
				at = at.kids[k]
			}
			at.kids[s.path[len(s.path)-1]] = valueOf(string(runes[cut:]))
			m.insert(i+1, frame{m.frames[i].name, second, ""})
		}
	case 12: // members in two events
		if i, s, ok := m.spot(func(s spot) bool { return s.value().open == '{' && len(s.value().kids) > 0 }); ok {
			second := m.frames[i].data.clone()
			at := second
			for _, k := range s.path {
				at = at.kids[k]
			}
			for k := len(at.kids) - 1; k >= 0; k-- {
				if m.IntN(2) == 0 {
					at.remove(k)
				} else {
					s.value().remove(k)
				}
			}
			m.insert(i+1, frame{m.frames[i].name, second, ""})
		}
	case 13: // two events change places
		i, j := m.IntN(len(m.frames)), m.IntN(len(m.frames))
		if m.IntN(2) == 0 {
			j = min(i+1, len(m.frames)-1)
		}
		m.frames[i], m.frames[j] = m.frames[j], m.frames[i]
	case 14: // an event twice, or never
		i := m.IntN(len(m.frames))
		if m.IntN(2) == 0 && m.frames[i].data != nil {
			m.insert(i, frame{m.frames[i].name, m.frames[i].data.clone(), ""})
		} else if len(m.frames) > 1 {
			m.frames = slices.Delete(m.frames, i, i+1)
		}
	case 15: // the elements of two events in one
		i, event := m.event()
		if event == nil || i+1 >= len(m.frames) || m.frames[i+1].data == nil {
			return
		}
		a, b := event.member("choices"), m.frames[i+1].data.member("choices")
		if a != nil && b != nil && a.open == '[' && b.open == '[' {
			a.kids = append(a.kids, b.kids...)
			m.frames = slices.Delete(m.frames, i+1, i+2)
		}
	case 16: // an element twice
		if _, s, ok := m.spot(func(s spot) bool { return s.value().open == '[' && len(s.value().kids) > 0 }); ok {
			n := s.value()
			n.kids = append(n.kids, n.kids[m.IntN(len(n.kids))].clone())
		}
	}
}

func (m *mutant) insert(i int, f frame) {
	if m.stream {
		m.frames = slices.Insert(m.frames, i, f)
	}
}

// body renders the answer, a stream with lines of one of several kinds.
func (m *mutant) body() []byte {
	var b []byte
	newline, comments, named, cut := "\n", m.IntN(10) == 0, m.IntN(10) > 0, m.IntN(10) == 0
	if m.IntN(10) == 0 {
		newline = "\r\n"
	}
	for _, f := range m.frames {
		text := []byte(f.text)
		if f.data != nil {
			text = f.data.append(nil)
		}
		switch {
		case !m.stream:
			return text
		case m.form.Lines:
			b = append(append(b, text...), newline...)
			continue
		case f.data == nil:
			b = append(append(b, strings.ReplaceAll(f.text, "\n", newline)...), newline+newline...)
			continue
		}
		if comments {
			b = append(b, ": comment"+newline+newline...)
		}
		if f.name != "" && named {
			b = append(b, "event: "+f.name+newline...)
		}
		if at := bytes.IndexByte(text, ','); cut && at > 0 { // an event over two lines, between two tokens
			if json.Valid(append(slices.Clone(text[:at]), '}')) {
				text = []byte(string(text[:at+1]) + newline + "data: " + string(text[at+1:]))
			}
		}
		b = append(append(append(b, "data: "...), text...), newline+newline...)
	}
	return b
}

// mutations is how many mutated answers TestSameMembersOrMiss tries: REPRISE_TEST_MUTANTS, or what takes some seconds.
func mutations() int {
	if n, err := strconv.Atoi(os.Getenv("REPRISE_TEST_MUTANTS")); err == nil {
		return n
	}
	return 10_000
}

// TestSameMembersOrMiss: whatever an upstream sends, the other form of it says the same, member by member, or there is none.
func TestSameMembersOrMiss(t *testing.T) {
	all := slices.DeleteFunc(cases(t), func(c apitest.Case) bool { return registry.APIs.ByPath(c.Path).Answers.Streams == nil })
	seed, _ := strconv.ParseUint(os.Getenv("REPRISE_TEST_SEED"), 10, 64)
	rng := rand.New(rand.NewPCG(seed, 1))
	kept, converted, bad := 0, map[string]int{}, 0
	for i := range mutations() {
		c := all[i%len(all)]
		form := registry.APIs.ByPath(c.Path).Answers
		m := newMutant(rng, form, c.ContentType, c.Body)
		for range 1 + rng.IntN(3) {
			m.step()
		}
		body := m.body()
		v, z, strict := api.Read(form, c.ContentType, body, nil)
		if !strict || z == nil {
			continue
		}
		if v.Keep {
			kept++
		}
		stored, err := registry.APIs.Decode(z.Encode(nil))
		if err != nil {
			t.Fatal(err)
		}
		why, ok := misconverts(stored)
		if why == "" && i%4 == 0 {
			why = readsOtherwise(v, stored, body)
		}
		if ok {
			converted[c.Path+" "+c.ContentType]++
		}
		if why != "" {
			if bad++; bad > 10 {
				t.Fatal("and more")
			}
			t.Errorf("%s, mutant %d of seed %d: %s", c.Name, i, seed, why)
		}
	}
	t.Logf("%d mutants: %d kept, converted %v", mutations(), kept, converted)
	if kept < mutations()/4 || len(converted) != 12 {
		t.Errorf("%d of %d kept, converted %v: the mutations are too rough", kept, mutations(), converted)
	}
}

// oneByOne is an API of whose streams each event is added by itself, also one that repeats the event before.
type oneByOne struct{ answer.Streams }

type eachAdded struct{ answer.Merger }

func (s oneByOne) Merger() answer.Merger { return eachAdded{s.Streams.Merger()} }
func (s oneByOne) Prover(object gjson.Result) answer.Merger {
	return eachAdded{s.Streams.Prover(object)}
}
func (eachAdded) Varies(gjson.Result) []gjson.Result { return nil }

// readsOtherwise returns in what an answer, which was read as v and z, is another one where its events are added one by one.
func readsOtherwise(v answer.Verdict, z *answer.Frozen, body []byte) string {
	form := *z.Form
	form.Streams = oneByOne{form.Streams}
	slowV, slow, _ := api.Read(&form, z.ContentType, body, nil)
	o := answer.ReplayOptions{Stream: !z.Stream, IncludeUsage: true}
	other, _, err := z.Replay(nil, o)
	slowOther, _, slowErr := slow.Replay(nil, o)
	if v != slowV || !bytes.Equal(other, slowOther) || (err == nil) != (slowErr == nil) {
		return fmt.Sprintf("one by one it is %+v, %s, %v\nnot %+v, %s, %v", slowV, slowOther, slowErr, v, other, err)
	}
	return ""
}

// misconverts returns in what the other form of an answer differs, and whether there is one.
func misconverts(z *answer.Frozen) (why string, ok bool) {
	other, _, err := z.Replay(nil, answer.ReplayOptions{Stream: !z.Stream, IncludeUsage: true})
	if err != nil {
		return "", false
	}
	stream, object := z.Body, other
	if !z.Stream {
		stream, object = other, z.Body
	}
	if why = differs(z.Form, stream, object); why != "" {
		why = fmt.Sprintf("%s\n\t%s\n\t%s", why, bytes.ReplaceAll(bytes.TrimSpace(stream), []byte("\n\n"), []byte("\n\t")), object)
	}
	return why, true
}
