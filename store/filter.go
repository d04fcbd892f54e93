package store

import (
	"slices"
	"strings"

	"reprise/policy"
)

// Filter selects entries: every field that is set must match; the zero Filter matches all.
type Filter struct {
	Entry     policy.ID      `json:"entry,omitempty"`
	Topic     policy.TopicID `json:"topic,omitempty"`
	Model     string         `json:"model,omitempty"`
	Namespace string         `json:"namespace,omitempty"`
	Tenant    string         `json:"tenant,omitempty"`
}

// Matches reports whether f selects e.
func (f Filter) Matches(e *Entry) bool {
	var l Labels
	if e.Labels != nil {
		l = *e.Labels
	}
	return (f.Entry == 0 || e.ID == f.Entry) && (f.Topic == 0 || e.Topic == f.Topic) && (f.Model == "" || l.Model == f.Model) &&
		(f.Namespace == "" || inNamespace(l.Namespace, f.Namespace)) && (f.Tenant == "" || l.Tenant == f.Tenant)
}

// inNamespace reports whether an entry of namespace stored is in name. A request that named several, as by its header and its body,
// has them all in its own, with a separator that no name contains.
func inNamespace(stored, name string) bool {
	if stored == name {
		return true
	}
	return strings.Contains(stored, "\x1f") && slices.Contains(strings.Split(stored, "\x1f"), name)
}
