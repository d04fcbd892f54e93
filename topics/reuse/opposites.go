package reuse

// opposites holds for each word its places in the lines below. Words of one column may replace each other; words of
// two columns of one line exclude each other.
var opposites = axes(`
	on | off out | up | down
	in at | out | to toward towards
	into | out
	to into onto | from
	over above | under below beneath
	for | against
	before prior | after | during
	inside within indoor | outside outdoor
	here | there
	i me my mine myself | you your yours yourself
	he him his | she her hers
	am | are
	is are am does do | was were did
	was were did | will shall | should must
	can may could | must should
	all every everyone everything always entire | some sometimes several few | only
	many much | few little
	both | either
	and | or
	if | unless
	with including include inclusive | excluding exclude exclusive except
	enable activate | disable deactivate
	start begin launch open initiate | stop end finish close quit exit terminate shut
	first initial | last final
	next following | previous preceding prior
	early earlier | late later
	earliest oldest old ancient | latest newest new modern recent
	increase grow raise rise gain boost maximize expand | decrease shrink lower fall drop reduce lose minimize cut
	more | less fewer
	most | least fewest
	max maximum | min minimum
	high higher highest tall | low lower lowest
	tall taller tallest | short shorter shortest
	long longer longest | short shorter shortest brief
	big bigger biggest large larger largest huge | small smaller smallest tiny little
	wide wider widest broad | narrow narrower narrowest
	thick thicker | thin thinner
	deep deeper | shallow
	heavy heavier | light lighter
	fast faster fastest quick quickly | slow slower slowest slowly
	hot hotter hottest warm warmer | cold colder coldest cool cooler
	good better best | bad worse worst
	easy easier easiest simple | hard harder hardest difficult complex
	cheap cheaper cheapest | expensive
	near nearest close closest | far farthest furthest
	rich richer | poor poorer
	strong stronger strongest | weak weaker weakest
	young younger youngest | old older oldest
	same | different
	buy purchase | sell | rent
	import | export
	upload | download
	upgrade | downgrade
	install | uninstall
	add append insert include | remove delete exclude drop
	create make build | delete destroy remove
	accept approve allow permit | reject refuse deny forbid prohibit ban block
	send | receive get
	push | pull
	give | take
	lend | borrow
	save keep | spend delete
	deposit | withdraw
	pay | earn
	win | lose
	pass succeed success | fail failure
	encrypt | decrypt
	encode | decode
	compress zip | decompress unzip extract
	serialize marshal | deserialize unmarshal
	mute | unmute
	show display | hide
	attach mount | detach unmount
	connect | disconnect
	login log_in sign_in | logout log_out sign_out log_off | signup sign_up
	subscribe | unsubscribe
	follow | unfollow
	join enter | leave exit
	arrive arrival | depart departure leave
	come | go
	bring | take
	read | write
	load | save unload store
	lock | unlock
	backup | restore
	freeze | unfreeze thaw
	ascend ascending | descend descending
	sort | shuffle
	merge join | split separate
	multiply multiplication | divide division
	plus sum addition | minus subtraction
	positive | negative
	true | false
	yes | no
	right | left
	right correct | wrong incorrect
	top | bottom
	front | back rear
	head | tail
	north northern | south southern
	east eastern | west western
	internal | external
	interior | exterior
	public | private
	local | remote | global
	domestic | foreign international
	online | offline
	manual manually | automatic automatically
	static | dynamic
	synchronous sync | asynchronous async
	input | output
	server | client
	frontend | backend
	hardware | software
	source | target destination
	ancestor parent | descendant child
	parent mother father | child son daughter
	male man men boy | female woman women girl
	brother | sister
	mother mom | father dad
	king | queen
	teacher | student
	buyer | seller
	employer | employee
	landlord | tenant
	lender creditor | borrower debtor
	doctor | patient
	husband | wife
	pro pros advantage benefit strength | con cons disadvantage drawback weakness
	asset | liability
	profit | loss
	credit | debit
	income revenue | expense expenditure
	supply | demand
	gross | net
	inflow | outflow
	bull bullish | bear bearish
	legal legally lawful | illegal illegally unlawful
	guilty | innocent
	plaintiff | defendant
	safe safely secure | dangerous unsafe insecure
	possible | impossible
	able | unable
	alive live living | dead die death
	birth born | death died die
	love like | hate dislike
	happy | sad unhappy
	cause | effect
	cause | prevent
	cause symptom | treatment treat cure
	symptom | cause
	prevent prevention | treat treatment
	benefit | risk
	question | answer
	problem | solution
	singular | plural
	active | passive
	odd | even
	empty | full
	wet | dry
	hard | soft
	sharp | blunt dull
	clean | dirty
	clockwise | counterclockwise anticlockwise
	horizontal | vertical
	row | column
	width | height | depth | length
	day daytime | night
	morning | evening | afternoon
	today tonight | tomorrow | yesterday
	daily | weekly | monthly | yearly annually annual
	past | present current | future
	summer | winter | spring | autumn fall
	breakfast | lunch | dinner
	vegetarian vegan | meat
	black | white
	red | green | blue | yellow
	celsius | fahrenheit
	metric | imperial
	gain | lose loss
	hire | fire
	marry | divorce
	attack offense offensive | defend defense defensive
	victory win | defeat
	war | peace
	friend | enemy
	hope | despair
	question | statement
	optional | required mandatory
	temporary temporarily | permanent permanently
	partial partially | complete completely full fully
	single | multiple
	single | married
	similar similarity | different difference
	accelerate | brake decelerate
	inhale | exhale
	appear | disappear vanish
	remember | forget
	teach | learn
	call | text email
	incoming | outgoing
	sender | recipient receiver
	virtual | physical
	digital | analog
	natural | artificial
	acid acidic | alkaline base basic
	mitosis | meiosis
	bacteria bacterial | virus viral
	hyper | hypo
	major | minor
	superior | inferior
	majority | minority
	include | omit
	lossless | lossy
	mutable | immutable
	prefix | suffix
	uppercase | lowercase
	commit | rollback revert
	serial sequential | parallel concurrent
	stack | queue
	tcp | udp
	hit | miss
`)
