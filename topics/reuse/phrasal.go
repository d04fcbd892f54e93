package reuse

import "strings"

// phrasals maps the forms of verbs to the verb whose meaning a particle changes.
var phrasals = table(`turn turns turned turning
	switch switches switched switching
	sign signs signed signing
	log logs logged logging
	check checks checked checking
	set sets setting
	give gives gave given giving
	take takes took taken taking
	put puts putting
	get gets got gotten getting
	go goes went gone going
	come comes came coming
	run runs ran running
	break breaks broke broken breaking
	call calls called calling
	bring brings brought bringing
	look looks looked looking
	make makes made making
	hold holds held holding
	cut cuts cutting
	pay pays paid paying
	fill fills filled filling
	back backs backed backing
	hand hands handed handing
	shut shuts shutting
	close closes closed closing
	open opens opened opening
	opt opts opted opting
	wear wears wore worn wearing
	work works worked working
	pick picks picked picking
	throw throws threw thrown throwing
	blow blows blew blown blowing
	burn burns burned burnt burning
	hang hangs hung hanging
	let lets letting
	pull pulls pulled pulling
	push pushes pushed pushing
	move moves moved moving
	pass passes passed passing
	roll rolls rolled rolling
	write writes wrote written writing
	lay lays laid laying
	stand stands stood standing
	speed speeds speeded
	slow slows slowed slowing
	scale scales scaled scaling
	top tops topped topping
	phase phases phased phasing
	zoom zooms zoomed zooming
	boot boots booted booting
	lock locks locked locking
	cross crosses crossed crossing
	rule rules ruled ruling
	show shows showed showing
	drop drops dropped dropping
	cool cools cooled cooling
	warm warms warmed warming
	figure figures figured figuring
	find finds found finding
	clean cleans cleaned cleaning
	send sends sent sending
	whip whips whipped whipping
	hook hooks hooked hooking`)

// particles are, by verb, those that join it beside off, out, up, down, away and back, which join any.
var particles = map[string]string{"sign": "in on", "log": "in on", "check": "in", "turn": "in on over", "switch": "on over", "opt": "in", "hand": "in over",
	"fill": "in", "take": "over", "get": "over through", "go": "through over", "pull": "through", "run": "over through", "roll": "over", "put": "on",
	"hold": "on", "give": "in", "call": "in"}

// compound returns the key of a verb and the particle behind it, "" where there is none.
func compound(tokens []token) string {
	verb := phrasals[tokens[0].key]
	if len(tokens) == 1 || tokens[1].start || tokens[1].pausing {
		return ""
	}
	switch next := tokens[1].key; {
	case next == "into" && (verb == "log" || verb == "sign"):
		return verb + "_in"
	case tokens[1].is(adverbal), joins(verb, next):
		return verb + "_" + next
	}
	return ""
}

// parted finds the particle that ends the sentence of the verb that tokens begin with: "turn the light on". 0: none.
func parted(tokens []token) int {
	for i := 2; i < len(tokens) && i < 5 && !tokens[i].start; i++ {
		ends := i+1 == len(tokens) || tokens[i+1].start || tokens[i+1].pausing || tokens[i+1].is(polite)
		if t := &tokens[i]; ends && (t.is(adverbal) || joins(phrasals[tokens[0].key], t.key)) {
			return i
		}
	}
	return 0
}

// joins reports whether a particle that is often a preposition makes another verb of one.
func joins(verb, particle string) bool {
	return strings.Contains(" "+particles[verb]+" ", " "+particle+" ")
}

// apart takes the particle from a key that compound made.
func apart(key string) (verb, particle string) {
	verb, particle, _ = strings.Cut(key, "_")
	return verb, particle
}

// misled reports whether two words are one verb with other particles: "sign in" and "sign up".
func misled(x, y string) bool {
	v, p := apart(x)
	w, q := apart(y)
	if p == "" && q == "" || p == q {
		return false
	}
	if p == "" {
		v = phrasals[v]
	}
	if q == "" {
		w = phrasals[w]
	}
	return v == w && canon(x) != canon(y)
}

// irregular maps the irregular forms of verbs, and the verbs, to the verbs.
var irregular = table(`be been
	go goes went gone
	do did done
	have has had
	get got gotten
	lose lost
	pay paid
	send sent
	buy bought
	break broke broken
	fall fell fallen
	take took taken
	give gave given
	make made
	find found
	forget forgot forgotten
	write wrote written
	see saw seen
	hear heard
	come came
	begin began begun
	choose chose chosen
	freeze froze frozen
	burn burnt
	keep kept
	leave left
	meet met
	say said
	sell sold
	speak spoke spoken
	steal stole stolen
	teach taught
	think thought
	wear wore worn
	win won
	build built
	catch caught
	feel felt
	hold held
	know knew known
	spend spent
	stand stood
	swim swam swum
	throw threw thrown
	understand understood
	grow grew grown
	drive drove driven
	eat ate eaten
	drink drank drunk
	fly flew flown
	rise rose risen
	sleep slept
	become became
	bring brought`)
