package upstream

import (
	"bytes"
	"errors"
	"hash/maphash"
	"net/url"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// idGeneration is how many ids each half of a table holds.
const idGeneration = 1 << 16

// idTable holds which replica has the object of an id: an earlier response, a file, a batch, a container. Such state is in one replica's
// memory or disk. The table has the last 65,536 to 131,072 ids that were added or found, and is not shared among proxies, so it may have no
// entry for an id that exists: an object then has the path by which each replica can be asked for it. Each tenant has ids of its own: some engines let a client choose one, and a member may have the operator's credential, under which every object can be read.
// It takes some 5 MB at most. It is safe for concurrent use.
type idTable struct {
	seed maphash.Seed

	mu          sync.Mutex // guards what follows
	now, before map[uint64]uint16
}

// newIDTable returns an empty table.
func newIDTable() *idTable { return &idTable{seed: maphash.MakeSeed(), now: map[uint64]uint16{}} }

// key is what the table has of an id.
func (t *idTable) key(tenant, id string) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	h.WriteString(tenant)
	h.WriteByte(0)
	h.WriteString(id)
	return h.Sum64()
}

// add notes that an id of a tenant belongs to a member.
func (t *idTable) add(tenant, id string, member int) {
	key := t.key(tenant, id)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.addLocked(key, uint16(member))
}

func (t *idTable) addLocked(key uint64, member uint16) {
	if _, held := t.now[key]; !held && len(t.now) >= idGeneration {
		t.before, t.now = t.now, make(map[uint64]uint16, idGeneration/16)
	}
	t.now[key] = member
}

// find returns the member that an id of a tenant belongs to, false if the table does not have the id.
func (t *idTable) find(tenant, id string) (member int, ok bool) {
	key := t.key(tenant, id)
	t.mu.Lock()
	defer t.mu.Unlock()
	if m, ok := t.now[key]; ok {
		return int(m), true
	}
	m, ok := t.before[key]
	if ok {
		t.addLocked(key, m)
	}
	return int(m), ok
}

// object is an id that a request has, and where a replica that holds it can be found.
type object struct {
	id   string
	path string // with its escapes, of which a GET has a status other than 404 at the replica that holds the id
}

// collections are the paths below which objects of one replica have ids.
var collections = []string{"responses", "conversations", "files", "uploads", "batches", "messages/batches", "containers", "vector_stores", "threads", "assistants",
	"fine_tuning/jobs", "chat/completions", "videos", "evals", "skills"}

// objectInPath returns the object in the path of a request, which has its escapes: an escaped slash is a part of an id.
func objectInPath(path string) (o object, ok bool) {
	rest, ok := strings.CutPrefix(path, "/v1/")
	if !ok {
		return o, false
	}
	for _, c := range collections {
		if below, ok := strings.CutPrefix(rest, c); ok && strings.HasPrefix(below, "/") {
			segment, _, _ := strings.Cut(below[1:], "/")
			id, err := url.PathUnescape(segment)
			if err != nil || id == "" || c == "responses" && (id == "input_tokens" || id == "compact") { // requests about no response
				return o, false
			}
			return object{id, "/v1/" + c + "/" + segment}, true
		}
	}
	return o, false
}

// creates reports whether an answer to a POST to the path has the id of an object that it has made.
func creates(path string) bool {
	rest, ok := strings.CutPrefix(path, "/v1/")
	if !ok {
		return false
	}
	for _, c := range collections {
		if rest == c || c == "threads" && rest == "threads/runs" {
			return true
		}
	}
	return false
}

// collectionOf is, for the members of a body that have an id, the collection of the object.
var collectionOf = map[string]string{"previous_response_id": "responses", "input_file_id": "files", "file_id": "files", "container_id": "containers",
	"conversation": "conversations", "container": "containers", "vector_store_ids": "vector_stores"}

// idMarks are what the names of these members contain: a body is searched for them, and for nothing else.
var idMarks = [][]byte{[]byte(`_id`), []byte(`"con`)}

const (
	mostInBody    = 16 // ids that are taken from one body
	longestIDName = 24 // of a member with an id, in quotation marks
)

