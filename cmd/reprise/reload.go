package main

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"reprise/cmd/reprise/internal/config"
	"reprise/proxy/admin"
	"reprise/proxy/observe/accesslog"
)

// reloader puts changed settings in force, at SIGHUP and when the configuration file has changed. The flags and the environment of a process do
// not change, the files that they name do: the settings file, the configuration file, those of secrets, and the certificate.
type reloader struct {
	load    func() (*config.Config, error)
	read    func() (path string, sum config.FileSum) // what load has read of which configuration file
	cfg     *config.Config                           // in force
	service *service
	front   *front
	level   *slog.LevelVar
	log     *slog.Logger
	lines   *accesslog.Writer // to which log writes
	reloads reloads
}

// reloads is what became of the last time that the settings were read.
type reloads struct{ state atomic.Pointer[admin.Reload] }

func (r *reloads) last() admin.Reload {
	if state := r.state.Load(); state != nil {
		return *state
	}
	return admin.Reload{}
}

func (r *reloads) used() { r.state.Store(&admin.Reload{At: time.Now()}) }

func (r *reloads) refused() { r.state.Store(&admin.Reload{Refused: true, At: r.last().At}) }

// begin reloads beside the caller, and closes the channel when it has: a file may be long in coming, as from a server that does not answer, and
// must not keep the process from ending.
func (r *reloader) begin() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.reload()
	}()
	return done
}

// reload reads all settings again. If any of them is bad, or does not fit what stays, all old ones stay in force.
func (r *reloader) reload() {
	merged, changed, restart, err := r.merge()
	if err != nil {
		r.reloads.refused()
		r.log.Error("the settings cannot be used and were not reloaded; those from before stay in force", "error", err.Error())
		return
	}
	r.reloads.used()
	r.level.Set(merged.LogLevel)
	r.cfg = merged
	// Also where only errors are logged: an operator looks for this line after the signal.
	r.log.Log(context.Background(), max(slog.LevelInfo, merged.LogLevel), "settings reloaded", "changed", inList(changed), "need_restart", inList(restart))
	for _, sentence := range merged.Overruled {
		r.log.Log(context.Background(), max(slog.LevelWarn, merged.LogLevel), sentence)
	}
}

// merge reads all settings, and puts in force those that can be.
func (r *reloader) merge() (merged *config.Config, changed, restart []string, err error) {
	next, err := r.load()
	if err != nil {
		return nil, nil, nil, err
	}
	if merged, changed, restart, err = r.cfg.Reloaded(next); err != nil {
		return nil, nil, nil, err
	}
	pair, err := loadCertificate(merged)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := r.service.reload(merged, r.log); err != nil {
		return nil, nil, nil, err
	}
	r.front.certificate.Store(pair)
	return merged, changed, restart, nil
}

func inList(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// lookEvery is how often the configuration file is looked at.
const lookEvery = time.Second

// watch returns a channel on which a value comes when the configuration file has changed, and what ends it.
func (r *reloader) watch() (changes <-chan struct{}, stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	all := make(chan struct{})
	go watch(ctx, r.read, all)
	return all, stop
}

// watch sends when the content of the file is another one than was read last, and was the same twice, until ctx ends. It reads the file each
// time: neither the swap of a link, as Kubernetes does it, nor a change within one tick of the file system's clock is missed, and a file that is
// being written is not taken for a whole one. Content that was read and refused is not read again.
func watch(ctx context.Context, read func() (path string, sum config.FileSum), changes chan<- struct{}) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	_, before := read()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		path, last := read()
		if path == "" {
			continue
		}
		now := config.SumOf(path)
		if now == before && now != last {
			select {
			case changes <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
		before = now
	}
}
