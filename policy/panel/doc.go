// Package panel is rac+, a policy made of experts: each runs a shadow cache of metadata, and its vote has the weight of the
// hits that it would have had. Full has shadows as large as the cache, and all experts vote; Sampled, for large caches, has small
// shadows that see a sample of the topics, and the best expert leads alone. shadow.go is common to both; votes.go has the
// vote, lazy.go the rule by which the leader changes, successor.go the change of the leader in a large cache,
// snapshot.go the saved state that is independent of the entries, and state.go the saved state of each entry and topic.
package panel
