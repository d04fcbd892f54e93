import asyncio

from openai import AsyncOpenAI, OpenAI, pydantic_function_tool

from tasks import *


def ask(text=QUESTION, **more):
    return {"model": MODEL, "messages": [user(text)], **more}


def chat(site, **more):
    return OpenAI(**site).chat.completions.create(**ask(**more))


def stream(site, **more):
    """stream reads a stream chunk by chunk."""
    got = {"text": "", "finish": [], "usage": []}
    for chunk in chat(site, stream=True, **more):
        for choice in chunk.choices:
            got["text"] += choice.delta.content or ""
            if choice.finish_reason:
                got["finish"].append(choice.finish_reason)
        if chunk.usage:
            got["usage"].append(chunk.usage)
        got["model"] = chunk.model
    return got


def summed(site, text=QUESTION, **more):
    """summed reads a stream with the accumulator of the library."""
    with OpenAI(**site).chat.completions.stream(**ask(text, **more)) as events:
        for _ in events:
            pass
        return events.get_final_completion()


def conversation(site):
    client = OpenAI(**site)
    first = client.chat.completions.create(**ask())
    messages = [user(QUESTION), first.choices[0].message, user(NEXT)]
    return [first, client.chat.completions.create(model=MODEL, messages=messages)]


CHAT_TOOLS = [{"type": "function", "function": {"name": t.__name__, "description": t.__doc__, "parameters": schema(t), "strict": True}} for t in TOOLS]
RESPONSE_TOOLS = [{"type": "function", "name": t.__name__, "description": t.__doc__, "parameters": schema(t), "strict": True} for t in TOOLS]


def loop(site, text=CALLING, create=None):
    """loop calls the tools that the model wants until it answers, with the library's messages as they came."""
    client = OpenAI(**site)
    create = create or client.chat.completions.create
    messages = [user(text)]
    while True:
        message = create(model=MODEL, messages=messages, tools=CHAT_TOOLS).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return messages
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": called(call.function.name, call.function.arguments)})


def loop_streamed(site, text=CALLING):
    client = OpenAI(**site)

    def create(**request):
        with client.chat.completions.stream(**request) as events:
            return events.get_final_completion()

    return loop(site, text, create)


def response(site, text=QUESTION, **more):
    return OpenAI(**site).responses.create(model=MODEL, input=text, **more)


def response_stream(site, text=QUESTION, **more):
    with OpenAI(**site).responses.stream(model=MODEL, input=text, **more) as events:
        return {"kinds": kinds(e.type for e in events), "final": events.get_final_response()}


def response_loop(site, text=CALLING, model=MODEL):
    client = OpenAI(**site)
    answers, messages = [], [user(text)]
    while True:
        answers.append(client.responses.create(model=model, input=messages, tools=RESPONSE_TOOLS))
        messages += answers[-1].output
        calls = [item for item in answers[-1].output if item.type == "function_call"]
        if not calls:
            return answers
        for call in calls:
            messages.append({"type": "function_call_output", "call_id": call.call_id, "output": called(call.name, call.arguments)})


def loop_at_server(site):
    """loop_at_server is a loop whose conversation the server keeps."""
    client = OpenAI(**site)
    answers = [client.responses.create(model=MODEL, input=CALLING, tools=RESPONSE_TOOLS)]
    while calls := [item for item in answers[-1].output if item.type == "function_call"]:
        results = [{"type": "function_call_output", "call_id": call.call_id, "output": called(call.name, call.arguments)} for call in calls]
        answers.append(client.responses.create(model=MODEL, input=results, tools=RESPONSE_TOOLS, previous_response_id=answers[-1].id))
    return answers


async def at_once(site):
    """at_once is several requests of one client at the same time. Two are the same, and may have one answer."""
    async with AsyncOpenAI(**site) as client:
        answers = await asyncio.gather(*(client.chat.completions.create(**ask(text)) for text in (QUESTION, NEXT, NAMING, QUESTION)))
        return [answer.choices for answer in answers]


async def stream_async(site):
    async with AsyncOpenAI(**site) as client:
        text = ""
        async for chunk in await client.chat.completions.create(**ask(stream=True, stream_options={"include_usage": True})):
            text += chunk.choices[0].delta.content or "" if chunk.choices else f" {chunk.usage.total_tokens}"
        return text


def embed(site, **more):
    return OpenAI(**site).embeddings.create(model=EMBEDDER, input=TEXTS, **more)


def parse(site):
    return OpenAI(**site).chat.completions.parse(**ask(NAMING, response_format=Book)).choices[0].message.parsed


def parse_tool(site):
    tools = [pydantic_function_tool(Book)]
    return OpenAI(**site).chat.completions.parse(**ask("Please call tool.", tools=tools)).choices[0].message


SCENARIOS = {
    "chat": chat,
    "stream": stream,
    "stream-usage": lambda site: stream(site, stream_options={"include_usage": True}),
    "stream-then-whole": lambda site: [summed(site), chat(site)],
    "whole-then-stream": lambda site: [chat(site), summed(site)],
    "raw": lambda site: OpenAI(**site).chat.completions.with_raw_response.create(**ask()).parse(),
    "conversation": conversation,
    "attributed": lambda site: chat(site, user="someone", metadata={"run": "1"}, store=False),
    "tools": loop,
    "tools-stream": loop_streamed,
    "tools-at-once": lambda site: loop(site, CALLING_TWO),
    "tools-at-once-stream": lambda site: loop_streamed(site, CALLING_TWO),
    "structured": parse,
    "structured-tool": parse_tool,
    "structured-stream": lambda site: summed(site, NAMING, response_format=Book),
    "response": response,
    "response-stream": response_stream,
    "response-tools": response_loop,
    "response-tools-at-once": lambda site: response_loop(site, CALLING_TWO),
    "response-structured": lambda site: OpenAI(**site).responses.parse(model=MODEL, input=NAMING, text_format=Book).output_parsed,
    "reasoning": lambda site: response_loop(site, model=REASONING),
    "steps-at-server": loop_at_server,
    "async": at_once,
    "async-stream": stream_async,
    "embeddings": embed,
    "embeddings-float": lambda site: embed(site, encoding_format="float", dimensions=8),
    "unauthorized": lambda site: failure(chat, site),
    "unknown-model": lambda site: failure(chat, site, model="nothing"),
    "rate-limit": lambda site: failure(chat, {**site, "max_retries": 0}),
    "timeout": lambda site: failure(chat, {**site, "max_retries": 1, "timeout": PATIENCE}),
    "timeout-stream": lambda site: failure(stream, {**site, "max_retries": 0, "timeout": PATIENCE}),
    "retried": chat,
    "too-long": lambda site: failure(chat, site, text=TOO_LONG),
}
