package config

import "testing"

func TestPrefixOf(t *testing.T) {
	for model, want := range map[string]string{
		"text-embedding-3-small": "", "nomic-embed-text": "search_query: ", "nomic-ai/nomic-embed-text-v1.5": "search_query: ",
		"intfloat/multilingual-e5-large": "query: ", "e5-base-v2": "query: ", "intfloat/multilingual-e5-large-instruct": "", "BAAI/bge-m3": "",
	} {
		if got := prefixOf(model); got != want {
			t.Errorf("%s: %q, want %q", model, got, want)
		}
	}
}

// TestLocal: where this machine reaches a listener.
func TestLocal(t *testing.T) {
	for listen, want := range map[string]string{":8081": "127.0.0.1:8081", "0.0.0.0:1": "127.0.0.1:1", "[::]:1": "[::1]:1", "10.0.0.1:1": "10.0.0.1:1", "bad": "bad"} {
		if got := Local(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}
