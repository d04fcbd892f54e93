package enginesim

// shelfSize bounds what the engine remembers of one kind.
const shelfSize = 256

// shelf keeps the newest values by name. It holds no lock.
type shelf[T any] struct {
	byName map[string]T
	names  []string // oldest first
}

func newShelf[T any]() *shelf[T] { return &shelf[T]{byName: map[string]T{}} }

// put adds a value under a name that was never used.
func (s *shelf[T]) put(name string, v T) {
	if len(s.names) == shelfSize {
		delete(s.byName, s.names[0])
		s.names = s.names[1:]
	}
	s.byName[name] = v
	s.names = append(s.names, name)
}
