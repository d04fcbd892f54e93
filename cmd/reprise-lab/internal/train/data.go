package train

import (
	"context"
	"fmt"
	"slices"

	"reprise/embed"
	"reprise/proxy/continuation"
)

// view is a text of an example that is embedded.
type view struct {
	window  int  // prompts
	answers bool // the answers are between them
}

// text is what is embedded of e.
func (v view) text(e *example) string {
	if !v.answers {
		return continuation.Text(e.Prompts, v.window, tokens)
	}
	var all []string
	for i := max(0, len(e.Prompts)-v.window); i < len(e.Prompts); i++ {
		all = append(all, e.Prompts[i], e.Answers[i])
	}
	return continuation.Text(all, len(all), tokens)
}

// tokens is the budget of a text (papers/004 §3.2).
const tokens = 512

// vectors are the embeddings of views: the embedder is frozen, so that each text is embedded once.
type vectors struct {
	embedder embed.Embedder
	made     map[view]*matrix
}

// addAll embeds the views of all variants.
func (v *vectors) addAll(ctx context.Context, s *Set, list []variant, note func(step string, done, total int)) error {
	var views []view
	for _, one := range list {
		for _, w := range one.views {
			if !slices.Contains(views, w) {
				views = append(views, w)
			}
		}
	}
	n := len(s.examples)
	for i, w := range views {
		if err := v.add(ctx, s, w, func(done int) { note("embedded", i*n+done, len(views)*n) }); err != nil {
			return err
		}
	}
	return nil
}

// add embeds a view of all examples. note is called with the number of examples done.
func (v *vectors) add(ctx context.Context, s *Set, what view, note func(done int)) error {
	m := newMatrix(len(s.examples), v.embedder.Dim())
	const at = 256
	texts := make([]string, 0, at)
	for from := 0; from < len(s.examples); from += at {
		texts = texts[:0]
		for i := from; i < min(from+at, len(s.examples)); i++ {
			texts = append(texts, what.text(&s.examples[i]))
		}
		all, err := v.embedder.Embed(ctx, texts)
		if err != nil {
			return fmt.Errorf("embed %d prompts from number %d: %w", len(texts), from+1, err)
		}
		for i, one := range all {
			copy(m.row(from+i), one) // a text without a vector has zeros
		}
		note(from + len(texts))
	}
	v.made[what] = &m
	return nil
}

// data is some examples of a Set as a net reads them.
type data struct {
	set    *Set
	views  []*matrix
	turn   bool  // an input; without it, it is 0
	which  []int // of the set
	goesOn []bool
}

func (v *vectors) data(s *Set, views []view, turn bool, which []int) *data {
	d := &data{set: s, turn: turn, which: which}
	for _, w := range views {
		d.views = append(d.views, v.made[w])
	}
	for _, e := range which {
		d.goesOn = append(d.goesOn, s.examples[e].GoesOn)
	}
	return d
}

func (d *data) rows() int { return len(d.which) }

// width is the number of inputs.
func (d *data) width() (n int) {
	for _, v := range d.views {
		n += v.cols
	}
	return n + 1
}

// batch copies the inputs of the examples of d numbered by order to m.
func (d *data) batch(order []int, m *matrix) {
	m.resize(len(order), d.width())
	for i, at := range order {
		row := m.row(i)
		e := d.which[at]
		for _, v := range d.views {
			row = row[copy(row, v.row(e)):]
		}
		row[0] = 0
		if d.turn {
			row[0] = continuation.TurnInput(d.set.examples[e].Turn)
		}
	}
}

// turns are the turns of the examples.
func (d *data) turns() []int {
	all := make([]int, len(d.which))
	for i, e := range d.which {
		all[i] = d.set.examples[e].Turn
	}
	return all
}
