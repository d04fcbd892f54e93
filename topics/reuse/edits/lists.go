package edits

import "strings"

// lists are the closed lists of words in the contexts: ordinary words that are by themselves no name, title or term of their own without
// the words that the rule demands beside them.
var lists = map[string]string{
	// countries of which the name is nothing else
	"country": `france germany italy spain portugal poland sweden norway finland denmark austria belgium romania ukraine egypt kenya nigeria
		india japan thailand vietnam indonesia australia canada brazil argentina peru colombia mexico`,
	"super":     `largest biggest smallest longest tallest highest`,
	"supernoun": `country city river lake mountain island desert airport bridge building`,
	"most":      `most largest highest lowest`,
	"counted":   `population lakes islands people inhabitants mountains`,
	"nutrient":  `iron calcium protein fiber potassium magnesium zinc`,
	"place":     `atm ATM bank hospital pharmacy restaurant station airport supermarket beach hotel park library`,
	"ways":      `advantages disadvantages benefits drawbacks causes symptoms`,
	"doing":     `learning studying saving sleeping traveling`,
	"priced":    `gold diamonds flights houses rent insulin textbooks hotels childcare`,
	"valued":    `sleep exercise education nutrition recycling biodiversity`,
	"drink":     `tea coffee milk water juice beer wine`,
	"sorted":    `oil shoes flour shampoo paint`,
	"task":      `change cancel delete remove download recover restore reset update upgrade transfer export import edit track`,
	"mine":      `account password email subscription order address username profile`,
	"items":     `emails messages photos files contacts notifications`,
	"goods":     `ticket domain subscription laptop bicycle`,
	"question":  `what which who whom whose where when why how whether if`,
}

const (
	ordering  = `explain describe list compare name define`
	differing = `what is are was were am do does did can could should will would has have had ` + ordering
)

func set(words string) map[string]bool {
	s := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		s[w] = true
	}
	return s
}

var (
	// frames are those of the normal form that begin a sentence with edits, and openers the words that do.
	frames  = set(`HOW DIFF MEAN FEEL IF`)
	openers = set(`which who where why how in ` + differing)
	// differs begins a sentence that asks for the difference between two things.
	differs = set(`MEAN FEEL IF ` + differing)
	orders  = set(ordering)

	conjunctions = set(`and or vs versus`)
	articles     = set(`a an`)
	comparatives = set(`better cheaper healthier faster safer bigger larger stronger easier worse`)
	relations    = set(`difference differences`)
	determiners  = set(`the a any some main key`)
	chosen       = set(`buy choose learn use get pick study`)
	fields       = set(`python java javascript sql math mathematics economics physics chemistry biology statistics programming excel linguistics psychology accounting`)
	// what is compared, of which neither is a number, a note or a day: those have a distance, and that a direction
	compared = set(`tea coffee butter margarine jam jelly cat dog cats dogs crocodile alligator turtle tortoise java python javascript typescript php ruby
		mysql postgresql mongodb tcp udp http https list tuple compiler interpreter ios android linux stocks bonds virus bacterium viruses bacteria mitosis
		meiosis dna rna weather climate`)
	// propers are listed words that are written with a capital, and the pronoun.
	propers = set(`i US usa atm ATM HOW 2FA eu uk english spanish french german italian youtube instagram tiktok facebook android iphone ` + lists["country"])

	// barred are words in whose sentence nothing is edited: those that make other words a text, its spelling, its sound or its title, and those
	// that negate or compare some part of the sentence.
	barred = set(`say says said saying word words letter letters sentence sentences phrase phrases spell spelled spelt spelling pronounce pronounced
		pronunciation translate translated translation called named titled title song songs sang sing sings sung singer lyrics episode chapter quote quotes
		poem rhyme rhymes grammar grammatical grammatically abbreviation acronym synonym synonyms antonym antonyms anagram palindrome noun verb
		adjective adverb syllable syllables starring starred stars cast actor actress directed plot respectively than not never hardly neither nor quoted written wrote backwards
		reversed morse uppercase lowercase capitals caps dictionary scrabble dash hyphen hyphens hyphenated term terms acceptable valid`)
	// empty are words of edits that have no meaning of their own, or none without the words beside them.
	empty = set(`the a an of that any some and so what which is are to it in on up for i do can how where there because due`)
	// tongues are languages: the sentence may want its words in one of them, unless that is spoken or learned.
	tongues = set(`french spanish german italian portuguese dutch latin greek russian polish chinese mandarin japanese korean arabic hindi turkish swedish
		english welsh irish hebrew danish finnish norwegian czech hungarian`)
	practised = set(`speak write learn study understand`)
	// leading are words before a word that may be misspelt.
	leading = set(`my the a an of to with`)
	// right are long words of which no misspelling is another word: see misspelt.
	right = set(`subscription subscriptions electricity refrigerator appointment appointments reservation reservations installation
		notification notifications transaction transactions withdrawal certificate`)
)
