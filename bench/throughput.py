"""How close generation comes to the endpoint's limit, beside a bare loop of the openai library making the
same number of calls.

    python bench/throughput.py [--conversations 256] [--latency 0.2] [--concurrency 32,64,128] [--rounds 3]

Each measurement is a process of its own against one mock server with a fixed latency. Ideal = calls × latency
÷ concurrency; "of ideal" is ideal ÷ wall time. CPU is the client's alone, per 1,000 calls; memory is its
peak.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TURNS, JUDGES = 4, 2
CALLS = 2 * TURNS + JUDGES


def report(calls: int, seconds: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "calls": calls,
                "seconds": seconds,
                "cpu": (used.ru_utime + used.ru_stime) / calls * 1000,
                "mb": used.ru_maxrss / 1024 / (1 if sys.platform != "darwin" else 1024),
            }
        )
    )


def concord(url: str, conversations: int, concurrency: int) -> None:
    """Everything stored: 4 turns of interrogator and player, 2 judges."""
    import openai  # noqa: F401

    from core.benchmarks.plans import PlayPlan
    from core.runs import engine, planning
    from core.workspace import Workspace  # imports are not measured, here or in the bare loop

    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(folder)
        entry = f'base_url = "{url}"\nmodel = "mock-fixed"\nmax_concurrency = {concurrency}\n'
        names = ["player", "user", "judge-a", "judge-b"]
        workspace.models_path.write_text("\n".join(f"[models.{name}]\n{entry}" for name in names))
        plan = PlayPlan(
            "pingpong",
            {"players": ("player",), "interrogator": ("user",), "judges": ("judge-a", "judge-b")},
            {"characters": ["tully"], "situations": ["reality"], "repeats": conversations},
        )
        job = planning.job(workspace, plan)
        started = time.perf_counter()
        ended = engine.execute(workspace, job)
        seconds = time.perf_counter() - started
        assert ended.state == "finished", ended
        assert ended.done == conversations * (1 + JUDGES), ended
        assert ended.spent.calls == conversations * CALLS, ended
        report(ended.spent.calls, seconds)


def bare(url: str, conversations: int, concurrency: int, transport: str) -> None:
    """The same number of calls with prompts of the same size, nothing stored, nothing waiting for
    anything.
    """
    from openai import AsyncOpenAI, DefaultAioHttpClient

    async def go() -> None:
        http = DefaultAioHttpClient() if transport == "aiohttp" else None
        client = AsyncOpenAI(base_url=url, api_key="none", http_client=http)
        places = asyncio.Semaphore(concurrency)
        messages = [{"role": "system", "content": "x" * 2000}, {"role": "user", "content": "y" * 2000}]

        async def one() -> None:
            async with places:
                await client.chat.completions.create(model="mock-fixed", messages=messages)

        started = time.perf_counter()
        await asyncio.gather(*(one() for _ in range(conversations * CALLS)))
        report(conversations * CALLS, time.perf_counter() - started)
        await client.close()

    asyncio.run(go())


@contextmanager
def server(latency: float):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "core.cli", "mock", "--port", str(port), "--latency", str(latency)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--conversations", type=int, default=256)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--concurrency", default="32,64,128")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs=2, metavar=("WHO", "URL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    levels = [int(c) for c in options.concurrency.split(",")]
    if options.only:
        who, url = options.only
        if who == "concord":
            concord(url, options.conversations, levels[0])
        else:
            bare(url, options.conversations, levels[0], who)
        return
    print(
        f"{options.conversations} conversations × {CALLS} calls, latency {options.latency:g} s, "
        f"medians of {options.rounds} rounds"
    )
    with server(options.latency) as url:
        for level in levels:
            measured: dict[str, list[dict[str, float]]] = {"concord": [], "default": [], "aiohttp": []}
            for _ in range(options.rounds):
                for who, rows in measured.items():
                    rows.append(_one(who, url, options.conversations, level))
            ideal = options.conversations * CALLS * options.latency / level
            of_ideal = {
                who: ideal / statistics.median(r["seconds"] for r in rows) for who, rows in measured.items()
            }
            for who, rows in measured.items():
                cpu, mb = (statistics.median(r[key] for r in rows) for key in ("cpu", "mb"))
                name = "concord, all stored" if who == "concord" else f"bare loop, {who} transport"
                ratio = (
                    ""
                    if who == "concord"
                    else f"   concord ÷ this: {of_ideal['concord'] / of_ideal[who]:.2f}"
                )
                print(
                    f"  {level:4d} at once  {name:28s} {of_ideal[who]:.2f} of ideal  {cpu:.2f} s "
                    f"CPU per 1,000 calls  {mb:.0f} MB{ratio}"
                )
        level = levels[len(levels) // 2]
        small, large = (_one("concord", url, options.conversations * k, level)["mb"] for k in (1, 4))
        print(
            f"  memory at {4 * options.conversations} conversations ÷ at {options.conversations}: "
            f"{large / small:.2f}"
        )


def _one(who: str, url: str, conversations: int, level: int) -> dict[str, float]:
    command = [
        sys.executable,
        __file__,
        "--only",
        who,
        url,
        "--conversations",
        str(conversations),
        "--concurrency",
        str(level),
    ]
    done = subprocess.run(
        command,
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
