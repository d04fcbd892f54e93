package normal

import "strings"

// ordinary are nouns of everyday use. One with a single capital in the middle of a sentence may be the name of anything, so that it is not the
// same word without it. What they end with when they are made of other words is in suffixes.
const ordinary = `ability absence academy access accident account ace acorn act action actor ad addict address advance adventure advice affair afternoon
	aftermath age agency agent aim air aircraft airport aisle alarm album alcohol alert alley alliance alpha alpine altar ambition ambush amount
	amulet anchor angel angels anger angle animal ankle anthem anvil apartment apex apology appeal appetite apron aquarium arc arcade arch archer area
	arena argument arm armor army aroma arrival arrow art article artist ash aspect assault assembly asset assumption atlas attack attempt attic
	attitude auction audience aunt aura author autumn avenue average avocado award axe axis
	baby back backpack bacon badge bag bait bakery balance balcony ball ballad ballet balloon bamboo ban banana band bandage bandit bank banner bar
	bargain barn barrel barrier base baseball basement basin basket basketball bass bat battery battle bay bazaar beach beacon bead beak beam bean beans
	bear beard beast beat beaver bed bee beef beer beetle bell belt bench bend bible bicycle bike billboard bingo bird birth birthday biscuit bishop
	bite blackboard blade blanket blast blaze blind blink blizzard block blog blood bloom blossom blow blue blues board boat body bomb bond bone bones
	bonus book boom boost boot boots booth border boss bottle bottom boulder bounce bow bowl box boxer boy boycott brain brake branch bread breakfast
	breakthrough breath breeze brick bride bridge brief broadcast bronze brook broom brother brow brunch brush bubble bucket buddy budget buffer bug
	bulb bull bullet bumble bump bunch bundle bunny burger burrito burst bus business butcher butler butter butterfly button buzz
	cab cabbage cabin cabinet cable cactus cafe cage cake calm camera camp campus canal candle candy cane cannon canoe canvas canyon cap cape
	capital capitol captain caravan carbon card cardinal career caribou carnival carpet carriage carrot cart cartoon carving cascade case cash casino
	castle cat catalyst catch cathedral cattle cause cave cedar ceiling cell cellar cello cemetery cent center century cereal ceremony certainty chain
	chair chalk challenge chamber champion chance change channel chaos chapel chapter charger chariot charm chart chat cheese chemist cherry chess
	chest chick chicken chief child children chili chill chimney chip chips chocolate choice choir chord chorus chronicle church cigar cinema circle
	circuit circus citadel citizen city claim clan clash clarity class classic clause claw clay client climate climax clinic clock closet cloth cloud
	clover clown club clue coach coal coast coat cobalt cobweb cocktail code coffee coin cold collar colony color colors columbia column comb comedy
	comet comfort comic command common commons companion company compass complex compound compact compact concert concept concord condition cone congress
	connection conquest console constitution contact contest continent contract contrast control cookie cookies cop copper coral cord corner corona corps
	cosmos costume cottage cotton couch council counter country county couple courage course court cousin cover cow crab craft crane crash crayon
	creature creek crew crime criminal crisis cross crossroads crowd crucible cruise cruiser crush crust cry crypt cub cube cubs cue cult culture cup
	cupcake cupid curb curfew curiosity current curse curtain curve cushion custom cutter cycle cyclone cymbal
	dad dagger daily dairy damage dance danger dare dark dart dashboard data date daughter dawn day days dead deal dealer dean death debate debt decade
	deck decree deer defiance degree delight delta demand demo demon den dentist depot depression depth deputy desert desk despair dessert
	destroyer detail detective device devil dial dialog diamond diary dice diet digit dime dimension diner dinner diplomat dirt disc disciple disco disease
	dish disk disorder display distance district dive divorce dock doctor dodge dog doll dollar dolphin domain dome door dose dot double doubt dough
	downfall downtown dragon drain drama dream dreams dress drift drill drink drive driver drone drop drought drum dryer duck duel duet dumbo dungeon
	dusk dust duty dwarf dynamo dynasty
	eagle ear earthquake east easter echo eclipse economy eden edge edition effect effort egg ego eight elbow elder elders electron element elements
	elephant elf elite embassy ember emblem emerald empire employer encounter end enemy energy engine engineer enigma enlightenment ensemble entry
	envelope envy epoch equator equinox era error escape essay essence estate eternity evening event everest evidence evil exam example exile exit exodus
	expanse expectation expert exposure express extra eye eyes
	fable fabric facade face fact factory factor fairy faith falcon fall fallout fame family fan fantasy far farm fashion fate father fault favor fear
	feast feather feature fee feed fellow fence fender fern ferry festival feud fever fiber fiction field fight figure film filter final finale finance
	finch finger fin fire firewall firm fish fist fixture flag flame flash flavor fleet flesh flicker flight flip flight flood floor flour flow flower
	flowers fluid flush flute flux foam fog folder folk food fool foot football force forest forge fork form fort fortress fortune forum fossil
	foundation fountain fox fraction fragment frame framework fraud freak freedom freeze freight frenzy frequency friday fridge friend friends frog
	front frontier frost fruit fuel fun fund funeral fungus funny fur furnace furniture fury fuse fusion future futures
	gadget gala gallery gallon gambit gamble game games gang garage garbage garden garlic gate gateway gauge gauntlet gear geese gem gender general
	generation genius genre gentleman geography germ ghost giant giants gift giraffe girl girls glacier gladiator glass glide globe gloom glory glove
	glow glue goal goat goblin goblet gold goose gossip gown graffiti grain gram grand grandma grape graph grass gravel gravity grave graves
	gravy grease green greenhouse grid grief grill grin grip grit groom groove ground group grove guard guardian guest guide guild guilt guitar gulf gull
	gum gun guru gusto guts guy gym gypsy
	habit hack hair half hall hallway ham hammer hand handle happy harbor hardware hare harmony harp hat hatchet haven havoc hawk hay hazard haze head
	headline headspace health heart hearts heat heather heaven hedge heel height heir heist helicopter helix hell helm helmet hen herald herb heritage
	hermit hero herring highway hill hills hint hip history hit hobby hockey hole holiday home homage homework honey honor hood hook hoop hope horizon
	horn horror horse horses hospital host hostage hotel hound hour house household hub human hunger hunt hunter hurdle hurricane hush husky hut hydra
	hymn hype ice icon idea ideal identity idol igloo image impact impulse inch inception income index industry infant inferno infinity influence
	ingot injury ink inn innocent input insect insider instinct institute internet interval intro intruder invader inventor iron island isle issue item ivory
	jacket jaguar jail jam jar jasper jazz jeans jelly jet jewel jigsaw jockey joint joke joker journal judge judo juice jumper junction jungle junior jury
	justice kayak keeper kernel kettle key keyboard kid kidney king kingdom kings kiss kit kitchen kite kitten kiwi knife knight knights knot
	label labor labyrinth lace lad ladder lady lake lamb lamp lance land landlord lane language lantern lap laptop larva laser lash last lateral laugh
	laughter launch laundry lava lavender law lawn lawyer layer lead leader leaf league leap leather leave lecture leech leg legacy legend legion lemon
	lemonade lens leopard lesson letter lever levy liberty library lid life light lighthouse lightning lights lilac limit limo line linear linen link
	lion lions lip list litter liver lizard loaf loan lobby lobster lock locker locket loft logic loft loom loop loot lord loss lottery lotus lounge love lover
	loyalty luck lullaby lumber lunch lung lure lush luster luxury lynx lyric
	macaroni machine mad magazine magic magma magnet maid mail mainframe majesty majors makeup male mall mama mammoth man mango manor mantle manual map maple
	marathon marble marine mariner mariners marketplace market marriage marrow marsh marshal martini marvel mascot master match mate matrix matter mattress
	maximum mayor maze meadow meal meat mecca medal media medic medicine medium melody melon member memo memory men menace menu mercy merit mermaid mess metal
	meteor meter method metro midnight midway mile milk mill mind miner mineral minister minor mint minute miracle mirage mirror mischief miser mission mist
	mistake mister mixture mob model modem modern mole moment momentum monarch money monitor monk monkey monolith monopoly monster month monument mood moon moor
	mop morning mortar moss motel moth mother motion motive motor mountain mouse mouth move movie mud muffin mug mule murder muscle muse museum mushroom
	music musical muse mustard myth
	nail name nap napkin narrator nation nationals nature navigator navy nebula neck necklace needle neighbor neon nerve nest net network neutral news nexus
	nickel niece night nightmare nights nightshade ninja noble noise nomad noodle noodles norm north nose notch note notebook notion nova novel novelty
	nucleus nuke null number nurse nut nylon nymph
	oak oasis oath oats oblivion obsidian ocean octave octopus odds odyssey offer office officer oil olive omega omen onion opal opera opium
	opponent option orb orbit orchard orchid order organ origin orphan oscar otter ounce outback outcast outlaw outlet outlook outrage oval oven overlord
	overture owl owls oyster
	pace pack package packet pact paddle padlock page pain paint pair palace palette palm pan panda pandora panel panic pantheon panther pants papa paper
	parachute parade paradise paradox parasite pardon parent parish park parrot part partner party passage passenger passion passport past pasta paste pastor pasture
	patch path patience patient patriot patrol patron pattern pause pavement pavilion paw pawn payment peace peach peacock peak peanut pear peasant
	peach pebble pedal peer pelican pen penalty pencil pendulum penguin pension people pepper percent perch perfume period permit person pest pet petal
	phantom phase pheasant philosophy phoenix phone photo phrase piano pickle picnic picture piece pier pigeon pilgrim pill pillar pillow pilot pinch
	pine pineapple pink pint pioneer pipe pipeline pipes pirate pirates pistol pit pitch pixel pizza place plague plaid plain plan plane planet plank plant
	plasma plaster plastic plate plateau platform platoon player playground plaza plea pleasure plot plug plum plus pocket pod podcast poem poet poetry point
	poison poker pole politics poll pond pony pool pop popcorn poppy population porch porcelain pork port portal porter portrait position post poster
	potato potion pottery pound powder power praise prayer preacher premiere premium present president press pressure prestige prey price pride priest prime
	princess print printer prison private privilege prize problem process producer product profile profit program progress project promise promo proof
	prophet proposal prospect prosperity protein protest providence province prowler psalm pub public pulp pulse pump pumpkin punch punk pup pupil puppet puppy
	purple purpose purse pursuit push puzzle pyramid quail quality quantum quarry quart quarter quartz queen quest quiet quilt quiz quota quote
	rabbit race racer rack racket radar radiator radio raft rag rage raid raider raiders rail rails rain rainbow ramen ramp ranch range ranger rangers
	rank rapid rapids raptor rascal raspberry ratio raven ravens rays razor reach reality realm reaper reason rebel rebels receipt recess recipe record
	red reef reel reference referee reflex reform refuge regard region reign relay relic relief religion remedy reserve resident resort rest restaurant
	result revelation revenge revenue reverend revolution revolver reward rhino rhythm ribbon rich riddle ride ridge rifle rift rim riot ripple rise risk
	ritual rival river road roast robber robin robot rock rocket rockets rodeo rogue role romance roof rook rookie room roommate rooster root roots rope roulette
	round route router routine row royal royalty rubber rubble rubicon rugby ruin rule ruler rum rumor runaway rune runner rush rye
	sabbath sack sacrifice saddle sadness sail sailor saint salad salary salmon salon saloon salsa salvation samba sanctuary sand sandal sandwich satin
	satellite sauce saucer sausage saw scale scandal scar scarecrow scarf scarlet scene schedule scheme scholar school science scissors scone scope score
	scorpion scoundrel scout scrap scream screen screw script scrubs sea seal search season seat secret section sector seed segment senate senator senior
	sense sentinel sequel sequence serenity sergeant series sermon serpent servant server service session settlement seven shade shadow shadows shaft shake shame
	shampoo shape shard shark sharks shed sheep sheet shelf shelter shepherd sheriff shift shine ship shirt shock shoe shoes shop shore shot shoulder shout
	shovel show shower showtime shrew shrimp shrine shuttle sibling side siege sierra silence silk silver simple sin singer single sinister sister
	site six skate skeleton skill skin skirt skull sky skyline slacker slave sleeper sleeve slice slide slip slipper slogan slope slot sloth slug slum slush
	smash smile smith smoke smoothie snack snail snake snow soccer society sock socket soda sofa software soil sol solace soldier solid solo solution sonata song
	sonnet soul souls sound soup source south sovereign soy space spade sparrow sparks spear specimen spectacle spectrum speech speed spell sphere sphinx spice
	spider spike spine spiral spirit splash splinter sponge spoon sport sports spot spotlight spouse spray spread sprinter sprout spruce spy squad squid
	squirrel stable stadium staff stage stain stair stairs stake stalker stamp standard star stardust stars state static station statue status steak steel
	steeple step steps stereo steward stick sticker stigma stitch stock stone stones stool store storm story stove stranger strategy straw strawberry streak
	street stress strike string strings strip student studio stuff stump stunt style submarine subway success sucker sugar suit suite sultan sundae sunday
	sunflower sunlight sunrise sunset sunshine supper supreme surf surge surgeon surgery surprise swamp swan swarm sweat sweater sweet sweetheart swimmer
	swing switch sword symbol symphony synagogue syndrome syrup system
	table tablet taboo tackle taco tacos tag tail tailor tale talent talisman talk tango tank tape tapestry target task tattoo tavern tax taxi tea teacher team tear
	tears teddy teen telescope temper temple temptation tempo tenant tender tennis tent terminator terrace terror test testament text texture thatcher theater theme
	theory therapy thermos thief thorn thought thread threads threat three threshold thrill thriller throat throne thumb thunder ticket tickets tide tie tigers
	tile timber timbers time tin tinder tint tip tire tissue title toad toast tobacco toddler toilet token tomato tomb tone tongue tool tooth tornado torrent
	tower town toy trace track tractor trade tradition traffic tragedy trail train traitor tram trance transit trap trash trauma travel tray treason
	treasure treat treaty tree trees trek trend trial triangle tribe tribune tribute trick trident trigger trinity trio trip triumph trolley trooper trophy
	trouble truck trumpet trunk trust truth tsunami tub tube tulip tuna tundra tunnel turbo turf turmoil turner turtle tuxedo twin twins twist two tycoon type
	typhoon tyrant umbrella uncle underdog undertaker underworld unicorn uniform union unit united unity universe university uprising upset upside urge user utopia
	vacuum valley value valve vampire van vandal vanguard vanilla vanity vans vapor variety vase vector vegetable vehicle veil vein velvet vengeance
	venom venture venue verb verdict verse vertex vessel vest veteran vets vice victim victor victory video villa village villain vine vinegar vineyard vintage
	virgin virtue virus vision visitor vista vitality vogue volcano volleyball voltage volume vortex vote vow voyage voyager vulture
	wafer wagon waist walker wall walnut waltz wand wanderer war warden wardrobe warehouse warrior warriors wasp waste wasteland watch watchmen water
	waterfall wave waves wax way wealth weapon weather weaver web webcam wedding weed week weekend weird welcome west whale wheat wheel
	whip whiskey whisper whistle white widow wife wild wilderness willow wind window windmill wine wing wings winner winter wire wisdom wish
	wizard wolf wolves woman women wonder wonderland wood woods wool word workshop world worm worship wound wrap wrath wreath wreck wrench
	wrestler wrist writer yacht yard yarn year yearbook yeast yellow yesterday yoga yogurt youth zebra zenith zero zigzag zinc zombie zone zoo`

