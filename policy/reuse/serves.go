package reuse

import "reprise/policy/reuse/evidence"

// Serves reports whether Judge serves in a case like c when it does not explore.
func (j *Judge) Serves(c *evidence.Case) bool {
	if j.Words && !c.Explained {
		return false
	}
	p, _ := j.Rates.P(c)
	return 1-p <= j.MaxError
}
