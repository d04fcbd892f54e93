package config

import (
	"fmt"
	"io"
	"strings"
)

// Help writes the settings of the command that matter, or with --help-all every one, by group: flag and variable, what it does, what
// is allowed, default.
func (l *Loader) Help(w io.Writer) {
	of := map[string]bool{}
	for _, s := range l.settings(&Config{}) {
		of[s.Name] = s.First || l.HelpAll
	}
	for _, g := range (&Config{}).table() {
		title := "\n" + g.title + ":\n"
		if !l.HelpAll {
			title = ""
		}
		for _, s := range g.rows {
			if of[s.Name] {
				io.WriteString(w, title)
				title = ""
				s.help(w)
			}
		}
	}
	if !l.HelpAll {
		io.WriteString(w, "\n--help-all lists all settings.\n")
	}
}

func (s *setting) help(w io.Writer) {
	names := s.Env()
	if s.Secret {
		names += ", or " + s.Env() + fileSuffix + " (--" + s.Flag() + "-file): a file that holds it"
	}
	value := " VALUE"
	if s.Toggle {
		value = ""
	}
	fmt.Fprintf(w, "  %-28s %s\n", "--"+s.Flag()+value, names)
	fmt.Fprintf(w, "      %s\n", s.Help)
	fmt.Fprintf(w, "      allowed: %s%s\n", s.Allowed, s.defaultInWords())
}

func (s *setting) defaultInWords() string {
	words := ""
	if s.Default != "" && !strings.Contains(s.Help, "unset,") {
		words = "; default: " + s.Default
	}
	if s.Reload {
		words += "; SIGHUP reads it again"
	}
	return words
}
