package evaluate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"reprise/embed"
	"reprise/internal/traffic"
)

// Formats describes the files that ReadPairs and ReadStream take.
const Formats = `  pairs       columns or members a, b and same (true or false, 1 or 0); kind, if there is one, groups them
  triplets    anchor, positive and negative: two pairs each
  rewrites    origin and similar: pairs with one answer
  intents     text (or utterance) and intent (or label): each text with its nearest neighbour of its own intent and of another one, by
              the embedder. One intent is not one answer: what is labelled the same there is a hint
  streams     prompt (or text) and class: requests in their order; prompts of one class want the same answer
  answers     stored and fresh, two answers, and label (same or different); stored_prompt and prompt, what they answer; kind groups them
JSON lines, CSV or TSV with a line of names, packed with gzip or zstd or not. Columns without names are kind, a and b, and --same says
how they are labelled (of answers: kind, label, stored_prompt, prompt, stored and fresh); in TSV a line break in a text is \n, and # begins a comment.
`

// row is a line of a file by its names.
type row map[string]string

// first is the value of the first of some names that the row has.
func (r row) first(names ...string) (value string, ok bool) {
	for _, n := range names {
		if value, ok = r[n]; ok {
			return value, true
		}
	}
	return "", false
}

// ReadPairs reads the pairs of a file. label is "same" or "different" for files without labels, "" for none. The embedder is for files of
// intents.
func ReadPairs(ctx context.Context, path, label string, e embed.Embedder) (pairs []Pair, err error) {
	rows, err := readRows(path)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("read %s: it has no rows", path)
	}
	if _, ok := rows[0].first("intent", "label"); ok && rows[0]["a"] == "" {
		return neighbours(ctx, rows, e)
	}
	for i, r := range rows {
		made, err := pairsOf(r, label)
		if err != nil {
			return nil, fmt.Errorf("read %s, row %d: %w", path, i+1, err)
		}
		pairs = append(pairs, made...)
	}
	return pairs, nil
}

var errPair = errors.New("want a, b and same, or anchor, positive and negative, or origin and similar, or text and intent")

func pairsOf(r row, label string) ([]Pair, error) {
	if anchor, ok := r["anchor"]; ok {
		positive, some := r["positive"]
		negative, both := r["negative"]
		if !some || !both {
			return nil, errPair
		}
		return []Pair{{anchor, positive, true, "positive"}, {anchor, negative, false, "negative"}}, nil
	}
	if origin, ok := r["origin"]; ok {
		similar, ok := r["similar"]
		if !ok {
			return nil, errPair
		}
		return []Pair{{A: origin, B: similar, Same: true}}, nil
	}
	a, some := r["a"]
	b, both := r["b"]
	if !some || !both {
		return nil, errPair
	}
	p := Pair{A: a, B: b, Kind: r["kind"], Same: label == "same"}
	if text, ok := r["same"]; ok {
		same, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("same is %.20q: want true or false, 1 or 0", text)
		}
		p.Same = same
	} else if label == "" {
		return nil, errors.New("there is no label: want a column or member same, or --same true or --same false for all")
	}
	return []Pair{p}, nil
}

// Request is one of a stream.
type Request struct {
	Prompt, Class string
}

// ReadStream reads the requests of a file.
func ReadStream(path string) (all []Request, err error) {
	rows, err := readRows(path)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("read %s: it has no rows", path)
	}
	for i, r := range rows {
		prompt, some := r.first("prompt", "text")
		class, both := r.first("class", "intent")
		if !some || !both {
			return nil, fmt.Errorf("read %s, row %d: want prompt and class", path, i+1)
		}
		all = append(all, Request{prompt, class})
	}
	return all, nil
}

