package edits

// source is the list of edits: class, kinds of sentences, and the spellings of which one replaces the other, between what must stand before
// and after them. See elements for the marks, and lists for the words behind @. A line has closed words up to both ends of the sentence, or
// leaves open a place where no title, name or term can give the edit a meaning: a question in small letters may be a title.
const source = `
# articles
article: what: ^ what is [the /] capital|population|currency of @country $
article: who: ^ who is|was [the /] president of @country $
article: what: ^ what is [the /] @super @supernoun in @country $
article: what: ^ what is [the /] @super @supernoun in the world $
article: who: ^ who is [the /] richest|tallest|oldest person|man|woman in the world $
article: what: ^ what is [the /] main? purpose of a|an|my|this
article: what: ^ what are [the /] main? @ways of a|an|my|this|these
article: what: ^ what is [the /] best time to visit @country $
article: where: ^ where is [the /] nearest|closest @place $
article: howto: ^ HOW open [a /] bank|savings account $
article: howto: ^ HOW get [a /] full? refund $
article: howto: ^ HOW get [a /] home|car|student loan $
article: howto: ^ HOW create|build [a /] website|blog $
article: howto: ^ HOW play|learn [the /] guitar|violin|flute|cello|saxophone $
article: what: ^ what is [the /] weather like? today|tomorrow $
article: how: ^ how is [the /] weather today|tomorrow $
# what and which
which: what which: ^ [what / which] country|city has the @most @counted
which: prep: ^ in [what / which] year|country|city was|were|did
which: what which: ^ [what / which] is the @super @supernoun in @country $
which: what which: ^ [what / which] is the @super @supernoun in the world $
which: what which: ^ [what / which] foods|fruits|vegetables are high|rich in @nutrient $
# singular and plural
number: what: ^ what [is / are] the main? @ways of
# some and any
some: what: ^ what are [some / some of the] @ways of a|an|my|this|these
some: what: ^ what are [some /] tips for @doing
some: what: ^ what are [some /] good places to visit in @country $
any: yesno: ^ is there [any / a] way to @task my @mine $
any: yesno: ^ is there [any / a] difference between
any: yesno: ^ is there [any /] evidence that
any: yesno: ^ are there [any /] extra? fees|discounts for
any: yesno: ^ are there [any /] restrictions on
any: yesno: ^ are there [any /] good? restaurants|hotels near
any: yesno: ^ do you have [any /] recommendations|suggestions for
# words that add nothing
filler: what: ^ what [exactly /] is the? main? purpose of a|an|my|this
filler: what: ^ what [exactly /] does a|an ~it do $
filler: yesno: ^ does it [actually / really /] work|help $
filler: yesno: ^ is it [actually / really /] true that
filler: yesno: ^ is it [actually / really /] necessary|legal|possible to @task my @mine $
so: why: ^ why is it [so /] hard|difficult to sleep|focus|concentrate $
so: why: ^ why is it [so /] hard|difficult to find a job|house|flat $
so: why: ^ why is|are @priced [so /] expensive today? $
so: why: ^ why is @valued [so /] important $
that: yesno: ^ do you think [that /] i|we should
that: what: ^ what are the things [that /] i|we should know|do|pack|bring|avoid
more: howto: ^ HOW speak english|spanish|french|german|italian? [more /] fluently|clearly|confidently $
more: howto: ^ HOW write [more /] clearly $
more: howto: ^ HOW study|work [more /] efficiently|effectively|productively $
why: lone yesno: ^ is it safe|legal|normal|healthy|necessary ,? [and why > ] $
why: lone yesno: ^ is it safe|legal|normal|healthy|necessary [, and why > ] $
why: lone yesno: ^ is it safe|legal|normal|healthy|necessary [? why > ] $
why: lone yesno: ^ is it safe|legal|normal|healthy|necessary [. why > ] $
why: lone what which: ^ what|which is better|cheaper|healthier|safer ,? @drink or @drink [and why > ] $
why: lone what which: ^ what|which is better|cheaper|healthier|safer ,? @drink or @drink [, and why > ] $
why: lone what which: ^ what|which is better|cheaper|healthier|safer ,? @drink or @drink [? why > ] $
why: lone what which: ^ what|which is better|cheaper|healthier|safer ,? @drink or @drink [. why > ] $
comma: what which: ^ what|which is better|cheaper|healthier|faster|safer [, /] a|an ~it or a|an ~it $
comma: what: ^ what should|can i do [, /] if my|the|i
comma: two what: ^ what is a|an? ~it [, /] and how does it work $
of: howto: ^ HOW delete|export|download|print all [of /] my @items $
of: howto where what yesno: outside [of /] the US|usa|eu|uk $
# phrases
way: yesno: ^ is [there a way / it possible / there any way] to @task my @mine $
kind: what: ^ [what kind / what type / what sort] of @sorted is|are|do|does|should|can
kind: what: ^ [what kinds / what types / what sorts] of @sorted is|are|do|does|should|can
hyphen: any: a|my|your|find [part - time / part time] job|jobs
hyphen: any: a|my|your|find [full - time / full time] job|jobs|employee|student
hyphen: any: a|the [step - by - step / step by step] guide|instructions
hyphen: any: a|an|the|good|best [open - source / open source] software|project|projects|license|alternative|alternatives
hyphen: howto: ^ HOW improve|build|increase my [self - esteem / self esteem] $
hyphen: howto: ^ HOW improve|build|increase my [self - confidence / self confidence] $
hyphen: what which: ^ what|which [time zone / timezone] is @country in $
synonym: howto: ^ [HOW earn / HOW make] money online $
synonym: howto: ^ [HOW earn / HOW make] money from home $
synonym: howto: ^ [HOW earn / HOW make] money on youtube|instagram|tiktok $
synonym: howto: ^ [HOW sign in / HOW log in] to my account $
synonym: howto: ^ [HOW view / HOW see] my order|account|transaction|billing history|balance $
synonym: howto: ^ [HOW quit / HOW give up] smoking|drinking|vaping|gambling $
synonym: howto: ^ [HOW overcome / HOW get over] my fear of flying|heights|spiders|needles|failure $
synonym: howto: ^ [HOW become / HOW get] rich|wealthy $
synonym: what: ^ what is the|your [telephone / phone] number $|of|for
synonym: howto: ^ HOW build|develop a|an mobile|android|iphone|web [app / application] $
synonym: howto: ^ HOW move|immigrate to the [US / usa] $
synonym: yesno: legal|illegal in the [US / usa] $
synonym: howto: ^ HOW block|unblock [someone / somebody] on facebook|instagram|tiktok $
synonym: howto: ^ HOW enable|disable|activate|deactivate [two - factor authentication / two factor authentication / 2FA / 2fa] $
synonym: howto: ^ [HOW buy / HOW purchase] a @goods $
synonym: where: ^ where can i [buy / purchase] a @goods $
synonym: where: ^ where is the [nearest / closest] @place $
`
