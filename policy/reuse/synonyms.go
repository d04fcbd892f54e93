package reuse

// alike reports whether one word may replace the other without changing the question.
func alike(x, y string) bool {
	return x == y || inflected(x, y) || synonyms[x] != "" && synonyms[x] == synonyms[y] || units[x] != "" && units[x] == units[y]
}

// synonyms is short on purpose: only words that may be exchanged nearly everywhere. A word is in one line only.
var synonyms = table(synonymLines)

const synonymLines = `
	begin start begins starts
	buy purchase buying purchasing bought purchased
	fix repair fixing repairing
	mend correct
	big large
	small little
	fast quick quickly rapidly
	change modify alter changing modifying
	choose pick select choosing picking selecting
	create make build making creating
	delete erase remove deleting removing
	photo photograph picture image
	photos photographs pictures images
	car automobile cars automobiles
	film movie films movies
	phone telephone cellphone
	kid child
	kids children
	illness disease
	doctor physician
	attorney lawyer
	job occupation
	salary wage
	shop store shops stores
	city town
	happen occur happens occurs
	end finish
	hard difficult
	easy simple
	near close
	find locate finding
	use utilize using utilizing
	assist aid
	error mistake errors mistakes
	bug defect
	method way ways methods
	cost price costs prices
	fee charge
	trip journey
	airplane plane
	vacation holiday
	wash clean
	world globe
	country nation countries nations
	important significant
	main primary principal
	kind type types kinds sort
	author writer
	invent invented
	instructions directions
	definition meaning define mean means
	reason reasons
	amount quantity
	purpose aim
	example instance examples instances
	difference distinction differences
	benefit advantage benefits advantages
	drawback disadvantage drawbacks disadvantages
	allow permit allows permits
	require need
	prevent avoid preventing avoiding
	improve enhance improving
	increase raise
	reduce decrease lower
	recipe recipes
	folder directory
	program application app
	signs symptoms
	soda pop
	color colour colors colours
	favorite favourite
	center centre
	organize organise
	summarize summarise
	behavior behaviour
	analyze analyse
	license licence
	traveling travelling
	canceled cancelled
	email mail
	website site
`
