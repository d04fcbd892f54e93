package proxy

import (
	"errors"
	"io"
	"net/http"

	"reprise/proxy/internal/clientio"
)

// readBody reads a whole request body of at most limit bytes, and charges it to mem.
func readBody(w http.ResponseWriter, r *http.Request, mem *clientio.Lease, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	in := r.Body // which ends after an announced length
	if r.ContentLength < 0 {
		in = http.MaxBytesReader(w, in, limit)
	}
	body, err := readAll(in, r.ContentLength, limit, mem)
	if err == nil {
		return body, nil
	}
	var tooLarge *http.MaxBytesError
	switch {
	case err == errNoMemory || errors.As(err, &tooLarge):
		return nil, err
	case clientio.TooSlow(r):
		return nil, clientio.ErrTooSlow
	case r.Context().Err() != nil:
		return nil, errClientGone
	default:
		return nil, errBodyBroken
	}
}

// firstBuffer is the memory in bytes that the announced length of a body may take before its first byte has come.
const firstBuffer = 16 << 10

// readAll reads to the end of a body of length bytes, -1 where that was not announced, and of at most limit. Its buffer grows
// with what comes: an announced length reserves no more than firstBuffer, and costs one allocation up to there. The lease has room
// for the first buffer, and is charged for larger ones.
func readAll(in io.Reader, length, limit int64, mem *clientio.Lease) ([]byte, error) {
	most, size := limit, int64(511)
	if length >= 0 {
		most, size = length, min(length, firstBuffer)
	}
	var buf []byte
	for size++; ; size = min(2*size, max(size, most)+1) { // one byte more than the body, for the Read that finds its end
		if size > firstBuffer+1 && !mem.Grow(size) {
			return nil, errNoMemory
		}
		outgrown := int64(cap(buf))
		buf = append(make([]byte, 0, size), buf...)
		if outgrown > firstBuffer+1 {
			mem.Shrink(outgrown)
		}
		for int64(len(buf)) < size {
			n, err := in.Read(buf[len(buf):size])
			buf = buf[:len(buf)+n]
			if err == io.EOF {
				return buf, nil
			}
			if err != nil {
				return nil, err
			}
		}
	}
}
