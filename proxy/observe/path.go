package observe

import (
	"strings"
	"unicode/utf8"
)

// words are the segments of the paths of LLM APIs that are parts of the API and not chosen by a client.
var words = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`v1 v1beta v2 openai api reprise explain feedback models model engines deployments chat completions responses embeddings
		messages count_tokens batches batch files content uploads parts complete cancel images generations edits variations audio speech transcriptions
		translations moderations fine_tuning jobs events checkpoints vector_stores assistants threads runs steps conversations items containers
		realtime sessions client_secrets organization projects usage costs rerank score classify tokenize detokenize generate tags show ps version
		health healthz readyz ping metrics input_items evals`) {
		set[w] = true
	}
	return set
}()

// mostSegments is how many segments of a path are written.
const mostSegments = 6

// Path is the path of a request as it may be logged: each segment that is not a word of an API is *, and what follows the sixth is left
// out. Such a segment may be an id, a file's name, or a credential at the wrong place.
func Path(p string) string {
	var b strings.Builder
	for i, segment := range strings.SplitN(strings.TrimPrefix(p, "/"), "/", mostSegments+1) {
		switch {
		case i == mostSegments:
			b.WriteString("/...")
		case words[segment] || segment == "":
			b.WriteString("/" + segment)
		default:
			b.WriteString("/*")
		}
	}
	return b.String()
}

// Head is the beginning of a text, of at most so many bytes, cut before a rune.
func Head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for i := 0; i < utf8.UTFMax && most > 0 && !utf8.RuneStart(text[most]); i++ {
		most--
	}
	return text[:most]
}
