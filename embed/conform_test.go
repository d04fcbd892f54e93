package embed_test

import (
	"testing"

	"reprise/embed"
	"reprise/embed/embedtest"
)

func TestConformance(t *testing.T) { embedtest.Run(t, embed.NewBuiltin()) }
