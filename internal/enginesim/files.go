package enginesim

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"sync"
)

// file is one upload. The engine only stores and returns it.
type file struct {
	ID       string `json:"id"`
	Object   string `json:"object"`
	Bytes    int    `json:"bytes"`
	Created  int64  `json:"created_at"`
	Filename string `json:"filename"`
	Purpose  string `json:"purpose"`
	Status   string `json:"status"`

	content []byte
}

// files are the uploads, and the handlers of their routes.
type files struct {
	mu     sync.Mutex // protects newest
	newest *newest[file]
}

func (s *files) add(c *call) error {
	f, err := c.upload()
	if err != nil {
		return err
	}
	if done, err := c.replaced(); done {
		return err
	}
	f.ID, f.Object, f.Status = c.name("file-"), "file", "processed"
	f.Bytes, f.Created = len(f.content), c.now.Unix()
	s.mu.Lock()
	s.newest.put(f.ID, f)
	s.mu.Unlock()
	return c.json(f)
}

// upload reads the parts "purpose" and "file" of a multipart form.
func (c *call) upload() (file, error) {
	var f file
	kind, params, err := mime.ParseMediaType(c.req.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return f, badRequest("", "", "Expected a multipart/form-data body.")
	}
	form := multipart.NewReader(bytes.NewReader(c.body), params["boundary"])
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return f, badRequest("", "", "We could not parse the multipart body of your request: %s.", err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return f, badRequest("", "", "We could not parse the multipart body of your request: %s.", err)
		}
		switch part.FormName() {
		case "purpose":
			f.Purpose = string(data)
		case "file":
			f.Filename, f.content = part.FileName(), data
		}
	}
	if f.Purpose == "" {
		return f, missing("purpose")
	}
	if f.content == nil {
		return f, missing("file")
	}
	return f, nil
}

func (s *files) list(c *call) error {
	if done, err := c.replaced(); done {
		return err
	}
	out := list[file]{Object: "list", Data: []file{}}
	s.mu.Lock()
	for _, name := range s.newest.names {
		out.Data = append(out.Data, s.newest.byName[name])
	}
	s.mu.Unlock()
	return c.json(out)
}

func (s *files) find(c *call) (file, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.newest.byName[c.req.PathValue("id")]
	if !ok {
		return f, notFound("", "No such File object: %s", c.req.PathValue("id"))
	}
	return f, nil
}

func (s *files) get(c *call) error {
	if done, err := c.replaced(); done {
		return err
	}
	f, err := s.find(c)
	if err != nil {
		return err
	}
	return c.json(f)
}

func (s *files) content(c *call) error {
	if done, err := c.replaced(); done {
		return err
	}
	f, err := s.find(c)
	if err != nil {
		return err
	}
	return c.whole(http.StatusOK, "application/octet-stream", f.content)
}
