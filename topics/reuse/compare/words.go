package compare

import (
	"strconv"
	"strings"
)

// entry is what is known of a word.
type entry struct {
	function bool    // of grammar: it carries no content
	neutral  bool    // of grammar, and exchanged for others without harm
	asking   bool    // of questions and courtesy
	negates  bool    //
	exact    bool    // a month or a day of the week: compared as numbers are
	stance   int     // 1: yes, -1: no
	numeral  string  // in digits
	unit     string  // in base units
	times    float64 // base units of it
	sense    string  // the word of the same sense that stands for it
	opposite string
	language int // 1 and more; 0: of none, or of several
}

// lexicon holds little: marks of grammar and of facts. Words that it lacks are content, compared as they are.
var lexicon = map[string]*entry{}

func of(w string) *entry {
	if lexicon[w] == nil {
		lexicon[w] = &entry{times: 1}
	}
	return lexicon[w]
}

// each calls do for the words of a list, some of which have a value: "word=value".
func each(list string, do func(e *entry, value string)) {
	for w := range strings.FieldsSeq(list) {
		w, value, _ := strings.Cut(w, "=")
		do(of(w), value)
	}
}

func (e *entry) setUnit(v string) {
	base, times, scaled := strings.Cut(v, ":")
	if e.unit = base; scaled {
		e.times, _ = strconv.ParseFloat(times, 64)
	}
}

func init() {
	each(`a an the this that these those is are was were be will would can could it its you your we our i my they their them there here and also just then
		please so of which who as`, func(e *entry, _ string) { e.function, e.neutral = true, true })
	each(`been being am do does did have has had shall should may might must he she him her his us me to in on at by for from with into or but if than because while when
		where what whom how why not no nor only very too about such any some each both either more most other own same over under up down out off let sorry times
		der die das den dem ein eine einen und oder ist sind sie ihr ihre ihren um zu auf im mit für von la le les un une des du de et ou est sont il elle vous
		votre à au en dans pour par avec que qui el los las y o es son su sus por para con una del al se lo gli di e che per è da na os uma é het een van op voor`,
		func(e *entry, _ string) { e.function = true })
	each(`how what which who whom whose when where why can could do does did is are will would should please tell thanks thank hi hello hey know wonder`,
		func(e *entry, _ string) { e.asking = true })
	each(`not no never none nobody nothing neither nor without nicht kein keine keinen nie pas jamais aucun nunca ningún não нет не нельзя`,
		func(e *entry, _ string) { e.negates = true })
	each(`yes yeah yep true correct ja oui sí sim да`, func(e *entry, _ string) { e.stance = 1 })
	each(`no nope false incorrect nein nee non não нет`, func(e *entry, _ string) { e.stance = -1 })
	each(`january february march april may june july august september october november december
		monday tuesday wednesday thursday friday saturday sunday`, func(e *entry, _ string) { e.exact = true })
	each(`zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 thirteen=13 fourteen=14 fifteen=15 sixteen=16
		seventeen=17 eighteen=18 nineteen=19 twenty=20 thirty=30 forty=40 fifty=50 sixty=60 seventy=70 eighty=80 ninety=90`,
		func(e *entry, v string) { e.numeral = v })
	each(`second=s hour=min:60 minute=min min=min day=day week=day:7 month=month year=month:12 m=m meter=m metre=m km=m:1e3 kilometer=m:1e3 kilometre=m:1e3 cm=cm mm=mm
		mile=mile feet=ft foot=ft inch=in kg=g:1e3 kilogram=g:1e3 g=g gram=g mg=g:1e-3 pound=lb lb=lb l=l liter=l litre=l ml=l:1e-3 kb=kb mb=mb gb=gb tb=tb percent=%
		euro=€ dollar=$ eur=€ usd=$ am=am pm=pm hz=hz °c=°c °f=°f thousand=:1e3 million=:1e6 billion=:1e9`, (*entry).setUnit)
	each(`tap=click hit=press choose=select pick=select enter=type place=put plan=intend utilize=use colour=color summarise=summarize purchase=buy obtain=get receive=get
		begin=start commence=start allow=permit photo=picture image=picture large=big quick=fast rapid=fast assist=help require=need shop=store
		tiredness=fatigue bought=buy sent=send kept=keep made=make shown=show wrote=write written=write given=give taken=take held=hold found=find
		metre=meter metres=meter centre=center tyre=tire`, func(e *entry, v string) { e.sense = v })
	each(`on=off in=out up=down before=after with=without more=less first=last all=some increase=decrease enable=disable open=close start=stop added=removed
		left=right always=never upload=download import=export minimum=maximum above=below advantage=disadvantage high=low higher=lower largest=smallest hot=cold
		buy=sell lend=borrow soft=hard early=late free=paid heavier=lighter best=worst ascending=descending true=false safe=dangerous input=output lock=unlock
		mute=unmute show=hide accept=reject must=may include=exclude inside=outside single=double public=private legal=illegal older=newer cheap=expensive
		rises=falls boils=melts today=tomorrow morning=evening weekday=weekend push=pull win=lose from=to add=subtract multiply=divide`,
		func(e *entry, v string) { e.opposite, of(v).opposite = v, "" })
	for w, e := range lexicon {
		if e.opposite != "" {
			of(e.opposite).opposite = w
		}
	}
	for i, words := range [...]string{
		"the of and is are you your can with from that it will this which at by for has have be to",
		"der die das und ist sind nicht mit für sie ihr ein eine den dem auf zu wird von im können",
		"les des est sont et vous votre dans pour avec une du sur qui par pas peut au ce",
		"el los las es son y su una por para con del puede usted al está",
		"il gli che per della sono una di con è può questo nel",
		"os as uma não com para você do da em é são pode seu sua",
		"het een van en op met voor zijn niet dat deze kunt uw",
	} {
		each(words, func(e *entry, _ string) {
			if e.language == 0 {
				e.language = i + 1
			} else {
				e.language = -1
			}
		})
	}
}

// closings are the marks that end quotations, by those that begin them.
var closings = map[string]string{`"`: `"`, "“": "”", "„": "“", "«": "»", "`": "`"}
