package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"reprise/store"
)

// errStructure is a file whose pages do not form a sound tree.
var errStructure = errors.New("structure of the file is damaged")

func structural(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errStructure, fmt.Sprintf(format, args...))
}

// What bbolt's file format (its version 2) says of a page. bbolt does not check it: a wrong number is a panic, often in a
// goroutine of bbolt's own where it cannot be recovered, or a fault of the memory map. So every page is checked first.
const (
	pageHeader  = 16
	elemSize    = 16
	bucketSize  = 16 // of a bucket's value: root page and sequence, then the page itself where the root is 0
	branchPage  = 0x01
	leafPage    = 0x02
	metaPage    = 0x04
	freePage    = 0x10
	bucketElem  = 0x01
	metaMagic   = 0xED0CDAED
	metaVersion = 2
	metaSize    = 64
	maxDepth    = 64
	maxPageSize = 16 << 20
)

// meta names the root of a tree. A file has two, written in turns: the one of the later transaction counts.
type meta struct {
	pageSize uint32
	root     uint64
	pages    uint64 // one more than the highest page in use
	txid     uint64
}

// parseMeta reads a meta page.
func parseMeta(page []byte) (meta, error) {
	if len(page) < pageHeader+metaSize {
		return meta{}, structural("meta page is cut")
	}
	b, n := page[pageHeader:], binary.NativeEndian
	h := fnv.New64a()
	h.Write(b[:metaSize-8])
	if n.Uint32(b) != metaMagic || n.Uint64(b[56:]) != h.Sum64() {
		return meta{}, structural("meta page is not valid")
	}
	if v := n.Uint32(b[4:]); v != metaVersion {
		return meta{}, fmt.Errorf("%w: page format %d, this program supports %d", store.ErrVersion, v, metaVersion)
	}
	m := meta{pageSize: n.Uint32(b[8:]), root: n.Uint64(b[16:]), pages: n.Uint64(b[40:]), txid: n.Uint64(b[48:])}
	if m.pageSize < 1024 || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0 {
		return meta{}, structural("page size %d", m.pageSize)
	}
	return m, nil
}

// findMeta reads both metas and returns the later one. Where only one checks, or they are not of successive transactions,
// the later one may be lost, and the tree of the other still holds what the last batch deleted.
func findMeta(r io.ReaderAt) (meta, error) {
	var metas [2]meta
	for i := range metas {
		buf := make([]byte, pageHeader+metaSize)
		n, _ := r.ReadAt(buf, int64(i)*int64(metas[0].pageSize))
		var err error
		if metas[i], err = parseMeta(buf[:n]); err != nil {
			return meta{}, err
		}
	}
	older, newer := metas[0], metas[1]
	if older.txid > newer.txid {
		older, newer = newer, older
	}
	if newer.txid-older.txid != 1 || newer.pageSize != older.pageSize {
		return meta{}, structural("meta pages of transactions %d and %d", older.txid, newer.txid)
	}
	return newer, nil
}

// checker walks the pages of a file.
type checker struct {
	r       io.ReaderAt
	meta    meta
	seen    []bool
	buckets map[string]bool                       // those found
	bucket  []byte                                // the name of the one being walked; nil above them
	own     map[store.Kind]tombstones             // the bitmaps of kindTombstones and kindEvicted
	levels  []level                               // by depth: memory that is used again
	record  func(k store.Kind, key, value []byte) // called with every other record of a bucket; nil: none is
}

// level is what a page is read into while the pages below it are read.
type level struct {
	page  []byte
	elems []element
}

func (c *checker) level(depth int) *level {
	for len(c.levels) <= depth {
		c.levels = append(c.levels, level{})
	}
	return &c.levels[depth]
}

// check reads every page in use and returns the bitmaps of entries. It returns errStructure where bbolt could fail or the
// bitmaps do not check, and ErrForeign for another program's file. It takes about as long as reading the file.
func check(r io.ReaderAt, size int64) (map[store.Kind]tombstones, error) {
	return checkAll(r, size, nil)
}

