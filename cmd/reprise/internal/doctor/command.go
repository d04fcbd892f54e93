package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"reprise/cmd/internal/cli"
	"reprise/cmd/reprise/internal/config"
)

// Verdict is the error of a run that has found something. Its text is a line for the user, and Code the exit code.
type Verdict struct{ Warnings, Errors int }

// Error counts what was found.
func (v *Verdict) Error() string {
	var parts []string
	if v.Errors > 0 {
		parts = append(parts, plural(v.Errors, "error"))
	}
	if v.Warnings > 0 {
		parts = append(parts, plural(v.Warnings, "warning"))
	}
	return strings.Join(parts, ", ")
}

// Code is 1 for warnings and 2 for errors.
func (v *Verdict) Code() int {
	if v.Errors > 0 {
		return 2
	}
	return 1
}

// Command is reprise doctor.
func Command(t cli.Terminal, args []string) error { return run(t, args, thisSystem()) }

func run(t cli.Terminal, args []string, m system) error {
	loader := config.NewLoader(false)
	fs := cli.NewFlagSet("reprise doctor")
	loader.Register(fs)
	asJSON := fs.Bool("json", false, "")
	fix := fs.Bool("fix", false, "")
	noSpend := fs.Bool("no-spend", false, "")
	if err := cli.ParseFlags(t, fs, args, help); err != nil {
		return err
	}
	ctx, stop := cli.Interruptible()
	defer stop()
	began := time.Now()
	x := newExam(loader, t.Environ, m, !*noSpend)
	defer x.close()
	results := x.plan.run(ctx, *fix)
	if ctx.Err() != nil {
		return cli.ErrInterrupted
	}
	hide := x.secrets()
	for i := range results {
		r := &results[i]
		r.Found, r.Repair, r.Fixed = shown(r.Found, hide), shown(r.Repair, hide), shown(r.Fixed, hide)
	}
	r := newReport(results, time.Since(began))
	var err error
	if *asJSON {
		lines := json.NewEncoder(t.Out)
		lines.SetEscapeHTML(false)
		lines.SetIndent("", "  ")
		err = lines.Encode(r)
	} else {
		err = r.text(t.Out)
	}
	if err == nil && r.State != stateOK {
		return &Verdict{Warnings: r.Warnings, Errors: r.Errors}
	}
	return err
}

func help(w io.Writer) {
	io.WriteString(w, `reprise doctor examines everything that a proxy with these settings needs: before it starts, or beside one that runs, which it does
not disturb. It takes the flags, the environment and the files of `+"`reprise serve`"+`, makes all checks within 30 seconds, and says of each
what was found, why it matters and what repairs it.

  reprise doctor
  reprise doctor --json
  docker exec CONTAINER /usr/local/bin/reprise doctor

`)
	for _, o := range options {
		fmt.Fprintf(w, "  --%-10s %s\n", o.name, cli.Fold(o.help, 15, 100))
	}
	io.WriteString(w, "\nExit codes: 0 all is well, 1 warnings, 2 errors or wrong usage. The checks, whose names do not change:\n\n")
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(w, "  %-24s %s\n", name, cli.Fold(reasons[name], 27, 100))
	}
}

// options are the flags beside those of the settings.
var options = []struct{ name, help string }{
	{"json", "prints one JSON object"},
	{"fix", "makes the changes that are safe: the folder of the store, and its file for its owner alone"},
	{"no-spend", "sends no request that costs money: without it each upstream whose credential is set gets one or two streams of one token, and an embedding server some ten short texts"},
}

// secrets are the values that no output may have.
func (x *exam) secrets() (all []string) {
	c := x.cfg
	all = append(all, c.AdminToken, c.UpstreamKey, c.EmbedderKey, c.Shared.Password, c.Shared.SentinelPassword, c.Shared.Secret)
	all = append(all, c.ClientKeys...)
	for _, u := range c.Upstreams {
		all = append(all, u.Key)
	}
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < 4 }) // a word that is no secret, such as "any", is everywhere
}

// mostShown is how many characters of a text are shown: what an upstream says may be of any length.
const mostShown = 600

// late has what Go calls a time that is over, in words of a user.
var late = strings.NewReplacer("context deadline exceeded", "no answer in time", "i/o timeout", "no answer in time")

// shown is a text without secrets and control characters.
func shown(text string, hide []string) string {
	for _, s := range hide {
		text = strings.ReplaceAll(text, s, "********")
	}
	text = strings.ReplaceAll(cli.Plain(late.Replace(text)), "\n", " ")
	if runes := []rune(text); len(runes) > mostShown {
		text = string(runes[:mostShown]) + "…"
	}
	return text
}
