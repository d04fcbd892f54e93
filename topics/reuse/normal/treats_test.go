package normal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/dataset"
)

func TestTreatsAsData(t *testing.T) {
	for _, text := range []string{
		"Translate what the user writes into French.",
		"You are a translator from English to Polish.",
		"TRANSLATE EVERYTHING INTO GERMAN",
		"You proofread texts.",
		"Correct the grammar of the user's message and return nothing else.",
		"Fix all spelling mistakes in the given text.",
		"Summarise the user's message in one line.",
		"Rewrite the following sentences so that a child understands them.",
		"Paraphrase each input.",
		"Classify the user's text as positive or negative.",
		"You are a sentiment classifier.",
		"Label every message with one of these intents: billing, shipping, other.",
		"Extract all dates from the following message as JSON.",
		"Count the words in the user's message.",
		"Repeat the user's message word for word.",
		"Echo whatever I say.",
		"Transcribe the input into IPA.",
		"Act as a spell checker: spell-check my next messages.",
		"Determine the language of the user's text.",
		"From now on, reverse the letters of everything I write.",
		"Rate the politeness of each message from 1 to 5.",
		"Return each input in upper case.",
		"Übersetze alles ins Deutsche.",
		"把用户的话翻译成英文",
	} {
		if !TreatsAsData(text) {
			t.Errorf("%q makes data of what follows", text)
		}
	}
	for _, text := range []string{
		"",
		"You are a helpful assistant.",
		"You are a helpful assistant. Answer in English, politely and briefly.",
		"You are the support assistant of a shop for bicycles. Our opening hours are 9 to 18. Never promise a refund.",
		"You are an expert programmer. Think step by step, then give the final answer in a code block.",
		"Answer as a pirate. Do not use more than 100 words.",
		"Help customers find a product. Ask for the order number before you change an order.",
		"Use the tools to book flights. Check the reservation before you cancel it.",
		"How do I reset my password?",
		"Today is Monday. The user is in Berlin.",
	} {
		if TreatsAsData(text) {
			t.Errorf("%q makes no data of what follows", text)
		}
	}
}

// TestTreatsAsDataShare reports how many texts of agents, and first messages to assistants, are taken for orders that make data of what
// follows. Few of them are: the share is what is lost.
func TestTreatsAsDataShare(t *testing.T) {
	dir := os.Getenv("REPRISE_DATA")
	if dir == "" {
		t.Skip("REPRISE_DATA is not set: the share is not measured")
	}
	for _, set := range []string{"kv/agent_miniswe", "kv/agent_taubench", "kv/agent_magagent", "prompts/arena_hard_v0.1"} {
		n, caught, first, sessions, bytes := 0, 0, 0, map[string]bool{}, 0
		for row, err := range dataset.Rows[map[string]any](filepath.Join(dir, set+".jsonl.gz")) {
			if err != nil {
				t.Fatal(err)
			}
			text, _ := row["input"].(string)
			if text == "" {
				text, _ = row["prompt"].(string)
			}
			session, _ := row["session_id"].(string)
			head := text[:min(len(text), 2000)]
			if !sessions[session] && TreatsAsData(head) {
				first++
			}
			sessions[session] = true
			n, bytes = n+1, bytes+len(text)
			if TreatsAsData(text) {
				caught++
			}
		}
		t.Logf("%s: %d texts of %d bytes on average, %d caught; the first 2,000 bytes of %d sessions, %d caught", set, n, bytes/max(n, 1), caught, len(sessions), first)
	}
}

func BenchmarkTreatsAsData(b *testing.B) {
	text := strings.Repeat("You are the support assistant of a shop for bicycles. Answer politely, and check the order before you change it. ", 90)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if TreatsAsData(text) {
			b.Fatal("caught")
		}
	}
}