// suffixes end nouns and adjectives that are made of other words: unity, depression, payment.
var suffixes = [...]string{"ness", "ity", "tion", "sion", "ment", "ing", "ism", "ance", "ence", "ship", "hood", "ful", "less", "able", "ible", "ous", "ive",
	"ade", "age", "dom", "ics", "ology", "ist", "ure", "ght", "ly", "ack", "ble"}

// everyday reports whether a word in small letters is one of everyday use, in the singular or plural, or made of others.
func everyday(word string) bool {
	c := entryOf(word).class
	if c&(place|product) != 0 {
		return false
	}
	if c&(noun|homograph|function|task|verb|numeral) != 0 {
		return true
	}
	for _, s := range suffixes {
		if len(word) > len(s)+2 && strings.HasSuffix(word, s) {
			return true
		}
	}
	n := len(word)
	if n > 4 && word[n-1] == 's' && word[n-2] != 's' {
		return everyday(word[:n-1]) || word[n-2] == 'e' && everyday(word[:n-2]) || n > 5 && word[n-3:] == "ies" && everyday(word[:n-3]+"y")
	}
	if n > 5 && word[n-2:] == "er" {
		return verbal(word[:n-2]) || verbal(word[:n-1])
	}
	return n > 5 && word[n-2:] == "ed" && (verbal(word[:n-2]) || verbal(word[:n-1]))
}
