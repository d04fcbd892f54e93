package normal

// Courtesy is whole phrases of the lists below, at the very ends of a prompt, each with a mark or line break between it and the rest. Any
// other word beside them stays: what is taken off here could otherwise carry an order that plants an answer.

// openings come off at the start. (a|b) is a choice, [a] may be missing.
const openings = `
(hi|hello|hey) [there|all|everyone|everybody|team|folks|guys|again|support]
(hi|hello|hey|good morning|good afternoon|good evening) (and|,) (thanks|thank you) [for (your|the) help]
good (morning|afternoon|evening|day) [there|all|everyone|everybody|team]
greetings
dear (team|support|support team|sir|madam|sir or madam|sir / madam|all)
[hi|hello|hey] how are you [doing] [today]
[i] hope (you are|you are all|all is|everything is) [doing] (well|fine|good|great) [today]
[i] hope this [message|email] finds you well
[i] hope you are having a (good|nice|great|lovely) (day|morning|afternoon|evening|week)
[i] hope you can help [me] [with this]
[many] thanks [a lot|so much|again|in advance|for (your|the) help]
thanks for [all] (your|the) [quick|great] (help|support|reply|answer|assistance|time) [so far|yesterday|in advance|again]
thank you [very much|so much|again|in advance|for (your|the) (help|time|reply|answer|support|assistance)]
thank you for [all] (your|the) [quick|great] (help|support|reply|answer|assistance|time) [so far|yesterday|in advance|again]
thank you for taking the time
first of all , (thanks|thank you) [for your [great] (help|support)]
first of all (thanks|thank you) [for your [great] (help|support)]
(sorry|apologies) [again]
sorry to (bother|trouble|disturb) you [again] [with this] [but]
sorry for (the|my) (silly|stupid|basic|simple|dumb|newbie|beginner) question [but]
sorry for (the trouble|bothering you|disturbing you|the bother) [but]
sorry if this is a (silly|stupid|basic|simple|dumb|newbie|beginner) question [but]
sorry but
(excuse|pardon) me [but]
excuse me , but
sorry to bother you , but
sorry for (the|my) (silly|stupid|basic|simple|dumb) question , but
sorry if this is a (silly|stupid|basic|simple|dumb) question , but
if you do not mind [me asking|my asking]
if i may ask
(please|pls|plz)
kindly
please [can|could you] help [me] [out] [with this]
(can|could|would) you [please|kindly] help [me] [out] [with (this|something|a question)] [please]
(can|could) (someone|somebody|anyone|anybody) [please] help [me] [out] [with this]
can i ask [you] (a question|something)
may i ask [you] (a question|something)
help [me] [please]
please help [me] [out]
i need [your|some|a little|a bit of] help [please] [with (this|something)]
need [some] help
[just] [a|one|my|another] (quick|short|simple|small|brief|silly|stupid|basic|little) (question|one) [for you]
(question|my question|one question|just a question|just one question|a question)
i [just] have [got] (a|one|another) [quick|short|simple|small|brief|silly|stupid|basic] question [for you|about this]
i have [got] (a|one) [quick|short|simple|small] question , please
here is my question
my question is this
(tell me|please tell me|tell me please|tell me , please)
i would like to (know|ask)
i was [just] wondering
i am [just] (wondering|curious)
[just] (wondering|curious)
out of curiosity
(so|ok|okay|well|alright|all right|now then|hmm|um|uh|oh)
(ok|okay|alright|great|perfect|good|cool|nice|awesome) (thanks|thank you)
by the way
`

// closings come off at the end.
const closings = `
(please|pls|plz)
[ok|okay|great|perfect] (thanks|thank you)
(thx|thanx)
[many] thanks [a lot|so much|a million|a bunch|a ton|again|in advance|very much]
[many] thanks (in advance|again|so much) for your (help|time|support)
[many] thanks for [all] (your|the|any) [kind|great] (help|time|patience|support|assistance|reply|answer|advice) [in advance]
thank you [kindly|very much|so much|so very much|a lot|again|in advance|ever so much]
thank you (in advance|very much|so much|again) for (your|the|any) (help|time|support|assistance)
thank you for [all] (your|the|any) [kind|great] (help|time|patience|support|assistance|reply|answer|advice) [in advance]
please and thank you
ty
tia
cheers [mate|all]
[very] much appreciated
[i] [really|greatly] appreciate (it|that|this|your help|any help|your time|your assistance|your support|the help) [very much|a lot|so much]
i would [really|greatly] appreciate (it|that|your help|any help)
i would be [very|really|so] grateful
i would be [very] grateful for (your|any|an) (help|answer|reply|advice)
[i am] grateful for (any|your) (help|advice|hints)
(any|your|some|all) (help|advice|hints|pointers|ideas|suggestions) [is|are|would be|will be] [very|much|greatly|really|highly] appreciated
help (is|would be|will be) [very|much|greatly|really|highly] appreciated
please [kindly] (help|advise|assist) [me] [out] [with this] [thanks]
[please] let me know [please]
(can|could|would) you [please] help [me] [out] [with (this|that)] [please]
i hope you can help [me] [with this]
hope you can help [me]
[best|kind|warm|kindest|warmest|many|with best|with kind] regards
[all the] best wishes
yours (sincerely|faithfully|truly)
sincerely
have a (nice|good|great|lovely|wonderful|pleasant) (day|evening|weekend|week|morning|afternoon|one) [ahead]
[i am|i] (looking|look) forward to (your|a) [quick] (reply|answer|response)
[i am|i] (looking|look) forward to hearing from you [soon]
sorry for (the|any) (trouble|inconvenience|bother)
sorry for (the|my) (silly|stupid|basic|simple|dumb|newbie|beginner) question
sorry to (bother|trouble|disturb) you [again|with this]
sorry for (bothering|disturbing) you
sorry if this is a (silly|stupid|basic|simple|dumb) question
if you do not mind
if you would not mind
bye
`

// thankfulness is all that some prompts of a conversation consist of.
const thankfulness = `
(thanks|many thanks) [a lot|so much|a million|a bunch|a ton|again|in advance|very much]
(thanks|many thanks|thank you) [so much|very much|again] for [all] (your|the) [kind|great] (help|assistance|support|time)
thank you [kindly|very much|so much|so very much|a lot|again|in advance]
much appreciated
`

var (
	openingPhrases = forwards(openings)
	closingPhrases = backwards(closings)
	allClosings    = forwards(closings)
	gratitude      = forwards(thankfulness)
)

// boundary reports whether token i separates courtesy from the rest.
func (ts tokens) boundary(i int) bool {
	if i < 0 || i >= len(ts) {
		return false
	}
	t := &ts[i]
	return t.Kind == Break || t.Kind == Mark && (t.class&(ending|dash) != 0 || t.Text == "," || t.Text == ";")
}

// mostPhrases is how many phrases of one kind are taken off or replaced. More are no question, and each costs a look at all of the prompt.
const mostPhrases = 16
