package canon

import "regexp"

// Ignore is what of a request is no part of its key and scope by the will of the operator: two requests that differ in nothing else are
// the same. What is forwarded keeps it.
type Ignore struct {
	Fields   map[string]bool  // members of the body
	Patterns []*regexp.Regexp // of the texts of system and developer messages before the first user's: what their named groups match
}
