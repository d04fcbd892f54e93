package header

import (
	"net/http"
	"strings"
)

// shared are the fields of an upstream's answer that describe the answer and not the client to whom it was given.
var shared = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`Content-Type Content-Language Content-Encoding Content-Disposition Cache-Control Vary Warning
		Retry-After Retry-After-Ms X-Should-Retry WWW-Authenticate X-Accel-Buffering X-Content-Type-Options Strict-Transport-Security
		Access-Control-Allow-Origin Access-Control-Allow-Credentials Access-Control-Expose-Headers Timing-Allow-Origin
		Openai-Version Openai-Model Openai-Processing-Ms Deprecation Sunset`) {
		names[http.CanonicalHeaderKey(name)] = true
	}
	return names
}()

// HasDirective reports whether lines of a field that is a list, such as Cache-Control or Connection, have a member of a name, without a value.
func HasDirective(lines []string, name string) bool {
	for _, line := range lines {
		for member := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(member), name) {
				return true
			}
		}
	}
	return false
}

// KeepShared removes from h, the header of an answer, all that may concern the client alone to whom it was given: cookies,
// ids of requests, names of organizations, limits.
func KeepShared(h http.Header) {
	for name := range h {
		if !shared[name] {
			delete(h, name)
		}
	}
}
