package traffic

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// buffer is the size of read buffers: enough to detect a format, and to keep system calls rare.
const buffer = 64 << 10

// maxWindow bounds the memory for unpacking. It is the window of `zstd --long=29`.
const maxWindow = 512 << 20

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// Unpack returns a reader of the unpacked content. It detects gzip and zstd by their first bytes, not by the name of the
// file. It starts no goroutine, so the reader needs no Close.
func Unpack(in *bufio.Reader) (*bufio.Reader, error) {
	head, _ := in.Peek(len(zstdMagic)) // a read error here comes again with the next read
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

// packed marks errors as coming from unpacking: "unexpected EOF" alone says little to a user.
type packed struct{ io.Reader }

func (p packed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("unpack: %w", err)
	}
	return n, err
}

// noEOF turns io.EOF into io.ErrUnexpectedEOF, so that a truncated file does not look complete.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
