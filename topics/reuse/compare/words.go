package compare

import "strings"

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func pairsOf[T any](s string, value func(w string) T) map[string]T {
	m := map[string]T{}
	for _, p := range strings.Fields(s) {
		k, v, _ := strings.Cut(p, "=")
		m[k] = value(v)
	}
	return m
}

// functionWords carry no content in English; those of other languages only lower the weight of what differs.
var functionWords = set(`a an the this that these those i you he she it we they me him her us them my your his its our their mine yours one's
	is are was were be been being am do does did have has had will would shall should can could may might must to of in on at by for from with as into
	times and or but if then than so because while when where which who whom what how why there here not no nor also just only very too please about such sorry
	any some each both either more most other own same over under up down out off let lets
	der die das den dem ein eine einen und oder ist sind sie ihr ihre ihren um zu auf in im mit für von
	le la les un une des du de et ou est sont il elle vous votre à au en dans pour par avec que qui
	el los las y o es son su sus por para con una en del al que se
	il lo gli di e che per è i do da em na no os as um uma é
	het een van is en op met voor`)

// neutral words can be exchanged for each other without harm.
var neutral = set(`a an the this that these those is are was were be will would can it its you your we our i my they their them there here
	and also just then please so of which who as`)

// dates are exact, as numbers are.
var dates = set(`january february march april may june july august september october november december
	monday tuesday wednesday thursday friday saturday sunday`)

var negations = set(`not no never none nobody nothing neither nor without nicht kein keine keinen nie pas jamais aucun nunca ningún não нет не нельзя`)

var stances = map[string]int{"yes": 1, "yeah": 1, "yep": 1, "true": 1, "correct": 1, "ja": 1, "oui": 1, "sí": 1, "sim": 1, "да": 1,
	"no": -1, "nope": -1, "false": -1, "incorrect": -1, "nein": -1, "nee": -1, "non": -1, "não": -1, "нет": -1}

var numerals = map[string]int{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

type unit struct {
	base  string
	times float64
}

var units = func() map[string]unit {
	m := map[string]unit{"week": {"s", 604800}, "day": {"s", 86400}, "hour": {"s", 3600}, "minute": {"s", 60}, "min": {"s", 60}, "second": {"s", 1},
		"year": {"month", 12}, "month": {"month", 1}, "km": {"m", 1000}, "kilometer": {"m", 1000}, "kilometre": {"m", 1000}, "m": {"m", 1},
		"meter": {"m", 1}, "metre": {"m", 1}, "cm": {"m", .01}, "mm": {"m", .001}, "mile": {"mile", 1}, "kg": {"g", 1000}, "g": {"g", 1}, "gram": {"g", 1},
		"kilogram": {"g", 1000}, "mg": {"g", .001}, "pound": {"lb", 1}, "lb": {"lb", 1}, "ml": {"l", .001}, "l": {"l", 1}, "liter": {"l", 1}, "litre": {"l", 1},
		"gb": {"mb", 1000}, "mb": {"mb", 1}, "kb": {"mb", .001}, "tb": {"mb", 1e6}, "%": {"%", 1}, "percent": {"%", 1}, "°c": {"°c", 1}, "°f": {"°f", 1},
		"euro": {"€", 1}, "dollar": {"$", 1}, "usd": {"$", 1}, "eur": {"€", 1}, "thousand": {"", 1e3}, "million": {"", 1e6}, "billion": {"", 1e9},
		"am": {"am", 1}, "pm": {"pm", 1}, "hz": {"hz", 1}, "feet": {"ft", 1}, "foot": {"ft", 1}, "inch": {"in", 1}, "inches": {"in", 1}}
	for w, u := range m {
		if len(w) > 2 && w != "min" && w != "usd" && w != "eur" {
			m[w+"s"] = u
		}
	}
	return m
}()

// synonyms are words of one sense in instructions and courtesy, which models exchange freely.
var synonyms = pairsOf(`tap=click hit=press choose=select pick=select utilize=use colour=color summarise=summarize automobile=car
	purchase=buy obtain=get receive=get begin=start begun=start commence=start allow=permit e-mail=email photo=picture image=picture large=big
	quick=fast rapid=fast assist=help require=need shop=store phone=telephone tiredness=fatigue bought=buy went=go sent=send kept=keep made=make
	shown=show written=write wrote=write given=give taken=take held=hold found=find built=build metre=meter centre=center tyre=tire`,
	func(v string) string { return v })

// opposites of which one is in one answer only and the other in the other.
var opposites = func() map[string]string {
	m := pairsOf(`on=off in=out up=down before=after with=without more=less first=last all=some increase=decrease enable=disable open=close
	start=stop added=removed left=right always=never upload=download import=export minimum=maximum above=below advantage=disadvantage high=low
	higher=lower largest=smallest hot=cold buy=sell lend=borrow soft=hard early=late free=paid heavier=lighter best=worst ascending=descending add=subtract multiply=divide
	true=false safe=dangerous input=output lock=unlock mute=unmute show=hide accept=reject allow=forbid must=may include=exclude
	inside=outside single=double public=private legal=illegal old=new older=newer cheap=expensive rise=fall rises=falls boil=melt boils=melts
	today=tomorrow morning=evening weekday=weekend push=pull win=lose from=to login=logout`, func(v string) string { return v })
	for k, v := range m {
		m[v] = k
	}
	m["remove"] = "add"
	return m
}()

// openers begin a sentence that says nothing at the start of an answer. "$": they are the whole of it; ":": it ends with a colon.
var openers = [...]string{"sure$", "sure thing$", "certainly$", "of course$", "absolutely$", "great question$", "good question$", "no problem$", "i'm sorry to hear",
	"sorry to hear", "thanks for", "thank you for", "happy to help", "i'd be happy to", "i'm happy to", "glad you asked", "here is:", "here are:", "here's:",
	"here you go$", "the answer is:", "follow these steps:"}

// closers begin a sentence that says nothing at the end.
var closers = [...]string{"i hope this", "i hope that", "hope this", "hope that helps", "let me know", "please let me know if you", "feel free", "if you have any", "if you need",
	"is there anything", "would you like me", "do you want me", "happy to help", "good luck$", "have a great", "have a nice", "please don't hesitate",
	"don't hesitate", "anything else"}

// languages are told by frequent words; "la", "de" and the like belong to several and are none of them.
var languages = func() map[string]int {
	m := map[string]int{}
	for i, words := range [...]string{
		"the of and is are you your can with from that it will this which at by for has have be to",
		"der die das und ist sind nicht mit für sie ihr ein eine den dem auf zu wird von im können",
		"les des est sont et vous votre dans pour avec une du sur qui par pas peut au ce",
		"el los las es son y su una por para con del puede usted al está",
		"il gli che per della sono una di con è può questo nel",
		"os as uma não com para você do da em é são pode seu sua",
		"het een van en op met voor zijn niet dat deze kunt uw",
	} {
		for _, w := range strings.Fields(words) {
			if _, shared := m[w]; shared {
				m[w] = -1
			} else {
				m[w] = i
			}
		}
	}
	return m
}()

// closings are the marks that end quotations.
var closings = map[string]string{`"`: `"`, "“": "”", "„": "“", "«": "»", "`": "`"}

// asking are words of questions and courtesy, which an answer in its own words seldom has beside the words that the prompt has.
var asking = set(`how what which who whom whose when where why can could do does did is are will would should please tell thanks thank hi hello hey know wonder`)
