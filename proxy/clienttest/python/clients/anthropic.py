import asyncio

from anthropic import Anthropic, AsyncAnthropic, beta_tool

from tasks import *


def connect(site, client=Anthropic):
    """connect returns a client. The library adds /v1 itself."""
    return client(**{**site, "base_url": site["base_url"].removesuffix("/v1")})


def ask(text=QUESTION, **more):
    return {"model": CLAUDE, "max_tokens": 1024, "system": SYSTEM, "messages": [user(text)], **more}


def whole(site, **more):
    return connect(site).messages.create(**ask(**more))


def stream(site, **more):
    with connect(site).messages.stream(**ask(**more)) as events:
        return {"kinds": kinds(e.type for e in events), "message": events.get_final_message()}


def conversation(site):
    client = connect(site)
    one = client.messages.create(**ask())
    return [one, client.messages.create(**ask(messages=[user(QUESTION), {"role": "assistant", "content": one.content}, user(NEXT)]))]


def runner(site, text=CALLING, **more):
    """runner is the library's own loop. By default it keeps the conversation at the server, in a thread."""
    answers = connect(site).beta.messages.tool_runner(**ask(text), tools=[beta_tool(t) for t in TOOLS], **more)
    return [answer.get_final_message() if more.get("stream") else answer for answer in answers]


def written(site, text=CALLING):
    """written is a loop that an application writes itself."""
    client = connect(site)
    tools = [{"name": t.__name__, "description": t.__doc__, "input_schema": schema(t)} for t in TOOLS]
    messages = [user(text)]
    while True:
        message = client.messages.create(**ask(messages=messages, tools=tools))
        messages.append({"role": "assistant", "content": message.content})
        uses = [part for part in message.content if part.type == "tool_use"]
        if not uses:
            return messages
        messages.append(user([{"type": "tool_result", "tool_use_id": u.id, "content": called(u.name, u.input)} for u in uses]))


async def at_once(site):
    """at_once is several requests of one client at the same time. Two are the same, and may have one answer."""
    async with connect(site, AsyncAnthropic) as client:
        answers = await asyncio.gather(*(client.messages.create(**ask(text)) for text in (QUESTION, NEXT, QUESTION)))
        return [answer.content for answer in answers]


SCENARIOS = {
    "plain": whole,
    "stream": stream,
    "conversation": conversation,
    "cached": lambda site: whole(site, system=[{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]),
    "tools": lambda site: runner(site, thread=False),
    "tools-stream": lambda site: runner(site, thread=False, stream=True),
    "tools-at-once": lambda site: runner(site, CALLING_TWO, thread=False),
    "tools-thread": runner,
    "tools-written": written,
    "structured": lambda site: connect(site).messages.parse(**ask(NAMING), output_format=Book).parsed_output,
    "async": at_once,
    "unauthorized": lambda site: failure(whole, site),
    "unknown-model": lambda site: failure(whole, site, model="nothing"),
    "rate-limit": lambda site: failure(whole, {**site, "max_retries": 0}),
    "timeout": lambda site: failure(whole, {**site, "max_retries": 0, "timeout": PATIENCE}),
    "retried": whole,
    "too-long": lambda site: failure(whole, site, text=TOO_LONG),
}
