package api

import "strings"

// Canonical returns the path under which an endpoint is known here. Clients reach some under another path too: with the base URL of Azure's
// present API, which ends in /openai/v1, that of Gemini's, which ends in /v1beta/openai, or with one that lacks the /v1. The result is path
// itself where it is known under no other.
func Canonical(path string) string {
	for _, base := range []string{"/openai/v1/", "/v1beta/openai/"} {
		if rest, ok := strings.CutPrefix(path, base); ok {
			return "/v1/" + rest
		}
	}
	switch first, rest, more := strings.Cut(strings.TrimPrefix(path, "/"), "/"); first {
	case "chat":
		if rest == "completions" {
			return "/v1" + path
		}
	case "completions", "embeddings":
		if !more {
			return "/v1" + path
		}
	case "responses", "messages", "models":
		return "/v1" + path
	}
	return path
}

// deployments begins the paths of Azure's older API, in which the model's deployment is a segment.
const deployments = "/openai/deployments/"

// Deployment returns the deployment that a path of Azure's older API names in place of a model, and the path of the same endpoint of OpenAI;
// "" for any other path.
func Deployment(path string) (name, endpoint string) {
	rest, ok := strings.CutPrefix(path, deployments)
	if !ok {
		return "", ""
	}
	name, operation, _ := strings.Cut(rest, "/")
	if name == "" || operation == "" || strings.Contains(path, "%") { // an escape may be one of a slash
		return "", ""
	}
	return name, "/v1/" + operation
}

// older returns the path of OpenAI's endpoint for a path of Azure's older API, in which responses have no deployment in their path; path
// itself for any other path.
func older(path string) string {
	if _, endpoint := Deployment(path); endpoint != "" {
		return endpoint
	}
	const responses = "/openai/responses"
	if rest, ok := strings.CutPrefix(path, responses); ok && (rest == "" || rest[0] == '/') {
		return "/v1/responses" + rest
	}
	return path
}
