package model2vec

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// unigram cuts a text into the pieces with the largest sum of scores.
type unigram struct {
	normalize step
	space     string // what a blank becomes; "" leaves the text as it is
	prepend   bool   // one in front of the text
	ids       map[string]int
	scores    []float64
	most      int     // bytes of a piece
	unknown   int     // -1: none
	penalty   float64 // score of a character that no piece has
}

// unknownPenalty is how far below the least score an unknown character is.
const unknownPenalty = 10

func newUnigram(d *document, normalize step) (tokenizer, []string, error) {
	var m struct {
		Vocab   []piece `json:"vocab"`
		Unknown *int    `json:"unk_id"`
		Bytes   bool    `json:"byte_fallback"`
	}
	if err := json.Unmarshal(d.Model, &m); err != nil {
		return nil, nil, err
	}
	switch {
	case m.Bytes:
		return nil, nil, errors.New("its Unigram has byte_fallback, which is not supported")
	case len(m.Vocab) == 0 || len(m.Vocab) > maxPieces:
		return nil, nil, fmt.Errorf("its vocabulary has %d tokens: want 1 to %d", len(m.Vocab), maxPieces)
	}
	u := &unigram{normalize: normalize, ids: make(map[string]int, len(m.Vocab)), unknown: -1}
	if m.Unknown != nil {
		u.unknown = *m.Unknown
	}
	if err := u.blanks(d.PreTokenizer); err != nil {
		return nil, nil, err
	}
	pieces := make([]string, len(m.Vocab))
	least := math.Inf(1)
	for i, p := range m.Vocab {
		pieces[i] = p.text
		if _, twice := u.ids[p.text]; !twice {
			u.ids[p.text] = i
		}
		u.scores = append(u.scores, p.score)
		u.most, least = max(u.most, len(p.text)), min(least, p.score)
	}
	u.penalty = least - unknownPenalty
	return u, pieces, nil
}

// piece is a token of a vocabulary, in JSON [text, score].
type piece struct {
	text  string
	score float64
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *piece) UnmarshalJSON(b []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil || len(raw) != 2 {
		return errors.Join(fmt.Errorf("token %.40s: want [text, score]", b), err)
	}
	return errors.Join(json.Unmarshal(raw[0], &p.text), json.Unmarshal(raw[1], &p.score))
}

// blanks reads the pre-tokenizer: Metaspace, or none.
func (u *unigram) blanks(c *component) error {
	if c == nil {
		return nil
	}
	if c.Type == "Sequence" && len(c.PreTokenizers) == 1 {
		c = &c.PreTokenizers[0]
	}
	if c.Type != "Metaspace" {
		return fmt.Errorf("its pre-tokenizer is of type %.30q: want Metaspace for a Unigram", c.Type)
	}
	if u.space = c.Replacement; u.space == "" {
		u.space = "\u2581"
	}
	u.prepend = c.PrependScheme == "always" || c.PrependScheme == "first" || c.PrependScheme == "" && flag(c.AddPrefixSpace, true)
	return nil
}

func (u *unigram) tokenize(ids []int, text string, most int) []int {
	text = u.normalize(text)
	if text == "" {
		return ids
	}
	if u.space == "" {
		return u.best(ids, text)
	}
	text = strings.ReplaceAll(text, " ", u.space)
	if u.prepend && !strings.HasPrefix(text, u.space) {
		text = u.space + text
	}
	for len(text) > 0 && len(ids) <= most { // word by word: no piece goes beyond one
		end := strings.Index(text[len(u.space):], u.space)
		if end < 0 || !strings.HasPrefix(text, u.space) {
			if end = strings.Index(text, u.space); end <= 0 {
				end = len(text)
			}
		} else {
			end += len(u.space)
		}
		ids = u.best(ids, text[:end])
		text = text[end:]
	}
	return ids
}

// way is the best way to cut a text up to a place.
type way struct {
	score float64
	from  int
	id    int
}

// best appends the pieces of the cut with the largest sum of scores (Viterbi), without the unknown ones.
func (u *unigram) best(ids []int, text string) []int {
	ways := make([]way, len(text)+1)
	for i := range ways[1:] {
		ways[i+1] = way{math.Inf(-1), -1, -1}
	}
	for at := 0; at < len(text); {
		_, n := utf8.DecodeRuneInString(text[at:])
		whole := false // a piece of exactly this character
		for end := at + n; end <= min(len(text), at+u.most); end++ {
			if end < len(text) && !utf8.RuneStart(text[end]) {
				continue
			}
			if id, ok := u.ids[text[at:end]]; ok {
				ways[end].better(way{ways[at].score + u.scores[id], at, id})
				whole = whole || end == at+n
			}
		}
		if !whole {
			ways[at+n].better(way{ways[at].score + u.penalty, at, -1})
		}
		at += n
	}
	before := len(ids)
	for at := len(text); at > 0; at = ways[at].from {
		if id := ways[at].id; id >= 0 && id != u.unknown {
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids[before:])
	return ids
}

func (w *way) better(o way) {
	if o.score > w.score {
		*w = o
	}
}
