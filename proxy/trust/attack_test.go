package trust

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"reprise/topics/reuse/evidence"
	"reprise/topics/reuse/normal"
)

// way is one in which mallory tries to buy trust for wrong answers, or to spoil it.
type way struct {
	name string
	// needs is how many pairs the register has to show all the same: evidence.First, or less by the credit of its family (one), or in its very own
	// scope, where mallory's comparisons are as good as its own: of its answers.
	needs int
	play  func(m *mallory)
}

// TestAttacks: mallory has the key and the system messages of two applications of one tenant: a support desk that has earned trust, and a register whose answers
// differ by courtesy, in which nothing was asked yet.
//
//   - Buying: the register has to show all of its pairs, and no more than mostWrong wrong answers of 300 are served there. By scopes of its family five
//     pairs become one. In the register itself mallory can bring the pairs sooner: they are comparisons of its own answers. What he cannot be kept from is that after
//     n of them that came out the same the share of hits that is compared is (20/n)², so that 120 harmless questions made it 11 wrong answers of 300.
//   - Spoiling: the support desk goes on to serve. If mallory asks there what really has different answers, they are no longer trusted, and rightly so.
//   - The same two applications of another tenant see nothing of it.
func TestAttacks(t *testing.T) {
	all := slices.DeleteFunc(questions(t, faqs), func(q string) bool { return !normal.Of(q).Equal(normal.Of(wordings[2](q))) })
	for i, one := range ways() {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			m := &mallory{T: t, key: victim, left: all, draws: never, backing: filepath.Join(t.TempDir(), "reprise.db")}
			m.begin()
			if plain, _ := m.answerTo(register, all[0]); strings.Contains(plain, "true") || !strings.Contains(plain, "false") {
				t.Fatalf("the register says %s", plain)
			}
			m.earn(victim)
			m.earn(neighbor)
			m.draws = newDice(uint64(i)).draw
			one.play(m)
			for key, needs := range map[string]int{victim: one.needs, neighbor: evidence.First} {
				if n := m.needs(key); n != needs {
					t.Errorf("%s: the register shows %d pairs, want %d", key, n, needs)
				}
				if n := m.wrong(key, register, request{}); n > mostWrong {
					t.Errorf("%s: the register got %d wrong answers", key, n)
				}
				if n := m.serves(key); n < 10 {
					t.Errorf("%s: the support desk is served %d of 10", key, n)
				}
			}
		})
	}
}

// in asks harmless questions in the register, in an unusual way.
func in(q request) func(m *mallory) { return func(m *mallory) { m.harmless(register, 8, q) } }

// asks asks harmless questions, n in each of some scopes.
func asks(n int, systems ...string) func(m *mallory) {
	return func(m *mallory) {
		for _, system := range systems {
			m.harmless(system, n, request{})
		}
	}
}

// reworded asks n questions in 40 wordings each.
func reworded(system string, n int) func(m *mallory) {
	return func(m *mallory) {
		for _, q := range m.take(n) {
			for i := range 20 {
				m.do(system, q+strings.Repeat(" ", i), request{})
				m.do(system, wordings[2](q)+strings.Repeat(" ", i), request{})
			}
		}
	}
}

// verdict gives one on all entries, after some answers were served.
func verdict(verdict string, served int, header string) func(m *mallory) {
	return func(m *mallory) {
		m.harmless(support, served, request{})
		for i := range 400 {
			m.send("", "", request{path: "/v1/reprise/feedback", header: header, raw: fmt.Sprintf(`{"entry": %d, "verdict": %q}`, i+1, verdict)})
		}
	}
}

// refused sends what only an operator may.
func refused(q request) func(m *mallory) {
	return func(m *mallory) {
		m.harmless(support, 4, request{})
		if w := m.send(register, "What now?", q); w.Code < 400 {
			m.Errorf("%d: %s", w.Code, w.Body)
		}
	}
}

