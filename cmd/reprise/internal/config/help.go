package config

import (
	"fmt"
	"io"
	"strings"
)

// Help writes every setting of the command, by group: flag and variable, what it does, what is allowed, default.
func (l *Loader) Help(w io.Writer) {
	for _, g := range (&Config{}).table() {
		title := "\n" + g.title + ":\n"
		for _, s := range l.rows(g) {
			io.WriteString(w, title)
			title = ""
			s.help(w)
		}
	}
}

func (s *Setting) help(w io.Writer) {
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

func (s *Setting) defaultInWords() string {
	if s.Default == "" || strings.Contains(s.Help, "unset,") {
		return ""
	}
	return "; default: " + s.Default
}
