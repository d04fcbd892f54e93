package answer_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"reprise/proxy/answer"
)

// This file is the oracle of conversions. It knows the formats of streams as their vendors document them, and nothing of the code under test: it
// collects, for each member of the object, the fragments that events have for it, and compares them with its value.

// differs returns in what an object differs from a stream; "" where both say the same.
func differs(form *answer.Form, stream, object []byte) string {
	var o any
	d := json.NewDecoder(strings.NewReader(string(object)))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		return fmt.Sprint("object: ", err)
	}
	all, err := eventsOf(form, stream)
	if err != nil {
		return fmt.Sprint("stream: ", err)
	}
	root, _ := o.(map[string]any)
	switch {
	case form == responses:
		return responseDiffers(all, root)
	case form == messages:
		return messageDiffers(all, root)
	case form.Lines:
		return linesDiffer(all, root)
	}
	return choicesDiffer(all, root)
}

// eventsOf returns the data of the events of a stream, without the sentinel [DONE].
func eventsOf(form *answer.Form, stream []byte) (all []map[string]any, err error) {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(stream), "\ufeff"))
	var blocks []string
	if form.Lines {
		blocks = strings.Split(text, "\n")
	} else {
		ended := strings.Split(text, "\n\n")
		for _, block := range ended[:len(ended)-1] {
			var data []string
			for line := range strings.SplitSeq(block, "\n") {
				if value, ok := strings.CutPrefix(line, "data:"); ok {
					data = append(data, strings.TrimPrefix(value, " "))
				}
			}
			blocks = append(blocks, strings.Join(data, "\n"))
		}
	}
	for _, data := range blocks {
		if data = strings.TrimSpace(data); data == "" || data == "[DONE]" {
			continue
		}
		var event map[string]any
		d := json.NewDecoder(strings.NewReader(data))
		d.UseNumber()
		if err := d.Decode(&event); err != nil {
			return nil, err
		}
		all = append(all, event)
	}
	return all, nil
}

// empty reports whether a value says nothing.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, member := range v {
			if !empty(member) {
				return false
			}
		}
		return true
	}
	return false
}

func filled(all []any) (rest []any) {
	for _, v := range all {
		if !empty(v) {
			rest = append(rest, v)
		}
	}
	return rest
}

// fragments are what events have for one member.
type fragments struct {
	path  string
	all   []any
	grows bool // texts and lists are fragments that come one after the other; false: they are said again
}

func (f fragments) member(name string) fragments {
	m := fragments{path: f.path + "." + name, grows: f.grows && !slices.Contains(naming, name)}
	for _, v := range f.all {
		if of, ok := v.(map[string]any); ok && of[name] != nil {
			m.all = append(m.all, of[name])
		}
	}
	return m
}

func (f fragments) name() string { return f.path[strings.LastIndexByte(f.path, '.')+1:] }

func (f fragments) differ(v any) string {
	return fmt.Sprintf("%s: %.200s for %.400s", f.path, show(v), show(f.all))
}

