package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"

	"reprise/cmd/reprise/internal/config"
	"reprise/store"
)

// alike are the settings that all proxies of one cache should have equal: what an answer is, whom it may serve, and how many are kept. Another
// upstream, for one, gives other answers under the same names of models.
var alike = []string{"UPSTREAM", "CANONICAL", "MODE", "TENANT_FROM", "IGNORE_HEADERS", "IGNORE_FIELDS", "IGNORE_PATTERN", "EMBEDDER", "EMBEDDER_MODEL", "HIT_THRESHOLD", "TTL", "POLICY", "CAPACITY_ENTRIES", "CAPACITY_BYTES"}

const (
	alikeMark = " settings:"
	unlike    = "shared store: proxies of one cache have different settings: give all the same, or another REPRISE_REDIS_PREFIX"
)

// memberName is the name of this process among the members of a shared store: host and process, and two digits of a digest of each setting of
// alike, from which no setting can be read.
func memberName(cfg *config.Config) string {
	host, _ := os.Hostname()
	name := fmt.Sprintf("%s:%d%s", host, os.Getpid(), alikeMark)
	for _, setting := range alike {
		for _, v := range cfg.Effective() {
			if v.Name == config.Prefix+setting {
				name += fmt.Sprintf("%02x", crc32.ChecksumIEEE([]byte(inOrder(setting, v.Value)))&0xff)
			}
		}
	}
	return name
}

// inOrder is the value of a setting in a form that is equal for equal settings: the order of upstreams has no meaning, because their names
// decide which one owns a prefix.
func inOrder(setting, value string) string {
	if setting != "UPSTREAM" {
		return value
	}
	parts := strings.Split(value, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// differing are the settings in which members of a shared store differ from this process, in the order of alike. What a member of another
// version says about itself is not compared.
func differing(own string, members []store.Member) (settings []string) {
	_, mine, _ := strings.Cut(own, alikeMark)
	for _, m := range members {
		_, theirs, _ := strings.Cut(m.Name, alikeMark)
		if len(theirs) != len(mine) {
			continue
		}
		for i, setting := range alike {
			if name := config.Prefix + setting; theirs[2*i:2*i+2] != mine[2*i:2*i+2] && !slices.Contains(settings, name) {
				settings = append(settings, name)
			}
		}
	}
	return settings
}
