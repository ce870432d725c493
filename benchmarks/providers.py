"""Provider measurements, one a process: `python providers.py serve|wire|bare|provider …`. Each prints a JSON object."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from importlib import import_module
from typing import Any

REQUESTS = 1000
AT_ONCE = 64
TURNS = 20
_ANSWER = "The annual plan can be refunded within 30 days of the purchase. " * 4
ANSWERS: dict[str, dict[str, Any]] = {
    "openai": {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": _ANSWER}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960},
    },
    "responses": {
        "id": "r1", "object": "response", "model": "m", "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": _ANSWER}]}],
        "usage": {"input_tokens": 900, "output_tokens": 60, "total_tokens": 960},
    },
    "anthropic": {
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": _ANSWER}], "usage": {"input_tokens": 900, "output_tokens": 60},
    },
    "gemini": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": _ANSWER}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 900, "candidatesTokenCount": 60},
    },
    "bedrock": {
        "output": {"message": {"role": "assistant", "content": [{"text": _ANSWER}]}}, "stopReason": "end_turn",
        "usage": {"inputTokens": 900, "outputTokens": 60},
    },
}  # fmt: skip


def serialised(value: Any) -> bytes:
    """JSON text, the way that bodies are sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def conversation() -> list[Any]:
    """A system text and twenty turns of the length that people write."""
    text = "I bought the annual plan last week and would like to know whether it can be refunded in part. "
    turns = [{"role": ("user", "assistant")[n % 2], "content": f"{n}. {text * 2}"} for n in range(TURNS - 1)]
    return [{"role": "system", "content": text * 3}, *turns, {"role": "user", "content": "And now?"}]


def wire(name: str) -> dict[str, float]:
    """Microseconds to encode a conversation of twenty turns and to decode its answer, JSON text included: the least
    of many."""
    from turnwise.providers.wire.base import WireRequest

    module = import_module(f"turnwise.providers.wire.{name}")
    request, answer = WireRequest(model="m", messages=conversation()), serialised(ANSWERS[name])
    best = float("inf")
    for _ in range(40):
        start = time.perf_counter()
        for _ in range(50):
            serialised(module.encode(request).body)
            module.decode(json.loads(answer))
        best = min(best, (time.perf_counter() - start) / 50)
    return {"microseconds": best * 1e6}


def serve() -> None:
    """A server that answers every completion at once; prints its port, and ends with its standard input."""
    from aiohttp import web

    body = serialised(ANSWERS["openai"])

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=body, content_type="application/json")

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(json.dumps({"port": runner.addresses[0][1]}), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await runner.cleanup()

    asyncio.run(run())


def bare(url: str) -> dict[str, float]:
    """The reference: aiohttp posts the same bodies, and reads the answers as JSON."""
    import aiohttp

    body = serialised({"model": "m", "messages": conversation()})
    headers = {"Content-Type": "application/json", "Authorization": "Bearer k"}

    async def run() -> int:
        answered = 0
        places = asyncio.Semaphore(AT_ONCE)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def one() -> None:
                nonlocal answered
                async with places, session.post(url + "/chat/completions", data=body, headers=headers) as response:
                    answered += len(json.loads(await response.read())["choices"])

            async with asyncio.TaskGroup() as group:
                for _ in range(REQUESTS):
                    group.create_task(one())
        return answered

    return _timed(run)


def provider(url: str) -> dict[str, float]:
    """The same through a provider: encoded, sent, checked and decoded."""
    from turnwise.providers import ProviderRequest, Providers
    from turnwise.targets.choose import find_target
    from turnwise.targets.resolve import resolve_target

    settings = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k"}
    resolved = resolve_target(find_target("openai/m", None, file=""), settings)
    messages = conversation()

    async def run() -> int:
        answered = 0
        places = asyncio.Semaphore(AT_ONCE)
        async with Providers(environment={}) as providers:
            asking = providers.open(resolved)

            async def one() -> None:
                nonlocal answered
                async with places:
                    response = await asking.ask(ProviderRequest(question="", chat_prompt=messages))
                    answered += bool(response.text)

            async with asyncio.TaskGroup() as group:
                for _ in range(REQUESTS):
                    group.create_task(one())
        return answered

    return _timed(run)


def _timed(run: Any) -> dict[str, float]:
    """CPU time of the whole process, from its start: imports belong to the price."""
    answered = asyncio.run(run())
    return {"cpu": time.process_time(), "answered": answered}


def main() -> None:
    """Run one measurement."""
    kind, *rest = sys.argv[1:]
    if kind == "serve":
        serve()
    else:
        print(json.dumps({"wire": wire, "bare": bare, "provider": provider}[kind](*rest)))


if __name__ == "__main__":
    main()
