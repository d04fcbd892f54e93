package torture

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

// certificates makes a certificate, one that has expired, and one of a foreign authority. roots is a PEM file with the authorities
// of the first two.
func certificates(t testing.TB) (good, expired, foreign *tls.Certificate, roots string) {
	t.Helper()
	make := func(until time.Time) *tls.Certificate {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(until.UnixNano()), Subject: pkix.Name{CommonName: "upstream"}, NotBefore: time.Now().Add(-48 * time.Hour),
			NotAfter: until, IPAddresses: []net.IP{net.ParseIP(loopback())}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
		der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	good, expired, foreign = make(time.Now().Add(time.Hour)), make(time.Now().Add(-time.Hour)), make(time.Now().Add(time.Hour))
	var pool bytes.Buffer
	for _, c := range []*tls.Certificate{good, expired} {
		pem.Encode(&pool, &pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
	}
	roots = filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pool.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return good, expired, foreign, roots
}
