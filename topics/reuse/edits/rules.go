package edits

// source is the list of edits: class, and the spellings of which one replaces the other, between what must stand before
// and after them. See elements for the marks, and lists for the words behind @. A line has closed words up to both ends of the sentence, or
// leaves open a place where no title, name or term can give the edit a meaning: a question in small letters may be a title.
const source = `
# articles
article: ^ what is [the /] capital|population|currency of @country $
article: ^ who is|was [the /] president of @country $
article: ^ what is [the /] @super @supernoun in @country $
article: ^ what is [the /] @super @supernoun in the world $
article: ^ who is [the /] richest|tallest|oldest person|man|woman in the world $
article: ^ what is [the /] main? purpose of a|an|my|this ~it $
article: ^ what are [the /] main? @ways of a|an|my|this|these ~it $
article: ^ what is [the /] best time to visit @country $
article: ^ where is [the /] nearest|closest @place $
article: ^ HOW open [a /] bank|savings account $
article: ^ HOW get [a /] full? refund $
article: ^ HOW get [a /] home|car|student loan $
article: ^ HOW create|build [a /] website|blog $
article: ^ HOW play|learn [the /] guitar|violin|flute|cello|saxophone $
article: ^ what is [the /] weather like? today|tomorrow $
article: ^ how is [the /] weather today|tomorrow $
# what and which
which: ^ [what / which] country|city has the @most @counted
which: ^ in [what / which] year|country|city was|were ~it born|founded|built|invented $
which: ^ [what / which] is the @super @supernoun in @country $
which: ^ [what / which] is the @super @supernoun in the world $
which: ^ [what / which] foods|fruits|vegetables are high|rich in @nutrient $
# singular and plural
number: ^ what [is / are] the main? @ways of a|an|my|this|these? ~it $
# some and any
some: ^ what are [some / some of the] @ways of a|an|my|this|these ~it $
some: ^ what are [some /] tips for @doing
some: ^ what are [some /] good places to visit in @country $
any: ^ is there [any / a] way to @task my @mine $
any: ^ is there [any / a] difference between a|an|the? ~it and a|an|the? ~it $
any: ^ are there [any /] extra? fees|discounts for ~it $
any: ^ are there [any /] restrictions on ~it $
any: ^ are there [any /] good? restaurants|hotels near me|here|there $
any: ^ do you have [any /] recommendations|suggestions for a|an|my ~it $
# words that add nothing
filler: ^ what [exactly /] is the? main? purpose of a|an|my|this ~it $
filler: ^ what [exactly /] does a|an ~it do $
filler: ^ does it [actually / really /] work|help $
filler: ^ is it [actually / really /] necessary|legal|possible to @task my @mine $
so: ^ why is it [so /] hard|difficult to sleep|focus|concentrate $
so: ^ why is it [so /] hard|difficult to find a job|house|flat $
so: ^ why is|are @priced [so /] expensive today? $
so: ^ why is @valued [so /] important $
that: ^ do you think [that /] i|we should go|stay|wait|leave|try|move $
that: ^ what are the things [that /] i|we should know|do|pack|bring|avoid $
more: ^ HOW speak english|spanish|french|german|italian? [more /] fluently|clearly|confidently $
more: ^ HOW write [more /] clearly $
more: ^ HOW study|work [more /] efficiently|effectively|productively $
why: ^ is it safe|legal|normal|healthy|necessary ,? [and why > ] $
why: ^ is it safe|legal|normal|healthy|necessary [, and why > ] $
why: ^ is it safe|legal|normal|healthy|necessary [? why > ] $
why: ^ is it safe|legal|normal|healthy|necessary [. why > ] $
why: ^ what|which is better|cheaper|healthier|safer ,? @drink or @drink [and why > ] $
why: ^ what|which is better|cheaper|healthier|safer ,? @drink or @drink [, and why > ] $
why: ^ what|which is better|cheaper|healthier|safer ,? @drink or @drink [? why > ] $
why: ^ what|which is better|cheaper|healthier|safer ,? @drink or @drink [. why > ] $
comma: ^ what|which is better|cheaper|healthier|faster|safer [, /] a|an ~it or a|an ~it $
comma: ^ what should|can i do [, /] if my|the|i
comma: ^ what is a|an? ~it|@question [, /] and how does it work $
of: ^ HOW delete|export|download|print all [of /] my @items $
of: ^ HOW travel|live|work|move outside [of /] the US|usa|eu|uk $
# phrases
way: ^ is [there a way / it possible / there any way] to @task my @mine $
kind: ^ [what kind / what type / what sort] of @sorted should|can|do i buy|use|choose|wear|need|get $
kind: ^ [what kinds / what types / what sorts] of @sorted should|can|do i buy|use|choose|wear|need|get $
hyphen: ^ HOW find|get|quit a|my [part - time / part time] job $
hyphen: ^ HOW find|get|quit a|my [full - time / full time] job $
hyphen: ^ HOW write|make a [step - by - step / step by step] guide $
hyphen: ^ HOW start|join an [open - source / open source] project $
hyphen: ^ HOW improve|build|increase my [self - esteem / self esteem] $
hyphen: ^ HOW improve|build|increase my [self - confidence / self confidence] $
hyphen: ^ what|which [time zone / timezone] is @country in $
synonym: ^ [HOW earn / HOW make] money online $
synonym: ^ [HOW earn / HOW make] money from home $
synonym: ^ [HOW earn / HOW make] money on youtube|instagram|tiktok $
synonym: ^ [HOW sign in / HOW log in] to my account $
synonym: ^ [HOW view / HOW see] my order|account|transaction|billing history|balance $
synonym: ^ [HOW quit / HOW give up] smoking|drinking|vaping|gambling $
synonym: ^ [HOW overcome / HOW get over] my fear of flying|heights|spiders|needles|failure $
synonym: ^ [HOW become / HOW get] rich|wealthy $
synonym: ^ what is the|your [telephone / phone] number $
synonym: ^ HOW build|develop a|an mobile|android|iphone|web [app / application] $
synonym: ^ HOW move|immigrate to the [US / usa] $
synonym: ^ is it legal|illegal in the [US / usa] $
synonym: ^ HOW block|unblock [someone / somebody] on facebook|instagram|tiktok $
synonym: ^ HOW enable|disable|activate|deactivate [two - factor authentication / two factor authentication / 2FA / 2fa] $
synonym: ^ [HOW buy / HOW purchase] a @goods $
synonym: ^ where can i [buy / purchase] a @goods $
synonym: ^ where is the [nearest / closest] @place $
`
