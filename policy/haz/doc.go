// Package haz is a learned policy: it foresees by a logistic regression over thirteen features how soon an entry will be used
// again. haz.go has the policy, entry.go what it keeps of each entry, topic.go of each topic, learn.go how it samples and
// learns, pool.go the candidates for the next victim, and model.go the regression and its features.
package haz
