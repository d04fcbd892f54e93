package header

import "strings"

// Part returns the part of a value that counts, for a field of the class Scope, Credential or Secret; false if none does, so that
// the field counts as absent. It is the whole value except for four fields, parts of which are known to carry nothing that an
// answer or an owner depends on.
func Part(name, value string) (part string, counts bool) {
	switch name {
	case "Content-Type":
		return value, !plainJSON(value)
	case "Accept-Language":
		return value, value != "*" // "any": sent by fetch in Node
	case "Cookie":
		part = withoutBalancers(value)
		return part, part != ""
	case "X-Forwarded-Client-Cert":
		value = withoutHash(value)
	}
	return value, value != "" || !IsCredential(name)
}

// plainJSON reports whether a Content-Type is JSON in UTF-8, which is how the body is read.
func plainJSON(value string) bool {
	if value == "application/json" {
		return true
	}
	media, parameter, _ := strings.Cut(value, ";")
	name, charset, _ := strings.Cut(strings.TrimSpace(parameter), "=")
	return strings.EqualFold(strings.TrimSpace(media), "application/json") &&
		(name == "" || strings.EqualFold(name, "charset") && strings.EqualFold(strings.Trim(charset, `"`), "utf-8"))
}

// balancers begin the names of the cookies by which load balancers and their bot filters find a client's server again. Some
// change with every answer: a library that keeps cookies, such as httpx, would never get a hit.
var balancers = []string{"AWSALB", "AWSELB", "__cf_bm", "_cfuvid", "__cflb", "__cfruid", "ARRAffinity", "ApplicationGatewayAffinity", "ASLBSA",
	"GCLB", "GCILB", "INGRESSCOOKIE", "incap_ses_", "visid_incap_", "nlbi_", "BIGipServer"}

// withoutBalancers is the value of a Cookie header without the cookies of load balancers.
func withoutBalancers(value string) string {
	if strings.ContainsAny(value, `",`) {
		return value // some readers take a semicolon in quotes for a part of the value, or a comma for the end of a cookie
	}
	var kept []string
	for cookie := range strings.SplitSeq(value, ";") {
		cookie = strings.TrimSpace(cookie)
		if cookie != "" && !ofBalancer(cookie) {
			kept = append(kept, cookie)
		}
	}
	return strings.Join(kept, "; ")
}

func ofBalancer(cookie string) bool {
	for _, b := range balancers {
		if strings.HasPrefix(cookie, b) {
			return true
		}
	}
	return false
}

// withoutHash is the value of Envoy's X-Forwarded-Client-Cert without the hashes of certificates whose element also names the
// client (URI). In a mesh every process has a certificate of its own, renewed each day, while the URI names the workload.
func withoutHash(value string) string {
	var kept []string
	for _, element := range splitQuoted(value, ',') {
		pairs := splitQuoted(element, ';')
		var named bool
		var rest []string
		for _, pair := range pairs {
			name, v, _ := strings.Cut(strings.TrimSpace(pair), "=")
			named = named || strings.EqualFold(name, "URI") && v != "" && v != `""`
			if !strings.EqualFold(name, "Hash") {
				rest = append(rest, pair)
			}
		}
		if named {
			element = strings.Join(rest, ";")
		}
		kept = append(kept, element)
	}
	return strings.Join(kept, ",")
}

// splitQuoted splits s at sep outside double quotes, in which a backslash escapes the next character.
func splitQuoted(s string, sep byte) (parts []string) {
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			parts, start = append(parts, s[start:i]), i+1
		}
	}
	return append(parts, s[start:])
}
