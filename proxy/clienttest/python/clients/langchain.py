from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from tasks import *


def connect(site, **more):
    return ChatOpenAI(**{"model": MODEL, **site, **more})


ASKED = [("system", SYSTEM), ("human", QUESTION)]


def streamed(llm, messages):
    total = None
    for chunk in llm.stream(messages):
        total = chunk if total is None else total + chunk
    return total


def conversation(site):
    llm = connect(site)
    one = llm.invoke([HumanMessage(QUESTION)])
    return [one, llm.invoke([HumanMessage(QUESTION), one, HumanMessage(NEXT)])]


def loop(site, text=CALLING, **more):
    """loop is the agent that the library has."""
    state = create_agent(connect(site, **more), TOOLS, system_prompt=SYSTEM).invoke({"messages": [user(text)]})
    return state["messages"][1:]  # of the first the library made the id


def loop_streamed(site, **more):
    agent = create_agent(connect(site, **more), TOOLS, system_prompt=SYSTEM)
    seen, text = [], ""
    for mode, part in agent.stream({"messages": [user(CALLING)]}, stream_mode=["updates", "messages"]):
        if mode == "messages":
            text += part[0].text
        else:
            seen += part
    return {"kinds": seen, "text": text}


async def stream_async(site):
    return "".join([chunk.text async for chunk in connect(site).astream(ASKED)])


async def batch(site):
    return await connect(site).abatch([QUESTION, NEXT, NAMING])


RESPONSES = {"use_responses_api": True}

SCENARIOS = {
    "plain": lambda site: connect(site).invoke(ASKED),
    "stream": lambda site: streamed(connect(site), ASKED),
    "conversation": conversation,
    "tools": loop,
    "tools-stream": loop_streamed,
    "tools-at-once": lambda site: loop(site, CALLING_TWO),
    "structured": lambda site: connect(site).with_structured_output(Book).invoke(NAMING),
    "structured-tool": lambda site: connect(site).with_structured_output(Book, method="function_calling").invoke(NAMING),
    "structured-agent": lambda site: create_agent(connect(site), [], response_format=Book).invoke({"messages": [user(NAMING)]})["structured_response"],
    "response": lambda site: connect(site, **RESPONSES).invoke(ASKED),
    "response-stream": lambda site: streamed(connect(site, **RESPONSES), ASKED),
    "response-tools": lambda site: loop(site, **RESPONSES),
    "reasoning": lambda site: loop(site, model=REASONING, **RESPONSES),
    "async": batch,
    "async-stream": stream_async,
    "embeddings": lambda site: OpenAIEmbeddings(model=EMBEDDER, **site).embed_documents(TEXTS),
    "unauthorized": lambda site: failure(connect(site).invoke, ASKED),
    "unknown-model": lambda site: failure(connect(site, model="nothing").invoke, ASKED),
    "rate-limit": lambda site: failure(connect(site, max_retries=0).invoke, ASKED),
    "timeout": lambda site: failure(connect(site, max_retries=0, timeout=PATIENCE).invoke, ASKED),
    "retried": lambda site: connect(site).invoke(ASKED),
    "too-long": lambda site: failure(connect(site).invoke, TOO_LONG),
}
