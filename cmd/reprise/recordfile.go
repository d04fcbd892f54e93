package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// recordFile is an append-only file of complete lines. An incomplete last line, as left by a crash or a full disk, is cut
// off: a replay stops at it.
type recordFile struct{ *os.File }

var errNoRecord = errors.New("ends with what is no request of a log")

// openRecordFile opens or creates the file at path. Only its owner may read it: a vector reveals much of its prompt.
func openRecordFile(path string) (*recordFile, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	r := &recordFile{f}
	if err := r.completeLastLine(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return r, nil
}

// completeLastLine ends the last line with a line feed if it is a complete record, and cuts it off if it is not.
func (r *recordFile) completeLastLine() error {
	info, err := r.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	tail, err := r.tail(info.Size())
	switch {
	case err != nil || len(tail) == 0:
		return err
	case json.Valid(tail):
		_, err := r.Write([]byte("\n"))
		return err
	case !bytes.HasPrefix(tail, []byte(`{"`)):
		return errNoRecord
	}
	return r.Truncate(info.Size() - int64(len(tail)))
}

// tail returns the bytes after the last line feed in the first size bytes of the file.
func (r *recordFile) tail(size int64) (tail []byte, err error) {
	const step = 64 << 10
	for end := size; end > 0; {
		piece := make([]byte, min(step, end))
		end -= int64(len(piece))
		if _, err := r.ReadAt(piece, end); err != nil && err != io.EOF {
			return nil, err
		}
		if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
			return append(piece[i+1:], tail...), nil
		}
		tail = append(piece, tail...)
	}
	return tail, nil
}

// Write writes all of p or nothing. The size is read from the file and not remembered: a log rotation may have truncated
// the file in the meantime.
func (r *recordFile) Write(p []byte) (int, error) {
	n, err := r.File.Write(p)
	if err == nil || n == 0 {
		return n, err
	}
	info, failed := r.Stat()
	if failed == nil {
		failed = r.Truncate(info.Size() - int64(n))
	}
	return n, errors.Join(err, failed)
}
