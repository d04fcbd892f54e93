package doctor

import (
	"context"
	"fmt"
	"strings"

	"reprise/cmd/reprise/internal/config"
)

// settings plans the checks of the settings, and returns the one that all others need.
func (x *exam) settings() (values *check) {
	of := func(kind config.ProblemKind) (texts []string) {
		for _, p := range x.problems {
			if p.Kind == kind {
				texts = append(texts, p.Text)
			}
		}
		return texts
	}
	values = x.plan.add("settings.values", func(context.Context) finding {
		if wrong := of(config.Wrong); len(wrong) > 0 {
			return failure("`reprise serve --help-all` lists every setting with what is allowed.", "%s", sentences(wrong))
		}
		return ok("%s", x.counted)
	})
	x.plan.add("settings.unknown", func(context.Context) finding {
		if unknown := of(config.Unknown); len(unknown) > 0 {
			return failure("Correct the name, or remove it.", "%s", sentences(unknown))
		}
		return ok("every name is a setting")
	})
	x.plan.add("settings.contradictions", func(context.Context) finding {
		if wrong := append(of(config.Contradicting), x.unsuited()...); len(wrong) > 0 {
			return failure("Change one of the settings that are named.", "%s", sentences(wrong))
		}
		return ok("none")
	}, values)
	x.plan.add("settings.exposure", func(context.Context) finding {
		if open := of(config.Exposed); len(open) > 0 {
			return failure("Set what is named, or listen on 127.0.0.1.", "%s", sentences(open))
		}
		return x.exposure()
	}, values).limit = exposureLimit
	x.plan.add("settings.idle", func(context.Context) finding {
		if idle := append(x.cfg.Idle(), x.cfg.TracesIgnored...); len(idle) > 0 {
			return warning("Remove the setting, or change what keeps it from having an effect.", "%s", sentences(idle))
		}
		return ok("each has an effect")
	}, values)
	return values
}

// unsuited are settings that contradict the embedder. Its own faults are for another check.
func (x *exam) unsuited() []string {
	if x.embedder == nil || x.ungated == nil {
		return nil
	}
	return config.Problems(x.ungated)
}

// counted says how many settings there are, and how many of them are set.
func counted(c *config.Config) string {
	set := 0
	for _, v := range c.Effective() {
		if v.Source != "default" {
			set++
		}
	}
	return fmt.Sprintf("%d settings, %d of them set", len(c.Effective()), set)
}

// sentences joins messages, each of which may have lines of its own.
func sentences(all []string) string {
	var plain []string
	for _, text := range all {
		plain = append(plain, strings.Join(strings.Fields(text), " "))
	}
	return strings.Join(plain, "; ")
}
