package misses

import (
	"fmt"
	"strings"
)

// Words is the reason in one sentence.
func (d *Diagnosis) Words() string {
	switch d.Why {
	case ByRequest:
		return "The request wants a new answer, or a younger one (no-cache, max-age)."
	case Shadow:
		return "The mode is shadow: an answer by meaning was found, and served by the upstream only."
	case Explored:
		return "An answer by meaning was found, and is compared with a new one."
	case Refused:
		return "The answer that was found has been judged wrong for this request."
	case Expired:
		return "The answer to this was too old" + shortWords[d.What] + "."
	case NotStored:
		return "The answer to this that was given before was not kept: " + notStoredWords(d.What) + "."
	case Evicted:
		return "The answer to this was removed to make room."
	case ExactOnly:
		return "The same prompt is kept in the same scope, for another form of this request; this one, or that answer, is for equal requests alone, as calls of tools and their results are."
	case Scope:
		return d.scopeWords()
	case Chain:
		return "The same prompt is kept in the same scope, after another conversation."
	case Veto:
		return "The nearest answer was refused: " + d.What + "."
	case Degraded:
		if d.What == fetching {
			return "The answer to this is kept, and could not be fetched: the shared store is away, or has changes that have not been read here yet."
		}
		return "Nothing equal was found, and the search by meaning failed: " + d.What + "."
	case Below:
		return "Something like it is kept in the same scope, and is not near enough."
	case New:
		return "Nothing like it is known."
	}
	return "There are too many reasons to list them."
}

// scopeWords is the sentence for a difference of scope.
func (d *Diagnosis) scopeWords() string {
	var b strings.Builder
	switch {
	case d.Scopes > 1:
		fmt.Fprintf(&b, "The same prompt is kept in %d other scopes; ", d.Scopes)
	default:
		b.WriteString("The same prompt is kept in another scope; ")
	}
	switch {
	case len(d.Differs) == 0:
		return b.String() + "in what they differ is not known: its answer was kept before the start or by another process, or the scope is too large."
	case d.Scopes > 1 && !d.Alike:
		b.WriteString("the nearest differs in: ")
	case d.Scopes > 1:
		b.WriteString("they differ in: ")
	default:
		b.WriteString("it differs in: ")
	}
	for i, one := range d.Differs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(one.words())
	}
	return b.String() + "."
}

// words is the difference in a sentence.
func (d *Difference) words() string {
	name := partWords(d.Part)
	if d.Index > 0 {
		name += fmt.Sprintf(", message %d", d.Index+1)
	}
	look := looksWords[d.Looks]
	switch {
	case d.Byte >= 0 && look != "":
		return fmt.Sprintf("%s (byte %d: %s)", name, d.Byte, look)
	case look != "":
		return fmt.Sprintf("%s (%s)", name, look)
	}
	return name
}

var looksWords = map[string]string{"date": "looks like a date", "time": "looks like a time", "id": "looks like a random id", "uuid": "looks like a UUID",
	"number": "looks like a number", "name": "looks like the name of a user or a session", "space": "other white space", "order": "the same in another order",
	"text": "other text"}

// partWords is a part in words.
func partWords(name string) string {
	switch name {
	case PartSystem:
		return "system prompt"
	case PartMessage:
		return "what the last message holds beside its text"
	case PartRest:
		return "other fields"
	case PartQuery:
		return "query of the URL"
	case partIgnored:
		return "what the settings and rules ignore"
	case PartTurns:
		return "the conversation before it"
	case PartTenant, PartNamespace, PartEndpoint, "model", "tools", "instructions":
		return name
	}
	if header, ok := strings.CutPrefix(name, PartHeader); ok {
		return "header " + plain(header)
	}
	return "field " + plain(name)
}

// Repair is what an operator can do about the reason, in one sentence; "" where there is nothing.
func (d *Diagnosis) Repair() string {
	switch d.Why {
	case Shadow:
		return "REPRISE_MODE=semantic serves such answers."
	case Expired:
		return longerLife(d.What)
	case Evicted:
		return moreRoom
	case NotStored:
		return notStoredRepair(d.What)
	case ExactOnly:
		return "Where REPRISE_MODE=exact or X-Reprise-Mode: exact is the cause, leave it out; elsewhere send the very same request."
	case Degraded:
		if d.What == fetching {
			return "The log, reprise_degraded_total and GET /admin/shared show whether the shared store is away."
		}
		return "The log and reprise_degraded_total show what fails."
	case Below:
		return "An embedder that sees meaning, or a lower REPRISE_HIT_THRESHOLD, finds more, at the price of more wrong answers."
	case Veto:
		return "GET /admin/reviews?kind=refused, the view Review, shows both prompts and what would have to change."
	case Scope:
		return d.scopeRepair()
	}
	return ""
}

