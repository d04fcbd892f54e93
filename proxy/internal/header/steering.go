package header

import (
	"net/http"
	"strings"
)

// steering are the fields by which the parts of a serving system steer each other: which rank, worker or host computes a request, for
// which tenant, and before whom. An untrusted client could aim requests at one process, or at a host of its choice.
var steering = setOf(`X-Data-Parallel-Rank X-Dp-Rank X-Prefill-Dp-Rank X-Worker-Instance-Id X-Prefill-Instance-Id X-Decode-Instance-Id
	X-Dynamo-Meta-Policy-Class X-Smg-Target-Worker X-Smg-Tenant-Id X-Smg-Priority X-Llm-D-Model-Name-Rewrite X-Gateway-Model-Name-Rewrite
	X-Llm-D-Inference-Objective X-Llm-D-Inference-Fairness-Id X-Gateway-Inference-Objective X-Gateway-Inference-Fairness-Id`)

// steers reports whether a field, by its name in the form of net/http, steers the parts of a serving system.
func steers(name string) bool {
	if !strings.HasPrefix(name, "X") {
		return false
	}
	name = asRead(name)
	return steering[name] || strings.HasSuffix(name, "-Host-Port") || strings.HasSuffix(name, "-Hosts-Ports") ||
		strings.HasPrefix(name, "X-Gateway-Destination-Endpoint")
}

// RemoveSteering removes from h the fields that steer the parts of a serving system.
func RemoveSteering(h http.Header) {
	for name := range h {
		if steers(name) {
			delete(h, name)
		}
	}
}
