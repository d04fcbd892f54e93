package embeddings

import "reprise/proxy/canon"

// defaults are the fields of the embeddings API of which a value means the same as absence.
var defaults = canon.NewDefaults(
	canon.Default{Field: "encoding_format", Values: []string{`"float"`}, URL: "https://platform.openai.com/docs/api-reference/embeddings/create",
		Says: "float is the default"},
)
