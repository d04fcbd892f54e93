package reuse

import "strings"

// alike reports whether one word may replace the other without changing the question.
func alike(x, y string) bool {
	return x == y || inflected(x, y) || synonymous(x, y) || irregular[x] != "" && irregular[x] == irregular[y]
}

func synonymous(x, y string) bool {
	return units[x] != "" && units[x] == units[y] || canon(x) == canon(y)
}

// canon is the first of the synonyms of a word, or of what is left of it without a regular ending; the word itself where it has none.
func canon(w string) string {
	if s := synonyms[w]; s != "" {
		return s
	}
	for _, ending := range [...]string{"s", "es", "d", "ed", "ing"} {
		root, ok := strings.CutSuffix(w, ending)
		if !ok || len(root) < 3 {
			continue
		}
		if s := synonyms[root]; s != "" {
			return s
		}
		if s := synonyms[root+"e"]; s != "" {
			return s
		}
	}
	return w
}

// slip reports whether one of two long words is the other with a letter too many or two letters exchanged, not the first one and not at
// the end, as typing errors are. Some such pairs are two words.
func slip(x, y string) bool {
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) < 5 || len(y) > len(x)+1 || distinct[x+" "+y] || distinct[y+" "+x] {
		return false
	}
	n := 0
	for n < len(x) && x[n] == y[n] {
		n++
	}
	switch {
	case n == 0 || n == len(x):
		return false
	case len(x) < len(y):
		return x[n:] == y[n+1:]
	}
	return n+2 < len(x) && x[n] == y[n+1] && x[n+1] == y[n] && x[n+2:] == y[n+2:]
}

// synonyms is short on purpose: only words that may be exchanged nearly everywhere. A word is in one line only.
var synonyms = table(synonymLines)

const synonymLines = `
	begin start begins starts
	buy purchase buying purchasing bought purchased
	fix repair fixing repairing
	mend correct
	big large
	small little
	fast quick quickly rapidly
	change modify alter changing modifying
	choose pick select choosing picking selecting
	create make build making creating whip_up
	delete erase remove deleting removing
	photo photograph picture image
	photos photographs pictures images
	car automobile cars automobiles
	film movie films movies
	phone telephone cellphone
	kid child
	kids children
	illness disease
	doctor physician
	attorney lawyer
	job occupation
	salary wage
	shop store shops stores
	city town
	happen occur happens occurs
	end finish
	hard difficult
	easy simple
	near close
	find locate finding
	use utilize using utilizing
	assist aid
	error mistake errors mistakes
	bug defect
	method way ways methods
	cost price costs prices
	fee charge
	trip journey
	airplane plane
	vacation holiday
	wash clean
	world globe
	country nation countries nations
	important significant
	main primary principal
	kind type types kinds sort
	author writer
	invent invented
	instructions directions
	definition meaning define mean means
	reason reasons
	amount quantity
	purpose aim
	example instance examples instances
	difference distinction differences
	benefit advantage benefits advantages
	drawback disadvantage drawbacks disadvantages
	allow permit allows permits
	require need
	prevent avoid preventing avoiding
	improve enhance improving
	increase raise go_up
	reduce decrease lower bring_down
	recipe recipes
	folder directory
	program application app
	signs symptoms
	soda pop
	color colour colors colours
	favorite favourite
	center centre
	organize organise
	summarize summarise
	behavior behaviour
	analyze analyse
	license licence
	traveling travelling
	canceled cancelled
	email mail
	website site
	disable deactivate turn_off switch_off
	enable activate activation turn_on switch_on
	login log_in sign_in logon log_on
	logout log_out sign_out log_off sign_off
	register sign_up signup registration
	approve approval
	cancel cancellation call_off
	return give_back send_back take_back
	submit hand_in
	complete fill_out fill_in
	collect pick_up
	postpone delay put_off
	discard throw_away throw_out
	repay pay_back
	recharge top_up
	connect hook_up
	configure set_up setup
	install installation
	verify verification
	renew renewal
	deliver delivery
	migrate migration
	reimburse reimbursement
	terminate termination
	obtain receive
	infant baby
	notification alert notifications alerts
	parcel package parcels packages
	ill sick
	fridge refrigerator
	notebook laptop
`

// distinct are words that look like slips of each other.
var distinct = func() map[string]bool {
	m := make(map[string]bool)
	for pair := range strings.SplitSeq(strings.TrimSpace(distinctLines), "\n") {
		m[strings.TrimSpace(pair)] = true
	}
	return m
}()

const distinctLines = `
	desert dessert
	causal casual
	martial marital
	united untied
	angle angel
	trail trial
	diary dairy
	quiet quite
	carton cartoon
	complaint compliant
	conserve converse
	moral morale
	human humane
	planed planned
	hoping hopping
	taping tapping
	staring starring
	scared scarred
	scared sacred
	later latter
	singing signing
	customer costumer
	coarse course
	though through
	though thought
	thorough through
	county country
	except expect
	excise exercise
	contact contract
	content context
	personal personnel
	corps corpse
	physic physics
	salon saloon
	sever severe
	track tract
	window widow
	bride bridge
	fiend friend
	cloths clothes
	filing filling
	rating ratting
	super supper
	diner dinner
	exist exit
	exits exists
	unit unite
	units unites
	genus genius
	ration reaction
	region religion
	nuclear unclear
	reserve reverse
	reserved reversed
	sliver silver
	border boarder
	manger manager
	reply rely
	thread tread
	board broad
	spilt split
	beard bread
	statue statute
	crate create
	inter enter
	dining dinning
	closet closest
	conversation conservation
	barley barely
	parish perish
	plane planet
	plant planet
	signal single
	realty reality`
