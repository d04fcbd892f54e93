package api

import "testing"

func TestCanonical(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/chat/completions":        "/v1/chat/completions",
		"/chat/completions":           "/v1/chat/completions",
		"/completions":                "/v1/completions",
		"/embeddings":                 "/v1/embeddings",
		"/responses":                  "/v1/responses",
		"/responses/resp_1":           "/v1/responses/resp_1",
		"/messages":                   "/v1/messages",
		"/messages/count_tokens":      "/v1/messages/count_tokens",
		"/models":                     "/v1/models",
		"/models/a/b":                 "/v1/models/a/b",
		"/openai/v1/chat/completions": "/v1/chat/completions",
		"/openai/v1/":                 "/v1/",

		"/v1beta/openai/chat/completions": "/v1/chat/completions",
		"/v1beta/openai/embeddings":       "/v1/embeddings",
		"/v1beta/openai/models/gemini":    "/v1/models/gemini",
		"/v1beta/models/gemini":           "/v1beta/models/gemini", "/v1beta/openai": "/v1beta/openai",
		// paths of engines, and of other APIs
		"/completion": "/completion", "/embedding": "/embedding", "/chat": "/chat", "/chat/completions/x": "/chat/completions/x", "/health": "/health", "/tokenize": "/tokenize",
		"/completions/x": "/completions/x", "/api/chat": "/api/chat", "/": "/", "": "", "//models": "//models", "/openai/deployments/d/chat/completions": "/openai/deployments/d/chat/completions",
		"/openai/v1": "/openai/v1", "/admin/entries": "/admin/entries",
	} {
		if got := Canonical(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestDeployment(t *testing.T) {
	for path, want := range map[string][2]string{
		"/openai/deployments/gpt-4o/chat/completions": {"gpt-4o", "/v1/chat/completions"},
		"/openai/deployments/e/embeddings":            {"e", "/v1/embeddings"},
		"/openai/deployments//chat/completions":       {},
		"/openai/deployments/d":                       {},
		"/openai/deployments/d/":                      {},
		"/v1/chat/completions":                        {},
	} {
		name, endpoint := Deployment(path)
		if [2]string{name, endpoint} != want {
			t.Errorf("%s: %s, %s", path, name, endpoint)
		}
	}
}

func TestOlder(t *testing.T) {
	for path, want := range map[string]string{
		"/openai/responses":                "/v1/responses",
		"/openai/responses/resp_1/cancel":  "/v1/responses/resp_1/cancel",
		"/openai/deployments/e/embeddings": "/v1/embeddings",
		"/openai/responsesx":               "/openai/responsesx", "/openai/files": "/openai/files", "/v1/responses": "/v1/responses", "/embeddings": "/embeddings",
	} {
		if got := older(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
