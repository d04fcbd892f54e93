package kv

import (
	"math"

	"reprise/policy"
)

// The bounds of a life in seconds, and how many victims its mean has.
const (
	leastLife, mostLife = 10, 3600
	firstLife           = 600 // before there were victims: 90 % of the blocks of chats are not used after that (papers/001 §3.5)
	victims             = 256
)

var lifeParam = policy.Param{
	Name: "life", Says: "seconds in which a next use counts; auto: the age of the victims, from 10 s to an hour; off: any time",
	Default: "auto", Choices: []string{"auto", "off"}, Min: 1, Max: 1e9,
}

// life is the time within which a block must be used again to be worth its room.
type life struct {
	auto    bool
	seconds float64
	mean    float64 // age of victims
}

func lifeOf(a policy.Args) life {
	switch a.Choice(lifeParam.Name) {
	case "auto":
		return life{auto: true, seconds: firstLife, mean: firstLife}
	case "off":
		return life{seconds: math.Inf(1)}
	}
	return life{seconds: a.Num(lifeParam.Name)}
}

// evicted reports a victim that was not used for idle seconds.
func (l *life) evicted(idle float64) { l.mean += (idle - l.mean) / victims }

// adopt makes the age of the victims the life, unless both are nearly equal.
func (l *life) adopt() (changed bool) {
	mean := min(max(l.mean, leastLife), mostLife)
	if !l.auto || math.Abs(mean-l.seconds) <= l.seconds/50 {
		return false
	}
	l.seconds = mean
	return true
}
