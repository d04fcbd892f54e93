package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"
	"time"

	"reprise/cmd/reprise/internal/config"
)

// renewIn is how long before its end a certificate should have been replaced; of short lives a third.
const renewIn = 14 * 24 * time.Hour

// certificates plans the checks of the certificates that the proxy shows to others.
func (x *exam) certificates(values *check) {
	c := x.cfg
	x.certificate(values, "the API", c.TLSCert, c.TLSKey)
	if c.Shared.Cert != "" {
		x.certificate(values, "Redis", c.Shared.Cert, c.Shared.Key)
	}
}

func (x *exam) certificate(values *check, subject, cert, key string) {
	var chain []*x509.Certificate
	links := x.plan.add("certificate.chain", func(context.Context) finding {
		if cert == "" {
			return skipped("REPRISE_TLS_CERT is not set")
		}
		var err error
		if chain, err = readChain(cert, key); err != nil {
			if x.contradicts(err) {
				return skipped("because settings.contradictions failed")
			}
			return failure("Name the PEM files of a certificate and of its key.", "%s: %v", cert, err)
		}
		return checkChain(cert, chain)
	}, values)
	ends := x.plan.add("certificate.expiry", func(context.Context) finding { return expiry(chain, x.machine.Now()) }, links)
	links.subject, ends.subject = subject, subject
}

// contradicts reports whether the check of the settings has found the same fault.
func (x *exam) contradicts(err error) bool {
	return slices.ContainsFunc(x.problems, func(p config.Problem) bool {
		return p.Kind == config.Contradicting && strings.Contains(p.Text, err.Error())
	})
}

func readChain(cert, key string) (chain []*x509.Certificate, err error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	for _, der := range pair.Certificate {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, err
		}
		chain = append(chain, c)
	}
	return chain, nil
}

// checkChain checks that each certificate was issued by the next one, and where the last one leads.
func checkChain(file string, chain []*x509.Certificate) finding {
	for i := range len(chain) - 1 {
		if err := chain[i].CheckSignatureFrom(chain[i+1]); err != nil {
			return failure("Write the certificate of the server first and each issuer after what it has issued.",
				"%s: %q was not issued by %q, which follows it", file, nameOf(chain[i]), nameOf(chain[i+1]))
		}
	}
	last := chain[len(chain)-1]
	if bytes.Equal(last.RawIssuer, last.RawSubject) {
		return ok("%d certificates, up to %q", len(chain), nameOf(last))
	}
	if !issued(last) {
		return warning("Append the certificate of the issuer to the file, also where it is an authority of your own.",
			"%s ends with %q, whose issuer %q is neither in it nor an authority of this system", file, nameOf(last), last.Issuer.CommonName)
	}
	return ok("%d certificates, up to %q", len(chain), last.Issuer.CommonName)
}

// issued reports whether an authority of this system has issued c, whether or not it is valid now.
func issued(c *x509.Certificate) bool {
	_, err := c.Verify(x509.VerifyOptions{CurrentTime: c.NotBefore.Add(time.Second), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err == nil
}

// nameOf is a certificate in messages.
func nameOf(c *x509.Certificate) string {
	if len(c.DNSNames) > 0 {
		return c.DNSNames[0]
	}
	return c.Subject.CommonName
}

const day = "2006-01-02"

// expiry checks the times of a chain.
func expiry(chain []*x509.Certificate, now time.Time) finding {
	first := chain[0]
	for _, c := range chain {
		if now.Before(c.NotBefore) {
			return failure("Correct the clock of this machine, or wait.", "%q is valid from %s only", nameOf(c), c.NotBefore.UTC().Format(time.RFC3339))
		}
		if c.NotAfter.Before(first.NotAfter) {
			first = c
		}
	}
	left := first.NotAfter.Sub(now)
	if left < 0 {
		return failure("Replace the certificate; SIGHUP makes a running proxy read it.", "%q has expired on %s", nameOf(first), first.NotAfter.UTC().Format(day))
	}
	if left < min(renewIn, first.NotAfter.Sub(first.NotBefore)/3) {
		return warning("Renew the certificate; SIGHUP makes a running proxy read it.", "%q expires on %s, in %s", nameOf(first), first.NotAfter.UTC().Format(day), days(left))
	}
	return ok("%q until %s", nameOf(first), first.NotAfter.UTC().Format(day))
}

// days is a time in words, rounded down.
func days(d time.Duration) string {
	if d < 48*time.Hour {
		return plural(int(d.Hours()), "hour")
	}
	return plural(int(d.Hours()/24), "day")
}
