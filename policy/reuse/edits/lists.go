package edits

import "strings"

// lists are the closed lists of words in the contexts. All of them are ordinary words that are no name of a product, a title or a place by
// themselves, in the order in which they were thought of.
var lists = map[string]string{
	// N of X is one thing, with and without an article
	"relation": `meaning definition purpose importance significance role history origin origins capital population currency difference differences
		advantage advantages disadvantage disadvantages benefit benefits drawbacks downsides pros cause causes effect effects symptom symptoms
		consequences characteristics features properties components functions uses types kinds examples applications objectives
		duties responsibilities relationship similarities distance formula`,
	"quality":    `main major key common basic possible different various side primary exact`,
	"office":     `president ceo founder founders author inventor owner mayor governor chairman`,
	"super":      `largest biggest smallest highest longest tallest oldest cheapest fastest deepest coldest hottest richest`,
	"supernoun":  `country countries city cities river mountain ocean lake planet island animal animals bird continent building bridge airport desert stadium`,
	"place":      `atm bank hospital pharmacy restaurant station airport supermarket beach hotel park library bus`,
	"attribute":  `name size length width height colour color area volume speed quality value price weight radius perimeter circumference slope`,
	"acquire":    `get create make open start build write find buy order`,
	"quality2":   `bank new good free savings user student personal business`,
	"countable":  `account refund loan passport job website blog resume playlist survey appointment reservation password profile mortgage startup spreadsheet`,
	"instrument": `guitar piano violin drums flute cello ukulele saxophone`,
	"choice": `country countries city cities language languages company companies bank car cars phone laptop book books movie movies school university college
		course courses colour color colours colors documents app apps browser browsers website websites animal animals food foods fruit fruits
		vegetables vitamins time day month year type types kind kinds brand airline airport river planet continent team player subject subjects`,
	"verb":      `is are was were do does did can could should will would has have had`,
	"thing":     `books movies films songs apps websites ways tips ideas exercises recipes places restaurants hotels games gifts resources tools podcasts hobbies examples universities colleges courses`,
	"ways":      `ways tips examples benefits advantages disadvantages causes symptoms reasons`,
	"question1": `fee charge limit difference discount penalty chance risk cure treatment restriction deadline downside alternative benefit advantage way need possibility evidence proof`,
	"stock":     `rooms discounts recommendations suggestions questions openings vacancies appointments fees charges restrictions messages meetings reminders alarms jobs restaurants hotels side-effects alternatives limits options coupons`,
	"free":      `good free new other special vegan vegetarian cheap extra hidden open`,
	"adjective": `expensive popular important hard difficult slow big small hot cold high low cheap long rich poor famous rare common dangerous tired boring successful beautiful loud sad angry unhappy lazy bad blue red green white black`,
	"question":  `what which who whom whose where when why how`,
	"field":     `python java javascript sql math mathematics economics physics chemistry biology statistics programming excel linguistics psychology accounting`,
	"task":      `change cancel delete remove download recover restore reset update upgrade transfer export import edit create open close find save print schedule track extend`,
	"site":      `account accounts website site app portal dashboard profile`,
	"provider":  `google facebook`,
	"document":  `orders order invoices bills balance statement statements transactions messages profile appointments history`,
	"help":      `help explain`,
	"goods":     `ticket tickets car house phone laptop gift subscription domain licence license stocks shares bicycle computer`,
	"after":     `$ in for with on from without online at if as near through using when`,
	"after2":    `$ in for to with on from at near between about of that`,
	"after3":    `$ in for to at on today tonight now when`,
	"after4":    `$ of in with after`,
}

func set(words string) map[string]bool {
	s := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		s[w] = true
	}
	return s
}

var (
	// labels stand before a colon at the end of a template.
	labels = set(`question query user customer`)
	// frames have the kind of sentence that a frame of the normal form begins.
	frames = map[string]kind{"HOW": how}

	auxiliaries  = set(`is are was were am do does did can could should will would has have had`)
	orders       = set(`explain describe list compare name define show give`)
	prepositions = set(`in at on from for`)

	conjunctions = set(`and or vs versus`)
	articles     = set(`a an the`)
	comparatives = set(`better cheaper healthier faster safer bigger larger stronger easier worse`)
	relations    = set(`difference differences relationship similarity similarities distance`)
	chosen       = set(`buy choose learn use get pick study`)
	fields       = set(lists["field"])
	ordered      = set(`one two three four five six seven eight nine ten first second third last before after then this that these those
		former latter both either not no all any some each every other my your his her its our their of to in on at with without by for from who than
		only same more most less least it them him he she they we you i me us`)
	acronyms = set(`US USA TV HOW 2FA CEO ceo atm ATM`)

	// mentions make other words of the sentence a text: its spelling, its sound, its title.
	mentions = set(`say says said saying word words letter letters sentence sentences phrase phrases spell spelled spelt spelling pronounce pronounced
		pronunciation translate translated translation called named titled title song songs sang sing sings sung singer lyrics episode chapter quote quotes
		poem rhyme rhymes grammar grammatical grammatically abbreviation acronym synonym synonyms antonym antonyms anagram palindrome noun verb
		adjective adverb syllable syllables starring starred stars cast actor actress directed plot respectively than quoted written wrote`)
	// cues do so in the text before the sentence.
	cues = set(`repeat repeats rephrase paraphrase translate translates translation translator rewrite spell spelling grammar proofread verbatim rhyme rhymes anagram
		encode decode reverse uppercase lowercase capitalise capitalize pronounce transcribe transliterate echo misspelled typos vowels syllables
		characters wrote following correct`)

	// right are words of which no misspelling is another word: see misspelt.
	right = set(`account address password payment delivery subscription electricity refrigerator restaurant restaurants
		difference differences important importance business government university environment development information technology
		computer internet language languages programming software engineering mathematics chemistry knowledge
		beginner beginners vegetables exercise exercises breakfast chocolate temperature february wednesday tomorrow yesterday
		necessary available successful beautiful expensive comfortable possible different appropriate immediately definitely
		recommend recommended recommendations receive received separate calculate calculator download downloads install installation
		application applications experience experienced interview interviews insurance mortgage salary employee employees
		vacation luggage passport airport reservation appointment schedule calendar reminder customer customers
		symptoms treatment medicine pregnancy pregnant diabetes cholesterol doctor hospital 
		advantages disadvantages benefits meaning definition function relationship equipment furniture marketing management
		president parliament independence population religion culture opportunity opportunities
		improve increase develop understand remember organize organise prevent remove removed 
		address balance statement transaction transactions transfer withdrawal deposit credit invoice invoices receipt receipts
		battery keyboard laptop network wireless bluetooth website websites username
		notification notifications settings language profile question questions problem problems solution solutions`)
)
