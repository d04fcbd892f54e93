package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// buffer is large enough to tell a format by, and to keep system calls rare.
const buffer = 64 << 10

// maxWindow bounds what unpacking keeps in memory: that of `zstd --long=29`.
const maxWindow = 512 << 20

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// Unpack sees through gzip and zstd, which it knows by their first bytes: names of files promise nothing. It starts no
// goroutine, so that a reader may just be dropped.
func Unpack(in *bufio.Reader) (*bufio.Reader, error) {
	head, _ := in.Peek(len(zstdMagic)) // what stops the peek stops the read
	var plain io.Reader
	var err error
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		plain, err = gzip.NewReader(in)
	case bytes.Equal(head, zstdMagic):
		plain, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	default:
		return in, nil
	}
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", noEOF(err))
	}
	return bufio.NewReaderSize(packed{plain}, buffer), nil
}

// packed says that an error comes from unpacking: to people "unexpected EOF" alone says little.
type packed struct{ io.Reader }

func (p packed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("unpack: %w", err)
	}
	return n, err
}

// noEOF keeps what is cut short from looking complete.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
