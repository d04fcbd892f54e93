package doctor

import (
	"context"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
	"reprise/proxy/upstream"
)

// ownDescriptors are those that the proxy has open without a client: its store, its log, listeners, connections to Redis and the embedder.
const ownDescriptors = 256

// limits plans the checks of what the system allows.
func (x *exam) limits(values *check) {
	x.plan.add("limits.memory", x.fit, values)
	x.plan.add("limits.descriptors", x.descriptors, values)
}

func (x *exam) fit(context.Context) finding {
	if x.fits != nil {
		return failure("Lower the capacity, or raise REPRISE_MEMORY_LIMIT.", "%s", sentences(config.Problems(x.fits)))
	}
	limit := x.cfg.MemoryLimit
	allowed, from := x.machine.Memory()
	if from == config.FromGroup {
		from = "control group"
	}
	switch {
	case limit == 0:
		return ok("REPRISE_MEMORY_LIMIT is off")
	case allowed > 0 && limit > allowed:
		return warning("Leave REPRISE_MEMORY_LIMIT out: the proxy then takes what the system allows.",
			"REPRISE_MEMORY_LIMIT is %s, and the %s has %s", cli.Bytes(limit), from, cli.Bytes(allowed))
	}
	return ok("%s, of which answers take up to %s", cli.Bytes(limit), cli.Bytes(x.cfg.CapacityBytes))
}

// descriptors compares the limit with what the settings allow at once: each upstream call with its client, and twice as many that wait.
func (x *exam) descriptors(context.Context) finding {
	have, whose := x.machine.Descriptors(), "a process of this user"
	if m := x.instance().metrics["process_max_fds"]; m > 0 {
		have, whose = uint64(m), "the running instance"
	}
	if have == 0 {
		return skipped("the limit is not known on this system")
	}
	calls := x.cfg.MaxConcurrent
	if calls <= 0 {
		calls = upstream.DefaultCalls
	}
	need := uint64(4*calls + ownDescriptors)
	if have < need {
		return warning("Raise it (`ulimit -n`, LimitNOFILE= of systemd, --ulimit of docker), or lower REPRISE_MAX_CONCURRENT.",
			"%s may have %d descriptors open, and REPRISE_MAX_CONCURRENT=%d with its waiting clients takes up to %d", whose, have, calls, need)
	}
	return ok("%d, of which up to %d are taken", have, need)
}
