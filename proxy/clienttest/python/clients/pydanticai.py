from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from tasks import *


def chat(site, name=MODEL, api=OpenAIChatModel, **more):
    return api(name, provider=OpenAIProvider(openai_client=AsyncOpenAI(**site, **more)))


def claude(site):
    return AnthropicModel(CLAUDE, provider=AnthropicProvider(anthropic_client=AsyncAnthropic(base_url=site["base_url"].removesuffix("/v1"), api_key=site["api_key"])))


def agent(model, **more):
    return Agent(model, instructions=SYSTEM, **more)


def said(result, output=None):
    return {"output": output or result.output, "parts": [[part.part_kind, getattr(part, "content", None), getattr(part, "args", None)] for m in result.all_messages() for part in m.parts], "usage": [result.usage.input_tokens, result.usage.output_tokens]}


async def run(model, text=QUESTION, **more):
    return said(await agent(model, **more).run(text))


async def stream(model, text=QUESTION, **more):
    async with agent(model, **more).run_stream(text) as result:
        return said(result, await result.get_output())


async def conversation(site):
    guide = agent(chat(site))
    one = await guide.run(QUESTION)
    return [said(one), said(await guide.run(NEXT, message_history=one.all_messages()))]


def responses(site, name=MODEL):
    return chat(site, name, OpenAIResponsesModel)


async def embed(site):
    model = OpenAIEmbeddingModel(EMBEDDER, provider=OpenAIProvider(openai_client=AsyncOpenAI(**site)))
    return (await model.embed(TEXTS, input_type="document")).embeddings


SCENARIOS = {
    "plain": lambda site: said(agent(chat(site)).run_sync(QUESTION)),
    "stream": lambda site: stream(chat(site)),
    "conversation": conversation,
    "tools": lambda site: run(chat(site), CALLING, tools=TOOLS),
    "tools-stream": lambda site: stream(chat(site), CALLING, tools=TOOLS),
    "tools-at-once": lambda site: run(chat(site), CALLING_TWO, tools=TOOLS),
    "structured": lambda site: run(chat(site), NAMING, output_type=Book),
    "structured-stream": lambda site: stream(chat(site), NAMING, output_type=Book),
    "response": lambda site: run(responses(site)),
    "response-stream": lambda site: stream(responses(site)),
    "response-tools": lambda site: run(responses(site), CALLING, tools=TOOLS),
    "reasoning-sealed": lambda site: run(responses(site, REASONING), CALLING, tools=TOOLS),
    "claude": lambda site: run(claude(site)),
    "claude-tools": lambda site: run(claude(site), CALLING, tools=TOOLS),
    "embeddings": embed,
    "unauthorized": lambda site: afailure(run(chat(site))),
    "unknown-model": lambda site: afailure(run(chat(site, "nothing"))),
    "rate-limit": lambda site: afailure(run(chat(site, max_retries=0))),
    "timeout": lambda site: afailure(run(chat(site, max_retries=0, timeout=PATIENCE))),
    "retried": lambda site: run(chat(site)),
    "too-long": lambda site: afailure(run(chat(site), TOO_LONG)),
}
