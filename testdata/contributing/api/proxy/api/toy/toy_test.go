package toy

import (
	"flag"
	"testing"

	"reprise/proxy/answer"
	"reprise/proxy/api/apitest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestConformance(t *testing.T) {
	apitest.Run(t, Family, *update, map[string]answer.Verdict{
		"blue.json": {Keep: true, Usage: answer.Usage{Input: 1, Output: 1}},
	})
	apitest.Judge(t, Family, "no answer", false, `{}`, answer.ReasonEmpty)
}
