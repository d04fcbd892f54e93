package main

import (
	"fmt"
	"slices"
	"strings"

	"reprise/cmd/internal/cli"
)

// replayElsewhere names the command that plays traces, which is the laboratory's.
func replayElsewhere(t cli.Terminal, args []string) error {
	command := "reprise-lab replay"
	for _, word := range args {
		command += " " + cli.Quote(word)
	}
	text := fmt.Sprintf("the laboratory, another program, plays traces; run\n  %s\nor, from the source,\n  go run ./cmd/%s", command, command)
	if slices.ContainsFunc(args, func(word string) bool { return strings.TrimLeft(word, "-") == "help" }) {
		_, err := fmt.Fprintln(t.Out, "reprise replay: "+text)
		return err
	}
	return cli.Usage("reprise replay", "", "%s", text)
}
