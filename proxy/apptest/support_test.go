package apptest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// support is the bot of a shop. Its conversations have several turns; the instructions have the time and the id of the session, and two
// fields name customer and conversation.
var support = app{name: "support bot", path: "/v1/responses", fields: []string{"user", "metadata"},
	patterns: []string{`(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d) UTC`, `session (?P<session>s_[0-9a-f]{12})`}, stream: supportStream}

// script is what customers say, turn by turn.
var script = [][]string{
	{"Where is my parcel?", "I want to return a blouse.", "My discount code does not work.", "How do I change my address?", "The zip of my jacket is broken.", "Do you ship to Norway?"},
	{"I have no tracking number.", "It was a present.", "I ordered it last week.", "Can you do it for me?"},
	{"Thank you, that helps.", "And how long will that take?"},
}

const supportRequests = 400

func supportStream(rng *rand.Rand) (all []*request) {
	for len(all) < supportRequests {
		who, session := "", fmt.Sprintf("s_%012x", rng.Uint64()>>16)
		if rng.IntN(6) > 0 {
			who = fmt.Sprintf("customer-%d", rng.IntN(50))
		}
		formal, tools := rng.IntN(6) == 0, rng.IntN(5) == 0
		var before *request
		for turn := range 1 + rng.IntN(len(script)) {
			if len(all) == supportRequests {
				break
			}
			said := script[turn][zipf(rng, len(script[turn]))]
			r := &request{meaning: fmt.Sprint("support ", formal, tools, said), said: said, history: before}
			r.when = fmt.Sprintf("%s %02d:%02d UTC, session %s", day(len(all), supportRequests), rng.IntN(24), rng.IntN(60), session)
			if who != "" {
				r.who = who + " " + session
			}
			r.body = func() []byte { return supportBody(rng, r, formal, tools) }
			all = append(all, r)
			before = r
		}
	}
	return all
}

func supportBody(rng *rand.Rand, r *request, formal, tools bool) []byte {
	tone := "friendly"
	if formal {
		tone = "formal"
	}
	body := object{
		"model":             "gpt-5-mini",
		"instructions":      fmt.Sprintf("You are the %s assistant of a shop. It is %s. Never promise a refund.", tone, r.when),
		"input":             conversation(rng, r),
		"background":        either{absent{}, nil, false},
		"truncation":        either{absent{}, "disabled"},
		"text":              either{absent{}, object{}, object{"format": object{"type": "text"}}, object{"verbosity": nil}},
		"max_output_tokens": either{absent{}, nil},
		"temperature":       either{absent{}, nil},
		"include":           either{absent{}, nil},
		"store":             false,
	}
	if tools {
		body["tools"] = list{object{"type": "function", "name": "track", "parameters": object{"type": "object", "properties": object{}}, "strict": true}}
		body["tool_choice"] = either{absent{}, "auto"}
	} else {
		body["tools"] = either{absent{}, list{}}
	}
	if customer, session, ok := strings.Cut(r.who, " "); ok {
		body["user"], body["metadata"] = customer, object{"conversation": session}
	}
	return write(rng, body)
}

// conversation is what was said so far, or one message of the user as a string.
func conversation(rng *rand.Rand, r *request) any {
	var items list
	for at := r; at != nil; at = at.history {
		if at != r {
			items = append(items, object{"type": either{absent{}, "message"}, "id": either{absent{}, fmt.Sprintf("msg_%x", rng.Uint64())}, "role": "assistant",
				"content": parts("output_text", at.answer)})
		}
		items = append(items, object{"type": either{absent{}, "message"}, "role": "user", "content": parts("input_text", at.said)})
	}
	slices.Reverse(items)
	if len(items) == 1 {
		return either{r.said, items}
	}
	return items
}

// parts is a text as a string or as the only part.
func parts(kind, text string) either {
	return either{text, list{object{"type": kind, "text": text}}}
}
