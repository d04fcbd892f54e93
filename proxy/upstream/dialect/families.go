package dialect

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Caps is what retention is worth asking for at an upstream, for one model. The prices are fractions of the price of a token which is
// computed and not kept. The zero value: no field of the upstream concerns retention, and nothing is charged for it.
type Caps struct {
	Retain    bool    // RetainShort and RetainLong can be expressed, in part at least
	Always    bool    // without RetainOff, every prompt is written
	Read      float64 // price of a token that was kept
	Write     float64 // price of a token that is kept with RetainShort
	WriteLong float64 // price of a token that is kept with RetainLong

	Life, LifeLong time.Duration // of a prefix since its last use, with RetainShort and RetainLong
}

// family is what the models of one family have.
type family struct {
	names    []string // each with all that begins so, up to a "-", ".", ":" or "@"; those of the longest name that fits count
	caches   bool     // prefixes are kept without being asked
	explicit bool     // prompt_cache_options and prompt_cache_breakpoint (OpenAI), cache_control (Anthropic)
	long     bool     // prompt_cache_retention of 24 hours
	minimum  int      // tokens
}

// The prices of OpenAI from GPT-5.6 on and of Anthropic. Before, OpenAI charged nothing for a write.
const (
	readPrice      = 0.1
	writePrice     = 1.25
	writeLongPrice = 2.0 // Anthropic, for an hour
)

func (f family) caps() Caps {
	switch {
	case f.explicit && f.caches:
		return Caps{Retain: true, Always: true, Read: readPrice, Write: writePrice, WriteLong: writePrice, Life: 30 * time.Minute, LifeLong: 30 * time.Minute}
	case f.explicit:
		return Caps{Retain: true, Read: readPrice, Write: writePrice, WriteLong: writeLongPrice, Life: 5 * time.Minute, LifeLong: time.Hour}
	case f.long:
		return Caps{Retain: true, Read: readPrice, Write: 1, WriteLong: 1, Life: 5 * time.Minute, LifeLong: 24 * time.Hour}
	}
	return Caps{}
}

// openAIFamilies are the families of OpenAI's models. Those before GPT-5.6 refuse prompt_cache_options and prompt_cache_breakpoint, and
// those from it on prompt_cache_retention. Of those before, each model that can be kept for 24 hours has a name here.
var openAIFamilies = []family{
	{names: []string{"gpt-5.6", "gpt-5.7", "gpt-5.8", "gpt-5.9", "gpt-6"}, caches: true, explicit: true, minimum: 1024},
	{names: []string{"gpt-5.5", "gpt-5.5-pro", "gpt-5.4", "gpt-5.2", "gpt-5.1", "gpt-5.1-codex", "gpt-5.1-codex-mini", "gpt-5.1-codex-max",
		"gpt-5.1-chat-latest", "gpt-5", "gpt-5-codex", "gpt-4.1"}, caches: true, long: true, minimum: 1024},
	{names: []string{"gpt-5.5-mini", "gpt-5.5-nano", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.4-pro", "gpt-5.3", "gpt-5.2-pro", "gpt-5.2-codex",
		"gpt-5.2-chat-latest", "gpt-5-mini", "gpt-5-nano", "gpt-5-pro", "gpt-5-chat-latest", "gpt-4.1-mini", "gpt-4.1-nano",
		"gpt-4o", "chatgpt-4o", "gpt-4.5", "o1", "o3", "o4", "codex-mini-latest"}, caches: true, minimum: 1024},
}

// anthropicFamilies are the families of Anthropic's models, whose shortest prefix differs.
var anthropicFamilies = []family{
	{names: []string{"claude-opus-5", "claude-fable-5", "claude-mythos-5"}, explicit: true, minimum: 512},
	{names: []string{"claude-sonnet-4", "claude-sonnet-5", "claude-opus-4", "claude-opus-4-1", "claude-opus-4-8", "claude-3-7-sonnet",
		"claude-3-5-sonnet", "claude-3-opus"}, explicit: true, minimum: 1024},
	{names: []string{"claude-opus-4-7", "claude-3-5-haiku", "claude-3-haiku"}, explicit: true, minimum: 2048},
	{names: []string{"claude-opus-4-5", "claude-opus-4-6", "claude-haiku-4-5"}, explicit: true, minimum: 4096},
}

func openAIFamily(model string) family {
	model = strings.TrimPrefix(strings.TrimPrefix(model, "openai/"), "ft:")
	return familyOf(openAIFamilies, snapshot.ReplaceAllString(model, ""))
}

func anthropicFamily(model string) family {
	return familyOf(anthropicFamilies, strings.TrimPrefix(model, "anthropic/"))
}

// snapshot is the date at the end of the name of a model that does not change.
var snapshot = regexp.MustCompile(`-20\d\d-\d\d-\d\d$`)

// familyOf is the family with the longest name that a model has or begins with, the zero value for an unknown model.
func familyOf(families []family, model string) (found family) {
	longest := 0
	for _, f := range families {
		for _, name := range f.names {
			if rest, ok := strings.CutPrefix(model, name); ok && len(name) > longest && (rest == "" || slices.Contains([]byte("-.:@"), rest[0])) {
				found, longest = f, len(name)
			}
		}
	}
	return found
}
