"""Calls per second over a Dask cluster of two workers, beside one process, at 1 ms latency.

The mock server, the two workers and this process share the machine: with fewer than five cores the figures
say what the way over a worker costs, and not what further machines bring.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time

from distributed import LocalCluster

from concord.conversation import Message
from concord.llm.client import Client
from concord.llm.cluster import ClusterClient
from concord.llm.models import Model

CALLS = 2000
AT_ONCE = 64
LATENCY = 0.001


async def rate(client: Client) -> tuple[float, float]:
    """Calls per second, and seconds of this process's CPU per 1,000 calls."""
    async with client:
        places = asyncio.Semaphore(2 * AT_ONCE)

        async def one(number: int) -> None:
            async with places:
                await client.complete("m", [Message("user", f"Hello {number}")])

        await asyncio.gather(*(one(number) for number in range(AT_ONCE)))
        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(one(number) for number in range(CALLS)))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    return CALLS / seconds, cpu / CALLS * 1000


async def nothing() -> None:
    """Admit every call."""


def main() -> None:
    """Print both rates and their ratio."""
    command = [sys.executable, "-m", "tests.mock", "--port", "0", "--latency", str(LATENCY)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = server.stdout.readline().split()[-1]
        models = {"m": Model(name="m", base_url=url, model="mock-fixed", max_concurrency=AT_ONCE)}
        alone = asyncio.run(rate(Client(models)))
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            spread = asyncio.run(
                rate(ClusterClient(models, address=cluster.scheduler_address, admit=nothing))
            )
    finally:
        server.terminate()
    print(f"{CALLS:,} calls, {AT_ONCE} at once, {LATENCY * 1000:g} ms latency, {os.cpu_count()} cores")
    for name, (calls, cpu) in {"one process": alone, "two workers": spread}.items():
        print(f"{name}: {calls:,.0f} calls/s; CPU here {cpu:.2f} s per 1,000 calls")
    share, work = spread[0] / alone[0], spread[1] / alone[1]
    print(f"ratio: {share:.2f} of one process's rate, {work:.2f} of its CPU here")


if __name__ == "__main__":
    main()
