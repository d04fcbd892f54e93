package canon

import "unicode/utf8"

// Names are fields that an API or this proxy reads, in places of a fixed shape. The value reports whether the value of the
// field has a fixed shape too; where it is false, the names inside belong to the user (JSON schemas, arguments, metadata).
type Names map[string]bool

// MakeNames returns the names in shaped with true, those in plain with false.
func MakeNames(shaped, plain []string) Names {
	n := make(Names, len(shaped)+len(plain))
	for _, s := range plain {
		n[s] = false
	}
	for _, s := range shaped {
		n[s] = true
	}
	return n
}

// Add adds the names of other; a name has a fixed shape inside where it has one in either.
func (n Names) Add(other Names) {
	for name, shaped := range other {
		n[name] = n[name] || shaped
	}
}

// CommonNames are the names of more than one API, of the engines' extensions, and of the proxy's own directives.
func CommonNames() Names {
	return MakeNames(
		[]string{
			"cache", "content", "file", "format", "function", "stream_options", "tool_choice", "tools",
		},
		[]string{
			"access_programs", "annotations", "arguments", "cache_control", "cache_salt", "custom", "data", "description",
			"detail", "effort", "extra_body", "file_data", "file_id", "filename", "frequency_penalty", "guided_choice",
			"guided_grammar", "guided_json", "guided_regex", "id", "ignore_eos", "include_obfuscation", "include_usage",
			"keep_alive", "kv_transfer_params", "logit_bias", "logprobs", "max_tokens", "metadata", "min_p", "min_tokens",
			"model", "moderation", "n", "name", "namespace", "no-cache", "no-store", "options", "parallel_tool_calls",
			"parameters", "plugins", "presence_penalty", "priority", "prompt_cache_breakpoint", "prompt_cache_key",
			"prompt_cache_options", "prompt_cache_retention", "reasoning_content", "reasoning_effort", "refusal",
			"repetition_penalty", "role", "s-maxage", "safety_identifier", "schema", "seed", "service_tier",
			"skip_special_tokens", "status", "stop", "stop_token_ids", "store", "stream", "strict", "structured_outputs",
			"temperature", "thinking", "top_k", "top_logprobs", "top_p", "ttl", "type", "url", "use-cache", "user",
			"verbosity",
		},
	)
}

// Strict returns nil where every JSON reader reads a document, one object, in the same way: it passes the strict pass of Parse,
// and no name in a place of fixed shape differs from a known one in letter case alone. Otherwise the error is an *Error.
func Strict(document []byte, known Names) error {
	p := readers.Get().(*Reader)
	defer p.release()
	err := p.scan(document)
	if err == nil {
		err = p.checkNames(known, 0)
	}
	if err != nil {
		return err.finish()
	}
	return nil
}

// checkNames refuses names below i that a reader which folds letter case would take for a known one.
func (d *doc) checkNames(known Names, i uint32) *Error {
	if !d.odd {
		return nil // every name is in lower case: it equals what it folds to
	}
	switch d.nodes[i].kind() {
	case array:
		index := 0
		for j := range d.elements(i) {
			if err := d.checkNames(known, j); err != nil {
				return err.at(index)
			}
			index++
		}
	case object:
		for _, name := range d.members(i) {
			if err := d.checkName(known, name); err != nil {
				return err.under(d.text(name))
			}
		}
	}
	return nil
}

func (d *doc) checkName(known Names, name uint32) *Error {
	s := d.text(name)
	if len(s) <= maxKnown && isOdd(s) {
		var buf [64]byte
		folded := fold(buf[:0], s)
		if _, ok := known[string(folded)]; ok {
			return refuse(codeCase, d.offset(name), "differs from the field %q in letter case alone; write it so", string(folded))
		}
	}
	if known[string(s)] {
		return d.checkNames(known, name+1)
	}
	return nil
}

// maxKnown is longer than any name in bytes that folds to a known one: a letter that folds has three bytes at most.
const maxKnown = 256

// isOdd reports whether a name may fold to another one: known names have lower-case letters of ASCII only.
func isOdd(name []byte) bool {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// fold appends name with every character that folds to a lower-case ASCII letter replaced by that letter. Beyond A to Z,
// Unicode's simple folding (the one of strings.EqualFold, and so of encoding/json) has two such characters: ſ (long s) and
// K (kelvin sign).
func fold(dst, name []byte) []byte {
	for _, r := range string(name) {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r == 'ſ':
			r = 's'
		case r == '\u212a':
			r = 'k'
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
