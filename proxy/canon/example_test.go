package canon_test

import (
	"fmt"

	"reprise/proxy/api/openai"
	"reprise/proxy/canon"
)

// Two spellings of one request have one key; another model has another.
func ExampleParse() {
	who := canon.Identity{Tenant: "t-1", Path: "/v1/chat/completions"}
	read := func(body string) *canon.Request {
		r, err := canon.Parse(openai.Chat.Requests, []byte(body), who, nil)
		if err != nil {
			panic(err)
		}
		return r
	}
	asked := read(`{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"What is 6 × 7?"}]}`)
	again := read(`{"messages": [{"content":"Be brief.","role":"system"}, {"content":[{"type":"text","text":"What is 6 \u00d7 7?"}],"role":"user"}], "model":"m", "stream":true}`)
	other := read(`{"model":"n","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"What is 6 × 7?"}]}`)

	fmt.Println(asked.Prompt, asked.Key == again.Key, asked.Key == other.Key)
	_, err := canon.Parse(openai.Chat.Requests, []byte(`{"model":"m","model":"n"}`), who, nil)
	fmt.Println(err)
	// Output:
	// What is 6 × 7? true false
	// model: duplicate name; each name may be given once (byte 13)
}
