"""How close generation comes to the endpoint's limit, beside a bare loop of the same raw calls.

    python bench/throughput.py [--conversations 256] [--latency 1,0.2] [--jitter 0.3] [--concurrency 32,64]
    python bench/throughput.py --capacity 48 --concurrency 64,128,256
    python bench/throughput.py --per-minute 1800 --conversations 128 --concurrency 64

Each measurement is a process of its own against one mock server. Ideal = calls × latency ÷ concurrency, or
the capacity or rate the server is told to have; "of ideal" is ideal ÷ wall time. The bare loop knows the
limit and is never throttled. CPU is the client's alone, per 1,000 calls, without imports and start-up; memory
is its peak.
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
from urllib.request import urlopen

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.aims import AIMS, reached

ROOT = Path(__file__).resolve().parent.parent

TURNS, JUDGES = 4, 2
CALLS = 2 * TURNS + JUDGES
SHORT = 0.2
"""Seconds of the latency at which a run is compared with the bare client."""


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def report(calls: int, seconds: float, before: float, **more: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "calls": calls,
                "seconds": seconds,
                "cpu": (cpu() - before) / calls * 1000,
                "mb": used.ru_maxrss / 1024 / (1 if sys.platform != "darwin" else 1024),
                **more,
            }
        )
    )


def concord(url: str, conversations: int, concurrency: int) -> None:
    """Everything stored: 4 turns of interrogator and player, 2 judges."""
    import openai  # noqa: F401

    from concord.runs import engine, planning
    from concord.runs.plans import PlayPlan
    from concord.workspace import Workspace  # imports are not measured, here or in the bare loop

    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(folder)
        entry = f'base_url = "{url}"\nmodel = "mock-fixed"\nmax_concurrency = {concurrency}\n'
        names = ["player", "user", "judge-a", "judge-b"]
        workspace.models_path.write_text("\n".join(f"[models.{name}]\n{entry}" for name in names))
        models = {"players": ("player",), "interrogator": ("user",), "judges": ("judge-a", "judge-b")}
        chosen = {"characters": ["mizuki"], "situations": ["reality"], "repeats": 1}
        # What is imported and compiled at the first call is no part of a call.
        engine.execute(workspace, planning.job(workspace, PlayPlan("pingpong", models, chosen)))
        chosen = {"characters": ["tully"], "situations": ["reality"], "repeats": conversations}
        job = planning.job(workspace, PlayPlan("pingpong", models, chosen))
        started, before = time.perf_counter(), cpu()
        ended = engine.execute(workspace, job)
        seconds = time.perf_counter() - started
        assert ended.state == "finished", ended
        assert ended.done == conversations * (1 + JUDGES), ended
        assert ended.spent.calls == conversations * CALLS, ended
        report(ended.spent.calls, seconds, before)


def bare(url: str, conversations: int, concurrency: int, transport: str) -> None:
    """The same number of raw calls with prompts of the same size, nothing stored, nothing waiting for
    anything.
    """
    import httpx2
    from openai import AsyncOpenAI, DefaultAioHttpClient

    async def go() -> None:
        http = DefaultAioHttpClient() if transport == "aiohttp" else None
        client = AsyncOpenAI(base_url=url, api_key="none", http_client=http, max_retries=0)
        places = asyncio.Semaphore(concurrency)
        messages = [{"role": "system", "content": "x" * 2000}, {"role": "user", "content": "y" * 2000}]
        body = {"model": "mock-fixed", "messages": messages}

        async def one() -> None:
            async with places:
                response = await client.post("/chat/completions", cast_to=httpx2.Response, body=body)
                json.loads(response.content)

        await one()
        started, before = time.perf_counter(), cpu()
        await asyncio.gather(*(one() for _ in range(conversations * CALLS)))
        report(conversations * CALLS, time.perf_counter() - started, before)
        await client.close()

    asyncio.run(go())


@contextmanager
def server(latency: float, jitter: float = 0.0, faults: str = ""):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "tests.mock", "--port", str(port), "--latency", str(latency)]
    command += ["--jitter", str(jitter), "--faults", faults]
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
    parser.add_argument("--latency", default="1,0.2", help="Seconds, several divided by commas.")
    parser.add_argument("--jitter", type=float, default=0.3)
    parser.add_argument("--concurrency", default="32,64,128,256")
    parser.add_argument("--capacity", type=int, default=0, help="Calls in flight that the server takes.")
    parser.add_argument("--per-minute", type=int, default=0, help="Calls in a minute that the server takes.")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--default", action="store_true", help="Also a bare loop by openai's own transport.")
    parser.add_argument("--memory", action="store_true", help="Also the memory of four times as many.")
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
    for latency in map(float, options.latency.split(",")):
        options.latency = latency
        _compared(options, levels)


def _compared(options: argparse.Namespace, levels: list[int]) -> None:
    """A run and the bare loops at one latency."""
    calls, throttled = options.conversations * CALLS, options.capacity or options.per_minute
    print(
        f"{options.conversations} conversations × {CALLS} calls, latency {options.latency:g} s "
        f"± {options.jitter:.0%}, medians of {options.rounds} rounds"
    )
    for level in levels:
        ideal = calls * options.latency / min(level, options.capacity or level)
        if options.per_minute:
            ideal = max(ideal, calls / options.per_minute * 60)
        whole = f"capacity={options.capacity},per_minute={options.per_minute}"
        loops = ("default", "aiohttp") if options.default else ("aiohttp",)
        measured: dict[str, list[dict[str, float]]] = {who: [] for who in ("concord", *loops)}
        refused = 0
        for _ in range(options.rounds):
            with server(options.latency, options.jitter, whole) as url:
                measured["concord"].append(_one("concord", url, options.conversations, level))
                with urlopen(f"{url}/_calls") as reply:
                    refused = max(refused, json.load(reply)["failed"].get("429", 0))
            if options.per_minute:
                continue
            # The bare loop is given as many places as the server takes.
            with server(options.latency, options.jitter) as url:
                for who in loops:
                    places = min(level, options.capacity or level)
                    measured[who].append(_one(who, url, options.conversations, places))
        of_ideal = {
            who: ideal / statistics.median(r["seconds"] for r in rows)
            for who, rows in measured.items()
            if rows
        }
        for who, rows in measured.items():
            if not rows:
                continue
            used, mb = (statistics.median(r[key] for r in rows) for key in ("cpu", "mb"))
            name = "concord, all stored" if who == "concord" else f"bare loop, {who} transport"
            more = f"   concord ÷ this: {of_ideal['concord'] / of_ideal[who]:.2f}"
            if who == "concord":
                more = f"   429s: {refused / (calls + refused):.1%}" if throttled else ""
            print(
                f"  {level:4d} at once  {name:28s} {of_ideal[who]:.2f} of ideal  {used:.2f} s "
                f"CPU per 1,000 calls  {mb:.0f} MB{more}",
                flush=True,
            )
        if not throttled and options.latency == SHORT and f"throughput {level} at 200 ms" in AIMS:
            reached(f"throughput {level} at 200 ms", of_ideal["concord"] / of_ideal["aiohttp"])
        elif not throttled and options.latency == 1 and f"throughput {level}" in AIMS:
            reached(f"throughput {level}", of_ideal["concord"])
            if level == levels[0]:
                used, least = (
                    statistics.median(r["cpu"] for r in measured[who]) for who in ("concord", "aiohttp")
                )
                reached("call", used / least)
    if options.memory:
        level = levels[len(levels) // 2]
        with server(options.latency, options.jitter) as url:
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
