from clients.openai import SCENARIOS as OPENAI


def at_google(scenario):
    """at_google is a scenario of OpenAI's library at the path of Gemini's API for it."""
    return lambda site: scenario({**site, "base_url": site["base_url"].removesuffix("/v1") + "/v1beta/openai/"})


SCENARIOS = {name: at_google(OPENAI[name]) for name in ("chat", "stream", "conversation", "tools", "tools-at-once-stream", "structured", "async", "embeddings", "unauthorized", "retried")}
