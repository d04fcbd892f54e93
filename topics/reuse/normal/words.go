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
		me us him them mine yours ours theirs myself yourself ourselves themselves itself let please ok okay hi hello hey hm hmm eh ah ya ye yo um uh oh
		well oh sorry thanks thank yeah yep nope sure alright actually really maybe perhaps still again now more most much many
		such own same other want need like would get make use find give show know think see look good great
		best nice new day today tomorrow tonight yesterday morning afternoon evening night everything something anything nothing once ever never always
		quick question perfect fine correct cool awesome tell`},
	{numeral, `one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
		nineteen twenty thirty first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
		fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth`},
	{courteous, `thanks thank thx ty tia cheers regards please kindly hi hello hey greetings`},
	{title, `el la le de du di da al lo`},
	{abbreviation, `mr mrs ms dr st mt ft jr sr prof rev sgt lt capt ave blvd rd`},
	{month | homograph | starts, `may`},
	{month | homograph, `march`},
	{homograph | starts, `will who it us can nice reading fast start word go make play express target excel chase swift access basic brave edge
		gap discover focus fit job mark bill grant rob sue pat frank grace hope faith joy dash split prime echo zoom slack teams meet
		keep indeed perfect`},
	{homograph, homographs},
	{acronym, acronyms},
	{songs, `song songs album sang sing sings sung title titled lyrics wrote band`},
	{wordings, `say says saying said word words write writes written text texts texted texting imply implies reply caption spell translate answer respond mention`},
	{letters, `email message letter sign post card`},
	{uses, `mean means name called use people response reaction`},
	{manners, `greeting greetings salutation salutations polite politer politeness impolite formal informal casual rude friendly friendlier phrase phrases
		ending endings closing closings sign-off opener courtesy courteous etiquette tone warmer colder sincere professional`},
	{pointer, `this these here following below above`},
	{place, placeNames},
	{product, products},
	{coding, `python java javascript typescript swift rust kotlin ruby php perl scala haskell sql bash css html golang c++ c# julia matlab lua
		react django rails numpy pandas node haskell clojure erlang elixir fortran cobol pascal prolog lisp`},
	{language, languageWords},
	{spelled, `word words spelling grammar british american americans australian australians english canadian canadians uk us correct wrong right
		mistake mistakes misspelt misspelled typo html css code tag tags scrabble dictionary language slang accent dialect written
		writing title old-fashioned fashioned`},
	{task, tasks},
	{verb, verbs},
	{dataCue, `spell spells spelled spelt spelling grammar grammatical grammatically proofread translate translates
		translated translating translation translations pronounce pronounced pronunciation punctuation punctuate capitalize
		capitalise capitalization uppercase lowercase titlecase syllable syllables rhyme rhymes anagram anagrams palindrome
		palindromes synonym synonyms antonym antonyms conjugate conjugation verbatim vowels consonants transliterate
		transliteration typo typos sentence sentences phrase idiom paraphrase paraphrased rephrase reword rewrite rewritten
		transcribe romanize contractions apostrophe apostrophes hyphen hyphenated noun nouns
		adverb adverbs pronoun pronouns preposition prepositions etymology homophone homophones`},
	{dataWord, `plural singular tense contraction verb adjective prefix suffix abbreviation acronym say times words letters characters word term letter`},
	{dataVerb, `summarize summarise count repeat echo reverse shorten classify label extract quote edit correct improve
		tokenize sort alphabetize complete continue encode decode encrypt decrypt hash parse format convert concatenate`},
}

// homographs are words whose capital makes another word of them in the same place of a sentence: peoples and countries, names that are
// qualities or matter, products and firms that are goods or deeds, parties, zodiac signs, and abbreviations that are words.
const homographs = `mobile crown voice boys bear witch mummy thing birds mask crow open masters shield arrow pole dane scot swede czech cal polish turkey china chile java scotch lent mercury earth cologne bath cork hull orange buffalo
	champagne bordeaux burgundy jersey guinea limerick split male reading bolt apple windows shell visa oracle rust ruby python go
	swift spark flask spring react ember scratch crystal pearl perl elixir basic pascal julia dart kotlin latex word excel access
	outlook office teams slack zoom chrome safari brave edge kindle fire nest ring dash prime discover square stripe block bash finder
	mail photos notes pages numbers keynote messages wallet stocks podcasts reminders shortcuts terminal preview siri gmail docs
	sheets slides forms keep duo chat hangouts meet classroom bing surface lime puma jaguar mustang beetle bronco impala viper cobra
	ram falcon focus fiesta escape accord fit golf polo mini smart volt leaf lotus corvette tiger amazonian indeed meta snap signal
	telegram discord steam epic unreal blender sketch figma notion asana basecamp jira confluence harvest chase affirm target gap dove
	tide bounty snickers galaxy mars milky twix camel pall marlboro budweiser sun times post guardian economist independent mirror
	express telegraph observer science vogue lancet democrat democrats democratic republican republicans liberal liberals conservative
	conservatives labour labor greens catholic orthodox god lord gospel mass bible cancer gemini aids sars who us it un rom pin sim
	sat aid cat sad cars fast soap ant lamp salt start hope cope lace safe sage para core ace ax bat cad cob dab dale dot fig gem gin
	mat maze mime mine mole mop moss nit nut oar opt pap pep peg pie pip pit pod pot rag rat rib rip rod rot rub rug sap ski sob sod
	sop span spa spam spin stem sting tan tar ton tor tot tug vat vet wan web will mark bill grant rob sue pat chip cliff frank grace
	faith joy rose lily daisy ivy violet jade amber ginger pepper basil rosemary olive hazel holly heather iris jasmine penny summer
	autumn dawn eve buck duke earl prince gene hank jay josh lance miles mason nick pam randy ray rich rick rusty sandy skip sonny
	stew tucker wade ward woody carol charity cherry dolly drew flora gale gay bush cook baker young rice wood pope sharp coward fox
	lost heroes frozen twilight avatar psycho alien aliens jaws heat magic thunder saints cardinals pink genesis journey doors police
	cure cream slate lasso atom sublime brackets maven gradle hive pig storm beam hadoop cassandra puppet chef vagrant consul vault
	nomad may march august job acts judges psalms proverbs romans limes cricket hamlet othello emma dune carrie misery grease annie
	doom quake portal halo destiny braid limbo inside fez myst minecraft swallow bulb kelvin newton watt joule hertz ohm curie
	becquerel nice`

// placeNames are countries, peoples, languages, large cities, days and months that are no other word, small letters or not.
const placeNames = `afghanistan africa african albania algeria america american americans argentina armenia asia asian australia australian austria austrian
	azerbaijan bahrain bangladesh belarus belgium belgian bolivia bosnia botswana brazil brazilian bulgaria bulgarian burma cambodia cameroon canada
	canadian colombia colombian croatia croatian cuba cuban cyprus denmark ecuador egypt egyptian england estonia ethiopia europe european
	finland finnish france germany german germans ghana greece guatemala honduras hungary hungarian iceland icelandic india indonesia
	iran iranian iraq iraqi ireland israel israeli italy italian italians jamaica japan japanese kazakhstan kenya korea korean kuwait latvia lebanon
	libya lithuania luxembourg malaysia malta mexico mexican moldova mongolia montenegro morocco moroccan mozambique myanmar nepal netherlands nicaragua
	nigeria nigerian norway norwegian pakistan pakistani palestine paraguay peru peruvian philippines poland portugal portuguese qatar romania
	russia russian russians rwanda scotland scottish senegal serbia serbian singapore slovakia slovenia somalia spain spanish sudan sweden
	switzerland syria syrian taiwan taiwanese tanzania thailand tunisia uganda ukraine ukrainian uruguay uzbekistan venezuela vietnam vietnamese
	yemen zambia zimbabwe arabic hebrew hindi bengali mandarin cantonese tagalog urdu persian farsi swahili latin
	amsterdam athens atlanta auckland baghdad baltimore bangkok barcelona beijing beirut belgrade berlin bogota boston brisbane brussels bucharest
	budapest cairo calgary canberra chicago copenhagen dallas delhi denver detroit dubai dublin edinburgh florence frankfurt geneva glasgow hamburg
	hanoi havana helsinki houston istanbul jakarta jerusalem johannesburg karachi kyoto lagos leeds lisbon liverpool london madrid manchester manila
	marseille melbourne memphis miami milan minneapolis montreal moscow mumbai munich nairobi naples oslo ottawa oxford paris philadelphia
	pittsburgh prague riyadh rome rotterdam seattle seoul shanghai stockholm sydney tehran tokyo toronto toulouse tunis utrecht valencia vancouver
	venice vienna vilnius warsaw zurich heathrow alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho illinois
	indiana iowa kansas kentucky louisiana maryland massachusetts michigan minnesota mississippi missouri montana nebraska nevada ohio oklahoma
	oregon pennsylvania tennessee texas utah vermont virginia wisconsin wyoming manhattan brooklyn hollywood washington georgia jordan english french dutch chinese irish welsh turkish thai swedish danish
	monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
	january february april june july september october november december christmas easter thanksgiving halloween ramadan`

// products are firms and products whose names are no other word.
const products = `facebook youtube instagram tiktok google paypal spotify netflix microsoft samsung iphone ipad android linux unix ubuntu ios macos
	postgresql postgres mysql mongodb redis kubernetes docker javascript typescript whatsapp linkedin wikipedia evernote photoshop powerpoint
	ikea ryanair lufthansa airbnb uber ebay huawei nokia toyota honda volkswagen bmw audi volvo nissan hyundai porsche ferrari adidas nike
	starbucks mcdonalds walmart costco pinterest reddit github gitlab bitcoin ethereum thunderbird firefox tesla boeing airbus expedia
	pandas numpy jenkins kubectl heroku`

// languageWords are about how something is said or written, in which courtesy, contractions and spellings may be what is asked about.
const languageWords = `word words wording language languages spell spelled spelling grammar british american americans australian australians english uk us
	tag tags html css code scrabble dictionary mean means meaning say says said called correct wrong right mistake mistakes error errors misspelt
	misspelled typo typos slip formal informal casual polite impolite rude posh plain slang idiom idiomatic old-fashioned greeting greetings
	phrase phrases ending endings sentence sentences verb verbs noun adverb adjective preposition conjunction article comparative modal tense
	comma dash hyphen apostrophe letter letters vowel term terms register tone pronounce pronounced syllable written writing accent dialect
	americanism britishism spelt anagram acronym abbreviation pun title titled name named hashtag`

// acronyms can be pronounced and are no words: their letter case carries nothing. Those without a vowel in reach need no list.
const acronyms = `nasa nato unesco unicef opec nafta usa uae uefa fifa ieee iata icao iban iso api apis aws
	imax faq faqs ico ios aol ibm icu irs isp iq url urls uri usb gui cia fbi ucla usc ussr aarp
	covid gif jpeg hiv adhd usps dui tsa epa fda hipaa ebay gpu cpu tpu ivf iud
	ipad ipads iphone iphones ipod imac macos icloud itunes icloud oled led lcd uhd ssd hdd mba phd cnn bbc espn nba nfl nhl mlb sfo jfk nyc pdf html css sql json yaml
	esim wifi ssl tls sso saas paas dna rna mri bmi gdpr`

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

// verbs are others that questions are about: in "when the shop opens" they show where the subject ends.
const verbs = `put render accept affect allow appear apply arrive become begin belong break bring burn carry cause change charge come consist contain cost count cover
	cover cross cure cut deal deliver depend die differ do drink drive earn eat end exist expect expire explain fall feed feel fit fly follow forget
	fund get give go grow happen have head heal help hold hurt include keep kick kill know last lead learn leave let lie like listen live look
	lose make matter mean meet move need occur offer open operate own pay play point print produce prove provide reach read refuse remain remember require
	rise run say see seem sell serve set show shut sit sleep smell sound spend stand stay stop study suffer suggest support swim take talk taste
	tell tend think throw touch travel treat understand use vary wait walk want watch wear win wish work worry`
