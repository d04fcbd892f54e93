from haystack import Document
from haystack.components.agents import Agent
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret

from tasks import *


def at(site, model=MODEL, **more):
    return {"model": model, "api_base_url": site["base_url"], "api_key": Secret.from_token(site["api_key"]), **more}


ASKED = [ChatMessage.from_system(SYSTEM), ChatMessage.from_user(QUESTION)]


def said(messages):
    """said is messages without the time at which the library got the first chunk."""
    all_of = [m.to_dict() for m in messages]
    for m in all_of:
        m["meta"].pop("completion_start_time", None)
    return all_of


def chat(site, asked=ASKED, generator=OpenAIChatGenerator, **more):
    return said(generator(**at(site, **more)).run(asked)["replies"])


def stream(site):
    seen = []
    replies = chat(site, streaming_callback=lambda chunk: seen.append(chunk.content))
    return {"text": "".join(seen), "replies": replies}


def conversation(site):
    generator = OpenAIChatGenerator(**at(site))
    one = generator.run(ASKED)["replies"][0]
    return said([one, *generator.run([*ASKED, one, ChatMessage.from_user(NEXT)])["replies"]])


def loop(site, text=CALLING, generator=OpenAIChatGenerator):
    """loop is the library's agent."""
    agent = Agent(chat_generator=generator(**at(site)), tools=[create_tool_from_function(t) for t in TOOLS], system_prompt=SYSTEM)
    return said(agent.run(messages=[ChatMessage.from_user(text)])["messages"])


async def whole_async(site):
    return said((await OpenAIChatGenerator(**at(site)).run_async(ASKED))["replies"])


def embed(site):
    documents = OpenAIDocumentEmbedder(**at(site, EMBEDDER), progress_bar=False).run([Document(content=text) for text in TEXTS])["documents"]
    return [[d.embedding for d in documents], OpenAITextEmbedder(**at(site, EMBEDDER)).run(QUESTION)["embedding"]]


SCENARIOS = {
    "plain": chat,
    "stream": stream,
    "conversation": conversation,
    "tools": loop,
    "tools-at-once": lambda site: loop(site, CALLING_TWO),
    "structured": lambda site: chat(site, [ChatMessage.from_user(NAMING)], generation_kwargs={"response_format": Book}),
    "response": lambda site: chat(site, generator=OpenAIResponsesChatGenerator),
    "response-tools": lambda site: loop(site, generator=OpenAIResponsesChatGenerator),
    "async": whole_async,
    "embeddings": embed,
    "unauthorized": lambda site: failure(chat, site),
    "unknown-model": lambda site: failure(chat, site, model="nothing"),
    "rate-limit": lambda site: failure(chat, site, max_retries=0),
    "timeout": lambda site: failure(chat, site, max_retries=0, timeout=PATIENCE),
    "retried": chat,
    "too-long": lambda site: failure(chat, site, [ChatMessage.from_user(TOO_LONG)]),
}
