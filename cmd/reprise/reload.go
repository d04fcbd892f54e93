package main

import (
	"context"
	"log/slog"
	"strings"

	"reprise/cmd/reprise/internal/config"
	"reprise/proxy/accesslog"
)

// reloader puts changed settings in force at SIGHUP. The flags and the environment of a process do not change, the files that they
// name do: the settings file, those of secrets, and the certificate.
type reloader struct {
	load    func() (*config.Config, error)
	cfg     *config.Config // in force
	service *service
	front   *front
	level   *slog.LevelVar
	log     *slog.Logger
	lines   *accesslog.Writer // to which log writes
}

// reload reads all settings again. If any of them is bad, or does not fit what stays, all old ones stay in force.
func (r *reloader) reload() {
	refused := func(err error) {
		r.log.Error("the settings cannot be used and were not reloaded; those from before stay in force", "error", err.Error())
	}
	next, err := r.load()
	if err != nil {
		refused(err)
		return
	}
	merged, changed, restart, err := r.cfg.Reloaded(next)
	if err != nil {
		refused(err)
		return
	}
	pair, err := loadCertificate(merged)
	if err != nil {
		refused(err)
		return
	}
	if err := r.service.reload(merged, r.log); err != nil {
		refused(err)
		return
	}
	r.front.certificate.Store(pair)
	r.level.Set(merged.LogLevel)
	r.cfg = merged
	// Also where only errors are logged: an operator looks for this line after the signal.
	r.log.Log(context.Background(), max(slog.LevelInfo, merged.LogLevel), "settings reloaded", "changed", inList(changed), "need_restart", inList(restart))
}

func inList(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
