package edits

// source is the list of edits: class, kinds of sentences, and the spellings of which one replaces the other, between what must stand before
// and after them. See elements for the marks, and lists for the words behind @.
const source = `
# articles
article: what which: ^ what|which is|are|was|were [the /] @quality? @relation of|between
article: who: ^ who is|was|are|were [the /] @office of
article: order: ^ explain|describe|compare|define [the /] @quality? @relation of|between
article: order: ^ list|name [the /] @quality? advantages|disadvantages|benefits|symptoms|causes|effects|differences of|between
article: what which: ^ what|which is|are|was [the /] @super @supernoun in|on|of|$
article: what which: ^ what|which is|are [the /] best|top @thing|@one|place|time|method to|for|in|on|about
article: what which: ^ what|which is [a /] good book|laptop|phone|movie|restaurant|hotel|app|website|camera|bike|browser|tablet|printer|mattress|recipe|alternative|substitute|replacement|example|gift to|for|in|on
article: what which: ^ what|which is|are [the /] most popular|common|important|expensive|beautiful|dangerous|famous|effective @thing|@one|@supernoun in|on|of|for|to|$
article: where: ^ where is|are [the /] nearest|closest @place $|to|from|near
article: who: ^ who is|was [the /] richest|tallest|oldest|youngest|fastest|strongest person|man|woman in
article: howto: HOW change|find|calculate|increase|reduce|improve|measure|check|adjust|determine [the /] @attribute of
article: howto: HOW open|create [a / an /] bank|new|savings|business|student|personal|email? account @after
article: howto: HOW get [a /] full|home|car|student|personal|new|good? refund|loan|job|mortgage|discount @after
article: howto: HOW create|build|make [a /] new|good|personal|business? website|blog @after
article: howto: HOW start [a /] blog|startup $|in|with|about|on
article: howto: HOW write|make|create [a /] good|new? resume|cv @after
article: howto: HOW book|make|schedule|cancel [a / an /] new|doctor's? appointment|reservation @after
article: yesno: ^ can|could|should i|we get [a /] full|home|car|student|personal|new|good? refund|loan|job|mortgage|discount @after
article: where: ^ where can|should i|we get [a /] home|car|student|personal? loan|mortgage|discount @after
article: howto yesno: play|learn|playing|learning [the /] @instrument @after
article: howto yesno where: connect|connected|access|connection|phone|laptop|computer to|on|without [the /] internet @after
article: what how: ^ how is [the /] weather|traffic in|on|today|tomorrow|like|outside
article: what how: ^ what is [the /] weather like|today|tomorrow|outside
article: what howto which: ^ [HOW / what is best way to / which is best way to / what are best ways to / what is a best way to]
article: what: ^ [DIFF / what is difference between / what are differences between / what is the differences between / what are the difference between / what is difference of]
article: what: ^ [MEAN / what is meaning of / what is definition of]
# what and which
which: what which: ^ [what / which] payment|programming|operating|file|vaccine? @choice @verb ~it|this|that|yours|mine|his|hers|ours|theirs
which: prep: ^ in|on|from [what / which] country|city|language|year|month|day|book|movie|color|ocean|river @verb
which: what which: ^ [what / which] is|are|was the @super @supernoun
which: what which: ^ [what / which] is|are the best @thing|way|place|time|method
which: what which: ^ [what / which] is better|cheaper|healthier|faster|safer ,? ~than|it or
# singular and plural
number: what: ^ what [is the advantage / are the advantages / are the advantage / is the advantages] of !@owner
number: what: ^ what [is the disadvantage / are the disadvantages / are the disadvantage / is the disadvantages] of !@owner
number: what: ^ what [is the symptom / are the symptoms / are the symptom / is the symptoms] of !@owner
number: what: ^ what [is the effect / are the effects / are the effect / is the effects] of !@owner
number: what: ^ what [is the side effect / are the side effects / are the side effect / is the side effects] of !@owner
number: what: ^ what [is the difference / are the differences / are the difference / is the differences] between
number: what: ^ what [is / are] the differences|advantages|disadvantages|benefits|symptoms|causes|effects of|between
# some and any
some: what: ^ what are [some / the / some of the /] @ways to|of|for
some: what: ^ what are [some /] tips to|for
some: what: ^ what are [some /] good @thing @after2
some: what: ^ what are [some of /] the best @thing @after2
any: yesno: ^ is there [any / a] fee|charge|limit|difference|discount|penalty|chance|risk|cure|treatment|restriction|deadline|downside|way|possibility to|of|in|for|between|that|$
any: yesno: ^ is there [any /] need|benefit|advantage|evidence|proof to|of|in|for|that|$
any: yesno: ^ are there [any /] @free? @stock @after2
any: yesno: ^ do|does|did you|we|i|they have [any /] @free? @stock @after2
# words that add nothing
filler: why how: ^ why|how [exactly /] does|do|did|is|are|was|were
filler: what: ^ what [exactly /] does|do|did ... mean|do|happen|involve|include|want $
filler: what who: ^ what|who [exactly /] is|are a|an|my|your? !the|half|one|in|on|at|pi !in|on|at|of? $
filler: what: ^ what [exactly /] is|are the @quality? purpose|meaning|difference|differences|role|point|problem|reason
filler: howto how: ^ [HOW / how exactly do i / how exactly can i]
filler: what: ^ [DIFF / what exactly is the difference between / what exactly are the differences between]
filler: yesno: does|do|did @plainsubject [actually / really /] work|mean|exist|happen|help|matter|need
filler: what why how: does|do|did @plainsubject [actually / really /] work|mean|exist|happen|help|cause
filler: yesno: ^ is it|this|that [actually / really /] true|necessary|possible|dangerous|safe|legal|required $|to|for|that
filler: yesno: ^ is it|this|that [actually / really /] worth it|buying|the
so: whybe: !not|so|this|that|the|too|as|a|an|being|i|you|he|she|we|they [so /] @adjective @after3
so: whybe: ^ why is|was it [so /] hard|difficult|easy|important|expensive to|for
that: yesno how why: think|believe|know|sure [that /] i|you|he|she|we|they
that: yesno how why: think|believe|sure [that /] the|my|your
that: yesno how why: think|believe|know|sure [that /] it|there is|was|will|has
that: what: things|thing|documents|steps|questions|mistakes|skills|foods [that /] i|you|we|they should|need|can|must|have
more: howto: speak|write|work|study|communicate|think|english|spanish|french|german|italian [more /] fluently|clearly|confidently|efficiently|effectively|productively $|at|in|with
why: lone what which who where when yesno: ~@question ,? [and why > ] $
why: lone what which who where when yesno: ~@question [, and why > ] $
why: lone what which who where when yesno: ~@question [? why > ] $
why: lone what which who where when yesno: ~@question [. why > ] $
why: lone what which who where when yesno: ~@question ?|. [why ? > ]
why: lone what which who where when yesno: ~@question ?|. [why > ]
comma: what which: ^ what|which is better|cheaper|healthier|faster|safer [, /] a|an|the? ~than|it or
comma: what: ^ what do|does|should|can|happens i|you|one|we? do? [, /] if|when
comma: two what which how who why where: ~or|and|, [, /] and|but what|how|why|when|where|who is|are|was|were|do|does|did|can|should
comma: lone what which who where when yesno: ~@question [, /] and why $
comma: what: ^ [IF / what happens , if / what will happen , if / what would happen , if]
of: any: all|both [of /] my|our|the|these|those|your @items
of: howto where what yesno: !the|an outside [of /] the US|usa|eu|uk|country @after
# phrases
way: yesno: ^ is [there a way / it possible / there any way] to @task my|the|a|an
kind: what which: ^ [what kind / what type / what sort / which kind / which type / which sort] of @sorted
kind: what which: ^ [what kinds / what types / what sorts / which kinds / which types / which sorts] of @sorted
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [part - time / part time] job|jobs|work|employee|employees|student|students|position|positions|contract
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [full - time / full time] job|jobs|work|employee|employees|student|students|position|positions|contract
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [long - term / long term] effects|goals|plan|plans|loan|loans|memory|investment|investments|relationship|relationships|contract
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [short - term / short term] effects|goals|plan|plans|loan|loans|memory|investment|investments|contract
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [step - by - step / step by step] guide|instructions|guides
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [open - source / open source] software|project|projects|license|alternative|alternatives|tool|tools
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [user - friendly / user friendly]
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [self - esteem / self esteem]
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [self - confidence / self confidence]
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [self - employed / self employed]
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [well - being / wellbeing]
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [co - worker / coworker]
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [co - workers / coworkers]
hyphen: any: what|which|the|my|your|our|standard|current|local|new|of|in|central|eastern|pacific|mountain [time zone / timezone / time - zone]
hyphen: any: what|which|the|my|your|our|standard|current|local|new|of|in|central|eastern|pacific|mountain [time zones / timezones / time - zones]
hyphen: any: my|the|your|his|her|our|new|lost [cell phone / cellphone / mobile phone]
hyphen: any: my|the|your|his|her|our|new|lost [cell phones / cellphones / mobile phones]
hyphen: any: a|the|my|your|our|in|for|of|with|about|improve|find|get|good|best|new [health care / healthcare / health - care]
synonym: howto: ^ [HOW earn / HOW make] money online|as
synonym: howto: ^ [HOW earn / HOW make] money from|at home
synonym: howto: ^ [HOW earn / HOW make] money on youtube|instagram|tiktok
synonym: howto: ^ [HOW sign in / HOW log in] to|into my|the|your|an? account|app|website|dashboard|profile @after
synonym: howto: ^ [HOW sign in / HOW log in] with google|facebook
synonym: what which: ~than|,|do|does|is|are|a|the|of|word|between|by|or|and [vs / versus] ~than|,|mean|stand|and|or|in|for
synonym: howto: ^ [HOW view / HOW see] my order|account|transaction|billing? orders|invoices|bills|balance|statement|statements|transactions|messages|profile|appointments|history @after
synonym: howto: ^ [HOW quit / HOW stop / HOW give up] smoking|drinking|vaping|gambling $|cigarettes|alcohol|weed
synonym: howto: ^ [HOW overcome / HOW get over] my|the|a? fear|anxiety|shyness|breakup|heartbreak|depression $|of|after
synonym: howto: ^ [HOW improve / HOW increase] my confidence|stamina|vocabulary|self $|-
synonym: howto: ^ [HOW become / HOW get] rich|wealthy $|in|by|from|without
synonym: howto: ^ [HOW become / HOW be] successful|confident|famous|happy|productive $|in|at|on|with|without
synonym: how what where yesno who: [telephone / phone] number|numbers $|of|for|in|on|from|to
synonym: howto: HOW build|develop|test|deploy|install|uninstall a|an|the|my mobile|android|iphone|web|desktop|ios [app / application] $|in|with|on|using
synonym: any: canceled|cancelled|delayed|postponed|closed [due to / because of] the|a|an|bad|heavy? weather|rain|snow|fog|wind|illness|strike|strikes|storm|maintenance|flooding
synonym: howto where what yesno: on|watch|watching|a|my|the [tv / television] $|in|at|with|without|from|for
synonym: howto where what which yesno: live|work|study|legal|illegal|job|jobs|visa|move|travel|ship|shipping|available|taxes|apply in|to|from the [US / usa] @after
synonym: howto: HOW block|unblock|invite|add|report|contact|remove [someone / somebody] on|from|to|$
synonym: yesno: ^ can|could [anyone / anybody] help|explain
synonym: howto: enable|disable|activate|deactivate|use|up|on|off [two - factor authentication / two factor authentication / 2FA / 2fa]
synonym: howto where: ^ [HOW buy / HOW purchase / where can i buy / where can i purchase] a|an|some @goods @after
synonym: howto yesno what where: help me|us [to /] @task
synonym: where what which: ^ where|what|which is|are the [nearest / closest] @place
`
