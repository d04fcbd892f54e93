package normal

import "strings"

// labels stand before what a prompt asks, behind a document or an order: "Question: ...".
var labels = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Split("question query q user human customer message input text prompt ask request sentence utterance comment review email ticket", " ") {
		for _, before := range []string{"", "user ", "customer ", "the user's ", "my ", "new "} {
			all[before+name] = true
		}
	}
	return all
}()

// longestLabel is how many bytes one has at most.
const longestLabel = 24

// Front returns what stands before the last line of a prompt that begins with a label from a closed list, and that label: a document, or an order,
// that two prompts must have in common byte for byte, while what is behind the label is compared by its form. It is "" where the prompt has one
// line, or its last one no label. The cost is that of finding the line.
func Front(prompt string) string {
	end := len(strings.TrimRight(prompt, " \r\n"))
	at := strings.LastIndexByte(prompt[:end], '\n') + 1
	if at == 0 {
		return ""
	}
	line := prompt[at:end]
	colon := strings.IndexByte(line[:min(len(line), longestLabel+1)], ':')
	if colon < 0 || !labels[strings.ToLower(strings.Trim(line[:colon], " *#>"))] {
		return ""
	}
	rest := at + colon + 1
	for rest < end && (prompt[rest] == ' ' || prompt[rest] == '*') {
		rest++
	}
	if rest == end {
		return ""
	}
	return prompt[:rest]
}
