import litellm
from litellm.types.utils import ModelResponse

from tasks import *

# Before it asks, the library looks for the names of models and of keys in its own tables.
OPENAI, ANTHROPIC = f"openai/{MODEL}", f"anthropic/{CLAUDE}"


def at(site, model=OPENAI):
    """at is the arguments that name the server. Those of Anthropic add /v1 themselves."""
    base = site["base_url"] if model.startswith("openai/") else site["base_url"].removesuffix("/v1")
    return {"model": model, "api_base": base, "api_key": site["api_key"]}


def chat(site, text=QUESTION, model=OPENAI, **more):
    return litellm.completion(**at(site, model), **{"messages": [user(text)], **more})


def stream(site, **more):
    chunks = list(chat(site, stream=True, **more))
    return litellm.stream_chunk_builder(chunks)


def conversation(site):
    one = chat(site)
    return [one, chat(site, messages=[user(QUESTION), one.choices[0].message, user(NEXT)])]


CHAT_TOOLS = [{"type": "function", "function": {"name": t.__name__, "description": t.__doc__, "parameters": schema(t)}} for t in TOOLS]


def loop(site, text=CALLING, create=chat, **more):
    messages = [user(text)]
    while True:
        message = create(site, messages=messages, tools=CHAT_TOOLS, **more).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return messages
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "name": call.function.name, "content": called(call.function.name, call.function.arguments)})


async def whole_async(site) -> ModelResponse:
    return await litellm.acompletion(**at(site), messages=MESSAGES)


async def stream_async(site):
    return "".join([chunk.choices[0].delta.content or "" async for chunk in await litellm.acompletion(**at(site), messages=MESSAGES, stream=True)])


def embed(site):
    return litellm.embedding(**at(site, f"openai/{EMBEDDER}"), input=TEXTS)


SCENARIOS = {
    "plain": chat,
    "stream": stream,
    "stream-usage": lambda site: stream(site, stream_options={"include_usage": True}),
    "conversation": conversation,
    "attributed": lambda site: chat(site, user="someone", metadata={"run": "1"}),
    "tools": loop,
    "tools-stream": lambda site: loop(site, create=stream),
    "tools-at-once": lambda site: loop(site, CALLING_TWO),
    "structured": lambda site: chat(site, NAMING, response_format=Book),
    "claude": lambda site: chat(site, model=ANTHROPIC),
    "claude-stream": lambda site: stream(site, model=ANTHROPIC),
    "claude-tools": lambda site: loop(site, model=ANTHROPIC),
    "response": lambda site: litellm.responses(**at(site), input=QUESTION),
    "async": whole_async,
    "async-stream": stream_async,
    "embeddings": embed,
    "unauthorized": lambda site: failure(chat, site),
    "unknown-model": lambda site: failure(chat, site, model="openai/nothing"),
    "rate-limit": lambda site: failure(chat, site, max_retries=0),
    "timeout": lambda site: failure(chat, site, max_retries=0, timeout=PATIENCE),
    "retried": chat,
    "too-long": lambda site: failure(chat, site, text=TOO_LONG),
}
