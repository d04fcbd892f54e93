package answer

import "github.com/tidwall/gjson"

// Script renders an answer as the events of a stream. It stops where the stream is out of proportion to the answer: each event repeats some
// members, and an answer made for that would become gigabytes. The streams that APIs send are some eight times as large as the object.
type Script struct {
	dst  []byte
	most int // bytes of dst after which nothing is added
}

// NewScript returns an empty stream for an object.
func NewScript(object gjson.Result) *Script { return &Script{most: 64<<10 + 32*len(object.Raw)} }

// Event adds an event whose data is the parts joined. name may be empty.
func (s *Script) Event(name string, parts ...string) {
	if !s.Full() {
		s.dst = appendEvent(s.dst, name, parts...)
	}
}

func appendEvent(dst []byte, name string, data ...string) []byte {
	if name != "" {
		dst = append(append(append(dst, "event: "...), name...), '\n')
	}
	dst = append(dst, "data: "...)
	for _, p := range data {
		dst = append(dst, p...)
	}
	return append(dst, "\n\n"...)
}

// Full reports whether the stream is out of proportion.
func (s *Script) Full() bool { return len(s.dst) > s.most }

// Stream returns the stream; nil where it is out of proportion.
func (s *Script) Stream() []byte {
	if s.Full() {
		return nil
	}
	return s.dst
}
