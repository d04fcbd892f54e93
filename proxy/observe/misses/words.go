package misses

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// advice is what a report says of a reason to an operator.
type advice struct {
	words  string // one sentence; %s stands for Diagnosis.What
	repair string // what can be done about it, in one sentence; "": nothing
	set    func(*Settings) string
}

// advices are by Diagnosis.Reason, or for all other values of What by Diagnosis.Why. A difference of scope has its own by each part.
var advices = map[string]advice{
	"form":                  {words: "The answer to this is kept as a stream, or as an object, and cannot be proven to say the same in the form that this request asks for."},
	"request":               {words: "The request wants a new answer, or a younger one (no-cache, max-age)."},
	"shadow":                {"The mode is shadow: an answer by meaning was found, and served by the upstream only.", "REPRISE_MODE=semantic serves such answers.", func(*Settings) string { return "REPRISE_MODE=semantic" }},
	"explore":               {words: "An answer by meaning was found, and is compared with a new one."},
	"refused":               {words: "The answer that was found has been judged wrong for this request."},
	"expired":               {"The answer to this was too old.", "A longer REPRISE_TTL keeps answers for longer.", (*Settings).longerLife},
	"expired:client":        {words: "The answer to this was too old: its life was made shorter by the request that it answered (X-Reprise-TTL, or another gateway's name for it), or by the setting of then.", repair: "No setting makes a life longer that a client has shortened: let clients send a longer X-Reprise-TTL, or none."},
	"expired:rule":          {words: "The answer to this was too old: its life is that of a rule.", repair: "A longer ttl of the rule, in the file of REPRISE_CONFIG, keeps these answers for longer; a longer REPRISE_TTL does not."},
	"not-stored":            {words: notStored + "%s."},
	"not-stored:status":     {words: notStored + "it was an error of the upstream.", repair: noErrors},
	"not-stored:error":      {words: notStored + "it was an error of the upstream.", repair: noErrors},
	"not-stored:length":     {words: notStored + "it was cut by a limit of tokens.", repair: "Such answers were cut by max_tokens: a higher one lets them end."},
	"not-stored:incomplete": {words: notStored + "it ended early."},
	"not-stored:size":       {notStored + "it was too large.", "A higher REPRISE_MAX_ENTRY_BYTES keeps them.", (*Settings).largerEntries},
	"not-stored:tool-calls": {words: notStored + "it calls tools.", repair: "A rule keeps them out: tool_calls: exact keeps them for equal requests."},
	"not-stored:live-web":   {words: notStored + "it is from the live web.", repair: "live_web: exact in a rule keeps such answers for equal requests."},
	"not-stored:policy":     {notStored + "the store was full, and what it has was worth more.", moreRoom, (*Settings).larger},
	"evicted":               {"The answer to this was removed to make room.", moreRoom, (*Settings).larger},
	"exact-only": {words: "The same prompt is kept in the same scope, for another form of this request; this one, or that answer, is for equal requests alone, as calls of tools and their results are.",
		repair: "Where REPRISE_MODE=exact or X-Reprise-Mode: exact is the cause, leave it out; elsewhere send the very same request."},
	"context": {words: "The same question is kept in the same scope, behind another document or in another template. What stands around it must be equal.",
		repair: "Where no answer depends on what stands around it, send it elsewhere; a rule (ask) can only say which part asks."},
	"chain":    {words: "The same prompt is kept in the same scope, after another conversation."},
	"veto":     {words: "The nearest answer was refused: %s.", repair: "GET /admin/reviews?kind=refused, the view Review, shows both prompts and what would have to change."},
	"degraded": {words: "Nothing equal was found, and the search by meaning failed: %s.", repair: "The log and reprise_degraded_total show what fails."},
	"degraded:" + fetching: {words: "The answer to this is kept, and could not be fetched: the shared store is away, or has changes that have not been read here yet.",
		repair: "The log, reprise_degraded_total and GET /admin/shared show whether the shared store is away."},
	"below":    {words: "Something like it is kept in the same scope, and is not near enough.", repair: "An embedder that sees meaning, or a lower REPRISE_HIT_THRESHOLD, finds more, at the price of more wrong answers."},
	"new":      {words: "Nothing like it is known."},
	otherGroup: {words: "There are too many reasons to list them."},
}

const (
	notStored = "The answer to this that was given before was not kept: "
	noErrors  = "No setting keeps an error; the log has the cause, and the engine has to be mended."
	// moreRoom repairs what a full store does: it removes answers, and does not keep those that are worth less than all others.
	moreRoom = "REPRISE_CAPACITY_ENTRIES and REPRISE_CAPACITY_BYTES make room for more."
)

func (d *Diagnosis) advice() advice {
	if a, ok := advices[string(d.Why)+":"+d.What]; ok {
		return a
	}
	a := advices[string(d.Why)]
	a.words = strings.Replace(a.words, "%s", d.What, 1)
	return a
}

// Words is the reason in one sentence.
func (d *Diagnosis) Words() string {
	if d.Why == whyScope {
		return d.scopeWords()
	}
	return d.advice().words
}

