package doctor

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var certificateFaults = []fault{
	{"a certificate that has expired", "error certificate.expiry", "has expired on", func(p *patient) {
		p.certified(authority.issue(server{ends: -24 * time.Hour}))
	}},
	{"a certificate that expires soon", "warning certificate.expiry", "in 4 days", func(p *patient) {
		p.certified(authority.issue(server{ends: 5*24*time.Hour - time.Hour}))
	}},
	{"a certificate that is not valid yet", "error certificate.expiry", "is valid from", func(p *patient) {
		p.certified(authority.issue(server{begins: time.Hour}))
	}},
	{"a chain in the wrong order", "error certificate.chain", "was not issued by", func(p *patient) {
		p.certified(authority.issue(server{}).with(newAuthority("another authority").cert))
	}},
	{"a certificate with the key of another one", "error settings.contradictions", "private key does not match", func(p *patient) {
		p.certified(authority.issue(server{}))
		right := p.env["REPRISE_TLS_CERT"]
		p.certified(authority.issue(server{}))
		p.set("TLS_CERT", right)
	}},
	{"a chain without its end", "warning certificate.chain", "neither in it nor an authority", func(p *patient) {
		p.certified(newAuthority("an authority of our own").issue(server{}))
	}},
}

// authority is the only one that the programs of these tests trust.
var authority = newAuthority("the authority of the tests")

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "doctor")
	if err != nil {
		panic(err)
	}
	trusted := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(trusted, inPEM("CERTIFICATE", authority.cert.Raw), 0o600); err != nil {
		panic(err)
	}
	os.Setenv("SSL_CERT_FILE", trusted) // which is read once, by the first that needs it
	os.Setenv("SSL_CERT_DIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// issuer is a certificate with its key.
type issuer struct {
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
	chain [][]byte
}

// server is what a certificate is to be; the times are from now, and 0 is an hour ago and in a year.
type server struct {
	name         string // 127.0.0.1 where it is empty
	begins, ends time.Duration
}

func newAuthority(name string) *issuer {
	a := &issuer{}
	a.make(&x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-1000 * 24 * time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour)}, a)
	return a
}

// issue makes a certificate of a server.
func (a *issuer) issue(s server) *issuer {
	c := &x509.Certificate{Subject: pkix.Name{CommonName: "a server"}, NotBefore: time.Now().Add(-9 * 24 * time.Hour), NotAfter: time.Now().Add(300 * 24 * time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if s.begins != 0 {
		c.NotBefore = time.Now().Add(s.begins)
	}
	if s.ends != 0 {
		c.NotBefore, c.NotAfter = time.Now().Add(s.ends-90*24*time.Hour), time.Now().Add(s.ends)
	}
	if s.name == "" {
		c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	} else {
		c.DNSNames = []string{s.name}
	}
	of := &issuer{}
	of.make(c, a)
	return of
}

// make makes the key and the certificate of i, by a.
func (i *issuer) make(c *x509.Certificate, a *issuer) {
	var err error
	if i.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		panic(err)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	parent := a.cert
	if a == i {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &i.key.PublicKey, a.key)
	if err != nil {
		panic(err)
	}
	if i.cert, err = x509.ParseCertificate(der); err != nil {
		panic(err)
	}
	i.chain = [][]byte{der}
}

// with appends a certificate to the chain.
func (i *issuer) with(c *x509.Certificate) *issuer {
	i.chain = append(i.chain, c.Raw)
	return i
}

func (i *issuer) tls() *tls.Certificate {
	return &tls.Certificate{Certificate: i.chain, PrivateKey: i.key}
}

func inPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// certified gives the API a certificate.
func (p *patient) certified(i *issuer) {
	p.t.Helper()
	var chain bytes.Buffer
	for _, der := range i.chain {
		chain.Write(inPEM("CERTIFICATE", der))
	}
	key, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		p.t.Fatal(err)
	}
	p.set("TLS_CERT", p.write("tls.crt", chain.String()), "TLS_KEY", p.write("tls.key", string(inPEM("PRIVATE KEY", key))))
}

// TestSoundCertificates: chains that clients accept, or can accept, are no fault.
func TestSoundCertificates(t *testing.T) {
	own := newAuthority("an authority of our own")
	for name, i := range map[string]*issuer{"of an authority of this system": authority.issue(server{}), "up to an authority of our own": own.issue(server{}).with(own.cert)} {
		p := newPatient(t)
		p.certified(i)
		if r, printed := p.examine(); len(r.complaints()) > 0 {
			t.Errorf("%s: %s", name, printed)
		}
	}
}
