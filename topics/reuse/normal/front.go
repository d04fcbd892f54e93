package normal

// sentences are tokens that are looked at as sentences.
type sentences struct{ tokens }

// front says what the sentences before the last one of a prompt do to it.
type front uint8

const (
	harmless  front = iota // nothing: statements, and what users say of themselves
	asked                  // a question: it may
	wary                   // an order: it may
	aboutText              // it does, or may: they are about a text, or point at one
)

// front returns what stands before the last sentence. Statements leave it alone, as do orders and questions in which users name themselves
// or others, and templates that end with "Question:". Any other order or question need not be about the world, and may make
// data of what follows: "Respond as a pirate", "Any errors here?".
func (ts sentences) front() front {
	worst := harmless
	for from := 0; ; {
		end := ts.sentence(from)
		next := end
		for next < len(ts.tokens) && ts.boundary(next) {
			next++
		}
		if next >= len(ts.tokens) {
			return worst
		}
		if f := ts.frontOf(from, end); f != harmless {
			if ts.template(next) {
				return worst
			}
			worst = max(worst, f)
		}
		from = next
	}
}

// treated reports whether a text may be in the prompt that it does something to.
func (ts sentences) treated() bool { return ts.treatsText() || ts.front() == aboutText }

// frontOf returns what the sentence of tokens [from, to) does to those behind it.
func (ts sentences) frontOf(from, to int) front {
	for from < to && (ts.tokens[from].Kind == Mark || ts.is(from, replies...)) {
		from++
	}
	if from == to {
		return harmless
	}
	bad := pointer
	statement := ts.states(from, to)
	if !statement {
		bad |= language | manners
	}
	own := false
	for i := from; i < to; i++ {
		if ts.tokens[i].class&bad != 0 && !ts.tokens[i].Quoted && ts.points(i, to) {
			return aboutText
		}
		own = own || ts.is(i, "i", "me", "my", "we", "us", "our", "they", "their", "them", "there", "its", "else")
	}
	if own || statement {
		return harmless
	}
	if ts.asks(from, to) {
		return asked
	}
	return wary
}

// replies are words that begin a sentence and leave it as it is.
var replies = []string{"yes", "no", "ok", "okay", "well", "great", "good", "perfect", "thanks", "thank", "please", "sorry", "sure", "now", "so", "and", "but",
	"also", "actually", "then", "alright", "cool", "nice", "awesome", "hi", "hello", "hey", "fine", "correct", "right", "yeah", "yep", "nope", "oh", "hmm", "sounds", "wonderful", "excellent",
	"exactly", "absolutely", "definitely", "not", "maybe", "later", "you", "very", "much", ","}

// points reports whether the word at i, of one of the classes that are about texts, is so: "this" before a noun does not.
func (ts sentences) points(i, to int) bool {
	if ts.is(i, "this", "these") && i+1 < to {
		next := &ts.tokens[i+1]
		return next.Kind != Word || next.class&(auxiliary|function|task|verb|preposition|language|manners) != 0
	}
	return true
}

// states reports whether the sentence of tokens [from, to) is a statement: it has a subject before its verb.
func (ts sentences) states(from, to int) bool {
	if ts.is(from, "you") && ts.has(from+1, be) || to < len(ts.tokens) && ts.tokens[to].Text == "?" {
		return false // a role, or a question
	}
	if ts.has(from, subject|determiner) && !ts.is(from, "you") {
		return true
	}
	if ts.has(from, wh|auxiliary|task|verb) || ts.is(from, imperatives...) {
		return false
	}
	for i := from + 1; i < to; i++ {
		if ts.has(i, auxiliary) {
			return true
		}
	}
	return false
}

// imperatives begin orders, beside the verbs of the lists.
var imperatives = []string{"find", "get", "make", "use", "give", "show", "tell", "think", "look", "let", "please", "be", "do", "search", "try", "go", "repeat", "schedule"}

// template reports whether a label for the question of a user is before the last sentence, and nothing but roles and orders to answer are
// before that.
func (ts sentences) template(next int) bool {
	label := -1
	for i := next; i+1 < len(ts.tokens); i++ {
		if ts.tokens[i].Kind == Mark && ts.tokens[i].Text == ":" && ts.is(i-1, "question", "query") && ts.tokens[i-1].First {
			label = i - 1
			break
		}
	}
	if label < 0 || ts.sentence(label+2) < len(ts.tokens)-1 {
		return false
	}
	for from := 0; from < label; {
		end := ts.sentence(from)
		for i := from; i < end; i++ {
			if ts.tokens[i].class&(pointer|language|manners|songs) != 0 || ts.is(i, "as", "in") && !ts.is(i+1, "one", "two", "three", "a") {
				return false
			}
		}
		if !ts.is(from, "answer", "be", "keep") && !(ts.is(from, "you") && ts.has(from+1, be)) && !ts.states(from, end) && !ts.is(from, "do", "never", "always") {
			return false
		}
		for from = end; from < label && ts.boundary(from); {
			from++
		}
	}
	return true
}
