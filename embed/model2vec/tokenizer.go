package model2vec

import (
	"encoding/json"
	"errors"
	"fmt"
)

// maxPieces bounds the vocabulary: the ids index slices.
const maxPieces = 4_000_000

// document is what is read of tokenizer.json. Special tokens that are written in a text are text, and no tokens: who writes a prompt must not
// be able to choose them.
type document struct {
	Model        json.RawMessage `json:"model"`
	Normalizer   *component      `json:"normalizer"`
	PreTokenizer *component      `json:"pre_tokenizer"`
}

// component is a normalizer or a pre-tokenizer. The fields of all types are together.
type component struct {
	Type string `json:"type"`

	Normalizers   []component `json:"normalizers"`   // Sequence
	PreTokenizers []component `json:"pretokenizers"` // Sequence

	CleanText          *bool `json:"clean_text"` // BertNormalizer
	HandleChineseChars *bool `json:"handle_chinese_chars"`
	StripAccents       *bool `json:"strip_accents"`
	Lowercase          *bool `json:"lowercase"`

	Pattern struct {
		String *string
		Regex  *string
	} `json:"pattern"` // Replace
	Content string `json:"content"`

	Prepend string `json:"prepend"` // Prepend

	StripLeft  bool `json:"strip_left"` // Strip
	StripRight bool `json:"strip_right"`

	Replacement    string `json:"replacement"` // Metaspace
	PrependScheme  string `json:"prepend_scheme"`
	AddPrefixSpace *bool  `json:"add_prefix_space"`
}

// newTokenizer reads tokenizer.json. pieces are the texts of the tokens by their ids.
func newTokenizer(text []byte) (t tokenizer, pieces []string, err error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, nil, err
	}
	var model struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(d.Model, &model); err != nil || d.Model == nil {
		return nil, nil, errors.Join(errors.New("it has no model"), err)
	}
	normalize, err := newNormalizer(d.Normalizer)
	if err != nil {
		return nil, nil, err
	}
	switch model.Type {
	case "WordPiece":
		return newWordPiece(&d, normalize)
	case "Unigram":
		return newUnigram(&d, normalize)
	}
	return nil, nil, fmt.Errorf("its model is of type %.30q: want WordPiece or Unigram", model.Type)
}

// flag is the value of a flag that may be absent.
func flag(value *bool, absent bool) bool {
	if value == nil {
		return absent
	}
	return *value
}
