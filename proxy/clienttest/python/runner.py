"""Runs the scenarios of one client library at several sites, one after the other.

    runner.py MODULE SITE,... [SCENARIO ...]

Without names, all. Each scenario has a base URL and a key of its own. It writes a line of JSON for each: the scenario, and its result or an
unexpected error.
"""

import asyncio
import dataclasses
import importlib
import importlib.util
import inspect
import json
import os
import socket
import sys
import tempfile
import traceback

_, module, sites, *names = sys.argv

cache = tempfile.TemporaryDirectory()

# What libraries send home, and what they fetch from other machines.
os.environ.update(
    DO_NOT_TRACK="1",
    DSPY_CACHEDIR=cache.name,
    HAYSTACK_TELEMETRY_ENABLED="False",
    HF_HUB_OFFLINE="1",
    LANGSMITH_TRACING="false",
    LITELLM_LOCAL_MODEL_COST_MAP="True",
    OPENAI_AGENTS_DISABLE_TRACING="1",
)
if litellm := importlib.util.find_spec("litellm"):  # it comes with OpenAI's tokenizer, which others fetch
    os.environ["TIKTOKEN_CACHE_DIR"] = os.path.join(litellm.submodule_search_locations[0], "litellm_core_utils", "tokenizers")

# A connection to another machine fails, and so does the scenario: the library would send the test's requests there.
elsewhere = []


def on_loopback(function):
    def checked(self, address, *args):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "localhost", "::1"):
            elsewhere.append(address[0])
            raise OSError(f"a connection to {address[0]}")
        return function(self, address, *args)

    return checked


def named_on_loopback(host, *args, **more):
    if host not in (None, "127.0.0.1", "localhost", "::1", b"127.0.0.1", b"localhost"):
        elsewhere.append(str(host))
        raise OSError(f"a look-up of {host}")
    return lookup(host, *args, **more)


class Socket(socket.socket):
    connect = on_loopback(socket.socket.connect)
    connect_ex = on_loopback(socket.socket.connect_ex)


lookup, socket.getaddrinfo, socket.socket = socket.getaddrinfo, named_on_loopback, Socket


def plain(v):
    """plain is v, which JSON has no form for, as something that it has one for."""
    if hasattr(v, "model_dump"):
        return v.model_dump(mode="json", warnings=False)
    if dataclasses.is_dataclass(v):
        return {f.name: getattr(v, f.name) for f in dataclasses.fields(v)}
    return str(v)


def run(scenario, site):
    result = scenario(site)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


out, sys.stdout = sys.stdout, sys.stderr  # some libraries print what they do
scenarios = importlib.import_module(f"clients.{module}").SCENARIOS
for at, base in enumerate(sites.split(",")):
    for name in names or scenarios:
        line = {"site": at, "scenario": name}
        try:
            line["result"] = run(scenarios[name], {"base_url": f"{base}/{name}/v1", "api_key": f"sk-{module}-{name}"})
        except Exception:
            line["error"] = traceback.format_exc()
        if elsewhere:
            line["error"] = f"connections to {elsewhere}"
        print(json.dumps(line, default=plain), file=out, flush=True)
