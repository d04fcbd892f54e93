package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"reprise/internal/traffic"
)

// Set is the examples of some files.
type Set struct {
	Sources  []string // names of the files without folders
	Talks    int
	Skipped  int    // records that could not be parsed
	Fault    error  // the first of them
	Seed     uint64 // of the split
	examples []example
	source   []int // of each example, a number of Sources
	part     []part
}

// ErrNoExamples is wrapped by the error for files from which nothing can be learned.
var ErrNoExamples = errors.New("nothing to learn from")

// Read reads the conversations of files, in any format of traffic.OpenConversations, and splits them by openings.
func Read(ctx context.Context, paths []string, seed uint64) (*Set, error) {
	s := &Set{Seed: seed}
	for _, path := range paths {
		if err := s.read(ctx, path); err != nil {
			return nil, err
		}
	}
	return s, s.check()
}

func (s *Set) read(ctx context.Context, path string) error {
	r, err := traffic.OpenConversations(path)
	if err != nil {
		return err
	}
	defer r.Close()
	source := len(s.Sources)
	s.Sources = append(s.Sources, filepath.Base(path))
	var log chats
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if c.Body != nil {
			if !log.add(c.Body) {
				s.Skipped++
			}
			continue
		}
		s.add(&c, source)
	}
	for i := range log.all {
		s.add(&log.all[i], source)
	}
	n, fault := r.Skipped()
	if s.Skipped += n; s.Fault == nil {
		s.Fault = fault
	}
	return nil
}

func (s *Set) add(c *traffic.Conversation, source int) {
	part := partOf(s.Seed, c.Turns[0].Text)
	for _, e := range examplesOf(c) {
		s.examples = append(s.examples, e)
		s.source = append(s.source, source)
		s.part = append(s.part, part)
	}
	s.Talks++
}

// check refuses parts in which only one label occurs: what is learned there is the label.
func (s *Set) check() error {
	for p, name := range []string{"training", "validation", "held-out"} {
		if ends, goesOn := s.labels(part(p), all); ends == 0 || goesOn == 0 {
			return fmt.Errorf("%w: of the %d requests in the %s part of %d conversations %d go on and %d end them; want both: more conversations, some of them of several turns",
				ErrNoExamples, ends+goesOn, name, s.Talks, goesOn, ends)
		}
	}
	return nil
}

// labels counts the examples of a part of a source by label.
func (s *Set) labels(part part, source int) (ends, goesOn int) {
	for _, e := range s.pick(part, source) {
		goesOn += index(s.examples[e].GoesOn)
		ends += index(!s.examples[e].GoesOn)
	}
	return ends, goesOn
}

// learnable reports whether a source alone has both labels where a model is trained.
func (s *Set) learnable(source int) bool {
	for _, p := range []part{trainingPart, validationPart} {
		if ends, goesOn := s.labels(p, source); ends == 0 || goesOn == 0 {
			return false
		}
	}
	return true
}

// all is every source.
const all = -1

// pick are the examples of a part of a source, or of all.
func (s *Set) pick(part part, source int) (which []int) {
	for e, p := range s.part {
		if p == part && (source == all || s.source[e] == source) {
			which = append(which, e)
		}
	}
	return which
}
