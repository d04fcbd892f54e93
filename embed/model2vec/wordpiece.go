package model2vec

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// wordPiece cuts words into the longest pieces of a vocabulary, from the left.
type wordPiece struct {
	normalize step
	ids       map[string]int
	prefix    string // of a piece that does not begin a word
	longest   int    // characters of a word; a longer one is unknown
	most      int    // bytes of a piece
	unknown   int    // the id of the unknown token, -1 without one
}

func newWordPiece(d *document, normalize step) (tokenizer, []string, error) {
	if d.PreTokenizer == nil || d.PreTokenizer.Type != "BertPreTokenizer" {
		return nil, nil, errors.New("it is a WordPiece without a BertPreTokenizer, which alone is supported")
	}
	m := struct {
		Vocab   map[string]int `json:"vocab"`
		Unknown string         `json:"unk_token"`
		Prefix  string         `json:"continuing_subword_prefix"`
		Longest int            `json:"max_input_chars_per_word"`
	}{Prefix: "##", Longest: 100}
	if err := json.Unmarshal(d.Model, &m); err != nil {
		return nil, nil, err
	}
	w := &wordPiece{normalize: normalize, ids: m.Vocab, prefix: m.Prefix, longest: m.Longest, unknown: -1}
	if id, ok := m.Vocab[m.Unknown]; ok {
		w.unknown = id
	}
	pieces, err := byID(m.Vocab)
	for _, p := range pieces {
		w.most = max(w.most, len(p))
	}
	return w, pieces, err
}

// byID turns a vocabulary round.
func byID(vocab map[string]int) ([]string, error) {
	if len(vocab) == 0 || len(vocab) > maxPieces {
		return nil, fmt.Errorf("its vocabulary has %d tokens: want 1 to %d", len(vocab), maxPieces)
	}
	last := 0
	for piece, id := range vocab {
		if id < 0 || id >= maxPieces {
			return nil, fmt.Errorf("token %.40q has the id %d: want 0 to %d", piece, id, maxPieces-1)
		}
		last = max(last, id)
	}
	pieces := make([]string, last+1)
	for piece, id := range vocab {
		pieces[id] = piece
	}
	return pieces, nil
}

func (w *wordPiece) tokenize(ids []int, text string, most int) []int {
	text = w.normalize(text)
	from := -1 // of the word that is being read
	for at := 0; at <= len(text) && len(ids) <= most; {
		r, n := utf8.DecodeRuneInString(text[at:])
		alone := at < len(text) && punctuation(r)
		if at == len(text) || alone || unicode.IsSpace(r) {
			if from >= 0 {
				ids = w.word(ids, text[from:at])
				from = -1
			}
			if alone {
				ids = w.word(ids, text[at:at+n])
			}
		} else if from < 0 {
			from = at
		}
		at += max(n, 1)
	}
	return ids
}

// word appends the pieces of a word; nothing where the word cannot be made of pieces.
func (w *wordPiece) word(ids []int, word string) []int {
	if utf8.RuneCountInString(word) > w.longest {
		return ids
	}
	before := len(ids)
	for at := 0; at < len(word); {
		id, n := w.longestAt(word, at)
		if n == 0 {
			return ids[:before]
		}
		if at += n; id != w.unknown {
			ids = append(ids, id)
		}
	}
	return ids
}

// longestAt finds the longest piece at a place of a word, and its length there; 0 where there is none.
func (w *wordPiece) longestAt(word string, at int) (id, n int) {
	var room [128]byte
	prefix := ""
	if at > 0 {
		prefix = w.prefix
	}
	for end := min(len(word), at+w.most); end > at; end-- {
		if end < len(word) && !utf8.RuneStart(word[end]) {
			continue
		}
		if id, ok := w.ids[string(append(append(room[:0], prefix...), word[at:end]...))]; ok {
			return id, end - at
		}
	}
	return 0, 0
}

// punctuation reports whether a character is a word of its own: every mark and symbol of ASCII, and all punctuation of Unicode.
func punctuation(r rune) bool {
	return r >= 33 && r <= 47 || r >= 58 && r <= 64 || r >= 91 && r <= 96 || r >= 123 && r <= 126 || unicode.IsPunct(r)
}
