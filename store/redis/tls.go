package redis

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"reprise/store"
)

// secureConfig is the TLS configuration of a target, nil without TLS.
func secureConfig(o *Options, to target) (*tls.Config, error) {
	if to.secure == nil {
		if o.CA != "" || o.Cert != "" {
			return nil, fmt.Errorf("%w: REPRISE_REDIS_TLS is for TLS: begin REPRISE_STORE with rediss", store.ErrRefused)
		}
		return nil, nil
	}
	c := to.secure.Clone()
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("%w: REPRISE_REDIS_TLS: %w", store.ErrRefused, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: REPRISE_REDIS_TLS: %s has no certificate in PEM form", store.ErrRefused, o.CA)
		}
	}
	if o.Cert != "" || o.Key != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("%w: REPRISE_REDIS_TLS: %w", store.ErrRefused, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
