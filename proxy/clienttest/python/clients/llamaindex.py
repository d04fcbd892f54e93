from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.openai import OpenAI, OpenAIResponses

from tasks import *

MESSAGES = [ChatMessage(role="system", content=SYSTEM), ChatMessage(role="user", content=QUESTION)]


def connect(site, library=OpenAI, **more):
    return library(**{"model": MODEL, "api_base": site["base_url"], "api_key": site["api_key"], **more})


def said(answer):
    return {"text": answer.message.content, "raw": answer.raw}


def chat(site, messages=MESSAGES, **more):
    return said(connect(site, **more).chat(messages))


def stream(llm):
    return "".join(part.delta for part in llm.stream_chat(MESSAGES))


def conversation(site):
    llm = connect(site)
    one = llm.chat(MESSAGES)
    return [said(one), said(llm.chat([*MESSAGES, one.message, ChatMessage(role="user", content=NEXT)]))]


async def loop(site, text=CALLING, library=OpenAI):
    """loop is the library's agent, which streams its requests."""
    agent = FunctionAgent(tools=[FunctionTool.from_defaults(fn=t) for t in TOOLS], llm=connect(site, library), system_prompt=SYSTEM)
    result = await agent.run(text)
    return {"text": str(result), "calls": [[c.tool_name, c.tool_kwargs, c.tool_output.content] for c in result.tool_calls]}


async def stream_async(site):
    return "".join([part.delta async for part in await connect(site).astream_chat(MESSAGES)])


SCENARIOS = {
    "plain": chat,
    "stream": lambda site: stream(connect(site)),
    "complete": lambda site: str(connect(site).complete(QUESTION)),
    "conversation": conversation,
    "tools": loop,
    "tools-at-once": lambda site: loop(site, CALLING_TWO),
    "structured": lambda site: connect(site).as_structured_llm(Book).complete(NAMING).raw,
    "response": lambda site: said(connect(site, OpenAIResponses).chat(MESSAGES)),
    "response-stream": lambda site: stream(connect(site, OpenAIResponses)),
    "response-tools": lambda site: loop(site, library=OpenAIResponses),
    "async-stream": stream_async,
    "embeddings": lambda site: connect(site, OpenAIEmbedding, model=EMBEDDER).get_text_embedding_batch(TEXTS),
    "unauthorized": lambda site: failure(chat, site),
    "rate-limit": lambda site: failure(chat, site, max_retries=0),
    "timeout": lambda site: failure(chat, site, max_retries=0, timeout=PATIENCE),
    "retried": chat,
    "too-long": lambda site: failure(chat, site, [ChatMessage(role="user", content=TOO_LONG)]),
}
