package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"unicode/utf8"

	"reprise/proxy/internal/apierror"
	"reprise/proxy/internal/clientio"
)

// maxBody is the largest body in bytes.
const maxBody = 64 << 10

// readObject reads a body into to, which all JSON readers read in the same way: one object, each name once and as it is spelled in names. What
// is removed or counted by something else than its sender has read in it could not be taken back. An error names what, and ends with allowed.
func readObject(r *http.Request, what string, names []string, to any, allowed string) error {
	// A web page can send other types anywhere without asking first.
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" {
		return &apierror.Error{Status: http.StatusUnsupportedMediaType, Type: apierror.TypeInvalidRequest, Code: "invalid_content_type",
			Message: apierror.NotJSON(r.Header.Get("Content-Type"), what)}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if clientio.TooSlow(r) {
		return clientio.ErrTooSlow
	}
	if err == nil {
		err = decode(body, names, to)
	}
	if err != nil {
		return apierror.BadRequest("invalid_json", "The body is not understood: "+inJSONWords(err)+". "+allowed)
	}
	return nil
}

func decode(body []byte, names []string, to any) error {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return errors.New("the body is empty")
	case len(body) > maxBody:
		return fmt.Errorf("the body is larger than %d bytes", maxBody)
	case !utf8.Valid(body):
		return errors.New("the body is not UTF-8")
	}
	if err := json.Unmarshal(body, to); err != nil {
		return err
	}
	left := slices.Clone(names)
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.Token() // the brace, or null
	for dec.More() {
		name, _ := dec.Token()
		at := slices.Index(left, name.(string))
		if at < 0 {
			return fmt.Errorf("the name %q is unknown, or given twice", name)
		}
		left = slices.Delete(left, at, at+1)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}
