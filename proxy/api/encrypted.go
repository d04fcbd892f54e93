package api

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"reprise/proxy/answer/rawjson"
	"reprise/proxy/canon"
)

// encryptedNames are the members of OpenAI and Gemini with reasoning that only the upstream can read. It belongs to the answer in which it
// came, so an answer to a conversation with it fits no other conversation. The signature of a readable thought is not encrypted reasoning.
var encryptedNames = []string{"encrypted_content", "thought_signature", "thought_signatures"}

// encryptedTypes are the types of parts with such reasoning, of OpenRouter and Anthropic.
var encryptedTypes = []string{"reasoning.encrypted", "redacted_thinking"}

func isEncrypted(name, kind string, given bool) bool {
	if slices.Contains(encryptedNames, name) {
		return given
	}
	return name == "type" && slices.Contains(encryptedTypes, kind)
}

// EncryptedRequest reports whether a part of a conversation has reasoning that only the upstream can read.
func EncryptedRequest(part canon.Value) bool {
	return part.Any(func(name []byte, v canon.Value) bool {
		return isEncrypted(string(name), kindOf(v), v.Given() && !v.Is(""))
	})
}

func kindOf(v canon.Value) string {
	for _, t := range encryptedTypes {
		if v.Is(t) {
			return t
		}
	}
	return ""
}

// encryptedAnswer reports whether a part of an answer has reasoning that only the upstream can read.
func encryptedAnswer(part gjson.Result) bool {
	if !mayBeEncrypted(part.Raw) {
		return false
	}
	found := false
	part.ForEach(func(k, v gjson.Result) bool {
		found = isEncrypted(k.Str, v.Str, rawjson.Given(v) && v.Raw != `""`) || v.Type == gjson.JSON && encryptedAnswer(v)
		return !found
	})
	return found
}

// mayBeEncrypted reports whether JSON may have one of the names or types, however it is spelled. Nearly every answer is read here and has
// none, so that it looks for what they have in common.
func mayBeEncrypted(json string) bool {
	in := func(part string) bool { return strings.Contains(json, part) }
	return in("encrypted") || in("thought_signature") || in("redacted") || in(`\u00`)
}
