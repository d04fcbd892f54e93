package cmdline

import (
	"bufio"
	"encoding/json"
	"io"
)

// WriteLines writes values as JSON, one a line: what --json prints of results.
func WriteLines[T any](w io.Writer, all []T) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for i := range all {
		if err := lines.Encode(&all[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}
