package edits

import "strings"

// lists are the closed lists of words in the contexts: ordinary words that are by themselves no name, title or term of their own without
// the words that the rule demands beside them.
var lists = map[string]string{
	// N of X is the same with and without an article
	"relation": `meaning definition purpose importance significance role history origin capital population currency difference differences
		advantage advantages disadvantage disadvantages benefit benefits drawbacks downsides causes effects symptoms
		consequences characteristics features properties components uses types kinds examples objectives
		duties responsibilities relationship similarities distance formula`,
	"quality":   `main major key basic possible various side primary`,
	"office":    `president ceo founder founders author inventor owner mayor governor`,
	"super":     `largest biggest smallest highest longest tallest oldest cheapest fastest deepest coldest hottest richest`,
	"supernoun": `country countries city cities river mountain ocean lake planet island animal animals bird continent building bridge airport desert stadium`,
	"place":     `atm bank hospital pharmacy restaurant station airport supermarket beach hotel park library`,
	"attribute": `name size length width height color area volume speed quality value price weight radius perimeter circumference slope`,
	// no article and "the" before them are the same where they are played
	"instrument": `guitar piano violin drums flute cello ukulele saxophone`,
	// not plan, state, order, name, position: they are asked for in two senses
	"choice": `country countries city cities language languages companies bank car cars phone laptop book books movie movies school university college
		courses color colors documents app apps browser browsers website websites animal animals food foods fruit fruits
		vegetables vitamins day month year tools methods options skills ingredients steps vaccines medications banks brands laptops phones cameras
		universities colleges schools exercises drinks snacks spices systems formats brand airline airport river planet continent team player subject subjects`,
	"one": `book laptop phone movie restaurant hotel university college course app website camera car bike school exercise diet job country city language browser bank
		tablet printer router mattress shampoo sunscreen antivirus treatment remedy medicine workout recipe method technique alternative substitute replacement
		example gift season month age beach podcast platform degree career`,
	"sorted": `food foods music movie movies book books car cars oil gas fuel animal animals person people pet pets plant plants tree trees job jobs work card cards
		payment insurance account loan visa doctor phone battery plug plugs adapter license permit document documents question questions things activities
		hobbies sport sports restaurant restaurants hotel hotels shoes clothes wine beer cheese meat fish bread flour soil paint wood dog dogs cat cats bird
		birds games exercise exercises diet milk tea coffee filter tires bike laptop computer camera tools information service services support products
		companies business businesses training experience skills education degree`,
	"verb": `is are was were do does did can could should will would has have had`,
	"thing": `books movies films songs apps websites ways tips ideas exercises recipes places restaurants hotels games gifts resources tools podcasts hobbies
		examples universities colleges courses`,
	"ways":         `ways examples benefits advantages disadvantages causes symptoms reasons`,
	"stock":        `rooms discounts recommendations suggestions questions openings vacancies appointments fees charges restrictions messages meetings reminders alarms jobs restaurants hotels alternatives limits coupons`,
	"free":         `good free new other special vegan vegetarian cheap extra hidden`,
	"adjective":    `expensive popular important difficult slow high low famous rare common dangerous boring successful beautiful loud blue red green`,
	"plainsubject": `it this that they i you we people he she`,
	"question":     `what which who whom whose where when why how whether if`,
	"field":        `python java javascript sql math mathematics economics physics chemistry biology statistics programming excel linguistics psychology accounting`,
	"task":         `change cancel delete remove download recover restore reset update upgrade transfer export import edit create save print track`,
	"items":        `accounts emails messages photos files devices orders contacts cards bills payments subscriptions bookmarks notifications`,
	"goods":        `ticket tickets car house phone laptop subscription domain bicycle computer`,
	"owner":        `the a an my your his her our their its this that these those`,
	"after":        `$ in for with on from without online at if as near through using when`,
	"after2":       `$ in for to with on from at near of about`,
	"after3":       `$ in for to at today tonight now when`,
}

func set(words string) map[string]bool {
	s := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		s[w] = true
	}
	return s
}

