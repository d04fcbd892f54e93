package gate

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reprise/proxy/internal/apierror"
)

// Path is a path of the upstream's API, with the methods that it takes.
type Path struct {
	methods  []string // nil: all
	segments []string // "*" is any one segment
	below    bool     // and all paths below
}

// ParsePath reads "PATH" or "METHOD PATH", such as "/v1/files", "GET /v1/files/*/content" or "/v1/batches/**": "*" is any one segment,
// "**" at the end one or more. HEAD goes with GET, and OPTIONS with every method.
func ParsePath(text string) (Path, error) {
	var p Path
	method, path, two := strings.Cut(text, " ")
	if two {
		if !knownMethod(method) {
			return p, fmt.Errorf("%q does not begin with one of %s", text, strings.Join(methods, ", "))
		}
		p.methods = []string{method}
	} else {
		path = text
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(path), "/")
	if !ok {
		return p, fmt.Errorf("%q has no path that begins with /", text)
	}
	p.segments = strings.Split(rest, "/")
	if last := len(p.segments) - 1; p.segments[last] == "**" {
		p.segments, p.below = p.segments[:last], true
	}
	for _, s := range p.segments {
		if s == "" || s == "." || s == ".." || s != "*" && strings.ContainsAny(s, "*?#% \\") {
			return p, fmt.Errorf("%q has a segment %q; * is a whole segment, and ** at the end all below", text, s)
		}
	}
	return p, nil
}

func mustPath(text string) Path {
	p, err := ParsePath(text)
	if err != nil {
		panic(err)
	}
	return p
}

// inference are the paths that are forwarded under the operator's credential: those on which a model works, and the list of models.
// Not among them is what belongs to the operator's account: files, uploads, batches, fine-tuning, stored completions, assistants,
// threads, vector stores, usage and administration; and what makes credentials (realtime/sessions, client_secrets). A stored
// response can be reached by its id alone, which no client can guess and no path lists.
var inference = []string{
	"POST /v1/chat/completions", "POST /v1/completions", "POST /v1/embeddings", "POST /v1/moderations",
	"POST /v1/responses", "POST /v1/responses/input_tokens", "POST /v1/responses/compact",
	"GET /v1/responses/*", "DELETE /v1/responses/*", "POST /v1/responses/*/cancel", "GET /v1/responses/*/input_items",
	"POST /v1/messages", "POST /v1/messages/count_tokens",
	"POST /openai/deployments/*/chat/completions", "POST /openai/deployments/*/completions", "POST /openai/deployments/*/embeddings",
	"POST /openai/responses", "GET /openai/responses/*", "DELETE /openai/responses/*", "POST /openai/responses/*/cancel", "GET /openai/responses/*/input_items",
	"POST /v1/images/generations", "POST /v1/images/edits", "POST /v1/images/variations",
	"POST /v1/audio/speech", "POST /v1/audio/transcriptions", "POST /v1/audio/translations",
	"POST /v1/rerank", "POST /v2/rerank", "POST /rerank", "POST /v1/score", "POST /score", "POST /tokenize", "POST /detokenize",
	"GET /v1/realtime",
	"GET /v1/models", "GET /v1/models/**",
}

func defaultPaths() []Path {
	paths := make([]Path, 0, len(inference))
	for _, text := range inference {
		paths = append(paths, mustPath(text))
	}
	return paths
}

// matches reports whether p is the path of a request, which is decoded.
func (p *Path) matches(method, path string) bool {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if p.methods != nil && method != http.MethodOptions && !slices.Contains(p.methods, method) {
		return false
	}
	rest := path
	for _, want := range p.segments {
		var got string
		if rest == "" {
			return false
		}
		got, rest = cutSegment(rest)
		if got == "" || want != "*" && got != want {
			return false
		}
	}
	if p.below {
		return len(rest) > 1 && !strings.Contains(rest, "//")
	}
	return rest == ""
}

// cutSegment splits "/a/b" into "a" and "/b".
func cutSegment(path string) (segment, rest string) {
	path = path[1:]
	if i := strings.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// maxDecoding is how often a path is decoded, while that changes it: a server behind another may decode twice.
const maxDecoding = 3

// versioned begins the paths that are joined to the base URL of the upstream. One that begins so only once it is decoded would be sent
// to the upstream's host beside the base URL.
const versioned = "/v1/"

// cleanPath returns the path of u without escapes. It refuses what a server might resolve to another endpoint than the path names:
// dot segments, also escaped, or with parameters after them; a backslash; control characters; other encodings than UTF-8.
func cleanPath(u *url.URL) (string, error) {
	path := u.EscapedPath()
	if path == "" || path[0] != '/' {
		return "", badPath(u, "does not begin with a slash")
	}
	for range maxDecoding {
		if why := unclean(path); why != "" {
			return "", badPath(u, why)
		}
		next := unescape(path)
		if len(next) == len(path) {
			if strings.HasPrefix(path, versioned) && !strings.HasPrefix(u.EscapedPath(), versioned) {
				return "", badPath(u, "has escapes in /v1/")
			}
			return path, nil
		}
		path = next
	}
	return "", badPath(u, "is escaped more than twice")
}

// unescape decodes what is an escape and leaves other percent signs, as lenient servers do.
func unescape(path string) string {
	at := strings.IndexByte(path, '%')
	if at < 0 {
		return path
	}
	out := append(make([]byte, 0, len(path)), path[:at]...)
	for i := at; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if b, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(b))
				i += 2
				continue
			}
		}
		out = append(out, path[i])
	}
	return string(out)
}

func badPath(u *url.URL, why string) error {
	return apierror.BadRequest("invalid_path", "The path "+apierror.Quote(u.EscapedPath())+" "+why+"; name the endpoint itself.")
}

// unclean returns what is wrong with a path.
func unclean(path string) string {
	plain := true
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\':
			return "has a backslash"
		case c < ' ' || c == 0x7f:
			return "has a control character"
		case c == '.' || c >= utf8.RuneSelf:
			plain = false
		}
	}
	if plain {
		return ""
	}
	if !utf8.ValidString(path) {
		return "is not UTF-8"
	}
	for segment := range strings.SplitSeq(path, "/") {
		name, _, _ := strings.Cut(segment, ";")
		if name == "." || name == ".." {
			return "has a dot segment"
		}
	}
	return ""
}