// checkAll is check, which calls record with every record that is no bitmap; nil: with none.
func checkAll(r io.ReaderAt, size int64, record func(k store.Kind, key, value []byte)) (map[store.Kind]tombstones, error) {
	m, err := findMeta(r)
	if err != nil {
		return nil, err
	}
	if m.pages < 3 || m.pages > uint64(size)/uint64(m.pageSize) {
		return nil, structural("%d pages of %d bytes in a file of %d", m.pages, m.pageSize, size)
	}
	c := &checker{r: r, meta: m, seen: make([]bool, m.pages), buckets: map[string]bool{}, own: map[store.Kind]tombstones{kindTombstones: {}, kindEvicted: {}}, record: record}
	if err := c.walk(m.root, nil, nil, 0); err != nil {
		return nil, err
	}
	return c.own, c.checkBuckets()
}

// laterKinds came after the first version: a file of an older program has no bucket for them.
var laterKinds = []store.Kind{store.KindLearned, store.KindEvidence}

// checkBuckets compares the buckets that were found with those that every file of this program has. A new file has none.
func (c *checker) checkBuckets() error {
	if len(c.buckets) == 0 {
		return nil
	}
	var missing []store.Kind
	all := append(store.Kinds(), kindTombstones)
	for _, k := range all {
		if !c.buckets[string(bucketOf(k))] && !slices.Contains(laterKinds, k) {
			missing = append(missing, k)
		}
	}
	switch {
	case len(missing) == len(all)-len(laterKinds):
		return ErrForeign
	case len(missing) > 0:
		return structural("no buckets of kinds %d", missing)
	}
	return nil
}

// walk checks the tree under a page, whose first key must be low and whose others must be below high (nil: anything).
// bbolt's own check lets the first key be greater than low; but it finds the page's place in its parent by that key, and
// where they differ its next write leaves two ways to the page.
func (c *checker) walk(id uint64, low, high []byte, depth int) error {
	if depth > maxDepth {
		return structural("page %d: tree too deep", id)
	}
	p, err := c.page(id, c.level(depth))
	if err != nil {
		return err
	}
	return c.elements(p, id, low, high, depth)
}

// page reads a page with its overflow and marks it as visited.
func (c *checker) page(id uint64, into *level) ([]byte, error) {
	if id < 2 || id >= c.meta.pages {
		return nil, structural("page %d of %d", id, c.meta.pages)
	}
	size := uint64(c.meta.pageSize)
	if err := c.read(into, id, 0, size); err != nil {
		return nil, err
	}
	overflow := uint64(binary.NativeEndian.Uint32(into.page[12:]))
	if binary.NativeEndian.Uint64(into.page) != id || id+overflow >= c.meta.pages {
		return nil, structural("page %d: bad header", id)
	}
	for i := id; i <= id+overflow; i++ {
		if c.seen[i] {
			return nil, structural("page %d is used twice", i)
		}
		c.seen[i] = true
	}
	err := c.read(into, id, size, (1+overflow)*size)
	return into.page, err
}

// read reads the bytes of a page between two places, and makes the memory as long.
func (c *checker) read(into *level, id, from, to uint64) error {
	into.page = slices.Grow(into.page[:from], int(to-from))[:to]
	if _, err := c.r.ReadAt(into.page[from:], int64(id)*int64(c.meta.pageSize)+int64(from)); err != nil {
		return structural("read page %d: %v", id, err)
	}
	return nil
}

