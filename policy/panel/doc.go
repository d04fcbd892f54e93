// Package panel is rac+, a policy made of experts: each runs a shadow cache of metadata, and the cache follows the one that
// leads. full has shadows as large as the cache; sampled, for large caches, has small shadows that see a sample of the topics.
// shadow.go is common to both; lazy.go has the rule by which the leader changes,
// snapshot.go the saved state that is independent of the entries, and state.go the saved state of each entry and topic.
package panel
