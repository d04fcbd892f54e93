package normal

// wordLists are the closed lists of words. All of them were written for this package; none was counted in other people's texts.
var wordLists = []struct {
	class class
	words string
}{
	{wh | function, `what which who whom whose when where why how`},
	{be | function, `am is are was were`},
	{modal | function, `can could will would shall should may might must`},
	{do | function, `do does did has have had`},
	{subject | function, `i you we they he she it one there someone somebody anyone anybody`},
	{determiner | function, `the a an my your our their his her its this that these those any some every each no another all both`},
	{preposition | function, `of to in for on with at by from about into over after before between through during without within
		under against among across behind near off onto per since until till up upon via out down around`},
	{function, `and or but if not so than then as because while whether be been being also too very just only here yes nor else
		me us him them mine yours ours theirs myself yourself ourselves themselves itself let please ok okay hi hello hey
		well oh sorry thanks thank yeah yep nope sure alright actually really maybe perhaps still again now more most much many
		such own same other want need like would get make use find give show know think see look good great
		best nice new day today tomorrow tonight yesterday morning afternoon evening night monday tuesday wednesday thursday
		friday saturday sunday everything something anything nothing once ever never always
		quick question`},
	{numeral, `one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
		nineteen twenty thirty first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
		fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth`},
	{courteous, `thanks thank thx ty tia cheers regards please kindly hi hello hey greetings`},
	{title, `mr mrs ms dr st mt ft el la le de du di da al san los las jr sr prof rev sgt lt capt`},
	{month | homograph | starts, `may`},
	{month | homograph, `march`},
	{homograph | starts, `will who it us can nice reading well mean are act see fast start next best word go make play express
		target drive excel chase swift access basic brave edge gap discover focus fit job mobile mark bill grant rob sue pat
		frank grace hope faith joy dash rest split prime echo zoom slack teams meet`},
	{homograph, homographs},
	{acronym, acronyms},
	{task, tasks},
	{dataCue, `spell spells spelled spelt spelling misspelled grammar grammatical grammatically proofread translate translates
		translated translating translation translations pronounce pronounced pronunciation punctuation punctuate capitalize
		capitalise capitalization uppercase lowercase titlecase syllable syllables rhyme rhymes anagram anagrams palindrome
		palindromes synonym synonyms antonym antonyms conjugate conjugation verbatim vowels consonants transliterate
		transliteration typo typos sentence sentences phrase idiom paraphrase paraphrased rephrase reword rewrite rewritten
		transcribe romanize`},
	{dataVerb, `summarize summarise count repeat echo reverse shorten classify label extract say quote edit correct improve
		tokenize sort alphabetize complete continue encode decode encrypt decrypt hash parse format convert concatenate`},
}

