package doctor

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"reprise/cmd/reprise/internal/config"
	"reprise/embed"
)

// system is what an examination reads of the system.
type system struct {
	Memory      func() (bytes int64, from string) // that a process may take, 0 where it is not known
	Descriptors func() uint64                     // that a process may have open, 0 where it is not known
	Free        func(dir string) (uint64, error)  // bytes that a file in a folder may still take
	Now         func() time.Time
}

// thisSystem returns the machine on which this process runs.
func thisSystem() system {
	return system{Memory: config.AvailableMemory, Descriptors: descriptors, Free: freeBytes, Now: time.Now}
}

// exam is one examination of one set of settings.
type exam struct {
	cfg      *config.Config // usable unless a problem is config.Wrong
	problems []config.Problem
	counted  string         // of the settings
	fits     error          // why the capacity does not fit the memory
	embedder embed.Embedder // nil: it cannot be made
	unmade   error          // why
	gates    embed.Thresholds
	ungated  error // why there are none
	machine  system
	spend    bool // requests that cost money may be made
	plan     plan
	engines  []*engine
	ends     []func() // of the connections that checks have opened
	instance func() *instance
}

// newExam reads the settings, and plans the checks.
func newExam(l *config.Loader, environ []string, m system, spend bool) *exam {
	x := &exam{machine: m, spend: spend}
	x.cfg, x.problems = l.Examine(environ)
	usable := !slices.ContainsFunc(x.problems, func(p config.Problem) bool { return p.Kind == config.Wrong })
	if x.counted = counted(x.cfg); usable {
		x.fits = x.cfg.FitMemory(m.Memory())
		if x.embedder, x.unmade = x.cfg.NewEmbedder(); x.unmade == nil {
			x.gates, x.ungated = x.cfg.Gates(x.embedder.Thresholds()) // it changes the settings that are shown: before the checks
		}
	}
	x.instance = sync.OnceValue(func() *instance { return findInstance(x.cfg.AdminListen) })
	values := x.settings()
	x.listeners(values)
	x.certificates(values)
	x.upstreams(values)
	x.embedding(values)
	x.store(values)
	x.redis(values)
	x.limits(values)
	x.running(values)
	return x
}

// close closes what the checks have opened. Those whose time was over may still have it.
func (x *exam) close() {
	for _, end := range x.ends {
		end()
	}
}

// client asks instances on this machine. A proxy named in the environment plays no part, nor does a redirect count as an answer.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