// objectsInBody calls found with the ids that a JSON body names, until that returns false. The body is not parsed: within a string, a quotation
// mark is escaped, so that a member's name in quotation marks and a colon are no part of a text.
func objectsInBody(body []byte, found func(object) bool) {
	n := 0
	for _, mark := range idMarks {
		for at := 0; n < mostInBody; {
			next := bytes.Index(body[at:], mark)
			if next < 0 {
				break
			}
			at += next + len(mark)
			name := nameAround(body, at)
			collection, ok := collectionOf[string(name)]
			if !ok {
				continue
			}
			id, ok := idValue(body[at+bytes.IndexByte(body[at:], '"')+1:])
			if !ok {
				continue
			}
			if n++; !found(object{id, "/v1/" + collection + "/" + id}) {
				return
			}
		}
	}
}

// nameAround returns what is between the quotation marks before and after a place in a body, nil if they are far apart.
func nameAround(body []byte, at int) []byte {
	end := bytes.IndexByte(body[at:min(at+longestIDName, len(body))], '"')
	start := bytes.LastIndexByte(body[max(0, at-longestIDName):at], '"')
	if end < 0 || start < 0 {
		return nil
	}
	return body[max(0, at-longestIDName)+start+1 : at+end]
}

// idValue is the string after a member's name, or the first one in a list, or the one called id in an object.
func idValue(rest []byte) (id string, ok bool) {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if len(rest) == 0 || rest[0] != ':' {
		return "", false
	}
	rest = bytes.TrimLeft(rest[1:], " \t\r\n[")
	if object := bytes.TrimLeft(bytes.TrimPrefix(rest, []byte("{")), " \t\r\n"); len(object) < len(rest) && bytes.HasPrefix(object, []byte(`"id"`)) {
		return idValue(object[len(`"id"`):])
	}
	if len(rest) == 0 || rest[0] != '"' {
		return "", false
	}
	end := bytes.IndexByte(rest[1:], '"')
	if end < 1 || !isID(rest[1:1+end]) {
		return "", false
	}
	return string(rest[1 : 1+end]), true
}

// isID reports whether a string can be part of a path as it is. Ids of objects are.
func isID(s []byte) bool {
	if len(s) == 0 || len(s) > 256 || s[0] == '.' {
		return false
	}
	for _, c := range s {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-' || c == '.') {
			return false
		}
	}
	return true
}

// idMembers are the members of an answer that have the ids of objects of its replica.
var idMembers = []string{"id", "output_file_id", "error_file_id"}

// idsInAnswer calls found with the ids of objects that the beginning of an answer names: a JSON object, or a stream of events of which the
// first is about a response. A client may have chosen the names and values of nested members, so that those are not read.
func idsInAnswer(head []byte, found func(id string)) {
	event, streamed := firstEvent(head)
	if streamed {
		head = event
	}
	for _, name := range idMembers {
		if streamed {
			name = "response." + name
		}
		if id := gjson.GetBytes(head, name); id.Type == gjson.String && isID([]byte(id.Str)) {
			found(id.Str)
		}
	}
}

// errInAnswer is an error that a replica sends with status 2xx.
var errInAnswer = errors.New("an error with status 200")

// errorIn reports whether the beginning of an answer with status 2xx is an error: a JSON object, or the first event of a stream, with an error
// in it. It is the client's where it says so by a status below 500 or by its type.
func errorIn(head []byte) (isError, clients bool) {
	if !bytes.Contains(head, []byte(`"error"`)) {
		return false, false
	}
	if event, streamed := firstEvent(head); streamed {
		head = event
	}
	fault := gjson.GetBytes(head, "error")
	switch fault.Raw {
	case "", "null", "false", "{}", `""`:
		return false, false
	}
	for _, status := range [...]gjson.Result{fault.Get("code"), fault.Get("status"), fault.Get("status_code"), gjson.GetBytes(head, "status_code")} {
		clients = clients || status.Type == gjson.Number && status.Int()/100 == 4
	}
	return true, clients || fault.Get("type").Str == "invalid_request_error"
}

// firstEvent returns the data of the first event of a stream, false if text is no stream.
func firstEvent(text []byte) (data []byte, ok bool) {
	if !bytes.HasPrefix(text, []byte("event:")) && !bytes.HasPrefix(text, []byte("data:")) && !bytes.HasPrefix(text, []byte(":")) {
		return nil, false
	}
	for line := range bytes.Lines(text) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			return data, true
		}
	}
	return nil, true
}
