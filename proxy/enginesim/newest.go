package enginesim

// newestSize bounds how many values of one kind the engine keeps.
const newestSize = 256

// newest keeps the newest values by name. It holds no lock.
type newest[T any] struct {
	byName map[string]T
	names  []string // oldest first
}

func makeNewest[T any]() *newest[T] { return &newest[T]{byName: map[string]T{}} }

// put adds a value under a name that was never used.
func (s *newest[T]) put(name string, v T) {
	if len(s.names) == newestSize {
		delete(s.byName, s.names[0])
		s.names = s.names[1:]
	}
	s.byName[name] = v
	s.names = append(s.names, name)
}
