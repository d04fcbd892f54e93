package api

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer"
	"reprise/proxy/answer/rawjson"
)

// rule is one rule of the list by which answers are judged. One of says, rejects and against is set.
type rule struct {
	apis    string                                               // names of families, separated by spaces
	paths   string                                               // in a whole answer, see place, separated by spaces; ".": the answer itself
	rejects func(v gjson.Result) bool                            // of a value, or of none where the object around it has none
	reason  string                                               // with rejects and against: why the answer is not kept
	source  string                                               // with them: the documentation or the report that says so
	says    func(v gjson.Result) string                          // the text of a value
	against func(answer gjson.Result, request []byte) (bad bool) // rejects an answer to this request
}

// judge judges the answers of one API by those rules of the list that are for it. They are compiled to a tree, so that an answer is passed
// over once for each level of their paths, however many they are.
type judge struct {
	root  place
	says  bool // its answers have texts
	usage func(answer gjson.Result) answer.Usage
}

// Judge returns the judge of the answers of the API with this name, by the rules of the list that are for it. usage counts the tokens of an
// answer; nil: they are in its member "usage", as OpenAI has it.
func Judge(name string, usage func(answer gjson.Result) answer.Usage) answer.Judger {
	j := &judge{usage: usage}
	for i, r := range judgeRules {
		if !slices.Contains(strings.Fields(r.apis), name) {
			continue
		}
		for _, path := range strings.Fields(r.paths) {
			at := j.root.under(path)
			at.rules = append(at.rules, i)
			at.unit = at.unit || path == choice
			j.says = j.says || r.says != nil
		}
	}
	return j
}

// Judge implements [answer.Judger]. Of several objections the one of the first rule counts, then that nothing is said, then those that a rule
// of the operator lifts.
func (j *judge) Judge(r gjson.Result, request []byte) answer.Verdict {
	x := judging{request: request, first: len(judgeRules)}
	x.judge(&j.root, r)
	if x.units == 0 && j.says {
		x.endUnit()
	}
	switch {
	case x.first < len(judgeRules):
		x.Reason = judgeRules[x.first].reason
	case x.empty:
		x.Reason = answer.ReasonEmpty
	case x.LiveWeb:
		x.Reason = answer.ReasonLiveWeb
	case x.ToolCalls:
		x.Reason = answer.ReasonToolCalls
	}
	if j.usage != nil {
		x.Usage = j.usage(r)
	}
	return x.Verdict
}

// place is where rules look in an answer. "a[].b" is the member b of each element of the member a, and "a[t].b" of those of type t.
type place struct {
	rules   []int // in the list
	names   []string
	members []*place // of these names
	types   []string
	each    []*place // of elements of these types; "": of all
	unit    bool     // see judging
}

// mostNames is how many members of one object rules may look at.
const mostNames = 8

// under returns the place at a path, which is made where it is not there.
func (p *place) under(path string) *place {
	for part := range strings.SplitSeq(strings.Trim(path, "."), ".") {
		name, kind, list := strings.Cut(part, "[")
		if name != "" {
			p = placeOf(&p.names, &p.members, name)
		}
		if list {
			p = placeOf(&p.types, &p.each, strings.TrimSuffix(kind, "]"))
		}
	}
	return p
}

// placeOf returns the place of a name, which is added where it is not there.
func placeOf(names *[]string, places *[]*place, name string) *place {
	i := slices.Index(*names, name)
	if i < 0 {
		i = len(*names)
		*names, *places = append(*names, name), append(*places, new(place))
	}
	return (*places)[i]
}

// judging is an answer while it is judged. A unit of it is what must say something: a choice, or all of it where it has no choices.
type judging struct {
	answer.Verdict
	request []byte
	first   int // of the rules that reject it, but for those whose reason may be allowed
	empty   bool
	units   int             // that have ended
	text    strings.Builder // of the unit
	calls   bool            // the unit calls tools
}

