package apptest

import (
	"fmt"
	"math/rand/v2"
)

// rag answers questions of employees from documents: the system prompt has the date, the documents that were found come with the question,
// and the field user names the employee. Half of the way through, some of the documents are new.
var rag = app{name: "rag", path: "/v1/chat/completions", fields: []string{"user"}, patterns: []string{`Today is (?P<date>\d{4}-\d\d-\d\d)\.`}, stream: ragStream}

var subjects = []string{"parental leave", "travel expenses", "home office", "sick leave", "company cars", "the canteen", "stock options", "training budgets",
	"visitors", "fire drills", "meeting rooms", "laptops", "overtime", "data protection", "the works council", "retirement"}

var asks = []string{"Who is entitled to %s?", "What are the rules for %s?", "Whom do I ask about %s?", "Which deadlines apply to %s?"}

const ragRequests = 400

func ragStream(rng *rand.Rand) (all []*request) {
	for i := range ragRequests {
		subject, ask := zipf(rng, len(subjects)), zipf(rng, len(asks))
		edition := 1
		if subject%3 == 0 && i >= ragRequests/2 {
			edition = 2
		}
		warm, short := rng.IntN(10) == 0, rng.IntN(8) == 0
		r := &request{meaning: fmt.Sprint("rag ", subject, ask, edition, warm, short), when: day(i, ragRequests)}
		if n := rng.IntN(60); n < 50 {
			r.who = fmt.Sprintf("employee-%02d", zipf(rng, 50))
		}
		question := fmt.Sprintf(asks[ask], subjects[subject])
		r.body = func() []byte { return ragBody(rng, r, question, documents(subject, edition), warm, short) }
		all = append(all, r)
	}
	return all
}

func documents(subject, edition int) string {
	text := ""
	for n := range 3 {
		text += fmt.Sprintf("[%d] Handbook of \"%s\", edition %d, page %d: section %d applies.\n", n+1, subjects[subject], edition, 10*subject+n, subject*edition)
	}
	return text
}

// ragBody writes a request as one of several versions of the application does.
func ragBody(rng *rand.Rand, r *request, question, documents string, warm, short bool) []byte {
	system := fmt.Sprintf("You answer questions of employees from the documents given. Today is %s. Cite the numbers of the documents.", r.when)
	body := object{
		"model": "gpt-5-mini",
		"messages": list{
			object{"role": "system", "content": parts("text", system)},
			object{"role": "user", "content": parts("text", "Documents:\n"+documents+"\nQuestion: "+question)},
		},
		"temperature":      number{"0.2", "2e-1", "0.20"},
		"n":                either{absent{}, nil, number{"1", "1.0"}},
		"stop":             either{absent{}, nil},
		"logprobs":         either{absent{}, nil, false},
		"store":            either{absent{}, false},
		"response_format":  either{absent{}, object{"type": "text"}},
		"stream":           either{absent{}, nil, false, true},
		"prompt_cache_key": either{absent{}, fmt.Sprint("key-", rng.IntN(1000))},
	}
	if warm {
		body["temperature"] = number{"0.9"}
	}
	if short {
		body["max_tokens"] = number{"200", "2e2"}
	} else {
		body["max_tokens"] = either{absent{}, nil}
	}
	if r.who != "" {
		body["user"] = r.who
	}
	return write(rng, body)
}
