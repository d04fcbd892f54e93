// Package rac is relation-aware caching, the policy of paper 002, with what the paper leaves open as options. rac.go has the
// policy, topic.go its two levels of heaps, link.go the dependencies, past.go what it remembers of entries
// that have left, and spec.go the two names under which it can be made.
package rac
