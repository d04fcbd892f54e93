package file

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// setAside moves a file whose structure is damaged out of the way, and opens a new one. Where it cannot be moved nothing
// is read and nothing will be written. It takes over held, and keeps its lock until the file has its new name.
func (f *File) setAside(held *os.File, path string, o bbolt.Options, damage error) error {
	defer held.Close()
	info, err := held.Stat()
	if err != nil {
		return err
	}
	if !ours(held, info.Size()) {
		return ErrForeign
	}
	if err = f.report.ReadOnly; err == nil {
		aside := asideName(path)
		if err = os.Rename(path, aside); err == nil {
			f.report.Aside = aside
			_ = os.Remove(path + journalMark) // these belong to that file
			_, err = f.openChecked(path, o)
			return err
		}
	}
	f.report.ReadOnly = fmt.Errorf("%w, and it cannot be moved aside: %w", damage, err)
	return nil
}

const (
	asideMark = ".damaged-"
	asideTime = "20060102T150405"
)

// asideName is a free name for a damaged file. Where a name cannot be looked up, the rename will say why.
func asideName(path string) string {
	base := path + asideMark + time.Now().UTC().Format(asideTime)
	for i, n := 1, base; ; i++ {
		if _, err := os.Lstat(n); err != nil {
			return n
		}
		n = fmt.Sprintf("%s.%d", base, i)
	}
}

// smallestPage is the smallest page of the systems that this program runs on.
const smallestPage = 4096

// ours reports whether a file that does not check was written by bbolt: whether any of its pages begins with the number
// of its place. Of a file too short for a page header the bytes that are there count.
func ours(r io.ReaderAt, size int64) bool {
	var head [10]byte
	for at := int64(0); at < size; at += smallestPage {
		n, _ := r.ReadAt(head[:], at)
		if n > 0 && isPageHead(head[:n], at) {
			return true
		}
	}
	return false
}

func isPageHead(b []byte, at int64) bool {
	if at == 0 {
		first := binary.NativeEndian.AppendUint16(make([]byte, 8), metaPage)
		return string(b) == string(first[:len(b)])
	}
	if len(b) < 10 {
		return false
	}
	id, flags := binary.NativeEndian.Uint64(b), binary.NativeEndian.Uint16(b[8:])
	if id == 0 || uint64(at)%id != 0 || flags == 0 || flags&(flags-1) != 0 || flags > freePage {
		return false
	}
	size := uint64(at) / id
	return size >= smallestPage && size&(size-1) == 0
}
