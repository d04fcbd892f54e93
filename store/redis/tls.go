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
		if o.CA != "" || o.Cert != "" || o.ServerName != "" {
			return nil, fmt.Errorf("%w: REPRISE_REDIS_CA, _CERT, _KEY and _SERVER_NAME are for TLS: begin REPRISE_STORE with rediss", store.ErrRefused)
		}
		return nil, nil
	}
	c := to.secure.Clone()
	c.ServerName = o.ServerName
	if o.CA != "" {
		pem, err := os.ReadFile(o.CA)
		if err != nil {
			return nil, fmt.Errorf("%w: REPRISE_REDIS_CA: %w", store.ErrRefused, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: REPRISE_REDIS_CA: %s has no certificate in PEM form", store.ErrRefused, o.CA)
		}
	}
	if o.Cert != "" || o.Key != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("%w: REPRISE_REDIS_CERT and REPRISE_REDIS_KEY: %w", store.ErrRefused, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
