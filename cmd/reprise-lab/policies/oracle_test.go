package policies

import (
	"testing"

	"reprise/internal/policytest"
)

// oracle is the folder of the known answers.
const oracle = "../../../policy/testdata/oracle"

// TestOracle leaves out random, because libCacheSim's is not uniform.
func TestOracle(t *testing.T) {
	policytest.CheckOracle(t, New, oracle, map[string]string{
		"FIFO": "fifo", "SIEVE": "sieve", "LFU": "lfu", "GDSF": "gdsf",
		"AgingLFU-w1": "aging-lfu:w=1", "AgingLFU-w10": "aging-lfu:w=10", "AgingLFU-w100": "aging-lfu:w=100", "AgingLFU-w1000": "aging-lfu:w=1000",
		"CLOCK": "clock", "2Q": "2q", "ARC": "arc", "LHD": "lhd:form=stock", "LeCaR": "lecar", "Cacheus": "cacheus",
		"TTL-sliding-T1C": "ttl-sliding:ttl=1C", "TTL-sliding-T2C": "ttl-sliding:ttl=2C",
	})
}
