package edits

// source is the list of edits: class, kinds of sentences, and the spellings of which one replaces the other, between what must stand before
// and after them. See elements for the marks.
const source = `
# articles
article: what who: ^ what|which|who is|are|was|were [the /] @quality? @relation of|between
article: what who: ^ what|who is|was|are|were [the /] @office of
article: order: ^ explain|describe|list|compare|name|define [the /] @quality? @relation of|between
article: what which: ^ what|which is|are|was [the /] @super @supernoun in|on|of|for|to|$
article: what which: ^ what|which is|are [the /] best @thing|way|place|time|method to|for
article: where: ^ where is|are [the /] nearest|closest @place $|to|from|near
article: who: ^ who is|was [the /] richest|tallest|oldest|youngest|fastest|strongest person|man|woman in
article: how: HOW change|find|calculate|increase|reduce|improve|measure|check|adjust|determine [the /] @attribute of
article: how: HOW @acquire [a / an /] @quality2? @countable @after
article: how yesno where: can|should|could i|we get|find|open|create|buy|request|book [a / an /] @quality2? @countable @after
article: how what which yesno: play|learn|playing|learning [the /] @instrument @after
article: how what where yesno why: to|on|using|without [the /] internet @after
# what and which
which: what which: ^ [what / which] @choice @verb
which: prep: ^ in|at|on|from|for [what / which] @choice @verb
which: what which: ^ [what / which] is|are|was the @super @supernoun
which: what which: ^ [what / which] is|are the best @thing|place|time|method
which: what which: ^ [what / which] is better|cheaper|healthier|faster|safer !than or
# singular and plural
number: what: ^ what [is the advantage / are the advantages / are the advantage / is the advantages] of
number: what: ^ what [is the disadvantage / are the disadvantages / are the disadvantage / is the disadvantages] of
number: what: ^ what [is the benefit / are the benefits / are the benefit / is the benefits] of
number: what: ^ what [is the symptom / are the symptoms / are the symptom / is the symptoms] of
number: what: ^ what [is the cause / are the causes / are the cause / is the causes] of
number: what: ^ what [is the effect / are the effects / are the effect / is the effects] of
number: what: ^ what [is the side effect / are the side effects / are the side effect / is the side effects] of
number: what: ^ what [is the consequence / are the consequences / are the consequence / is the consequences] of
number: what: ^ what [is the difference / are the differences / are the difference / is the differences] between
number: what: ^ what [is / are] the differences|advantages|disadvantages|benefits|symptoms|causes|effects of|between
# some and any
some: what: ^ what are [some / the / some of the /] @ways to|of|for
some: what: ^ what are [some /] good @thing @after2
some: what: ^ what are [some of /] the best @thing @after2
any: yesno: ^ is there [any / a /] @question1 @after2
any: yesno: ^ are there [any /] @free? @stock @after2
any: yesno: ^ do|does|did you|we|i|they have [any /] @free? @stock @after2
# words that add nothing
filler: what who why how: ^ what|who|why|how [exactly /] is|are|was|were|does|do|did
filler: yesno: does|do|did !not|do|does|did|love|or|and|but [actually / really /] work|mean|exist|happen|help|matter|need|want
filler: what why how: does|do|did !not|do|does|did|love|or|and|but [actually / really /] work|mean|exist|happen|help|cause
filler: yesno: ^ is it|this|that [actually / really /] worth|true|necessary|possible|dangerous|safe|legal|required @after2
so: why: !not|so|this|that|the|too|as|a|an [so /] @adjective @after3
so: why: ^ why is|was it [so /] hard|difficult|easy|important|expensive to|for
that: yesno how why: think|believe|know|sure [that /] i|you|he|she|we|they
that: yesno how why: think|believe|sure [that /] the|my|your
that: yesno how why: think|believe|know|sure [that /] it|there is|was|will|has
that: what: things|thing|documents|steps|questions|mistakes|skills|foods [that /] i|you|we|they should|need|can|must|have
more: how: speak|write|work|study|communicate|think|english|spanish|french|german|italian [more /] fluently|clearly|confidently|efficiently|effectively|productively $|at|in|with
why: what which who where when yesno: !@question ,? [and why > ] $
why: what which who where when yesno: !@question [, and why > ] $
why: what which who where when yesno: !@question [? why > ] $
why: what which who where when yesno: !@question ? [why ? > ]
why: what which who where when yesno: !@question ? [why > ]
why: what which who where when yesno: !@question [. why > ] $
comma: what which: ^ what|which is better|cheaper|healthier|faster|safer [, /] !than or
comma: what which: what|which is better|cheaper|healthier|faster|safer [, /] a|an|the !than or
comma: what how: do|happens [, /] if|when
comma: any: !or|and|, [, /] and|but what|how|why|when|where|who is|are|was|were|do|does|did|can|should
comma: any: !@question [, /] and why $
comma: what how why which: ^ in @field [, /] HOW|how|what|why|which
of: any: all|both [of /] the|my|your|our|these|those|their
of: how what where yesno: !the|an|my|his|its [of /] the|my|a
# phrases
way: yesno: ^ is [there a way / there any way] to
way: yesno: ^ is [there a way / there any way / it possible] to @task my|the|a|an
kind: what which: ^ [what kind / what type / what sort / which kind / which type / which sort] of
kind: what which: ^ [what kinds / what types / what sorts / which kinds / which types / which sorts] of
hyphen: any: [part-time / part time] job|jobs|work|employee|employees|student|students|position|positions|contract
hyphen: any: [full-time / full time] job|jobs|work|employee|employees|student|students|position|positions|contract
hyphen: any: [long-term / long term] effects|goals|plan|plans|loan|loans|memory|investment|investments|relationship|relationships|contract
hyphen: any: [short-term / short term] effects|goals|plan|plans|loan|loans|memory|investment|investments|contract
hyphen: any: [step-by-step / step by step] guide|instructions|guides
hyphen: any: [open-source / open source] software|project|projects|license|alternative|alternatives|tool|tools
hyphen: any: [user-friendly / user friendly]
hyphen: any: [self-esteem / self esteem / selfesteem]
hyphen: any: [self-confidence / self confidence]
hyphen: any: [self-employed / self employed]
hyphen: any: [well-being / wellbeing / well being]
hyphen: any: [co-worker / coworker]
hyphen: any: [co-workers / coworkers]
hyphen: any: [time zone / timezone / time-zone]
hyphen: any: [time zones / timezones / time-zones]
hyphen: any: my|the|a|your|our|new [web site / website / web-site]
hyphen: any: [cell phone / cellphone / mobile phone / cell-phone]
hyphen: any: [cell phones / cellphones / mobile phones]
hyphen: any: [health care / healthcare / health-care]
synonym: how: HOW [earn / make] money @after
synonym: how what: to|i|you [earn / make] money online|from|at|on $|home|youtube|instagram|internet|blogging
synonym: how: HOW [sign in / log in] to|into my|the|your|an|a? @site
synonym: how: HOW [sign in / log in] with @provider
synonym: what which: !than|, [vs / versus] !than|,
synonym: how: HOW [view / see] my @document
synonym: how: HOW [quit / stop / give up] smoking|drinking|vaping|gambling $|cigarettes|alcohol|weed|for|without|in
synonym: how: HOW [overcome / get over] my|the|a? fear|anxiety|shyness|breakup|heartbreak|depression @after4
synonym: how: HOW [improve / increase] my|your? concentration|confidence|stamina|vocabulary|self-confidence|self-esteem $|for|in|at
synonym: how: HOW [become / get] rich|wealthy @after
synonym: how: HOW [become / be] successful|confident|famous|happy|productive @after
synonym: how what where yesno who: [telephone / phone] number|numbers @after
synonym: any: mobile|android|iphone|web|desktop|ios [app / application] @after
synonym: any: mobile|android|iphone|web|desktop|ios [apps / applications] @after
synonym: any: cancelled|delayed|postponed|closed [due to / because of] the|a|an|bad|heavy? weather|rain|snow|fog|wind|illness|strike|strikes|storm|maintenance|flooding
synonym: any: on|the|a|my|watch|watching|new [TV / television] @after
synonym: any: in|to|from the [US / USA] @after
synonym: how: HOW block|unblock|invite|add|report|contact|remove|call|help|forgive|find [someone / somebody] who|on|from|to|in|$
synonym: yesno: ^ can|does|did|is|has|could [anyone / anybody] @help
synonym: any: [two-factor authentication / two factor authentication / 2FA]
synonym: how where: [buy / purchase] a|an|the|some @goods @after
synonym: how what where yesno: help|helps me|us|you|him|her|them [to /] @task
`