var (
	// frames have the kind of sentence that a frame of the normal form begins.
	frames = map[string]kind{"HOW": how, "LONG": how, "COST": how, "DIFF": what, "MEAN": what, "FEEL": what, "IF": what}

	be           = set(`is are was were am`)
	auxiliaries  = set(`is are was were am do does did can could should will would has have had`)
	orders       = set(`explain describe list compare name define`)
	prepositions = set(`in at on from for`)
	questions    = set(lists["question"])

	conjunctions = set(`and or vs versus`)
	articles     = set(`a an the`)
	comparatives = set(`better cheaper healthier faster safer bigger larger stronger easier worse`)
	relations    = set(`difference differences relationship similarity similarities distance`)
	determiners  = set(`the a any some main key`)
	chosen       = set(`buy choose learn use get pick study`)
	fields       = set(lists["field"])
	ordered      = set(`one two three four five six seven eight nine ten first second third last before after then this that these those
		former latter both either not no all any some each every other my your his her its our their of to in on at with without by for from who
		only same more most less least it them him he she they we you i me us now later today tomorrow yesterday here there`)
	// propers are listed words that are written with a capital, and the pronoun.
	propers = set(`i US usa tv HOW 2FA ceo atm uk eu cv english spanish french german italian google facebook youtube instagram tiktok android iphone ios`)

	// barred are words in whose sentence nothing is edited: those that make other words a text, its spelling, its sound or its title, and those
	// that negate or compare some part of the sentence.
	barred = set(`say says said saying word words letter letters sentence sentences phrase phrases spell spelled spelt spelling pronounce pronounced
		pronunciation translate translated translation called named titled title song songs sang sing sings sung singer lyrics episode chapter quote quotes
		poem rhyme rhymes grammar grammatical grammatically abbreviation acronym synonym synonyms antonym antonyms anagram palindrome noun verb
		adjective adverb syllable syllables starring starred stars cast actor actress directed plot respectively than not never hardly neither nor quoted written wrote backwards
		reversed morse uppercase lowercase capitals caps dictionary scrabble dash hyphen hyphens hyphenated term terms acceptable valid`)
	// empty are words of edits that have no meaning of their own, or none without the words beside them.
	empty = set(`the a an of that any some and so what which is are to it in on up for i do can how where there because due`)
	// clauses open a clause that a "why" behind it may belong to.
	clauses = set(`that to if whether`)
	// tongues are languages: the sentence may want its words in one of them, unless that is spoken or learned.
	tongues = set(`french spanish german italian portuguese dutch latin greek russian polish chinese mandarin japanese korean arabic hindi turkish swedish
		english welsh irish hebrew danish finnish norwegian czech hungarian`)
	practised = set(`speak write learn study understand`)
	// leading are words before a word that may be misspelt.
	leading = set(`the a an my your our their his her its these some any i you we they in on at for to of with from by about new good best HOW`)
	// right are words of which no misspelling is another word: see misspelt.
	right = set(`account address password payment delivery subscription electricity refrigerator restaurant restaurants
		difference differences important importance business government university environment development information technology
		computer internet language languages programming software engineering mathematics chemistry knowledge
		beginner beginners vegetables exercise exercises breakfast chocolate temperature february wednesday tomorrow yesterday
		necessary available successful beautiful expensive comfortable possible different appropriate immediately definitely
		recommend recommended recommendations receive received separate calculate calculator download downloads install installation
		application applications experience experienced interview interviews insurance mortgage salary employee employees
		vacation luggage passport airport reservation appointment schedule calendar customer customers
		symptoms treatment medicine pregnancy pregnant diabetes cholesterol doctor hospital
		advantages disadvantages benefits meaning definition function relationship equipment furniture marketing management
		president parliament independence population religion culture opportunity opportunities
		improve increase develop understand remember organize prevent remove removed
		balance statement transaction transactions transfer withdrawal deposit credit invoice invoices receipt receipts
		battery keyboard laptop network wireless bluetooth website websites
		username notification notifications settings profile question questions problem problems solution solutions`)
)
