package train

import "reprise/internal/traffic"

// example is one request of a conversation.
type example struct {
	Prompts []string // of the user, the oldest first, that of the request last; at most mostWindow
	Answers []string // to them, "" where not known
	Turn    int      // from 1
	GoesOn  bool     // the user has asked again after the answer
}

// mostWindow is the widest window of an ablation.
const mostWindow = 10

// examplesOf makes examples of a conversation. In one with branches, as OASST1 has, every turn is one example, and it goes on if any turn
// follows it: that is whether its prefix is used again.
func examplesOf(c *traffic.Conversation) []example {
	list := make([]example, len(c.Turns))
	for i, turn := range c.Turns {
		e := &list[i]
		e.Turn = 1
		if turn.Parent >= 0 {
			before := &list[turn.Parent]
			before.GoesOn = true
			e.Turn = before.Turn + 1
			from := max(0, len(before.Prompts)-mostWindow+1)
			e.Prompts = append(e.Prompts, before.Prompts[from:]...)
			e.Answers = append(e.Answers, before.Answers[from:]...)
		}
		e.Prompts = append(e.Prompts, turn.Text)
		e.Answers = append(e.Answers, turn.Answer)
	}
	return list
}
