package misses

import (
	"container/list"
	"strings"
	"time"

	"reprise/proxy/observe"
)

// Bounds of what is kept of misses as examples.
const (
	perGroup      = 3    // the latest ones
	examplesShare = 32   // one in so many bytes of Options.Bytes is of examples, at most
	exampleBytes  = 480  // what one takes beside its texts, with its places; TestExamplesAreBounded measures it
	longestPrompt = 1000 // bytes of a prompt that are kept or shown
	longestLabel  = 256  // bytes of a model or a namespace
)

// Example is a miss of the last hour, for the operator alone. It has texts only with Options.Prompts.
type Example struct {
	At        time.Time `json:"at"` // when its answer ended
	Model     string    `json:"model"`
	Tenant    string    `json:"tenant"`
	Namespace string    `json:"namespace,omitempty"`
	Prompt    string    `json:"prompt,omitempty"`        // its beginning
	Bytes     int       `json:"prompt_bytes"`            // of the whole; 0: what it asks is not a text, as where a tool has answered
	Entry     uint64    `json:"nearest_entry,omitempty"` // the stored answer that nearly served it, of any tenant

	// Of that entry, as long as it is stored.
	Nearest      string `json:"nearest_prompt,omitempty"`
	NearestBytes int    `json:"nearest_prompt_bytes,omitempty"`
	Stored       bool   `json:"nearest_is_stored,omitempty"`
}

// kept is an example with its group.
type kept struct {
	Example
	group string
	size  int
}

// examples are the latest misses of each group, in bounded memory. The oldest ones go first.
type examples struct {
	limit, bytes int
	all          *list.List                 // of *kept, the oldest first
	groups       map[string][]*list.Element // at most perGroup each, the oldest first
}

func newExamples(limit int) examples {
	return examples{limit: limit, all: list.New(), groups: map[string][]*list.Element{}}
}

// add adds a miss of a group.
func (x *examples) add(group string, e Example) {
	one := &kept{e, group, exampleBytes + len(group) + len(e.Model) + len(e.Tenant) + len(e.Namespace) + len(e.Prompt)}
	if one.size > x.limit {
		return
	}
	if same := x.groups[group]; len(same) == perGroup {
		x.drop(same[0])
	}
	for x.bytes+one.size > x.limit {
		x.drop(x.all.Front())
	}
	x.bytes += one.size
	x.groups[group] = append(x.groups[group], x.all.PushBack(one))
}

// drop drops an example, which is the oldest one of its group.
func (x *examples) drop(e *list.Element) {
	one := x.all.Remove(e).(*kept)
	x.bytes -= one.size
	if rest := x.groups[one.group][1:]; len(rest) > 0 {
		x.groups[one.group] = append(make([]*list.Element, 0, perGroup), rest...)
	} else {
		delete(x.groups, one.group)
	}
}

// expire drops what is older than the window of the report.
func (x *examples) expire(minute int64) {
	for e := x.all.Front(); e != nil && e.Value.(*kept).At.Unix()/60 <= minute-buckets; e = x.all.Front() {
		x.drop(e)
	}
}

// of are the examples of a group, the latest first.
func (x *examples) of(group string) (all []Example) {
	same := x.groups[group]
	for i := len(same) - 1; i >= 0; i-- {
		all = append(all, same[i].Value.(*kept).Example)
	}
	return all
}

// example is a miss without the request that it came with, whose body is large.
func (w *Watch) example(d *Diagnosis, o *observe.Outcome, now time.Time) Example {
	e := Example{At: now.UTC(), Model: strings.Clone(observe.Head(o.Model, longestLabel)), Tenant: strings.Clone(observe.Head(o.Tenant, longestLabel)),
		Namespace: strings.Clone(observe.Head(o.Namespace, longestLabel)), Bytes: len(o.Prompt), Entry: d.nearest}
	if w.o.Prompts {
		e.Prompt = strings.Clone(observe.Head(o.Prompt, longestPrompt))
	}
	return e
}

// complete adds what is stored now of the entry that nearly served e.
func (w *Watch) complete(e *Example) {
	if e.Entry == 0 || w.o.Stored == nil {
		return
	}
	prompt, there := w.o.Stored(e.Entry)
	if e.Stored, e.NearestBytes = there, len(prompt); there && w.o.Prompts {
		e.Nearest = observe.Head(prompt, longestPrompt)
	}
}
