package config

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Listen opens an address. The error names the setting that holds it, by its name without prefix.
func Listen(name, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &listenError{name, address, err}
	}
	return l, nil
}

// listenError is an error of Listen.
type listenError struct {
	name, address string
	err           error
}

// Error names the address, the cause and the setting.
func (e *listenError) Error() string {
	return fmt.Sprintf("listen on %s: %s; change %s%s (--%s)", e.address, cause(e.err), Prefix, e.name, flagOf(e.name))
}

func (e *listenError) Unwrap() error { return e.err }

// InUse reports whether an error of Listen is that another process has the address.
func InUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }

// cause describes the usual errors of net.Listen.
func cause(err error) string {
	switch {
	case InUse(err):
		return "the port is in use by another process"
	case errors.Is(err, os.ErrPermission):
		return "this user may not listen there (ports below 1024 are reserved)"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine has no such address"
	}
	return err.Error()
}
