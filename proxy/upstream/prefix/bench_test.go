package prefix

import (
	"bytes"
	"fmt"
	"testing"

	"reprise/proxy/upstream/usage"
)

// A request of 8,000 tokens: tools, a system prompt and 12 messages, for a fleet of 8 that is full. Half of the requests share what all
// members hold, the others are turns of 400 conversations.
func benchChoice(b *testing.B, c Chooser) {
	f := fleetOf(b, 8, FleetOptions{Chooser: c, Leaders: 2048})
	scaffold := [][]byte{text("tools", 2000), text("system", 2000)}
	message := text("message", 4000/12)
	var chain Chain
	build := func(conversation int) *Chain {
		chain.Begin(1)
		chain.Add(Tools, scaffold[0])
		chain.Add(System, scaffold[1])
		copy(message, fmt.Append(message[:0:20], conversation))
		for range 12 {
			chain.Add(Message, message)
		}
		return &chain
	}
	for i := range 8 * defaultCapacity / 60 {
		f.Choose(build(i), onlyMember(i%8)).Ended(usage.Usage{})
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t := f.Choose(build(i%400), nil)
		t.Answered()
		t.Ended(usage.Usage{Prompt: 9000, Cached: 9000 * t.Cached / t.Tokens, Known: true})
	}
}

// BenchmarkChoice is the whole cost of a request with 8 members and 8,000 tokens: its chain, the choice, and both notes of the ticket.
func BenchmarkChoice(b *testing.B) {
	for name, c := range choosers() {
		b.Run(name, func(b *testing.B) { benchChoice(b, c) })
	}
}

// TestChoiceAllocates at most twice for each request.
func TestChoiceAllocates(t *testing.T) {
	f := fleetOf(t, 8, FleetOptions{})
	body := bytes.Repeat([]byte("a prompt of 8,000 tokens. "), 32_000/26)
	var chain Chain
	got := testing.AllocsPerRun(200, func() {
		chain.Begin(1)
		chain.Add(System, body[:9000])
		chain.Add(Message, body[9000:])
		f.Choose(&chain, func(int) float64 { return 1 }).Ended(usage.Usage{Prompt: 8000, Known: true})
	})
	if got > 2 {
		t.Errorf("%v allocations, at most 2 are allowed", got)
	}
}