// judge judges a value by the rules at and below its place.
func (x *judging) judge(p *place, v gjson.Result) {
	for _, i := range p.rules {
		switch r := &judgeRules[i]; {
		case r.says != nil:
			x.text.WriteString(r.says(v))
		case r.reason == answer.ReasonToolCalls:
			x.calls = x.calls || r.rejects(v)
		case r.reason == answer.ReasonLiveWeb:
			x.LiveWeb = x.LiveWeb || r.rejects(v)
		case i < x.first && (r.rejects != nil && r.rejects(v) || r.against != nil && r.against(v, x.request)):
			x.first = i
		}
	}
	if len(p.names) > 0 {
		var of [mostNames]gjson.Result
		rawjson.Members(v, of[:len(p.names)], p.names...)
		for i, member := range p.members {
			x.judge(member, of[i])
		}
	}
	if len(p.each) > 0 {
		for _, e := range rawjson.Elements(v) {
			x.judgeElement(p, e)
		}
	}
	if p.unit {
		x.endUnit()
	}
}

// judgeElement judges an element of a list by the rules for its type, and for all.
func (x *judging) judgeElement(list *place, e gjson.Result) {
	kind, known := "", false
	for i, of := range list.types {
		if of != "" && !known {
			kind, known = e.Get("type").Str, true
		}
		if of == "" || of == kind {
			x.judge(list.each[i], e)
		}
	}
}

// endUnit ends a unit. The text of an answer is the text of its first unit.
func (x *judging) endUnit() {
	if x.units == 0 {
		x.Text = x.text.String()
	}
	x.empty = x.empty || !x.calls && strings.TrimSpace(x.text.String()) == ""
	x.ToolCalls = x.ToolCalls || x.calls
	x.units++
	x.text, x.calls = strings.Builder{}, false
}

// filled rejects a value that is there and not empty: vendors write an empty list, object or text for none.
func filled(v gjson.Result) bool {
	return rawjson.Given(v) && strings.Trim(v.Raw, "\"[]{} \t\r\n") != ""
}

func notList(v gjson.Result) bool { return !v.IsArray() }

// one rejects these texts.
func one(of ...string) func(gjson.Result) bool {
	return func(v gjson.Result) bool { return v.Type == gjson.String && slices.Contains(of, v.Str) }
}

// notOne rejects everything but these texts, absence too.
func notOne(of ...string) func(gjson.Result) bool {
	return func(v gjson.Result) bool { return v.Type != gjson.String || !slices.Contains(of, v.Str) }
}

// other rejects what is there, except for these texts.
func other(of ...string) func(gjson.Result) bool {
	return func(v gjson.Result) bool { return rawjson.Given(v) && notOne(of...)(v) }
}

// broken rejects a call without the name of a tool, or with arguments that cannot be read. A client could only repeat it.
func broken(call gjson.Result) bool {
	var of [4]gjson.Result
	rawjson.Members(call, of[:], "name", "arguments", "function", "custom")
	name, arguments := of[0], of[1]
	if of[2].IsObject() {
		name, arguments = of[2].Get("name"), of[2].Get("arguments")
	} else if of[3].IsObject() {
		name = of[3].Get("name")
	}
	return name.Type != gjson.String || strings.TrimSpace(name.Str) == "" ||
		arguments.Type == gjson.String && strings.TrimSpace(arguments.Str) != "" && !gjson.Valid(arguments.Str)
}

// isCall rejects a function_call that calls something: some vendors put an empty one beside the calls of the newer form.
func isCall(call gjson.Result) bool { return filled(call.Get("name")) || filled(call.Get("arguments")) }

// callMissing rejects a choice that ends for a call and has none.
func callMissing(choice gjson.Result) bool {
	return callEnds(choice.Get("finish_reason")) && rawjson.Empty(choice.Get("message.tool_calls")) && !isCall(choice.Get("message.function_call"))
}

// webSource rejects the address of a page, or an object with one. A document of the client has none.
func webSource(v gjson.Result) bool {
	if v.IsObject() {
		v = v.Get("url")
	}
	return v.Type == gjson.String && strings.HasPrefix(v.Str, "http")
}
