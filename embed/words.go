package embed

import "strings"

// The three weights of words. Question words and auxiliaries count, but little: without them "is it open" and "when is it
// open" are the same, and with full weight they outweigh the words of the topic.
const (
	tierLow  = 0.15
	tierMid  = 0.45
	tierFull = 1
)

var (
	low = set(`a an the this that these those there here it its is am are was were be been being do does did done
		have has had having i me my mine myself we us our ours you your yours he him his she her hers they them their
		and or but so if then than as of to in on at by for from with into onto about over up out off
		will would shall can could may might must should please just also very really some any such
		hi hello hey thanks thank ok okay well now too`)
	mid = set(`what which who whom whose when where why how want need like know tell show give get got make made let
		help say said see look find go going come take use using used try trying think thing things something anything
		someone much many more most lot way ways kind sort good best better great new old other another different
		before after between during while because since until under through without against only even still already
		every each all both few own same possible able mean work works explain describe question answer`)
	// negations all become one token: it matters that one is used, not which.
	negations = set(`no nor not never none neither nothing nobody nowhere without cannot dont doesnt didnt cant couldnt
		wont wouldnt shouldnt isnt arent wasnt werent hasnt havent hadnt aint`)
	// No word has this token as its stem: "not" would be the stem of "note".
	not = []byte("n't")
)

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

func weight(text []byte) float32 {
	switch {
	case low[string(text)]:
		return tierLow
	case mid[string(text)]:
		return tierMid
	}
	return tierFull
}