// shortWords say what has decided the life of an answer that is too old.
var shortWords = map[string]string{ByClient: ": its life was made shorter by the request that it answered (X-Reprise-TTL, or another gateway's name for it), or by the setting of then",
	ByRule: ": its life is that of a rule"}

// longerLife repairs a life that something has decided.
func longerLife(by string) string {
	switch by {
	case ByClient:
		return "No setting makes a life longer that a client has shortened: let clients send a longer X-Reprise-TTL, or none."
	case ByRule:
		return "A longer ttl of the rule, in the file of REPRISE_CONFIG, keeps these answers for longer; a longer REPRISE_TTL does not."
	}
	return "A longer REPRISE_TTL keeps answers for longer."
}

// moreRoom repairs what a full store does: it removes answers, and does not keep those that are worth less than all others.
const moreRoom = "REPRISE_CAPACITY_ENTRIES and REPRISE_CAPACITY_BYTES make room for more."

// notStoredWords is why an answer was not kept, in words where its name does not say it.
func notStoredWords(reason string) string {
	switch reason {
	case "status", "error":
		return "it was an error of the upstream"
	case "length":
		return "it was cut by a limit of tokens"
	case "incomplete":
		return "it ended early"
	case "size":
		return "it was too large"
	case "tool-calls":
		return "it calls tools"
	case "policy":
		return "the store was full, and what it has was worth more"
	}
	return reason
}

func notStoredRepair(reason string) string {
	switch reason {
	case "policy":
		return moreRoom
	case "tool-calls":
		return "A rule keeps them out: tool_calls: exact keeps them for equal requests."
	case "length":
		return "Such answers were cut by max_tokens: a higher one lets them end."
	case "status", "error":
		return "No setting keeps an error; the log has the cause, and the engine has to be mended."
	case "size":
		return "A higher REPRISE_MAX_ENTRY_BYTES keeps them."
	}
	return ""
}

// scopeRepair names one thing to do for each part.
func (d *Diagnosis) scopeRepair() string {
	var all []string
	seen := map[string]bool{}
	for _, one := range d.Differs {
		if repair := one.repair(); repair != "" && !seen[repair] {
			seen[repair] = true
			all = append(all, repair)
		}
	}
	return strings.Join(all, " ")
}

// variesWords are the looks of what may vary from request to request.
var variesWords = map[string]string{"date": "date", "time": "time", "id": "random id", "uuid": "UUID", "number": "number", "name": "name"}

// repair is what can be done about a part, where no answer depends on it.
func (d *Difference) repair() string {
	_, varies := variesWords[d.Looks]
	header, isHeader := strings.CutPrefix(d.Part, PartHeader)
	switch {
	case d.Byte >= 0 && d.shape != "":
		return "Where no answer depends on it, REPRISE_IGNORE_PATTERN takes the " + variesWords[d.Looks] + " out of the scope. Write the words that stand before it in front of the expression: alone it takes out every one in every system prompt."
	case d.Byte >= 0 && varies:
		return fmt.Sprintf("Where no answer depends on it, REPRISE_IGNORE_PATTERN takes the %s out of the scope: look at byte %d of the system prompt, and write the words around it with a named group for what varies, such as Customer: (?P<customer>\\w+).",
			variesWords[d.Looks], d.Byte)
	case d.Byte >= 0:
		return "Send the same system prompt, and what varies in the user's message."
	case isHeader:
		return "Where no answer depends on it, add " + plain(header) + " to REPRISE_IGNORE_HEADERS."
	case d.Part == PartTenant:
		return "Where these clients may share answers, REPRISE_TENANT_FROM names them as one tenant."
	case d.Part == PartNamespace:
		return "Where these clients may share answers, let them send one namespace."
	}
	switch d.Part {
	case "model", PartEndpoint, PartMessage, PartTurns, partIgnored: // what is asked, of whom, and what an operator has set
		return ""
	case "tools":
		return "Send the same tools with the same descriptions in the same order; where only an order changes, REPRISE_CANONICAL makes it one, which the model sees."
	}
	if ignorable(d.Part) {
		return "Where no answer depends on it, add " + d.Part + " to REPRISE_IGNORE_FIELDS."
	}
	return "Where no answer depends on it, send the same each time."
}
