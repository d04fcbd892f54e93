package demo

import "testing"

// TestScripted: each question of the workload has an answer of its own, in whatever words it is asked, and so has each later question.
func TestScripted(t *testing.T) {
	seen := map[string]string{}
	for _, s := range append(subjects, writing, staff, subject{questions: []string{statusQuestion}}) {
		for _, question := range s.questions {
			text, known := scripted([]string{question})
			if !known || seen[text] != "" {
				t.Errorf("%q: %v, %q is also of %q", question, known, text, seen[text])
			}
			seen[text] = question
			w := NewWorkload(1)
			for range 30 {
				if again, _ := scripted([]string{w.reword(question)}); again != text {
					t.Fatalf("%q in other words: %q, want %q", question, again, text)
				}
			}
			for _, later := range s.followUps {
				followed, known := scripted([]string{question, later})
				if !known || seen[followed] != "" {
					t.Errorf("%q after %q: %v, %q", later, question, known, followed)
				}
				seen[followed] = later
			}
		}
	}
	if _, known := scripted([]string{"What is the weather?"}); known {
		t.Error("a question of others has an answer")
	}
}
