// Package dataset reads the packed data files of tests and benchmarks.
package dataset

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

const longest = 64 << 20 // bytes of a line

// Lines yields the lines of a file packed by gzip, in their order, and last an error, if there is one. A line is valid until the next one.
func Lines(path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", path, err))
			return
		}
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, longest)
		for lines.Scan() {
			if !yield(lines.Bytes(), nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("%s: %w", path, err))
		}
	}
}

// Rows yields the JSON objects of a file packed by gzip, one a line, and last an error, if there is one.
func Rows[T any](path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for line, err := range Lines(path) {
			var row T
			if err == nil {
				if err = json.Unmarshal(line, &row); err != nil {
					err = fmt.Errorf("%s: %w", path, err)
				}
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// UserTexts calls add with every text of a user in the files *.jsonl.gz below dir, except those in folders named kv, which have none:
// members text, question and prompt, and the turns of "U". It returns the first error of a file.
func UserTexts(dir string, add func(text string)) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl.gz") || strings.Contains(path, "/kv/") {
			return err
		}
		for line, err := range Lines(path) {
			if err != nil {
				return err
			}
			addTexts(line, add)
		}
		return nil
	})
}

func addTexts(line []byte, add func(text string)) {
	var record struct {
		Text, Question, Prompt, Role string
		Turns                        [][2]string
	}
	_ = json.Unmarshal(line, &record) // a record of another form has none of these
	if record.Role == "assistant" {
		return
	}
	add(record.Text)
	add(record.Question)
	add(record.Prompt)
	for _, turn := range record.Turns {
		if turn[0] == "U" {
			add(turn[1])
		}
	}
}
