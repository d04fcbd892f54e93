package trace

import (
	"bufio"

	"reprise/policy/sim"
)

func parseIDs(in *bufio.Reader, yield func(sim.Request) bool) error {
	l := lines{in: in}
	return l.each(func(line []byte) (bool, error) {
		return yield(sim.Request{ID: identity(line)}), nil
	})
}
