from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool
from openai import AsyncOpenAI

from tasks import *


def settings(site, chat=False, **more):
    return RunConfig(model_provider=OpenAIProvider(openai_client=AsyncOpenAI(**site, **more), use_responses=not chat))


def guide(**more):
    return Agent(**{"name": "Guide", "instructions": SYSTEM, "model": MODEL, **more})


def said(result):
    return {"output": result.final_output, "input": result.to_input_list(), "usage": [r.usage for r in result.raw_responses]}


async def run(site, text=QUESTION, agent=None, chat=False, **more):
    return said(await Runner.run(agent or guide(), text, run_config=settings(site, chat, **more)))


async def stream(site, text=QUESTION, agent=None, chat=False):
    result = Runner.run_streamed(agent or guide(), text, run_config=settings(site, chat))
    seen = [event.name if event.type == "run_item_stream_event" else event.type async for event in result.stream_events()]
    return {"kinds": kinds(seen), **said(result)}


async def conversation(site):
    one = await Runner.run(guide(), QUESTION, run_config=settings(site))
    return [said(one), await run(site, [*one.to_input_list(), user(NEXT)])]


async def at_server(site):
    one = await Runner.run(guide(), QUESTION, run_config=settings(site))
    return [said(one), said(await Runner.run(guide(), NEXT, run_config=settings(site), previous_response_id=one.last_response_id))]


def equipped(**more):
    return guide(tools=[function_tool(t) for t in TOOLS], **more)


def handoff(site):
    """handoff is an agent that passes the conversation on to another, by the call of a tool."""
    return run(site, "Please call tool.", guide(handoffs=[guide(name="Other", handoff_description="knows rivers")]))


SCENARIOS = {
    "plain": run,
    "stream": stream,
    "conversation": conversation,
    "steps-at-server": at_server,
    "tools": lambda site: run(site, CALLING, equipped()),
    "tools-stream": lambda site: stream(site, CALLING, equipped()),
    "tools-at-once": lambda site: run(site, CALLING_TWO, equipped()),
    "reasoning": lambda site: run(site, CALLING, equipped(model=REASONING)),
    "handoff": handoff,
    "structured": lambda site: run(site, NAMING, guide(output_type=Book)),
    "chat": lambda site: run(site, chat=True),
    "chat-stream": lambda site: stream(site, chat=True),
    "chat-tools": lambda site: run(site, CALLING, equipped(), chat=True),
    "chat-tools-stream": lambda site: stream(site, CALLING, equipped(), chat=True),
    "chat-structured": lambda site: run(site, NAMING, guide(output_type=Book), chat=True),
    "unauthorized": lambda site: afailure(run(site)),
    "unknown-model": lambda site: afailure(run(site, agent=guide(model="nothing"))),
    "rate-limit": lambda site: afailure(run(site, max_retries=0)),
    "timeout": lambda site: afailure(run(site, max_retries=0, timeout=PATIENCE)),
    "retried": run,
    "too-long": lambda site: afailure(run(site, TOO_LONG)),
}
