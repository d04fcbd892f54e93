package reuse

import (
	"slices"
	"strings"
)

// class is what a word may do in a sentence, as a set of bits.
type class uint32

const (
	// function words carry no content of their own: they may come and go. Which of two opposites is there still
	// counts, see antonyms, and so does the position of direction words, see sameOrder.
	function class = 1 << iota
	negating
	auxiliary
	questioning
	asking      // comes before a question that is not the first word of its sentence
	measuring   // makes "how" another question: how many
	preposition // may open a phrase that moves to the front
	directional // keeps its place among the others: who does what to whom
	personal
	greeting
	verbal // 's behind it is a verb, behind others mostly a genitive
	determining
	comparing  // makes the order of two members free
	joining    // is between them
	way        // turns "what" into "how": what is the best way to
	numeric    // may be part of a number
	explaining // requests an explanation
	saluting   // a function word where it is used, content where it is mentioned
	mentioning // comes before what is mentioned
	fused      // in joinedNot or misspellings
	polite     // courtesy where it begins or ends a sentence
	mild       // may be on one side only between prompts of the same content
	loose      // may be on one side only where the question is asked in another way
	agreeing   // goes with the number of another word
	phrasal    // a verb that a particle turns into another one
	adverbal   // such a particle
	filler     // content that is mostly part of a way of asking
	subordinating
	requesting // a verb of requests to a machine
	anybody    // any person who may ask
	framing    // may be folded
	failing    // says that something does not happen, as a negation does
)

// lexicon is a hash table of the classes of words; all words not in it are content. Every word of a prompt is looked up once, and
// one probe is mostly enough.
var lexicon = func() (t [2048]entry) {
	put := func(w string, c class) {
		e := slot(&t, w)
		e.word, e.class = w, e.class|c
	}
	for c, list := range wordLists {
		for w := range strings.FieldsSeq(list) {
			put(w, c)
		}
	}
	for w := range cardinals {
		put(w, numeric)
	}
	for w := range ordinals {
		put(w, numeric)
	}
	for w := range joinedNot {
		put(w, fused)
	}
	for w, right := range misspellings {
		if w != right {
			put(w, fused)
		}
	}
	for w := range phrasals {
		put(w, phrasal)
	}
	put("an", framing)
	for _, list := range folds {
		for _, words := range slices.Concat(list[:]...) {
			put(words[0], framing)
		}
	}
	return t
}()

type entry struct {
	word  string // empty in a free slot
	class class
}

// slot is the place of a word in t: its own, or the first free one.
func slot(t *[2048]entry, w string) *entry {
	h := uint32(2166136261)
	for i := range len(w) {
		h = (h ^ uint32(w[i])) * 16777619
	}
	for i := h * 0x9e3779b1 >> 21; ; i = (i + 1) % uint32(len(t)) {
		if e := &t[i]; e.word == "" || e.word == w {
			return e
		}
	}
}

func classOf(w string) class { return slot(&lexicon, w).class }

