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
article: what: ^ what is [the /] main? purpose of a|an|my|this ~it $
article: what: ^ what are [the /] main? @ways of a|an|my|this|these ~it $
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
which: prep: ^ in [what / which] year|country|city was|were ~it born|founded|built|invented $
which: what which: ^ [what / which] is the @super @supernoun in @country $
which: what which: ^ [what / which] is the @super @supernoun in the world $
which: what which: ^ [what / which] foods|fruits|vegetables are high|rich in @nutrient $
# singular and plural
number: what: ^ what [is / are] the main? @ways of a|an|my|this|these? ~it $
# some and any
some: what: ^ what are [some / some of the] @ways of a|an|my|this|these ~it $
some: what: ^ what are [some /] tips for @doing
some: what: ^ what are [some /] good places to visit in @country $
any: yesno: ^ is there [any / a] way to @task my @mine $
any: yesno: ^ is there [any / a] difference between a|an|the? ~it and a|an|the? ~it $
any: yesno: ^ are there [any /] extra? fees|discounts for ~it $
any: yesno: ^ are there [any /] restrictions on ~it $
any: yesno: ^ are there [any /] good? restaurants|hotels near me|here|there $
any: yesno: ^ do you have [any /] recommendations|suggestions for a|an|my ~it $
# words that add nothing
filler: what: ^ what [exactly /] is the? main? purpose of a|an|my|this ~it $
filler: what: ^ what [exactly /] does a|an ~it do $
filler: yesno: ^ does it [actually / really /] work|help $
filler: yesno: ^ is it [actually / really /] necessary|legal|possible to @task my @mine $
so: why: ^ why is it [so /] hard|difficult to sleep|focus|concentrate $
so: why: ^ why is it [so /] hard|difficult to find a job|house|flat $
so: why: ^ why is|are @priced [so /] expensive today? $
so: why: ^ why is @valued [so /] important $
that: yesno: ^ do you think [that /] i|we should go|stay|wait|leave|try|move $
that: what: ^ what are the things [that /] i|we should know|do|pack|bring|avoid $
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
of: howto: ^ HOW travel|live|work|move outside [of /] the US|usa|eu|uk $
# phrases
way: yesno: ^ is [there a way / it possible / there any way] to @task my @mine $
kind: what: ^ [what kind / what type / what sort] of @sorted should|can|do i buy|use|choose|wear|need|get $
kind: what: ^ [what kinds / what types / what sorts] of @sorted should|can|do i buy|use|choose|wear|need|get $
hyphen: howto: ^ HOW find|get|quit a|my [part - time / part time] job $
hyphen: howto: ^ HOW find|get|quit a|my [full - time / full time] job $
hyphen: howto: ^ HOW write|make a [step - by - step / step by step] guide $
hyphen: howto: ^ HOW start|join an [open - source / open source] project $
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
synonym: what: ^ what is the|your [telephone / phone] number $
synonym: howto: ^ HOW build|develop a|an mobile|android|iphone|web [app / application] $
synonym: howto: ^ HOW move|immigrate to the [US / usa] $
synonym: yesno: ^ is it legal|illegal in the [US / usa] $
synonym: howto: ^ HOW block|unblock [someone / somebody] on facebook|instagram|tiktok $
synonym: howto: ^ HOW enable|disable|activate|deactivate [two - factor authentication / two factor authentication / 2FA / 2fa] $
synonym: howto: ^ [HOW buy / HOW purchase] a @goods $
synonym: where: ^ where can i [buy / purchase] a @goods $
synonym: where: ^ where is the [nearest / closest] @place $
`
