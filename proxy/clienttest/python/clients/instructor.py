import instructor
from openai import AsyncOpenAI, OpenAI

from tasks import *


def ask(site, mode=instructor.Mode.TOOLS, text=NAMING, model=MODEL, **more):
    client = instructor.from_openai(OpenAI(**site, **more), mode=mode)
    return client.chat.completions.create(model=model, messages=[user(text)], response_model=Book)


def with_completion(site):
    client = instructor.from_openai(OpenAI(**site))
    return list(client.chat.completions.create_with_completion(model=MODEL, messages=[user(NAMING)], response_model=Book))


def stream(site):
    client = instructor.from_openai(OpenAI(**site))
    return list(client.chat.completions.create_partial(model=MODEL, messages=[user(NAMING)], response_model=Book))[-1]


async def whole_async(site):
    client = instructor.from_openai(AsyncOpenAI(**site))
    return await client.chat.completions.create(model=MODEL, messages=[user(NAMING)], response_model=Book)


def plain(site):
    return instructor.from_openai(OpenAI(**site)).chat.completions.create(model=MODEL, messages=MESSAGES, response_model=None)


SCENARIOS = {
    "plain": plain,
    "structured": ask,
    "structured-answer": with_completion,
    "structured-json": lambda site: ask(site, instructor.Mode.JSON_SCHEMA),
    "structured-stream": stream,
    "async": whole_async,
    "unauthorized": lambda site: failure(ask, site),
    "unknown-model": lambda site: failure(ask, site, model="nothing"),
    "rate-limit": lambda site: failure(ask, site, max_retries=0),
    "timeout": lambda site: failure(ask, site, max_retries=0, timeout=PATIENCE),
    "retried": ask,
    "too-long": lambda site: failure(ask, site, text=TOO_LONG),
}
