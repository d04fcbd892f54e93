"""What each library is asked for, as in node/tasks.mjs. Libraries run at their own defaults, except where a task says so."""

import json
import re
from itertools import groupby

from pydantic import BaseModel

MODEL = "gpt-4o"
CLAUDE = "claude-sonnet-5-5"
REASONING = "gpt-5"  # a model whose answers begin with an item of reasoning
EMBEDDER = "text-embedding-3-small"
SYSTEM = "You are a friendly guide."
QUESTION = "What is a delta?"
NEXT = "Where is one?"
NAMING = "Name a book."
CALLING = "Please call tool 3 times."  # the engine then calls one tool after the other, and answers
CALLING_TWO = "Please call tools 2 times."  # two tools at once, and then again
TEXTS = ["the red car", "a delta"]
TOO_LONG = "word " * 6000
PATIENCE = 0.5  # seconds that a client waits for an engine that never answers


class Book(BaseModel):
    title: str
    pages: int
    tags: list[str]


def weather(city: str, days: int) -> str:
    """The weather of the next days.

    Args:
        city: where.
        days: how many.
    """
    return f"{days} days of sun in {city}"


def distance(start: str, end: str) -> str:
    """The distance of two places.

    Args:
        start: where from.
        end: where to.
    """
    return f"{len(start) + len(end)} km"


TOOLS = [weather, distance]


def schema(tool):
    """schema is the parameters of a tool, as an application writes them."""
    of = {str: "string", int: "integer"}
    properties = {name: {"type": of[kind]} for name, kind in tool.__annotations__.items() if name != "return"}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def called(name, arguments):
    """called is the result of a tool."""
    return {t.__name__: t for t in TOOLS}[name](**(json.loads(arguments) if isinstance(arguments, str) else arguments))


def user(content):
    return {"role": "user", "content": content}


MESSAGES = [{"role": "system", "content": SYSTEM}, user(QUESTION)]


def kinds(events):
    """kinds is the order of the events of a stream, without repeats: a replay may cut the text at other places."""
    return " ".join(kind for kind, _ in groupby(events))


def details(err):
    """details is the part of an error that an application would use."""
    response = getattr(err, "response", None)
    return {
        "kind": type(err).__name__,
        "status": getattr(err, "status_code", None),
        "code": getattr(err, "code", None),
        "message": re.sub(r"req_\w+", "req", str(err)),
        "retry_after": response.headers.get("retry-after") if response is not None else None,
        "cause": details(err.__cause__) if err.__cause__ and hasattr(err.__cause__, "status_code") else None,
    }


def failure(call, *args, **more):
    """failure is the error of a call that must fail."""
    try:
        result = call(*args, **more)
    except Exception as err:
        return details(err)
    raise AssertionError(f"no error, but {result}")


async def afailure(awaited):
    """afailure is failure for what is awaited."""
    try:
        result = await awaited
    except Exception as err:
        return details(err)
    raise AssertionError(f"no error, but {result}")