var wordLists = map[class]string{
	function: `a an the this that these those there here it its is am are was were be been being do does did done
		has have had having i me my mine myself we us our ours you your yours he him his she her hers they them their
		and or but so if then than as of to in on at by for from with into onto about over under up off out again
		will would shall can could may might must should ok okay well now too
		what which who whom whose when where why how
		please just also very really some any such kindly hi hello hey dear thanks thank
		know tell show give explain describe say help want need like get got let wondering wonder possible
		question answer exactly actually basically simply currently one ones oh um
		through during while within via per upon toward towards among between vs versus
		的 了 吗 嗎 呢 啊 吧 请 請 は が を の に で と も か`,
	negating: `not no nor never none neither nothing nobody nowhere without non hardly barely
		不 没 沒 無 无 非 未 别 別 勿 否
		nicht kein keine keinen keiner nie ohne pas jamais sans nunca jamás não nem`,
	auxiliary:   `is am are was were do does did has have had will would shall can could may might must should`,
	questioning: `who whom whose what which whats when where why how`,
	asking: `me know tell explain describe show say see ask wonder wondering understand remember idea about of in for
		to from by at with on and or but so then is are was were does exactly find out learn sure figure please hi hello
		hey ok okay look check`,
	measuring: `many much long often old far big large tall high deep wide fast quickly soon late early heavy hot
		cold expensive likely`,
	preposition: `in on at by for from with after before during under over above below between within into to
		since until among inside outside around`,
	directional: `from to into onto before after than by over under above below against for until since
		が を に へ`,
	personal:    `i me you he him she her we us they them`,
	greeting:    `hi hello hey please so ok okay and but well now dear`,
	verbal:      `what who where when why how which that there here it he she let`,
	determining: `the a an my your his her our their this that these those`,
	comparing:   `between compare comparing comparison difference differences similarities versus vs differ`,
	joining:     `and versus vs with`,
	way:         `way ways method methods steps process procedure`,
	explaining:  `tell explain describe show give teach help guide advise instructions instruction tutorial tips`,
	saluting:    `hi hello hey thanks thank`,
	polite:      `please kindly hi hello hey dear ok okay thanks cheers so well`,
	mild: `do does can could will would is are am have has that there it so just still really actually exactly
		also now then please what which get got gone`,
	loose:    `i we one to a an the of my our they them it their some any get for in on at how`,
	agreeing: `a an the is are do does`,
	adverbal: `off out up down away back`,
	filler: `way ways method methods step steps process procedure instructions instruction guide explain explanation list show me describe somebody someone
		anyone anybody people person user customer employee guest one need want trying try like possible allowed correct best right done made work works
		exactly go going happens happen mine now`,
	anybody:       `one people somebody someone anyone user customer employee person guest member client`,
	requesting:    `write list send resend recommend suggest provide make create find summarize translate compare please`,
	subordinating: `if when while once since because as after`,
	failing: `fail fails failed failing failure refuse refuses refused reject rejects rejected decline declines declined missing
		unable invalid impossible dead broken only lost stuck awake still flat off stop stops stopped prevent avoid wrong error rid without
		unavailable unsuccessful`,
	mentioning: `say says saying said translate translating write spell pronounce word words phrase mean means`,
	numeric: `monday tuesday wednesday thursday friday saturday sunday january february april june july august
		september october november december once twice thrice half quarter double triple`,
}

// joinedNot splits negations written as one word.
var joinedNot = map[string]string{"cannot": "can", "dont": "do", "doesnt": "does", "didnt": "did", "cant": "can",
	"couldnt": "could", "wont": "will", "wouldnt": "would", "shouldnt": "should", "isnt": "is", "arent": "are",
	"wasnt": "was", "werent": "were", "hasnt": "has", "havent": "have", "hadnt": "had", "aint": "is"}

// misspellings are common slips that are no words, or hardly any, by the word that is meant.
var misspellings = table(`the teh hte
	what waht wht whta
	when wen wehn whne
	where wher whre wheer
	which wich whihc whcih
	how hwo
	why hwy
	does deos
	can cna
	my ym
	have ahve hvae
	with wiht wtih
	from fomr
	and adn
	you yuo u
	your yuor ur
	please plz pls plese
	thanks thx
	people ppl poeple
	about abt
	should shoud shuold
	could coud cuold
	would woud wuold
	because becuase becasue becouse cuz coz
	before befor befroe
	after aftre
	another anoter
	receive recieve
	received recieved
	address adress addres
	account acount accout accuont
	password pasword passwrod passowrd
	payment payement paymnet
	delivery delivry dilivery
	deliver delivr
	subscription subscribtion subsciption subscripton
	calendar calender
	separate seperate
	definitely definately
	tomorrow tommorow tommorrow tomorow
	until untill
	accommodation accomodation acommodation
	available availible avaliable
	expire exspire
	expired exspired
	receipt reciept recipt
	refund refound
	laptop loptop labtop
	package pacakge packge
	believe beleive
	necessary neccessary necesary
	business buisness bussiness
	customer costumor custommer
	restaurant resturant restaraunt
	language langauge
	different diferent diffrent
	vegetable vegtable
	immediately immediatly
	weird wierd
	maintenance maintainance
	parcel pracel
	cancel cancle
	insurance insurence
	guarantee garantee gaurantee
	warranty waranty warrenty
	schedule schedual
	appointment apointment appointmnet
	temperature temprature
	recommend recomend reccomend
	friend freind
	their thier
	questions quesitons
	number nubmer
	installments instalments
	installment instalment`)

// questions and people map a word to the form in which it is compared.
var (
	questions = table(`who whom whose
		what which whats
		when
		where
		why
		how`)
	people = table(`i me
		you
		he him
		she her
		we us
		they them`)
)

// table maps every word of a line to the first one.
func table(lines string) map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for _, w := range words {
			m[w] = words[0]
		}
	}
	return m
}
