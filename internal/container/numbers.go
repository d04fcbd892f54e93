package container

// Numbers gives keys small numbers from 1, the latest free number first in use again, for state that lies in slices by
// number: with 16 to 24 bytes per key it is smaller than Slots, for entries that are in no queue. A key of 0 takes a number and
// is not found. The zero value is empty.
type Numbers[K ~uint64] struct {
	index Index[K]
	keys  []K    // by number
	spare uint32 // first unused number, chained by keys
}

// Len is the number of keys but 0.
func (s *Numbers[K]) Len() int { return s.index.Len() }

// Key is the key that has a number.
func (s *Numbers[K]) Key(number uint32) K { return s.keys[number] }

// Find is the number of key.
func (s *Numbers[K]) Find(key K) (number uint32, ok bool) {
	number = s.index.Find(key, s.Key)
	return number, number != 0
}

// Add numbers a key that has no number yet. What lies by number grows by one when the number is its length.
func (s *Numbers[K]) Add(key K) uint32 {
	number := s.take()
	s.keys[number] = key
	if key != 0 {
		s.index.Add(key, number)
	}
	return number
}

// Free gives a number back.
func (s *Numbers[K]) Free(number uint32) {
	if key := s.keys[number]; key != 0 {
		s.index.Remove(key, s.Key)
	}
	s.keys[number], s.spare = K(s.spare), number
}

func (s *Numbers[K]) take() uint32 {
	if number := s.spare; number != 0 {
		s.spare = uint32(s.keys[number])
		return number
	}
	if len(s.keys) == 0 {
		s.keys = make([]K, 1)
	}
	s.keys = append(s.keys, 0)
	return uint32(len(s.keys) - 1)
}
