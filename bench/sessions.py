"""Whether the desk's server keeps memory of sessions that are gone.

    python -m bench.sessions [--sessions 2000]

Sessions of annotators are opened one after the other; each rates an item and closes its window. Printed is
the server's memory after each tenth of them; the aim is on what the second half has added, by 1,000 sessions.
Streamlit keeps a session that was left for a while, as its window may come back: the first ones are no leak.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile

import psutil

from bench.aims import reached
from bench.crowd import rate
from bench.desk import invited, serving
from concord.workspace import Workspace
from tests.browser.keeper import fill
from tests.wire import Desk, opened


async def grown(url: str, process: int, tokens: list[str], sessions: int) -> list[float]:
    """The server's memory in MB at first and after each tenth of the sessions."""
    server = psutil.Process(process)
    memory = [server.memory_info().rss / 2**20]
    for number in range(sessions):
        async with opened(url, token=tokens[number % len(tokens)], study="keeper") as wire:
            await rate(Desk(wire, f"window {number}"), 1, [])
        if (number + 1) % max(1, sessions // 10) == 0:
            memory.append(server.memory_info().rss / 2**20)
            print(f"  {number + 1:5} sessions: {memory[-1]:.0f} MB", flush=True)
    return memory


def main(sessions: int) -> None:
    """Measure and print."""
    people = 20
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(folder)
        fill(workspace, items=sessions // people + 1)
        tokens = invited(workspace, people)
        with serving("pages.parts.server:app", workspace) as (url, process):
            memory = asyncio.run(grown(url, process, tokens, sessions))
    half = len(memory) // 2
    reached("sessions", (memory[-1] - memory[half]) / (sessions / 2) * 1000)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=2000)
    main(parser.parse_args().sessions)
