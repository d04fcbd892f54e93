package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"reprise/cmd/reprise/internal/config"
)

// maxHeader bounds what a client may send before its body.
const maxHeader = 64 << 10

// listen opens the address of a setting.
func listen(cfg *config.Config, name, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %s; change %s%s (--%s)", address, listenInWords(err), config.Prefix, name,
			(&config.Setting{Name: name}).Flag())
	}
	return l, nil
}

func listenInWords(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "the port is in use by another process"
	case errors.Is(err, os.ErrPermission):
		return "this user may not listen there (ports below 1024 are reserved)"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine has no such address"
	}
	return err.Error()
}

// front is the two HTTP servers in front of a service.
type front struct {
	api, admin             *http.Server
	apiSocket, adminSocket net.Listener
	failed                 chan error // what ended a server that nobody closed
}

// openFront listens on both addresses; nothing is answered before serve.
func openFront(cfg *config.Config) (*front, error) {
	f := &front{failed: make(chan error, 2)}
	var err error
	if f.apiSocket, err = listen(cfg, "LISTEN", cfg.Listen); err != nil {
		return nil, err
	}
	if f.adminSocket, err = listen(cfg, "ADMIN_LISTEN", cfg.AdminListen); err != nil {
		return nil, errors.Join(err, f.apiSocket.Close())
	}
	return f, nil
}

// serve answers on both sockets until shutdown or close.
func (f *front) serve(cfg *config.Config, api, admin http.Handler, log *slog.Logger) {
	f.api, f.admin = newHTTPServer(cfg, api, log), newHTTPServer(cfg, admin, log)
	go f.run(func() error {
		if cfg.TLSCert != "" {
			return f.api.ServeTLS(f.apiSocket, cfg.TLSCert, cfg.TLSKey)
		}
		return f.api.Serve(f.apiSocket)
	})
	go f.run(func() error { return f.admin.Serve(f.adminSocket) })
}

func (f *front) run(serve func() error) {
	if err := serve(); !errors.Is(err, http.ErrServerClosed) {
		f.failed <- err
	}
}

func newHTTPServer(cfg *config.Config, h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: cfg.HeaderTimeout, IdleTimeout: cfg.IdleConnection,
		ErrorLog: newServerLog(log),
	}
}

// shutdown drains: the probe fails, no new connection is taken, and what is under way may end within the limit. The admin
// side stays up to the last, because it answers the probe.
func (f *front) shutdown(s *service, limit time.Duration) error {
	s.proxy.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := f.api.Shutdown(ctx)
	if err == nil {
		err = s.proxy.Wait(ctx)
	}
	f.close()
	return err
}

// closeSockets lets go of the addresses before serve was called.
func (f *front) closeSockets() {
	f.apiSocket.Close()
	f.adminSocket.Close()
}

// close ends everything at once.
func (f *front) close() {
	for _, c := range []interface{ Close() error }{f.api, f.admin} {
		_ = c.Close() // of a listener that is gone either way
	}
}
