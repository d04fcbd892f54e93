from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tasks import *


def graph(site, **more):
    """graph is a loop of a model and its tools, built node by node, that keeps its state."""
    llm = ChatOpenAI(**{"model": MODEL, **site, **more}).bind_tools(TOOLS)
    built = StateGraph(MessagesState)
    built.add_node("model", lambda state: {"messages": [llm.invoke(state["messages"])]})
    built.add_node("tools", ToolNode(TOOLS))
    built.add_edge(START, "model")
    built.add_conditional_edges("model", tools_condition)
    built.add_edge("tools", "model")
    return built.compile(checkpointer=MemorySaver())


THREAD = {"configurable": {"thread_id": "1"}}


def said(state):
    """said is the messages of a state without the ids that the library made."""
    return [{"id": m.id if m.type == "ai" else None, "type": m.type, "content": m.content, "tool_calls": getattr(m, "tool_calls", None), "usage": getattr(m, "usage_metadata", None)} for m in state["messages"]]


def run(site, text=QUESTION, **more):
    return said(graph(site, **more).invoke({"messages": [user(text)]}, THREAD))


def conversation(site):
    app = graph(site)
    app.invoke({"messages": [user(QUESTION)]}, THREAD)
    return said(app.invoke({"messages": [user(NEXT)]}, THREAD))


def stream(site):
    nodes, text = [], ""
    for mode, part in graph(site).stream({"messages": [user(CALLING)]}, THREAD, stream_mode=["updates", "messages"]):
        if mode == "messages":
            text += part[0].text
        else:
            nodes += part
    return {"nodes": nodes, "text": text}


async def whole_async(site):
    return said(await graph(site).ainvoke({"messages": [user(CALLING)]}, THREAD))


SCENARIOS = {
    "plain": run,
    "conversation": conversation,
    "tools": lambda site: run(site, CALLING),
    "tools-at-once": lambda site: run(site, CALLING_TWO),
    "tools-stream": stream,
    "response-tools": lambda site: run(site, CALLING, use_responses_api=True),
    "async": whole_async,
    "unauthorized": lambda site: failure(run, site),
    "unknown-model": lambda site: failure(run, site, model="nothing"),
    "rate-limit": lambda site: failure(run, site, max_retries=0),
    "timeout": lambda site: failure(run, site, max_retries=0, timeout=PATIENCE),
    "retried": run,
    "too-long": lambda site: failure(run, site, TOO_LONG),
}
