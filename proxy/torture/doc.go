// Package torture has no code of its own: its tests put the proxy between clients and faulty peers and check what both sides saw.
//
//	go test ./proxy/torture -run Matrix -v
//
// runs one subtest per fault and seed, and prints what was asked and checked. A fault is injected while clients ask, and removed again while they go
// on asking. The upstream records every call and every byte of its answers, the clients record what they received, and the
// checks compare the two records; no check looks into the proxy, except for the goroutines and the memory of the process.
//
//	I1   every answer is one that the upstream gave to an equal scope, or an error of the upstream or of the proxy with a cause
//	I2   no answer crosses tenants, models, system prompts or namespaces
//	I3   no partial answer is stored
//	I4   no answer that a purge has removed is served after the purge has returned
//	I5   one upstream call at most per flight, and one per request
//	I6   the disconnect of a client cancels no other client's call; that of the last one cancels it
//	I7   the capacity in bytes is never exceeded by more than an entry
//	I8   a dependency that fails is left alone after a few requests
//	I9   directives of clients only narrow
//	I10  the counters add up
//	I11  goroutines, file descriptors and heap are back after the drain
//	I12  the same seed gives the same decisions
//	I13  replicas converge
//	I14  logs and metrics hold no key, no prompt and no answer
//
// Faults of Redis (F25 to F35) and I13 need several proxies, which cmd/reprise/replicas has. A peer that acknowledges nothing would need a
// network of its own: the kernel of a peer that says nothing acknowledges. A kill comes at random points, also within a write; a power cut,
// after which written blocks can be missing, would need a disk of its own. REPRISE_TORTURE=full raises loads, offsets and seeds. The index cannot
// be made to panic from outside: package topics tests that. The numbers F1 to F47 name the same faults in every version of this package.
package torture