// Repair is what an operator can do about the reason, in one sentence for each part that differs; "" where there is nothing.
func (d *Diagnosis) Repair() string {
	if d.Why != whyScope {
		return d.advice().repair
	}
	var all []string
	for _, one := range d.Differs {
		if repair := one.repair(); repair != "" && !slices.Contains(all, repair) {
			all = append(all, repair)
		}
	}
	return strings.Join(all, " ")
}

// Set is the variables with the values that repair the reason; none where no one value does, or where it is a choice for which this needs to be read: Repair.
func (d *Diagnosis) Set(s *Settings) []string {
	if d.Why == whyScope {
		return d.ignored(s)
	}
	if set := d.advice().set; set != nil {
		if one := set(s); one != "" {
			return []string{one}
		}
	}
	return nil
}

// scopeWords is the sentence for a difference of scope.
func (d *Diagnosis) scopeWords() string {
	where, differ := "in another scope", "it differs in: "
	if d.Scopes > 1 {
		where, differ = "in "+strconv.Itoa(d.Scopes)+" other scopes", "they differ in: "
		if !d.Alike {
			differ = "the nearest differs in: "
		}
	}
	if len(d.Differs) == 0 {
		differ = "in what they differ is not known: its answer was kept before the start or by another process, or the scope is too large"
	}
	var parts []string
	for _, one := range d.Differs {
		parts = append(parts, one.words())
	}
	return "The same prompt is kept " + where + "; " + differ + strings.Join(parts, ", ") + "."
}

// partAdvice is what a report says of a part of a scope.
type partAdvice struct{ words, repair string }

// partAdvices are by the name of the part. Other parts are fields of the body, and headers.
var partAdvices = map[string]partAdvice{
	PartSystem:     {"system prompt", sendSame},
	PartMessage:    {words: "what the last message holds beside its text"}, // what is asked, of whom, and what an operator has set, has no repair
	PartRest:       {"other fields", sendSame},
	PartQuery:      {"query of the URL", sendSame},
	partIgnored:    {words: "what the settings and rules ignore"},
	partTurns:      {words: "the conversation before it"},
	partContext:    {words: "the document or template around it"},
	partTenant:     {partTenant, "Where these clients may share answers, REPRISE_TENANT_FROM names them as one tenant."},
	partNamespace:  {partNamespace, "Where these clients may share answers, let them send one namespace."},
	PartEndpoint:   {words: PartEndpoint},
	"model":        {words: "model"},
	"tools":        {"tools", "Send the same tools with the same descriptions in the same order; where only an order changes, REPRISE_CANONICAL makes it one, which the model sees."},
	"instructions": {"instructions", sendSame},
}

const sendSame = "Where no answer depends on it, send the same each time."

// partAdviceOf is what is said of a part.
func partAdviceOf(name string) partAdvice {
	if a, ok := partAdvices[name]; ok {
		return a
	}
	if header, ok := strings.CutPrefix(name, PartHeader); ok {
		return partAdvice{"header " + plain(header), "Where no answer depends on it, add " + plain(header) + " to REPRISE_IGNORE_HEADERS."}
	}
	if ignorable(name) {
		return partAdvice{"field " + plain(name), "Where no answer depends on it, add " + name + " to REPRISE_IGNORE_FIELDS."}
	}
	return partAdvice{"field " + plain(name), sendSame}
}

// looksAdvices are what differs, in words, by difference.Looks, and what varies from request to request.
var looksAdvices = map[string]struct{ words, varies string }{
	"date": {"looks like a date", "date"}, "time": {"looks like a time", "time"}, "id": {"looks like a random id", "random id"},
	"uuid": {"looks like a UUID", "UUID"}, "number": {"looks like a number", "number"}, "name": {"looks like the name of a user or a session", "name"},
	"space": {words: "other white space"}, "order": {words: "the same in another order"}, "text": {words: "other text"},
}

// words is the difference in a sentence.
func (d *difference) words() string {
	name := partAdviceOf(d.Part).words
	if d.Index > 0 {
		name += fmt.Sprintf(", message %d", d.Index+1)
	}
	look := looksAdvices[d.Looks].words
	switch {
	case d.Byte >= 0 && look != "":
		return fmt.Sprintf("%s (byte %d: %s)", name, d.Byte, look)
	case look != "":
		return fmt.Sprintf("%s (%s)", name, look)
	}
	return name
}

// repair is what can be done about a part, where no answer depends on it.
func (d *difference) repair() string {
	varies := looksAdvices[d.Looks].varies
	switch {
	case d.Byte < 0:
		return partAdviceOf(d.Part).repair
	case d.shape != "":
		return "Where no answer depends on it, REPRISE_IGNORE_PATTERN takes the " + varies + " out of the scope. Write the words that stand before it in front of the expression: alone it takes out every one in every system prompt."
	case varies != "":
		return fmt.Sprintf("Where no answer depends on it, REPRISE_IGNORE_PATTERN takes the %s out of the scope: look at byte %d of the system prompt, and write the words around it with a named group for what varies, such as Customer: (?P<customer>\\w+).",
			varies, d.Byte)
	}
	return "Send the same system prompt, and what varies in the user's message."
}
