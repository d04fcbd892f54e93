package canon

// Strict returns nil where every JSON reader reads a document, one object, in the same way: it passes the strict pass of Parse,
// and no name in a place of fixed shape is one of known except for its letter case. Otherwise the error is an *Error.
func Strict(document []byte, known Names) error {
	p := readers.Get().(*Reader)
	defer p.release()
	err := p.scan(document)
	if err == nil {
		err = p.checkNames(known, 0)
	}
	if err != nil {
		return err.finish()
	}
	return nil
}
