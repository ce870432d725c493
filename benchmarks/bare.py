"""The reference for runs: `python bare.py URL FILE WORKERS` posts each line of a file and reads the answers as JSON.

Nothing but aiohttp: no cases, no checks, no journal. Prints the seconds of its loop and how many answers it had.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from time import perf_counter

import aiohttp


async def post_all(url: str, bodies: list[bytes], workers: int) -> int:
    """Send the bodies, so many at once; how many answers came."""
    answered = 0
    waiting = iter(bodies)
    headers = {"Content-Type": "application/json", "Authorization": "Bearer k"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            nonlocal answered
            for body in waiting:
                async with session.post(url, data=body, headers=headers) as response:
                    answered += len(json.loads(await response.read())["choices"])

        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work())
    return answered


def main() -> None:
    """Read the bodies, send them, and say what it took."""
    url, path, workers = sys.argv[1:]
    bodies = Path(path).read_bytes().splitlines()
    start = perf_counter()
    answered = asyncio.run(post_all(f"{url}/chat/completions", bodies, int(workers)))
    print(json.dumps({"seconds": perf_counter() - start, "answered": answered}))


if __name__ == "__main__":
    main()