// siblings are n system messages of the register's family, with old replaced by new in all.
func siblings(n int, old, new string) (all []string) {
	for i := range n {
		all = append(all, strings.NewReplacer(old, new, "shift 2", fmt.Sprint("shift ", i+3)).Replace(register))
	}
	return all
}

// few fails where the victim gets too many wrong answers of another application.
func (m *mallory) few(system string, q request) {
	if n := m.wrong(victim, system, q); n > mostWrong {
		m.Errorf("%d wrong answers of %q", n, system)
	}
}

// ways are all ways.
func ways() []way {
	const first, own = evidence.First, 0
	examples := request{turns: []message{{"user", "When do you open?"}, {"assistant", `{"call": 1, "polite": false}`}}}
	all := []way{
		{"family: names", 1, asks(2, siblings(8, "Nordlicht", "Area")...)},
		{"family: days", 1, asks(2, siblings(8, "Monday 3 May", "Friday 7 June")...)},
		{"family: languages", 1, asks(2, siblings(8, "French", "German")...)},
		{"family: modes", 1, asks(2, siblings(8, "Classify", "Chat")...)},
		{"family: numbers", 1, asks(2, siblings(8, "2.", "2.")...)},
		{"family: often", 1, func(m *mallory) { defer m.as(victim, always)(); asks(16, siblings(8, "Classify", "Chat")...)(m) }},
		{"family: again, after one that differs", 1, func(m *mallory) {
			asks(1, siblings(8, "3", "3")...)(m)
			for _, way := range wordings {
				m.do(strings.Replace(register, "2", "3", 1), way("When do you open?"), request{})
			}
			asks(1, siblings(8, "3", "4")...)(m)
		}},
		{"family: members of the support desk that differ", first, func(m *mallory) {
			for i := range 8 {
				m.orders(strings.Replace(support, "Nordlicht", fmt.Sprint("Area", i), 1), "noise", 1)
			}
		}},
		{"another scope", first, asks(60, support+" Please.")},
		{"the support desk", first, asks(60, support)},
		{"one question in many wordings", 2, reworded(register, 1)},
		{"two questions in many wordings", 1, reworded(register, 2)},
		{"one question elsewhere in many wordings", first, reworded(support, 1)},
		{"feedback right, guessed", first, verdict("right", 0, "")},
		{"feedback wrong, guessed", first, verdict("wrong", 0, "")},
		{"feedback right", first, verdict("right", 40, "")},
		{"feedback wrong", first, verdict("wrong", 40, "")},
		{"feedback with a guessed token", first, verdict("right", 40, "X-Reprise-Admin-Token: admin")},
		{"feedback that is kept for later", first, func(m *mallory) {
			m.draws = always
			m.harmless(register, 8, request{})
			m.draws = never
			m.harmless(register, 130, request{})
			m.draws = always
			q := m.take(1)[0]
			m.do(register, q, request{})
			for _, way := range wordings[3:6] {
				if strings.Contains(m.do(register, way(q), request{}).detail, "explore") {
					break // one that differs
				}
			}
			verdict("right", 0, "")(m)
		}},
		{"explain", first, refused(request{path: "/v1/reprise/explain"})},
		{"explain with a guessed token", first, refused(request{path: "/v1/reprise/explain", header: "X-Reprise-Admin-Token: admin"})},
		{"a review", first, refused(request{path: "/admin/reviews/1", raw: `{"verdict": "right"}`})},
		{"a purge", first, refused(request{path: "/admin/purge", raw: `{"all": true, "dry_run": false}`})},
		{"streams", own, in(request{body: map[string]any{"stream": true}})},
		{"turns in front", first, in(request{turns: []message{{"user", "Hello."}, {"assistant", "Hi."}}})},
		{"the system message twice", first, in(request{turns: []message{{"system", register}}})},
		{"examples in front", first, func(m *mallory) {
			m.draws = always
			in(examples)(m)
			m.few(register, examples)
		}},
		{"a conversation that began in other words", first, func(m *mallory) {
			m.draws = always
			hello := m.take(1)[0]
			for _, begin := range []string{hello, wordings[2](hello)} {
				said := m.do(support, begin, request{})
				m.harmless(support, 6, request{turns: []message{{"user", begin}, {"assistant", said.text}}})
			}
		}},
		{"huge prompts", first, func(m *mallory) { m.orders(support+strings.Repeat(" very", 20000), "long", 4) }},
		{"restarts", first, func(m *mallory) {
			for range 3 {
				m.harmless(support, 4, request{})
				m.close()
				m.begin()
			}
		}},
		{"a classifier, after a restart", first, func(m *mallory) {
			m.draws = always
			m.harmless(pipelines[0].system, 20, request{})
			m.close()
			m.begin()
			m.harmless(pipelines[0].system, 20, request{})
			m.few(pipelines[0].system, request{})
		}},
		{"32 at once", own, func(m *mallory) {
			m.harmless(register, 4, request{})
			m.draws = always
			var all sync.WaitGroup
			for _, q := range m.take(32) {
				m.do(register, q, request{})
				all.Go(func() { m.send(register, wordings[2](q), request{}) })
			}
			all.Wait()
			m.explored += 31
			m.settle(m.T, &reply{detail: "explore"}) // the last one
		}},
		{"noise elsewhere", first, func(m *mallory) { m.orders(support+" Please.", "noise", 12) }},
		{"planted noise", first, func(m *mallory) {
			m.draws = always
			m.do(describe, "What is the output mumble?", request{})
			m.do(describe, "What is the output mumble", request{})
			for range 8 {
				m.do(describe, "What is the output noise?", request{})
			}
			m.few(describe, request{})
		}},
		{"5,000 scopes", first, func(m *mallory) {
			for i := range 5000 {
				m.do(fmt.Sprint("Scope ", i), "What is it?", request{})
				m.do(fmt.Sprint("Scope ", i), "What is it", request{})
			}
		}},
	}
	for _, header := range []string{"Cache-Control: only-if-cached", "Cache-Control: no-store", "Cache-Control: no-cache", "Cache-Control: max-age=0", "X-Reprise-Mode: exact",
		"X-Reprise-Mode: off", "X-Reprise-Namespace: b", "OpenAI-Organization: b"} {
		all = append(all, way{header, first, in(request{header: header})})
	}
	for _, header := range []string{"X-Reprise-Mode: semantic", "X-Reprise-Threshold: 1", "X-Reprise-Threshold: 0.01", "X-Reprise-TTL: 1s"} {
		all = append(all, way{header, own, in(request{header: header})})
	}
	for _, body := range []string{`{"model": "gpt-4o"}`, `{"temperature": 2}`, `{"max_tokens": 4}`, `{"seed": 3}`, `{"stop": "."}`, `{"user": "b"}`, `{"logprobs": true}`,
		`{"response_format": {"type": "json_object"}}`, `{"tools": [{"type": "function", "function": {"name": "f"}}]}`} {
		all = append(all, way{body, first, in(request{body: gjson.Parse(body).Value().(map[string]any)})})
	}
	for _, order := range []string{"nothing", "cut", "refusal", "long", "tools", "fault"} {
		all = append(all, way{"the support desk says " + order, first, func(m *mallory) { m.orders(support, order, 20) }})
		all = append(all, way{"the register says " + order, first, func(m *mallory) { m.orders(register, order, 20) }})
	}
	for _, system := range []string{register, ""} {
		all = append(all, way{"documents in front of " + system, first, func(m *mallory) {
			for _, q := range m.take(8) {
				m.do(system, register+"\nQuestion: "+q, request{})
				m.do(system, register+"\nQuestion: "+wordings[2](q), request{})
			}
		}})
	}
	return all
}
