from smolagents import CodeAgent, LogLevel, OpenAIModel, ToolCallingAgent, tool

from tasks import *


def connect(site, model=MODEL, **more):
    return OpenAIModel(model_id=model, api_base=site["base_url"], api_key=site["api_key"], **more)


ASKED = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]


def said(message):
    return {"content": message.content, "usage": message.token_usage, "raw": message.raw}


def plain(site, asked=ASKED, **more):
    return said(connect(site, **more)(asked))


def stream(site):
    return "".join(part.content or "" for part in connect(site).generate_stream(ASKED))


def loop(site, **more):
    """loop must call tools, the last of which has the answer. The library writes the calls, with their ids, into the text of its next prompt."""
    agent = ToolCallingAgent(tools=[tool(t) for t in TOOLS], model=connect(site), verbosity_level=LogLevel.OFF, **more)
    answer = agent.run("What is the weather of the next days?", max_steps=6)
    return {"answer": answer, "steps": [[c.name, c.arguments] for step in agent.memory.steps for c in getattr(step, "tool_calls", None) or []]}


def code(site):
    """code is the agent that writes programs. The engine can't: it is told so, and answers in the end without one."""
    agent = CodeAgent(tools=[tool(t) for t in TOOLS], model=connect(site), verbosity_level=LogLevel.OFF)
    return agent.run(QUESTION, max_steps=2)


SCENARIOS = {
    "plain": plain,
    "stream": stream,
    "tools-as-text": loop,
    "tools-as-text-stream": lambda site: loop(site, stream_outputs=True),
    "code": code,
    "unauthorized": lambda site: failure(plain, site),
    "unknown-model": lambda site: failure(plain, site, model="nothing"),
    "rate-limit": lambda site: failure(plain, site, retry=False, client_kwargs={"max_retries": 0}),
    "timeout": lambda site: failure(plain, site, retry=False, client_kwargs={"max_retries": 0, "timeout": PATIENCE}),
    "retried": plain,
    "too-long": lambda site: failure(plain, site, [user(TOO_LONG)]),
}