// elements checks a page's elements and what hangs below them.
func (c *checker) elements(p []byte, id uint64, low, high []byte, depth int) error {
	flags, count := binary.NativeEndian.Uint16(p[8:]), int(binary.NativeEndian.Uint16(p[10:]))
	empty := count == 0 && (flags == branchPage || low != nil)
	if flags != branchPage && flags != leafPage || empty || pageHeader+count*elemSize > len(p) {
		return structural("page %d: flags %x, %d elements", id, flags, count)
	}
	level := c.level(depth)
	elems := slices.Grow(level.elems[:0], count)[:count]
	level.elems = elems
	for i := range elems {
		e, ok := parseElement(p, pageHeader+i*elemSize, flags == leafPage)
		if !ok || i == 0 && e.at != count*elemSize || i == 0 && low != nil && !bytes.Equal(e.key, low) || high != nil && bytes.Compare(e.key, high) >= 0 ||
			i > 0 && bytes.Compare(elems[i-1].key, e.key) >= 0 {
			return structural("page %d: element %d", id, i)
		}
		elems[i] = e
	}
	for i, e := range elems {
		next := high
		if i+1 < count {
			next = elems[i+1].key
		}
		if err := c.below(e, flags == leafPage, next, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// below checks what an element leads to: the page of a branch, the tree of a bucket, a record.
func (c *checker) below(e element, leaf bool, high []byte, depth int) error {
	switch {
	case !leaf:
		return c.walk(e.page, e.key, high, depth)
	case e.bucket:
		return c.inBucket(e, depth)
	case c.bucket == nil:
		return structural("record %q is in no bucket", e.key)
	case len(c.bucket) == 1 && c.own[store.Kind(c.bucket[0])] != nil:
		return c.bitmap(store.Kind(c.bucket[0]), e)
	case c.record != nil && len(c.bucket) == 1:
		c.record(store.Kind(c.bucket[0]), e.key, e.value)
	}
	return nil
}

// inBucket checks the tree of a bucket. Those of this program hold records alone.
func (c *checker) inBucket(e element, depth int) error {
	if len(c.bucket) == 1 && known(store.Kind(c.bucket[0])) {
		return structural("bucket %q is in bucket %q", e.key, c.bucket)
	}
	if c.bucket == nil {
		c.buckets[string(e.key)] = true
	}
	defer func(outer []byte) { c.bucket = outer }(c.bucket)
	c.bucket = e.key
	if len(e.value) < bucketSize {
		return structural("bucket %q is cut", e.key)
	}
	if root := binary.NativeEndian.Uint64(e.value); root != 0 {
		return c.walk(root, nil, nil, depth)
	}
	inline := e.value[bucketSize:]
	if len(inline) < pageHeader || binary.NativeEndian.Uint16(inline[8:]) != leafPage || binary.NativeEndian.Uint64(inline) != 0 {
		return structural("bucket %q: bad inline page", e.key)
	}
	if depth > maxDepth {
		return structural("bucket %q: nested too deep", e.key)
	}
	return c.elements(inline, 0, nil, nil, depth)
}

func (c *checker) bitmap(k store.Kind, e element) error {
	bits, err := readRecord(k, e.key, e.value)
	switch {
	case errors.Is(err, store.ErrVersion):
		return err
	case err != nil || len(bits) != tombstoneSpan/8:
		return structural("bitmap %x of kind %d does not check", e.key, k)
	}
	c.own[k][idOf(e.key)] = bytes.Clone(bits)
	return nil
}

// element is one key of a page, with its value or the page below it.
type element struct {
	at         int // where the key begins, from the element's own place: the keys and values follow the last element
	key, value []byte
	page       uint64
	bucket     bool
}

func parseElement(p []byte, at int, leaf bool) (element, bool) {
	n := binary.NativeEndian
	h := p[at:]
	if !leaf {
		pos, ksize := uint64(n.Uint32(h)), uint64(n.Uint32(h[4:]))
		if pos+ksize > uint64(len(h)) || pos < elemSize {
			return element{}, false
		}
		return element{at: int(pos), key: h[pos : pos+ksize], page: n.Uint64(h[8:])}, true
	}
	flags, pos := n.Uint32(h), uint64(n.Uint32(h[4:]))
	ksize, vsize := uint64(n.Uint32(h[8:])), uint64(n.Uint32(h[12:]))
	if flags > bucketElem || pos+ksize+vsize > uint64(len(h)) || pos < elemSize || ksize == 0 {
		return element{}, false
	}
	return element{at: int(pos), key: h[pos : pos+ksize], value: h[pos+ksize : pos+ksize+vsize], bucket: flags == bucketElem}, true
}