// homographs are words whose capital makes another word of them in the same place of a sentence: peoples and countries, names that are
// qualities or matter, products and firms that are goods or deeds, parties, zodiac signs, and abbreviations that are words.
const homographs = `polish turkey china chile japan java scotch lent mercury earth cologne bath cork hull orange buffalo lima nancy tours
	champagne bordeaux burgundy bologna jersey guinea limerick split male reading bolt
	apple windows shell visa oracle rust ruby python go swift spark flask spring react ember scratch crystal pearl perl elixir basic pascal
	julia dart kotlin latex word excel access outlook office teams slack zoom drive chrome safari opera brave edge kindle fire
	nest ring dash prime discover square stripe block bash fish finder mail photos notes pages numbers keynote messages wallet news
	stocks podcasts reminders shortcuts terminal preview siri
	gmail docs sheets slides forms keep duo chat hangouts meet classroom
	bing edge surface bolt lime bird puma jaguar mustang beetle bronco impala viper cobra ram falcon eclipse focus fiesta escape
	explorer pilot civic accord fit golf polo mini smart volt leaf spark seat lotus dodge lincoln corvette tiger jaguars
	amazonian monster indeed meta snap signal line telegram discord steam epic unity unreal blender sketch figma notion
	asana basecamp jira confluence harvest chase ally affirm robin capital target gap old navy subway wendy dove tide
	gain bounty snickers galaxy mars milky twix crunch kit camel pall marlboro budweiser guinness
	sun star times post guardian economist independent mirror express telegraph observer time people fortune nature science cell
	vogue variety wired shape self life lancet
	democrat democrats democratic republican republicans liberal liberals conservative conservatives labour labor green greens
	catholic orthodox god lord gospel mass bible
	cancer gemini leo aries taurus pisces
	aids sars who us it un ram rom pin sim sat act gap arm arms aid cat cats pet pets sad cars fast rest soap ant lamp mean salt
	start smart care hope cope peace lace gate safe sage team raid nap nap art arts para core star stars ice
	ace ax bat cad cob dab dale dot eta fib fig gem gin hug jam kit lax lip log lot lug mad map maps mat maze mime mine mod mole
	mop moss nit nut oar opt par pap pep peg pie pip pit pod pot rag rap rat rib rig rip rod rot rub rug sap ski sob sod sop
	span spa spam spin spot stem sting tab tag tan tap tar tip tips ton tor tot tug vat vet wan war web wit zip
	will mark bill grant rob sue pat chip cliff frank grace hope faith joy rose lily daisy ivy violet jade amber ginger pepper basil
	sage rosemary olive hazel holly heather iris jasmine penny summer autumn dawn eve buck duke earl king prince gene guy hank
	hunter jack jay josh lance max miles mason nick pam peg randy ray red rich rick rock rusty sandy skip sonny stew tucker
	wade ward woody carol charity cherry dolly drew flora gale gay harry bush cook baker brown black white gray grey young long
	short bell rice wood woods stone hill lake rivers field fields banks brooks bishop pope page parks price power powers
	sharp small strong sweet swift tanner taylor turner wells wolf west case church coward cross cruise day days fields fox
	friends lost heroes frozen up her cars brave twilight avatar psycho alien aliens ghost seven speed saw jaws crash drive
	heat magic jazz thunder twins saints cardinals giants wild avalanche lightning hurricanes flames rockets nets bulls bucks
	kings eagles rams jets bears lions dolphins vikings patriots packers browns bills colts titans ravens chargers chiefs
	angels astros athletics braves brewers cubs mets padres phillies pirates rangers rays reds tigers royals
	queen prince pink genesis journey boston chicago kansas foreigner yes eagles doors police cure cream
	slate lasso atom sublime brackets eclipse maven gradle ant ivy hive pig storm beam impala hadoop cassandra
	puppet chef salt vagrant consul vault nomad
	moon state bar catholic may march august job acts kings numbers judges psalms proverbs romans
	lime limes cricket hamlet othello emma dune carrie misery it cats chess hair rent grease annie
	doom quake portal halo destiny control braid limbo inside fez myst rust minecraft go
	swallow bulb kelvin newton watt joule pascal hertz ohm volt tesla henry weber gray curie becquerel
	earth mini smart reading nice mobile job polish`

// acronyms can be pronounced and are no words: their letter case carries nothing. Those without a vowel in reach need no list.
const acronyms = `nasa nato ikea unesco unicef opec nafta asap usa uae uefa fifa eta isa ira ieee iata icao iban iso api apis aws
	imax ent lax faq faqs ico ios ipo aol ibm icu irs isp iq id ids url urls uri usb gui cia fbi abs ucla usc ussr aarp
	covid laser radar scuba gif jpeg hiv adhd ups usps dui tsa ada epa fda hipaa ebay gpu cpu tpu atm ira ivf iud
	oled led lcd uhd ssd hdd mba phd cnn bbc espn nba nfl nhl mlb sfo atl ord jfk nyc pdf html css sql json yaml
	vat esim wifi lan wan nas ups ssl tls sso saas paas dna rna mri bmi tsla gdpr`

// tasks are verbs for what takes every person the same steps.
const tasks = `access activate add adjust apply archive arrange assemble assign attach authorize automate avoid backup bake bleed block boil book
	borrow brew build burn buy calculate call calibrate cancel capture cast centralize change charge check choose claim clean clear clone close
	collect combine compare compile compress compute configure confirm connect contact convert cook copy correct create crop customize
	cut deactivate debug decline decorate decrease decrypt define defrost delete deliver deploy deposit descale design detect determine develop
	disable disconnect dispute divide donate download downgrade draw dry edit eject email embed enable encrypt enroll ensure enter
	erase estimate evaluate exchange export extend extract file filter find finish fix fold format forward freeze fry generate get grill
	grow hang handle hide hire host identify implement import improve include increase initialize insert inspect install integrate invite
	iron join knit label launch learn lease link list load locate lock log lower make manage map mark measure merge migrate minimize
	mix mock modify monitor mount move mute negotiate obtain open optimize order organize overwrite pack paint park parse pause pay peel
	pick pin plan plant play plot poach prepare prevent print prioritize process prune publish purchase push query quit raise read reactivate rebook
	rebuild receive recognize record recover recycle redeem reduce register reinstall remove rename renew rent repair replace report
	request reschedule reserve reset resize resolve restart restore resume retrieve return reverse revert revoke roast roll rotate run save scan schedule
	sell send separate serve set setup share sharpen ship shorten shrink sign simplify skip slice smoke solve sort speed split squash start stop
	store stream submit subscribe summarize swap switch synchronize tie track train transfer transform transport treat trim troubleshoot turn
	unblock uninstall unlock unmute unpack unsubscribe unzip update upgrade upload use validate verify view visit wash water whitelist withdraw wrap
	write zip prepare prune declare hang freeze bring ask`