func show(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// equal reports whether v is what each fragment says.
func (f fragments) equal(v any) string {
	for _, one := range filled(f.all) {
		if !same(one, v) {
			return f.differ(v)
		}
	}
	if len(filled(f.all)) == 0 && !empty(v) {
		return f.differ(v)
	}
	return ""
}

// same compares two values, of which a member that says nothing is as good as none.
func same(a, b any) bool {
	if empty(a) || empty(b) {
		return empty(a) && empty(b)
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for name := range merged(a, b) {
			if !same(a[name], b[name]) {
				return false
			}
		}
		return true
	}
	return a == b
}

func merged(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// compare returns in what v differs from the fragments.
func (f fragments) compare(v any) string {
	given := filled(f.all)
	if _, text := v.(string); f.name() == "name" && !text {
		f.grows = false
	}
	switch v := v.(type) {
	case map[string]any:
		if len(given) == 0 && empty(v) {
			return ""
		}
		if f.name() == "name" {
			return f.equal(v)
		}
		return f.compareMembers(v)
	case []any:
		if f.grows && len(given) > 0 {
			return f.compareList(v)
		}
	case string:
		if f.grows && len(given) > 0 {
			return f.compareText(v)
		}
	}
	return f.equal(v)
}

func (f fragments) compareMembers(v map[string]any) string {
	names := maps.Clone(v)
	f.all = filled(f.all)
	for _, one := range f.all {
		m, ok := one.(map[string]any)
		if !ok {
			return f.differ(v)
		}
		maps.Copy(names, m)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if why := f.member(name).compare(v[name]); why != "" {
			return why
		}
	}
	return ""
}

// Members of a growing value that only name it, and those that are known to be text.
var (
	naming = []string{"role", "type", "id", "format", "call_id", "index", "model", "object", "created_at"}
	texts  = []string{"content", "reasoning", "reasoning_content", "text", "refusal", "arguments", "thinking", "input", "response", "signature"}
)

func (f fragments) compareText(v string) string {
	joined, once := "", true
	given := filled(f.all)
	for _, one := range given {
		text, ok := one.(string)
		if !ok {
			return f.differ(v)
		}
		joined += text
		once = once && text == given[0]
	}
	switch {
	case f.name() == "name" && once:
		joined = given[0].(string)
	case once && v == given[0] && !slices.Contains(texts, f.name()): // nobody says whether an unknown member is text
		return ""
	}
	if joined != v {
		return f.differ(v)
	}
	return ""
}

// compareList compares the elements of lists. A text in a list is a part of it.
func (f fragments) compareList(v []any) string {
	said := filled(f.all)
	if len(said) == 1 && reflect.DeepEqual(said[0], any(v)) { // what came once is as it came, whatever it means
		return ""
	}
	var elements []any
	for _, one := range said {
		switch one := one.(type) {
		case []any:
			elements = append(elements, one...)
		case string:
			elements = append(elements, map[string]any{"type": "text", "text": one})
		default:
			return f.differ(v)
		}
	}
	groups, indexed := grouped(elements)
	switch indexed {
	case -1:
		return f.path + " has a strange index"
	case 0:
		return f.compareParts(joinParts(elements), joinParts(v))
	case len(elements):
		sort.SliceStable(groups, func(i, j int) bool { return groups[i].index < groups[j].index })
	default: // nobody says where those without an index stand
		if why := f.compareAnyOrder(groups, v); why == "" {
			return ""
		}
		return f.compareParts(joinParts(elements), joinParts(v))
	}
	if len(groups) != len(v) {
		return f.differ(v)
	}
	for i, g := range groups {
		if why := g.compare(f.path, v[i]); why != "" {
			return why
		}
	}
	return ""
}

func (f fragments) compareAnyOrder(groups []*group, v []any) string {
	if len(groups) != len(v) {
		return f.differ(v)
	}
	rest := slices.Clone(v)
	for _, g := range groups {
		at := slices.IndexFunc(rest, func(e any) bool { return g.compare(f.path, e) == "" })
		if at < 0 {
			return f.differ(v)
		}
		rest = slices.Delete(rest, at, at+1)
	}
	return ""
}

func (f fragments) compareParts(said, v []any) string {
	if len(said) != len(v) {
		return f.differ(v)
	}
	for i := range v {
		if !same(normal(said[i]), normal(v[i])) {
			return fragments{path: fmt.Sprint(f.path, "[]"), all: said[i : i+1]}.differ(v[i])
		}
	}
	return ""
}

// group is the fragments of one element of a list.
type group struct {
	index int64
	id    string
	all   []any
}

// compare compares an element, which may or may not have the index by which the events name it.
func (g *group) compare(path string, v any) string {
	f := fragments{path + "[]", nil, true}
	for _, one := range g.all {
		if m, ok := one.(map[string]any); ok {
			m = maps.Clone(m)
			delete(m, "index")
			one = m
		}
		f.all = append(f.all, one)
	}
	if m, ok := v.(map[string]any); ok {
		m = maps.Clone(m)
		delete(m, "index")
		v = m
	}
	if len(f.all) == 1 && !reflect.DeepEqual(f.all[0], map[string]any{}) && empty(f.all[0]) != empty(v) {
		return f.differ(v)
	}
	return f.compare(v)
}

// grouped groups elements by their index, and returns how many have one, -1 where one is no whole number. Another id under a known index names another element; one without an index is an element of its own.
func grouped(elements []any) (groups []*group, indexed int) {
	latest := map[int64]*group{}
	for _, e := range elements {
		m, _ := e.(map[string]any)
		number, ok := m["index"].(json.Number)
		index, err := number.Int64()
		if ok && err != nil {
			return nil, -1
		}
		if !ok {
			groups = append(groups, &group{all: []any{e}})
			continue
		}
		indexed++
		id := ""
		if v := m["id"]; v != nil && v != "" {
			id = show(v)
		}
		g := latest[index]
		if g == nil || id != "" && g.id != "" && g.id != id {
			at := slices.IndexFunc(groups, func(o *group) bool { return o.index == index && o.id == id && latest[index] != nil })
			if g == nil || at < 0 {
				groups = append(groups, &group{index: index})
				at = len(groups) - 1
			}
			g = groups[at]
			latest[index] = g
		}
		if id != "" {
			g.id = id
		}
		g.all = append(g.all, e)
	}
	return groups, indexed
}

// joinParts joins parts that stand side by side and differ in their text only, however they were cut.
func joinParts(parts []any) (joined []any) {
	for _, p := range parts {
		if n := len(joined); n > 0 {
			if both, ok := joinTwo(joined[n-1], p); ok {
				joined[n-1] = both
				continue
			}
		}
		joined = append(joined, p)
	}
	return joined
}

// normal joins the parts in a part.
func normal(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	m = maps.Clone(m)
	for _, name := range textNames {
		if list, ok := m[name].([]any); ok {
			list = joinParts(list)
			for i := range list {
				list[i] = normal(list[i])
			}
			m[name] = list
		}
	}
	return m
}

var textNames = []string{"text", "thinking", "reasoning", "refusal", "summary"}

func joinTwo(a, b any) (any, bool) {
	first, ok1 := a.(map[string]any)
	second, ok2 := b.(map[string]any)
	_, isPart := first["type"].(string)
	if !ok1 || !ok2 || !isPart || first["id"] != nil || second["id"] != nil || len(first) != len(second) {
		return nil, false
	}
	both, joins := map[string]any{}, false
	for name, v := range first {
		w, ok := second[name]
		text1, s1 := v.(string)
		text2, s2 := w.(string)
		list1, l1 := v.([]any)
		list2, l2 := w.([]any)
		isText := slices.Contains(textNames, name)
		switch {
		case ok && isText && s1 && s2:
			both[name], joins = text1+text2, true
		case ok && isText && l1 && l2:
			both[name], joins = append(slices.Clone(list1), list2...), true
		case ok && reflect.DeepEqual(v, w):
			both[name] = v
		default:
			return nil, false
		}
	}
	return both, joins
}

// choicesDiffer compares chunks with the answer of the chat or the completions API.
func choicesDiffer(chunks []map[string]any, object map[string]any) string {
	top := fragments{path: ""}
	var choices, usage []any
	for _, c := range chunks {
		c = maps.Clone(c)
		if !empty(c["choices"]) {
			list, ok := c["choices"].([]any)
			if !ok {
				return "choices are no list"
			}
			choices = append(choices, list...)
		}
		usage = append(usage, c["usage"])
		delete(c, "choices")
		delete(c, "usage")
		delete(c, "object")
		delete(c, "obfuscation")
		top.all = append(top.all, c)
	}
	rest := maps.Clone(object)
	for _, name := range []string{"id", "created"} {
		if why := oneOf(top.member(name), rest[name]); why != "" {
			return why
		}
		for i := range top.all {
			delete(top.all[i].(map[string]any), name)
		}
		delete(rest, name)
	}
	if name := rest["object"]; !empty(name) && name != "chat.completion" && name != "text_completion" {
		return "object: " + show(name)
	}
	got, _ := rest["choices"].([]any)
	if why := lastSaid("usage", usage, rest["usage"]); why != "" {
		return why
	}
	if why := lastSaid("timings", top.member("timings").all, rest["timings"]); why != "" {
		return why
	}
	for i := range top.all {
		delete(top.all[i].(map[string]any), "timings")
	}
	delete(rest, "timings")
	delete(rest, "object")
	delete(rest, "choices")
	delete(rest, "usage")
	if why := top.compare(rest); why != "" {
		return why
	}
	return compareChoices(choices, got)
}

func compareChoices(said, got []any) string {
	byIndex := map[int64][]any{}
	for _, c := range said {
		m, ok := c.(map[string]any)
		if !ok {
			return "a choice is no object"
		}
		number, ok := m["index"].(json.Number)
		index, err := number.Int64()
		if m["index"] != nil && (!ok || err != nil) {
			return "a strange index"
		}
		byIndex[index] = append(byIndex[index], m)
	}
	if len(byIndex) != len(got) {
		return fmt.Sprintf("%d choices for %d", len(got), len(byIndex))
	}
	for _, index := range slices.Sorted(maps.Keys(byIndex)) {
		at := slices.IndexFunc(got, func(c any) bool {
			m, _ := c.(map[string]any)
			return m["index"] == json.Number(fmt.Sprint(index)) || m["index"] == nil && index == 0
		})
		if at < 0 {
			return fmt.Sprintf("no choice %d", index)
		}
		choice, _ := got[at].(map[string]any)
		f := fragments{path: "choices[]", all: byIndex[index]}
		for _, name := range []string{"index", "delta", "message", "text", "logprobs", "token_ids"} {
			part := f.member(name)
			part.grows = true
			for j, one := range f.all {
				m := maps.Clone(one.(map[string]any))
				delete(m, name)
				f.all[j] = m
			}
			v := choice[name]
			switch name {
			case "index":
				continue
			case "delta":
				v = choice["message"]
				part.all, v = withoutRole(part, v)
			case "message":
				if len(filled(part.all)) > 0 {
					return part.differ(nil)
				}
				continue
			}
			if why := part.compare(v); why != "" {
				return why
			}
		}
		rest := maps.Clone(choice)
		for _, name := range []string{"index", "message", "text", "logprobs", "token_ids"} {
			delete(rest, name)
		}
		if why := f.compare(rest); why != "" {
			return why
		}
	}
	return ""
}

// withoutRole removes the role where one side has none and the other has the only one that there is.
func withoutRole(f fragments, v any) (said []any, rest any) {
	m, _ := v.(map[string]any)
	roles := filled(f.member("role").all)
	without := func(v any) any {
		m, ok := v.(map[string]any)
		if !ok || m["role"] != "assistant" {
			return v
		}
		m = maps.Clone(m)
		delete(m, "role")
		return m
	}
	switch {
	case len(roles) == 0:
		return f.all, without(v)
	case empty(m["role"]) && (m != nil || empty(v)):
		for _, one := range f.all {
			said = append(said, without(one))
		}
		return said, v
	}
	return f.all, v
}

// oneOf: ids and times of chunks may differ, and a replay has others.
func oneOf(f fragments, v any) string {
	given := filled(f.all)
	if len(given) == 0 && empty(v) || slices.ContainsFunc(f.all, func(one any) bool { return reflect.DeepEqual(one, v) }) {
		return ""
	}
	return f.differ(v)
}

// lastSaid: counts are said again as they grow, and the last ones count. No name gets lost.
func lastSaid(name string, all []any, v any) string {
	all = slices.DeleteFunc(slices.Clone(all), func(v any) bool { return v == nil || v == "" || show(v) == "{}" })
	if len(all) == 0 {
		if !empty(v) {
			return name + " was never said"
		}
		return ""
	}
	if !same(all[len(all)-1], v) {
		return fmt.Sprintf("%s: %s, last said %s", name, show(v), show(all[len(all)-1]))
	}
	return ""
}

// linesDiffer compares the lines of Ollama with its object.
func linesDiffer(lines []map[string]any, object map[string]any) string {
	growing := []string{"message", "response", "thinking", "logprobs"}
	names := maps.Clone(object)
	f := fragments{path: ""}
	for i, l := range lines {
		if done, _ := l["done"].(bool); done != (i == len(lines)-1) {
			return "a line behind the end, or none"
		}
		maps.Copy(names, l)
		f.all = append(f.all, l)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		m := f.member(name)
		m.grows = slices.Contains(growing, name)
		why := ""
		switch v := object[name]; name {
		case "created_at":
			why = oneOf(m, v)
		case "done":
			if v != true {
				why = "not done"
			}
		case "message":
			m.all, v = withoutRole(m, v)
			why = m.compare(v)
		default:
			why = m.compare(v)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// messageDiffers compares the events of the Messages API with a message: they are turned to fragments of it.
func messageDiffers(events []map[string]any, object map[string]any) string {
	type block struct {
		all       []any
		input     string
		begun     map[string]any
		signature any
		open      bool
	}
	var start map[string]any
	var blocks []*block
	usage, set := map[string]any{}, map[string]any{}
	count := func(v any) {
		m, _ := v.(map[string]any)
		for name, n := range m {
			if n != nil {
				usage[name] = n
			}
		}
	}
	stopped := false
	for _, e := range events {
		kind, _ := e["type"].(string)
		if stopped && kind != "ping" {
			return "an event behind the end: " + kind
		}
		number, _ := e["index"].(json.Number)
		index, err := number.Int64()
		var of *block
		if err == nil && index >= 0 && index < int64(len(blocks)) {
			of = blocks[index]
		}
		switch kind {
		case "ping":
		case "message_start":
			m, ok := e["message"].(map[string]any)
			if !ok || start != nil || !empty(m["content"]) {
				return "a strange message_start"
			}
			start = maps.Clone(m)
			count(m["usage"])
			delete(start, "usage")
			delete(start, "content")
		case "content_block_start":
			m, _ := e["content_block"].(map[string]any)
			if err != nil || index != int64(len(blocks)) {
				return "a strange content_block_start"
			}
			blocks = append(blocks, &block{all: []any{e["content_block"]}, begun: m, open: true})
		case "content_block_delta":
			d, _ := e["delta"].(map[string]any)
			kind, _ := d["type"].(string)
			name := map[string]string{"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature", "citations_delta": "citation",
				"input_json_delta": "partial_json"}[kind]
			if of == nil || !of.open || name == "" {
				return "a strange delta " + kind
			}
			for member, v := range d {
				if member != "type" && member != "estimated_tokens" && member != name && !empty(v) {
					return "a delta has " + member
				}
			}
			switch name {
			case "citation":
				of.all = append(of.all, map[string]any{"citations": []any{d[name]}})
			case "partial_json":
				text, ok := d[name].(string)
				if !ok && d[name] != nil {
					return "a fragment of JSON is no text"
				}
				of.input += text
			case "signature": // it comes as a whole, and counts in place of an earlier one
				if !empty(d[name]) {
					of.signature = d[name]
				}
			default:
				of.all = append(of.all, map[string]any{name: d[name]})
			}
		case "content_block_stop":
			if of == nil || !of.open {
				return "a strange content_block_stop"
			}
			of.open = false
		case "message_delta":
			d, _ := e["delta"].(map[string]any)
			for _, m := range []map[string]any{d, e} {
				for name, v := range m {
					if name == "stop_reason" && set[name] != nil && v != nil && !same(set[name], v) {
						return "two stop reasons"
					}
					if v != nil && (name != "delta" && name != "usage" && name != "type" || len(m) == len(d) && name != "delta" && same(m, d)) {
						set[name] = v
					}
				}
			}
			count(e["usage"])
		case "message_stop":
			stopped = true
		default:
			return "an event " + kind
		}
	}
	if start == nil || !stopped {
		return "a stream without its beginning or its end"
	}
	for name, v := range set {
		start[name] = v
	}
	rest := maps.Clone(object)
	content, _ := rest["content"].([]any)
	if !same(usage, rest["usage"]) {
		return fmt.Sprintf("usage %s for %s", show(rest["usage"]), show(usage))
	}
	delete(rest, "usage")
	delete(rest, "content")
	if why := (fragments{path: "", all: []any{start}}).compare(rest); why != "" {
		return why
	}
	if len(content) != len(blocks) {
		return fmt.Sprintf("%d blocks for %d", len(content), len(blocks))
	}
	for i, b := range blocks {
		if b.open {
			return "a block is open"
		}
		if strings.TrimSpace(b.input) != "" {
			var v any
			d := json.NewDecoder(strings.NewReader(b.input))
			d.UseNumber()
			if d.Decode(&v) != nil || !empty(b.begun["input"]) {
				return "a strange input"
			}
			b.all = append(b.all, map[string]any{"input": v})
		}
		if b.signature != nil {
			begun := maps.Clone(b.begun)
			delete(begun, "signature")
			b.all[0] = begun
			b.all = append(b.all, map[string]any{"signature": b.signature})
		}
		if why := blockDiffers(fragments{path: fmt.Sprintf("content[%d]", i), all: b.all}, content[i]); why != "" {
			return why
		}
	}
	return ""
}

// blockDiffers compares a block, of which only texts and citations grow.
func blockDiffers(f fragments, v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return f.compare(v)
	}
	names := maps.Clone(m)
	for _, one := range f.all {
		of, _ := one.(map[string]any)
		maps.Copy(names, of)
	}
	for name := range names {
		part := f.member(name)
		part.grows = name == "text" || name == "thinking"
		if _, ok := m[name].([]any); ok && name == "citations" {
			var said []any
			for _, one := range f.member(name).all {
				some, _ := one.([]any)
				said = append(said, some...)
			}
			part.all = []any{said}
		}
		if why := part.compare(m[name]); why != "" {
			return why
		}
	}
	return ""
}

// Members of a response, an item or a part that change while it is made.
var (
	changing = []string{"status", "output", "usage", "completed_at", "error", "incomplete_details", "service_tier"}
	growing  = []string{"status", "content", "summary", "arguments", "input", "text", "refusal", "annotations", "logprobs"}
)

// saidTexts are the events of Responses that have a fragment of a text: the list of its part, and its member.
var saidTexts = map[string][2]string{
	"response.output_text": {"content", "text"}, "response.refusal": {"content", "refusal"}, "response.reasoning_text": {"content", "text"},
	"response.reasoning_summary_text": {"summary", "text"}, "response.function_call_arguments": {"", "arguments"},
	"response.mcp_call_arguments": {"", "arguments"}, "response.custom_tool_call_input": {"", "input"},
}

// responseDiffers compares the events of a Responses stream with the response.
func responseDiffers(events []map[string]any, object map[string]any) string {
	items, _ := object["output"].([]any)
	at := func(list []any, v any) any {
		number, _ := v.(json.Number)
		i, err := number.Int64()
		if v == nil {
			i, err = 0, nil
		}
		if err != nil || i < 0 || i >= int64(len(list)) {
			return nil
		}
		return list[i]
	}
	texts, wholes := map[string]string{}, map[string]any{}
	ended := false
	for _, e := range events {
		kind, _ := e["type"].(string)
		one := at(items, e["output_index"])
		item, _ := one.(map[string]any)
		partOf := func(list string) any {
			parts, _ := item[list].([]any)
			return at(parts, e[list+"_index"])
		}
		holder := func(list string) map[string]any {
			if list == "" {
				return item
			}
			part, _ := partOf(list).(map[string]any)
			return part
		}
		holds := func(whole, said any, except []string) string {
			m, _ := said.(map[string]any)
			w, _ := whole.(map[string]any)
			for name, v := range m {
				if !slices.Contains(except, name) && !empty(v) && (w[name] == nil || (name == "name" || slices.Contains(naming, name)) && !same(v, w[name])) {
					return fmt.Sprintf("%s: %s is %s", kind, name, show(w[name]))
				}
			}
			if m == nil && same(said, whole) {
				return ""
			}
			if w == nil && !empty(said) {
				return kind + " of nothing"
			}
			return ""
		}
		why, base := "", strings.TrimSuffix(strings.TrimSuffix(kind, ".delta"), ".done")
		if id := e["item_id"]; !empty(id) && item != nil && !same(id, item["id"]) {
			return kind + " of another item"
		}
		switch kind {
		case "ping", "keepalive":
		case "response.created", "response.in_progress", "response.queued":
			why = holds(object, e["response"], changing)
		case "response.completed", "response.incomplete":
			last, _ := e["response"].(map[string]any)
			for name := range merged(last, object) {
				if !same(last[name], object[name]) && (name != "output" || !empty(last[name])) {
					return "the last event and the response differ in " + name
				}
			}
			ended = true
		case "response.output_item.added":
			why = holds(one, e["item"], growing)
		case "response.output_item.done":
			if !same(e["item"], one) {
				why = "an item is another one in the end"
			}
		case "response.content_part.added", "response.reasoning_summary_part.added":
			list := map[bool]string{true: "content", false: "summary"}[kind == "response.content_part.added"]
			why = holds(partOf(list), e["part"], growing)
		case "response.content_part.done", "response.reasoning_summary_part.done":
			list := map[bool]string{true: "content", false: "summary"}[kind == "response.content_part.done"]
			if !same(e["part"], partOf(list)) {
				why = "a part is another one in the end"
			}
		case "response.output_text.annotation.added":
			list, _ := holder("content")["annotations"].([]any)
			if !same(at(list, e["annotation_index"]), e["annotation"]) {
				why = "an annotation is another one in the end"
			}
		default:
			of, ok := saidTexts[base]
			if !ok || base == kind {
				for name, v := range e {
					if name != "type" && name != "sequence_number" && name != "item_id" && !strings.HasSuffix(name, "_index") && !empty(v) {
						return fmt.Sprintf("%s has %s", kind, name)
					}
				}
				continue
			}
			whole := holder(of[0])[of[1]]
			place := fmt.Sprint(placeOf(e["output_index"]), of, placeOf(e[of[0]+"_index"]))
			if strings.HasSuffix(kind, ".done") {
				if !same(e[of[1]], whole) {
					why = "a text is another one in the end"
				}
			} else if text, ok := e["delta"].(string); ok {
				texts[place] += text
				wholes[place] = whole
			} else if !empty(e["delta"]) {
				why = "a delta is no text"
			}
		}
		if why != "" || ended {
			if why != "" {
				return why
			}
			break
		}
	}
	if !ended {
		return "a stream without its end"
	}
	for place, text := range texts {
		if text != "" && !same(text, wholes[place]) {
			return fmt.Sprintf("the deltas of %s are %q, the text %s", place, text, show(wholes[place]))
		}
	}
	return ""
}

// placeOf returns an index by which an event names a place: 0 where it has none.
func placeOf(v any) any {
	if v == nil {
		return json.Number("0")
	}
	return v
}
