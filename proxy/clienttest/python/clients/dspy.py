import dspy

from tasks import *


def connect(site, **more):
    """connect returns a model without the library's own cache, which would answer the second time."""
    return dspy.LM(f"openai/{more.pop('model', MODEL)}", api_base=site["base_url"], api_key=site["api_key"], cache=False, **more)


def predict(site, signature="question -> answer", text=QUESTION, program=dspy.Predict, **more):
    with dspy.context(lm=connect(site, **more)):
        return program(signature)(question=text).toDict()


class Naming(dspy.Signature):
    """Name a book."""

    question: str = dspy.InputField()
    book: Book = dspy.OutputField()


class Calling(dspy.Signature):
    """Call tools."""

    question: str = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    calls: dspy.ToolCalls = dspy.OutputField()


def call(site):
    """call asks for calls in the form of the API. In the library's own form, as its agents have it, the engine calls none."""
    with dspy.context(lm=connect(site), adapter=dspy.ChatAdapter(use_native_function_calling=True)):
        return dspy.Predict(Calling)(question=CALLING_TWO, tools=[dspy.Tool(t) for t in TOOLS]).toDict()


async def whole_async(site):
    with dspy.context(lm=connect(site)):
        return (await dspy.Predict("question -> answer").acall(question=QUESTION)).toDict()


def embed(site):
    return dspy.Embedder(f"openai/{EMBEDDER}", caching=False, api_base=site["base_url"], api_key=site["api_key"])(TEXTS).tolist()


SCENARIOS = {
    "plain": lambda site: connect(site)(messages=MESSAGES),
    "predict": predict,
    "thought": lambda site: predict(site, program=dspy.ChainOfThought),
    "structured": lambda site: predict(site, Naming),
    "tools": call,
    "async": whole_async,
    "embeddings": embed,
    "unauthorized": lambda site: failure(connect(site), messages=MESSAGES),
    "unknown-model": lambda site: failure(connect(site, model="nothing"), messages=MESSAGES),
    "rate-limit": lambda site: failure(connect(site, num_retries=0), messages=MESSAGES),
    "timeout": lambda site: failure(connect(site, num_retries=0, timeout=PATIENCE), messages=MESSAGES),
    "retried": lambda site: connect(site)(messages=MESSAGES),
    "too-long": lambda site: failure(connect(site), TOO_LONG),
}
