package demo

import (
	"testing"

	"reprise/internal/enginesim"
)

// TestAnswer: each question of the workload has an answer of its own, in whatever words it is asked, and so has each later question.
func TestAnswer(t *testing.T) {
	seen := map[string]string{}
	for _, s := range append(subjects, writing, staff, subject{questions: []string{statusQuestion}}) {
		for _, question := range s.questions {
			text, known := Answer(ask(question))
			if !known || seen[text] != "" {
				t.Errorf("%q: %v, %q is also of %q", question, known, text, seen[text])
			}
			seen[text] = question
			w := NewWorkload(1)
			for range 30 {
				if again, _ := Answer(ask(w.reword(question))); again != text {
					t.Fatalf("%q in other words: %q, want %q", question, again, text)
				}
			}
			for _, later := range s.followUps {
				followed, known := Answer(ask(question, later))
				if !known || seen[followed] != "" {
					t.Errorf("%q after %q: %v, %q", later, question, known, followed)
				}
				seen[followed] = later
			}
		}
	}
	if _, known := Answer(ask("What is the weather?")); known {
		t.Error("a question of others has an answer")
	}
}

func ask(turns ...string) (q enginesim.Question) {
	for _, text := range turns {
		q.Messages = append(q.Messages, enginesim.Message{Role: "user", Text: text}, enginesim.Message{Role: "assistant", Text: "…"})
	}
	q.Messages = q.Messages[:len(q.Messages)-1]
	return q
}
