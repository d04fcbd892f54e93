package embeddings

import (
	"testing"

	"reprise/proxy/api/apitest"
)

const plainRequest = `{"model":"m","input":"hi"}`

func TestDefaults(t *testing.T) {
	apitest.Defaults(t, Family, plainRequest)
}

func TestApart(t *testing.T) {
	apitest.Apart(t, Family, plainRequest, map[string]string{
		`"encoding_format":null`: "not documented", `"encoding_format":"base64"`: "another form", `"dimensions":null`: "not documented", `"user":null`: "not documented",
	})
}
