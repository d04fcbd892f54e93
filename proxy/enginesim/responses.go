package enginesim

type keptResponse struct{ body []byte }

func (e *Engine) responses(c *call) error { return e.unknown(c) }
func (e *Engine) response(c *call) error  { return e.unknown(c) }
