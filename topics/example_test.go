package topics_test

import (
	"context"
	"fmt"

	"reprise/embed"
	"reprise/topics"
)

// A request is routed to a topic, and finds the entries that it may share an answer with. The caller stores the answer of a miss under the
// topic that the search returned.
func Example() {
	e := embed.NewBuiltin()
	gates := e.Thresholds()
	t, err := topics.New(topics.Options{Dim: e.Dim(), Hit: gates.Hit, Route: gates.Route, Edge: gates.Edge})
	if err != nil {
		panic(err)
	}
	defer t.Close()
	for i, text := range []string{"How do I reset my password?", "how do I reset my password, please", "I forgot my password, how do I reset it?", "boil an egg"} {
		v, err := e.Embed(context.Background(), []string{text})
		if err != nil {
			panic(err)
		}
		id, seq := topics.EntryID(i+1), int64(i+1)
		found, ok := t.Search(topics.Query{Vector: v[0]})
		if !ok { // a topic lost its anchor
			t.Refresh(topics.ScopeID{})
			found, _ = t.Search(topics.Query{Vector: v[0]})
		}
		if len(found.Matches) > 0 {
			fmt.Printf("%q: entry %d of topic %d\n", text, found.Matches[0].ID, found.Topic)
			t.Touch(found.Matches[0].ID, seq, 0, false)
			continue
		}
		topic, _, err := t.Add(topics.Member{ID: id, Vector: v[0], Topic: found.Topic, Seq: seq})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%q: a miss in topic %d\n", text, topic)
	}
	// Output:
	// "How do I reset my password?": a miss in topic 1
	// "how do I reset my password, please": entry 1 of topic 1
	// "I forgot my password, how do I reset it?": a miss in topic 1
	// "boil an egg": a miss in topic 2
}
