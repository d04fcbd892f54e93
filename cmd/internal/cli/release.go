package cli

import (
	"cmp"
	"runtime/debug"
)

// linked is the version that a build sets which sees no repository, as that of the container image:
//
//	go build -ldflags "-X reprise/cmd/internal/cli.linked=v1.2.3" ./cmd/reprise
var linked string

// Release is what a program was built from.
type Release struct {
	Version string // of the build, or of the module by tag and commit; "(devel)" where neither is known
	Commit  string // "" where it is not known
	Go      string
}

// ReadRelease returns the release of this program.
func ReadRelease() Release {
	r := Release{Version: linked}
	info, ok := debug.ReadBuildInfo()
	if ok {
		r.Go = info.GoVersion
		r.Version = cmp.Or(linked, info.Main.Version)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				r.Commit = s.Value
			}
		}
	}
	r.Version = cmp.Or(r.Version, "(devel)")
	return r
}
