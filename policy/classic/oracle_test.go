package classic

import (
	"testing"

	"reprise/internal/policytest"
)

// oracle is the folder of the known answers.
const oracle = "../testdata/oracle"

func TestOracle(t *testing.T) {
	policytest.CheckOracle(t, specs.New, oracle, map[string]string{
		"FIFO": "fifo", "LRU": "lru", "SIEVE": "sieve", "LFU": "lfu", "GDSF": "gdsf", "LIRS-canonical": "lirs", "S3-FIFO": "s3fifo",
		"AgingLFU-w1": "aging-lfu:w=1", "AgingLFU-w10": "aging-lfu:w=10", "AgingLFU-w100": "aging-lfu:w=100", "AgingLFU-w1000": "aging-lfu:w=1000",
		"TTL-fixed-T1C": "ttl:ttl=1C", "TTL-fixed-T2C": "ttl:ttl=2C",
		"W-TinyLFU": "w-tinylfu-libcachesim", "W-TinyLFU-exactcount": "w-tinylfu-libcachesim:counts=exact",
	})
}
