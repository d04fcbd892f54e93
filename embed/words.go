package embed

import "strings"

// The three weights of words. Question words and auxiliaries count, but little: without them "is it open" and "when is it
// open" are the same, and with full weight they outweigh the words of the topic.
const (
	tierLow  = 0.15
	tierMid  = 0.45
	tierFull = 1
	negated  = -1 // of a word that means not
)

const (
	low = `a an the this that these those there here it its is am are was were be been being do does did done
		have has had having i me my mine myself we us our ours you your yours he him his she her hers they them their
		and or but so if then than as of to in on at by for from with into onto about over up out off
		will would shall can could may might must should please just also very really some any such
		hi hello hey thanks thank ok okay well now too`
	mid = `what which who whom whose when where why how want need like know tell show give get got make made let
		help say said see look find go going come take use using used try trying think thing things something anything
		someone much many more most lot way ways kind sort good best better great new old other another different
		before after between during while because since until under through without against only even still already
		every each all both few own same possible able mean work works explain describe question answer`
	// negations all become one token: it matters that one is used, not which.
	negations = `no nor not never none neither nothing nobody nowhere without cannot dont doesnt didnt cant couldnt
		wont wouldnt shouldnt isnt arent wasnt werent hasnt havent hadnt aint`
)

// No word has this token as its stem: "not" would be the stem of "note".
var not = []byte("n't")

// common is a hash table of the words of the lists: one probe finds most words, or that they are in no list.
var common = func() (t [1024]commonWord) {
	put := func(list string, weight float32) {
		for w := range strings.FieldsSeq(list) {
			at := &t[slot(&t, hashBytes([]byte(w)), []byte(w))]
			*at = commonWord{w, weight}
		}
	}
	put(mid, tierMid)
	put(low, tierLow)
	put(negations, negated)
	return t
}()

type commonWord struct {
	text   string // empty in a free slot
	weight float32
}

// slot is where a word is in t, or the free place for it.
func slot(t *[1024]commonWord, hash uint64, text []byte) int {
	i := int(hash >> 54)
	for t[i].text != "" && t[i].text != string(text) {
		i = (i + 1) % len(t)
	}
	return i
}

// weight returns the weight of a word, which may be negated.
func weight(hash uint64, text []byte) float32 {
	if w := &common[slot(&common, hash, text)]; w.text != "" {
		return w.weight
	}
	return tierFull
}
