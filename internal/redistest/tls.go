package redistest

import (
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

// Certificates are files for TLS that were made for a test: an authority, and what it has signed for a server and for a client.
type Certificates struct {
	CA, ServerCert, ServerKey, ClientCert, ClientKey string // paths of PEM files
	Dir                                              string // has ca.crt, and tls.crt and tls.key of the client

	Client *tls.Config // of a client that trusts the authority and has the certificate
}

// serverName is the only DNS name in the certificate of a server; 127.0.0.1 is in it too.
const serverName = "redis.example"

// NewCertificates makes certificates that are valid for a day.
func NewCertificates(t testing.TB) *Certificates {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	c := &Certificates{Dir: dir, CA: at("ca.crt"), ServerCert: at("server.crt"), ServerKey: at("server.key"), ClientCert: at("tls.crt"), ClientKey: at("tls.key")}
	ca, caKey := issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil, c.CA, at("ca.key"))
	issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, ca, caKey, c.ServerCert, c.ServerKey)
	issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, caKey, c.ClientCert, c.ClientKey)
	pair, err := tls.LoadX509KeyPair(c.ClientCert, c.ClientKey)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	c.Client = &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	return c
}

// issue makes a key and a certificate, signed by parent or by itself, and writes both.
func issue(t testing.TB, of, parent *x509.Certificate, by *ecdsa.PrivateKey, certPath, keyPath string) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	of.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	check(t, err)
	of.NotBefore, of.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	if parent == nil {
		parent, by = of, key
	}
	der, err := x509.CreateCertificate(rand.Reader, of, parent, &key.PublicKey, by)
	check(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	check(t, err)
	check(t, os.WriteFile(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check(t, os.WriteFile(keyPath, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	cert, err := x509.ParseCertificate(der)
	check(t, err)
	return cert, key
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
