package canon

import (
	"bytes"
	"slices"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxModel is how long the name of a model may be, in bytes: fine-tuned models have some 100, paths of local ones more.
const maxModel = 512

// maxNamespace is how many characters "cache.namespace" may have.
const maxNamespace = 128

// readMembers reads the members of the body and appends the members of the base to buf.
func (p *Reader) readMembers() *Error {
	for _, name := range p.members(0) {
		v := name + 1
		switch s := p.text(name); {
		case string(s) == p.rules.Field:
			p.convo = v
			continue
		case string(s) == "model":
		case ignores(p, s):
			p.SetUncacheable(p.uncacheable(s, v))
			continue
		default:
			if used, err := p.readAside(s, v); err != nil {
				return err.under(s)
			} else if used {
				continue
			}
			p.SetUncacheable(p.uncacheable(s, v))
			if p.set(v) && slices.Contains(p.rules.ExactOnly, string(s)) {
				p.SetExactOnly(string(s))
			}
		}
		appendField(p, name)
	}
	if liveModel(p.req.Model) {
		note(&p.req.Uncacheable, liveWeb)
	}
	p.buf = appendText(append(p.buf, tagEnd), p.req.Directive.Namespace)
	p.fields = len(p.buf)
	return nil
}

// appendField appends a member of the body to buf, unless its value means the same as its absence.
func appendField(p *Reader, name uint32) {
	at := p.rules.Defaults.of(p.text(name))
	if p.isDefault(at, name+1) {
		return
	}
	start := len(p.buf)
	if p.buf = appendText(p.buf, p.text(name)); p.masks != nil && slices.Contains(p.rules.System, string(p.text(name))) {
		p.buf = appendSystem(p, p.buf, name+1)
	} else {
		p.buf = p.appendAt(p.buf, at, name+1)
	}
	p.mark(start, uint32(p.offset(name)))
}

// readModel reads the name of the model. A model that the path names (named) takes precedence, as it does at the server.
func readModel(p *Reader, named string) *Error {
	model := p.member(0, "model")
	if model == 0 && named != "" {
		p.req.Model = named
		return nil
	}
	if !p.is(model, text) {
		return p.bad(0, model, "model", "must be a string")
	}
	if n := len(p.text(model)); n > maxModel {
		return refuse(codeSize, p.offset(model), "has %d bytes; at most %d are allowed", n, maxModel).under([]byte("model"))
	}
	p.req.Model = string(p.text(model))
	if named != "" {
		p.req.Model = named
	}
	return nil
}

// ownNamespace returns the namespace that the body asks for, before its directives are read and checked; "" where it has none.
func ownNamespace(p *Reader) string {
	if cache := p.member(0, "cache"); cache != 0 && p.is(cache, object) {
		if name := p.member(cache, "namespace"); p.is(name, text) {
			return string(p.text(name))
		}
	}
	return ""
}

// readAside reads the members that cannot change an answer and are no part of the key; used is false for all others.
func (p *Reader) readAside(name []byte, v uint32) (used bool, err *Error) {
	switch string(name) {
	case "stream":
		if !p.rules.Streamed || p.given(v) {
			p.req.Stream, err = p.boolean(v)
		}
	case "stream_options":
		err = p.readStreamOptions(v)
	case "cache":
		if !p.is(v, object) {
			return false, nil
		}
		err = p.readDirective(v)
		return p.req.OwnCache, err
	case "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention":
	default:
		if !slices.Contains(p.rules.Aside, string(name)) {
			return false, nil
		}
		p.SetUncacheable(p.uncacheable(name, v))
	}
	return true, err
}

func (p *Reader) readStreamOptions(v uint32) *Error {
	if !p.given(v) {
		return nil
	}
	if !p.is(v, object) {
		return refuse(codeType, p.offset(v), "must be an object")
	}
	if usage := p.member(v, "include_usage"); usage != 0 {
		var err *Error
		if p.req.IncludeUsage, err = p.boolean(usage); err != nil {
			return err.under([]byte("include_usage"))
		}
	}
	return nil
}

// boolean reads true or false; null is false, as in the APIs.
func (p *Reader) boolean(v uint32) (bool, *Error) {
	switch p.nodes[v].kind() {
	case truth:
		return true, nil
	case falsy, null:
		return false, nil
	}
	return false, refuse(codeType, p.offset(v), "must be true or false")
}

func (p *Reader) readDirective(obj uint32) *Error {
	p.req.OwnCache = true
	for _, name := range p.members(obj) {
		known, err := p.readDirectiveMember(&p.req.Directive, string(p.text(name)), name+1)
		if err != nil {
			return err.under(p.text(name))
		}
		p.req.OwnCache = p.req.OwnCache && known
	}
	return nil
}

// readDirectiveMember reads one member of the object; known is false for one that is no directive. null is no value.
func (p *Reader) readDirectiveMember(d *Directive, name string, v uint32) (known bool, err *Error) {
	if !p.given(v) {
		return isDirective[name], nil
	}
	var on bool
	switch name {
	case "ttl":
		d.TTL, on, err = p.seconds(v)
		d.NoStore = d.NoStore || on
	case "s-maxage":
		d.MaxAge, on, err = p.seconds(v)
		d.NoCache = d.NoCache || on
	case "no-cache":
		on, err = p.boolean(v)
		d.NoCache = d.NoCache || on
	case "no-store":
		on, err = p.boolean(v)
		d.NoStore = d.NoStore || on
	case "namespace":
		if !p.is(v, text) {
			return true, refuse(codeType, p.offset(v), "must be a string")
		}
		d.Namespace, err = p.namespace(v)
	}
	return isDirective[name], err
}

// namespace reads a name under which answers are kept apart, and which is kept with each of them.
func (p *Reader) namespace(v uint32) (string, *Error) {
	s := p.text(v)
	if n := utf8.RuneCount(s); n > maxNamespace {
		return "", refuse(codeSize, p.offset(v), "has %d characters; at most %d are allowed", n, maxNamespace)
	}
	if bytes.ContainsFunc(s, unicode.IsControl) {
		return "", refuse(codeType, p.offset(v), "must have no control characters")
	}
	return string(s), nil
}

// isDirective are LiteLLM's directives. use-cache asks for the cache where it is off by default, which it is not here.
var isDirective = map[string]bool{"ttl": true, "s-maxage": true, "no-cache": true, "no-store": true, "namespace": true, "use-cache": true}

// maxSeconds keeps a time.Duration from overflowing.
const maxSeconds = 1e9

// seconds reads a length of time; none reports that it rounds to zero.
func (p *Reader) seconds(v uint32) (length time.Duration, none bool, err *Error) {
	s, bad := strconv.ParseFloat(string(p.text(v)), 64)
	if !p.is(v, number) || bad != nil || s < 0 {
		return 0, false, refuse(codeType, p.offset(v), "must be a number of seconds, 0 or more")
	}
	length = time.Duration(min(s, maxSeconds) * float64(time.Second))
	return length, length == 0, nil
}
