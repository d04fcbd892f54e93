package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"reprise/cmd/reprise/internal/config"
	"reprise/cmd/reprise/internal/doctor"
	"reprise/cmd/reprise/internal/wire"
	"reprise/proxy/admin"
)

// maxHeader is the largest request header in bytes.
const maxHeader = 64 << 10

// front has the two HTTP servers of a service.
type front struct {
	api, admin             *http.Server // nil before serve and answerProbes
	onAdmin                handler      // of the admin server
	apiSocket, adminSocket *wire.Listener
	certificate            atomic.Pointer[tls.Certificate] // of the API; nil: no TLS
	failed                 chan error                      // error of a server that ended without being closed
}

// openFront listens on both addresses. No request is answered before answerProbes and serve are called.
func openFront(cfg *config.Config) (*front, error) {
	f := &front{failed: make(chan error, 2)}
	pair, err := loadCertificate(cfg)
	if err != nil {
		return nil, err
	}
	var secure *tls.Config
	if pair != nil {
		f.certificate.Store(pair)
		secure = &tls.Config{NextProtos: []string{"h2", "http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.certificate.Load(), nil }}
	}
	api, err := config.Listen("LISTEN", cfg.Listen)
	if err != nil {
		return nil, err
	}
	admin, err := config.Listen("ADMIN_LISTEN", cfg.AdminListen)
	if err != nil {
		return nil, errors.Join(err, api.Close())
	}
	f.apiSocket, f.adminSocket = wire.New(api, secure, cfg.HeaderTimeout()), wire.New(admin, nil, 0)
	return f, nil
}

// loadCertificate reads the certificate of the API, nil where none is set.
func loadCertificate(cfg *config.Config) (*tls.Certificate, error) {
	if cfg.TLSCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCert, cfg.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	return &pair, nil
}

// answerProbes answers on the admin socket that the process is alive and not ready: loading the entries may take seconds.
func (f *front) answerProbes(cfg *config.Config, log *slog.Logger) {
	f.onAdmin.set(admin.Starting())
	f.admin = newHTTPServer(cfg, &f.onAdmin, log)
	f.admin.ConnState = f.adminSocket.ConnState
	go f.run(func() error { return f.admin.Serve(f.adminSocket) })
}

// serve answers on both sockets until shutdown or close.
func (f *front) serve(cfg *config.Config, api, admin http.Handler, log *slog.Logger) {
	f.onAdmin.set(admin)
	f.api = newHTTPServer(cfg, named(api), log)
	f.api.DisableGeneralOptionsHandler = true // named answers in its place
	f.api.ConnState = f.apiSocket.ConnState
	go f.run(func() error { return f.api.Serve(f.apiSocket) })
}

// named answers OPTIONS * with the name of this program, by which the doctor recognises it, and passes all else to h. Such a request asks for
// nothing (RFC 9110, section 9.3.7), so it is neither counted nor logged; otherwise net/http would answer it.
func named(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodOptions || r.RequestURI != "*" {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Status", doctor.Name)
		w.Header().Set("Content-Length", "0")
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close") // a body is not read
		}
	})
}

// run reports the error of a server that was not closed.
func (f *front) run(serve func() error) {
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		f.failed <- err
	}
}

func newHTTPServer(cfg *config.Config, h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: cfg.HeaderTimeout(), ReadTimeout: readTimeout(cfg), IdleTimeout: cfg.IdleConnection(),
		HTTP2: &http.HTTP2Config{
			MaxReadFrameSize: 16 << 10, // reserved as soon as a frame of that length is announced; by default 1 MiB
			// The deadlines of package proxy are those of a stream. Without this one, a client that takes nothing from its
			// connection would block the server's own frames, and with them every stream.
			WriteByteTimeout: max(cfg.ClientTimeout, 0),
		},
		ErrorLog: newServerLog(log),
	}
}

// readTimeout bounds the requests that net/http answers itself, without a handler: it reads their bodies too. Handlers have
// finer limits in its place.
func readTimeout(cfg *config.Config) time.Duration {
	if cfg.ClientTimeout <= 0 {
		return 0
	}
	return cfg.HeaderTimeout() + cfg.ClientTimeout
}

// shutdown refuses new connections, and open requests and websockets have until the limit to end. The
// admin server is closed last, because it answers the readiness probe.
func (f *front) shutdown(s *service, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := f.api.Shutdown(ctx)
	if err == nil {
		err = s.proxy.Wait(ctx)
	}
	if cut := f.apiSocket.Wait(ctx); err == nil {
		err = cut
	}
	f.close()
	return err
}

// close closes both sockets, and both servers with their connections at once.
func (f *front) close() {
	for _, server := range []*http.Server{f.api, f.admin} {
		if server != nil {
			_ = server.Close() // the listener is closed in any case
		}
	}
	_ = f.apiSocket.Close() // closed already where it was served
	_ = f.adminSocket.Close()
}
