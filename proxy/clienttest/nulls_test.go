package clienttest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/proxy/api/registry"
)

// typed is where a package declares the types of a request: by the path of the endpoint, and by what comes before the last dot in
// the path of a field, the file and the interface in it.
var typed = map[string]map[string][2]string{
	"/v1/chat/completions": {
		"":                            {"openai/resources/chat/completions/completions.d.ts", "ChatCompletionCreateParamsBase"},
		"tools[].function":            {"openai/resources/shared.d.ts", "FunctionDefinition"},
		"response_format.json_schema": {"openai/resources/shared.d.ts", "JSONSchema"},
	},
	"/v1/completions": {"": {"openai/resources/completions.d.ts", "CompletionCreateParamsBase"}},
	"/v1/responses": {
		"":     {"openai/resources/responses/responses.d.ts", "ResponseCreateParamsBase"},
		"text": {"openai/resources/responses/responses.d.ts", "ResponseTextConfig"},
	},
	"/v1/embeddings": {},
	"/v1/messages": {
		"":              {"@anthropic-ai/sdk/resources/messages/messages.d.ts", "MessageCreateParamsBase"},
		"metadata":      {"@anthropic-ai/sdk/resources/messages/messages.d.ts", "Metadata"},
		"output_config": {"@anthropic-ai/sdk/resources/messages/messages.d.ts", "OutputConfig"},
		"tools[]":       {"@anthropic-ai/sdk/resources/messages/messages.d.ts", "Tool"},
	},
}

// TestNullIsDocumented: every field of an API in which null is taken for absence may be null by the types of the API's own package.
func TestNullIsDocumented(t *testing.T) {
	modules := filepath.Dir(nodeRunner(t))
	for path, places := range typed {
		for _, row := range registry.APIs.ByPath(path).Requests.Defaults.Rows() {
			if !slices.Contains(row.Values, "null") {
				continue
			}
			dot := strings.LastIndexByte(row.Field, '.')
			place := places[row.Field[:max(dot, 0)]]
			text, err := os.ReadFile(filepath.Join(modules, "node_modules", filepath.FromSlash(place[0])))
			if err != nil {
				t.Fatal(err)
			}
			if declared := declaredType(string(text), place[1], row.Field[dot+1:]); !strings.HasSuffix(declared, "| null") {
				t.Errorf("%s: %s is declared as %q", path, row.Field, declared)
			}
		}
	}
}

// declaredType is the type of an optional member of an interface.
func declaredType(text, of, name string) string {
	_, text, _ = strings.Cut(text, "interface "+of+" {")
	found := regexp.MustCompile(`(?s)\n\s+` + name + `\?: (.*?);\n\s*(?:/\*\*|\}\n|\w+\??:)`).FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return strings.Join(strings.Fields(found[1]), " ")
}
