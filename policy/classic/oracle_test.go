package classic

import (
	"testing"

	"reprise/internal/policytest"
)

// oracle is the folder of the known answers.
const oracle = "../testdata/oracle"

func TestOracle(t *testing.T) {
	policytest.CheckOracle(t, specs.New, oracle, map[string]string{
		"LRU": "lru", "LIRS-canonical": "lirs", "S3-FIFO": "s3fifo", "TTL-fixed-T1C": "ttl:ttl=1C", "TTL-fixed-T2C": "ttl:ttl=2C",
	})
}