// readRows reads a file by its name: .csv, .tsv, else JSON lines.
func readRows(path string) ([]row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, err := traffic.Unpack(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	name := strings.ToLower(filepath.Base(path))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	var rows []row
	switch filepath.Ext(name) {
	case ".csv":
		rows, err = readCSV(plain)
	case ".tsv":
		rows, err = readTSV(plain)
	default:
		rows, err = readJSON(plain)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return rows, nil
}

// longest is the longest line in bytes.
const longest = 16 << 20

func readJSON(r io.Reader) (rows []row, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var members map[string]any
		if err := json.Unmarshal(line, &members); err != nil {
			return nil, fmt.Errorf("line %d is no JSON object: %w", n, err)
		}
		one := row{}
		for name, v := range members {
			switch v := v.(type) {
			case string:
				one[strings.ToLower(name)] = v
			case bool, float64:
				one[strings.ToLower(name)] = fmt.Sprint(v)
			}
		}
		rows = append(rows, one)
	}
	return rows, lines.Err()
}

func readCSV(r io.Reader) ([]row, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	records, err := c.ReadAll()
	if err != nil {
		return nil, err
	}
	return named(records)
}

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t")

func readTSV(r io.Reader) ([]row, error) {
	var records [][]string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		if line := lines.Text(); line != "" && line[0] != '#' {
			fields := strings.Split(line, "\t")
			for i := range fields {
				fields[i] = escapes.Replace(fields[i])
			}
			records = append(records, fields)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return named(records)
}

var known = []string{"a", "b", "same", "kind", "class", "anchor", "positive", "negative", "origin", "similar", "text", "utterance", "prompt", "intent", "label",
	"stored_prompt", "stored", "fresh"}

// named gives the fields of records the names of the first one, if it has names, and else kind, a and b.
func named(records [][]string) (rows []row, err error) {
	if len(records) == 0 {
		return nil, nil
	}
	names, first := []string{"kind", "a", "b"}, 1
	if !slices.ContainsFunc(records[0], func(f string) bool { return !slices.Contains(known, strings.ToLower(f)) }) {
		names, records, first = records[0], records[1:], 2
	}
	if first == 1 && len(records[0]) == len(answerColumns) {
		names = answerColumns
	}
	for i, fields := range records {
		if len(fields) != len(names) {
			return nil, fmt.Errorf("record %d has %d fields: want %d, which are %s", i+first, len(fields), len(names), strings.Join(names, ", "))
		}
		one := row{}
		for j, name := range names {
			one[strings.ToLower(name)] = fields[j]
		}
		rows = append(rows, one)
	}
	return rows, nil
}

// neighbours pairs each text with the nearest other one of its intent, and with the nearest one of another intent.
func neighbours(ctx context.Context, rows []row, e embed.Embedder) (pairs []Pair, err error) {
	var texts, intents []string
	for i, r := range rows {
		text, some := r.first("text", "utterance")
		intent, both := r.first("intent", "label")
		if !some || !both {
			return nil, fmt.Errorf("row %d: %w", i+1, errPair)
		}
		texts, intents = append(texts, text), append(intents, intent)
	}
	var vectors [][]float32
	for part := range slices.Chunk(texts, batch) {
		v, err := e.Embed(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("embed texts: %w", err)
		}
		vectors = append(vectors, v...)
	}
	for i := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		own, other := nearest(i, vectors, texts, intents)
		if own >= 0 {
			pairs = append(pairs, Pair{texts[own], texts[i], true, "own intent"})
		}
		if other >= 0 {
			pairs = append(pairs, Pair{texts[other], texts[i], false, "another intent"})
		}
	}
	return pairs, nil
}

// nearest are the nearest texts of the intent of i, and of another one; -1 where there is none.
func nearest(i int, vectors [][]float32, texts, intents []string) (own, other int) {
	own, other = -1, -1
	if vectors[i] == nil {
		return own, other
	}
	best := [2]float32{-2, -2}
	for j, v := range vectors {
		if v == nil || j == i || texts[j] == texts[i] {
			continue
		}
		c := embed.Dot(vectors[i], v)
		switch {
		case intents[j] == intents[i] && c > best[0]:
			own, best[0] = j, c
		case intents[j] != intents[i] && c > best[1]:
			other, best[1] = j, c
		}
	}
	return own, other
}
