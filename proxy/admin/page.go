package admin

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"
)

// The operators' page consists of files that are part of the program and are served as they are. They need no build step, and load nothing from
// another host.
//
//   - index.html is the frame, style.css all of the style, app.js the router. A view is one module in views/, and a line in views/views.js.
//   - api.js is the only module that asks the admin API, chart.js the only one that draws, dom.js makes elements and writes numbers and times.
//
// The page shows everything as text (textContent): it never reads prompts and names of clients as HTML. Its content security policy forbids
// scripts and styles in the markup, other hosts, frames, and (by Trusted Types) every place where a browser turns text into HTML.
//
// The files have no secrets and need no token. Data comes from the admin API under its rules; a form asks for the token, which is kept for the
// tab (sessionStorage).
//
//go:embed page
var embedded embed.FS

// asset is a file of the page.
type asset struct {
	kind         string // its content type
	tag          string // of its version
	plain, small []byte // small is compressed
}

// assets are the files by their paths; index.html is at "/".
var assets = sync.OnceValue(func() map[string]*asset {
	all := map[string]*asset{}
	err := fs.WalkDir(embedded, "page", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(name)
		sum := sha256.Sum256(text)
		a := &asset{kinds[path.Ext(name)], `"` + hex.EncodeToString(sum[:12]) + `"`, text, compressed(text)}
		all["/"+strings.TrimSuffix(strings.TrimPrefix(name, "page/"), "index.html")] = a
		return err
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

// kinds are content types, whatever the system takes them for.
var kinds = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml"}

func compressed(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is allowed
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Bytes()
}

// pagePolicy is what the page may do in a browser.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// protect sets the headers that keep a browser from showing an answer in a frame of another page, from taking it for something else, and from
// keeping it.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
}

// pageRoutes adds the files.
func pageRoutes(r chi.Router) {
	for at, a := range assets() {
		r.Get(at, a.serve)
	}
}

// serve answers with the file, which a browser asks for again at every load: a new version of the program has other files.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	protect(h)
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Type", a.kind)
	h.Set("ETag", a.tag)
	h.Set("Vary", "Accept-Encoding")
	text := a.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		text = a.small
	}
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(text)
}
