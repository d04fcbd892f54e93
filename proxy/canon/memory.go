package canon

import "bytes"

// Memory returns an upper bound of the memory in bytes that Parse takes beside body, so that it can be reserved before. It costs a fraction
// of the scan: it estimates values by the punctuation, including punctuation inside texts.
func Memory(body []byte) int64 {
	count := func(c string) int64 { return int64(bytes.Count(body, []byte(c))) }
	objects, members := count("{"), count(":")
	values := min(1+count(",")+members+count("[")+objects, maxValues)
	bytes := values*(nodeBytes+nodeBytes/2) + min(members, values)*(stretchBytes+3*4) + min(objects, maxMessages)*messageBytes + min(count(","), maxItems)*int64(len(Hash{})) + min(members, count(`id"`)+count(`\u`), maxLinks)*linkBytes + fixedBytes
	if containsEscape(body) {
		bytes += int64(len(body))
	}
	return bytes
}

// messageBytes is the memory of a message: its segment, and half of a Turn, twice while their list grows.
const messageBytes = 12 + 128

// fixedBytes is for buffers that do not depend on the body.
const fixedBytes = maxPrompt + 2*spillBytes + masksBytes

func containsEscape(body []byte) bool { return bytes.IndexByte(body, '\\') >= 0 }

// Kept returns the memory in bytes that the request keeps beside its Body.
func (r *Request) Kept() int64 {
	texts := (cap(r.Links) + cap(r.Ignored)) * stringBytes
	for _, id := range r.Links {
		texts += len(id)
	}
	for _, name := range r.Ignored {
		texts += len(name)
	}
	return int64(len(r.Prompt) + len(r.Model) + cap(r.Turns)*turnBytes + cap(r.Segments)*segmentBytes + cap(r.Items)*len(Hash{}) + texts)
}

const (
	turnBytes    = 4 * 32
	segmentBytes = 12
	stringBytes  = 16
)
