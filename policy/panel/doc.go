// Package panel is rac+, a policy made of experts: each runs a shadow cache of metadata, and what each would have hit decides
// what its vote counts. Full has shadows as large as the cache, and all experts vote; Sampled, for large caches, has small
// shadows that see a sample of the topics, and the best expert leads alone. shadow.go is common to both; votes.go and
// hysteresis.go are the vote and the margin by which a leader is kept, successor.go the change of the leader in a large
// cache, snapshot.go what outlives a restart without any entry, and state.go what does with them.
package panel
