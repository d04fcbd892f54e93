package redis

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"reprise/store"
)

// probeTime bounds a probe.
const probeTime = 500 * time.Millisecond

// diagnose is classify for the first error of a start, whose text may not say enough.
func (to *target) diagnose(err error) error {
	if strings.Contains(err.Error(), "no such host") && to.noHosts() {
		return fmt.Errorf("%w: %w: check the host in REPRISE_STORE", store.ErrRefused, err)
	}
	err = classify(err)
	var op *net.OpError
	if !isTemporary(err) || errors.As(err, &op) && op.Op == "dial" {
		return err
	}
	return to.probe(err)
}

// probe finds out more where a connection was open and ended without an answer: an error ErrUnreachable then becomes one that says what is
// wrong with TLS. A server without it waits for the end of the line, one with it closes the connection, and the refusal of a certificate
// may be lost behind what was sent meanwhile.
func (to *target) probe(err error) error {
	c, failed := net.DialTimeout("tcp", to.addrs[0], probeTime)
	if failed != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(probeTime))
	switch {
	case to.secure != nil && broken(err):
		if found := to.probeTLS(c); secureAdvice(found) != "" {
			return classify(found)
		}
	case to.secure != nil && answersPlain(c):
		return fmt.Errorf("%w: the server does not use TLS: begin REPRISE_STORE with redis instead of rediss", store.ErrRefused)
	case broken(err) && answersTLS(c):
		return fmt.Errorf("%w: the server requires TLS: begin REPRISE_STORE with rediss", store.ErrRefused)
	}
	return err
}

// noHosts reports whether none of the hosts has an address. Of several, some may have none at the moment.
func (to *target) noHosts() bool {
	for _, addr := range to.addrs {
		host, _, _ := net.SplitHostPort(addr)
		_, err := net.LookupHost(host)
		var unknown *net.DNSError
		if !errors.As(err, &unknown) || !unknown.IsNotFound {
			return false
		}
	}
	return true
}

// probeTLS begins TLS and waits for what the server says to the certificate.
func (to *target) probeTLS(c net.Conn) error {
	config := to.secure.Clone()
	config.ServerName, _, _ = net.SplitHostPort(to.addrs[0])
	_, err := tls.Client(c, config).Read(make([]byte, 1))
	return err
}

func broken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// answersPlain reports whether a server answers a command without TLS, if only by an error.
func answersPlain(c net.Conn) bool {
	first := make([]byte, 1)
	_, err := c.Write([]byte("PING\r\n"))
	if err == nil {
		_, err = io.ReadFull(c, first)
	}
	return err == nil && (first[0] == '+' || first[0] == '-')
}

// answersTLS reports whether a server begins TLS. Nothing is sent to it then, so its certificate is not checked.
func answersTLS(c net.Conn) bool {
	err := tls.Client(c, &tls.Config{InsecureSkipVerify: true}).Handshake()
	var alert tls.AlertError
	var op *net.OpError
	return err == nil || errors.As(err, &alert) || errors.As(err, &op) && op.Op == "remote error"
}
