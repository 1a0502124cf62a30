"""How long twenty or sixty annotators at once wait until their answers are stored: `python -m bench.crowd`.

Each annotator is a session on a websocket of its own that reports one item after the other (three answers and
the submission), the next as soon as the server has said that the last one is on the disk. It is measured
alone, and while a run stores 200 results a second and 60,000 ratings are imported. The baseline is the same
application with each report in a transaction of its own, and SQLite's own busy wait in all processes.

    python -m bench.crowd [--people 20,60] [--items 50] [--rounds 2]

Server, clients, run and import share the machine's cores, and other programs on it make waits longer. The CPU
time of the server for one item does not depend on these: 1000 ms by it is what one core can reach.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from sqlite_utils import Database

from bench.aims import AIMS, reached
from bench.desk import invited, serving
from concord.conversation import Conversation, Message, Unit
from concord.rating import Judgement, Rater, Rating
from concord.store import access, conversations, database, placements, ratings, writer
from concord.store import desk as desk_store
from concord.store.writer import Writer
from concord.workspace import Workspace
from tests.browser.keeper import CRITERIA, fill
from tests.browser.starting import ROOT
from tests.wire import Desk, opened

RESULTS = 200
"""Results that the run stores in a second."""
PATIENCE_SECONDS = 4.0
"""How long a desk waits for an answer before it reports again (PATIENCE in outbox.js)."""
ROWS = 60_000
"""Ratings that are imported meanwhile."""


@dataclass(frozen=True)
class Figures:
    """What one round measured; times in milliseconds. `cpu` is the server's time at work for one item."""

    rate: float
    median: float
    p95: float
    worst: float
    cpu: float
    lost: int
    beside: str = ""


def unordered() -> None:
    """Write as before: no turns, and each change in a transaction of its own."""

    def change(self: Workspace, change: Callable[[Database], Any]) -> Any:
        with self.write() as db:
            return change(db)

    Workspace.change = change  # type: ignore[method-assign]
    for module in (database, writer):
        module.turn = lambda path: contextlib.nullcontext()  # type: ignore[attr-defined]


def results(workspace: Workspace) -> None:
    """Store what a run would, so many a second, until the standard input ends; prints how many it was."""
    names = ("in_character", "entertaining", "fluency")
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    begun, stored = time.monotonic(), 0
    with Writer(workspace.db_path) as writing:
        while not stop.is_set():
            key = f"bench/{os.getpid()}/{stored // 2}"

            def played(db: Database, key: str = key) -> None:
                said = (Message("user", "Good evening."), Message("assistant", "Aye. Mind the step. " * 20))
                conversations.save(
                    db, Conversation("pingpong", key, "a player", said, facets={"mood": "dry"})
                )

            def judged(db: Database, key: str = key) -> None:
                given = tuple(Rating(Unit(key, 1), name, 4.0, "It holds.") for name in names)
                ratings.save_judgement(db, Judgement(f"{key}|judge", key, Rater("a judge", "judge"), given))

            writing.put(judged if stored % 2 else played)
            stored += 1
            if stored == 1:
                print("ready", flush=True)
            stop.wait(max(0.0, begun + stored / RESULTS - time.monotonic()))
    print(f"{stored / (time.monotonic() - begun):.0f} results/s", flush=True)


def table(file: Path) -> None:
    """A file of so many ratings, by two people and three judges."""
    raters = [("human", "ann"), ("human", "bob"), ("judge", "one"), ("judge", "two"), ("judge", "three")]
    with file.open("w", encoding="utf-8", newline="") as out:
        lines = csv.writer(out)
        lines.writerow(["item_id", "criterion", "rater_type", "rater", "score", "text", "model"])
        for row in range(ROWS):
            rest, criterion = divmod(row, 3)
            item, rater = divmod(rest, len(raters))
            text = "A reply of some words. " * 16 if rater == criterion == 0 else ""
            lines.writerow([f"i{item}", f"c{criterion}", *raters[rater], row % 5 + 1, text, f"m{item % 8}"])


@contextmanager
def busy(workspace: Workspace, file: Path, ordered: bool) -> Iterator[list[str]]:
    """A run that stores results, and an import. What they say is in the list when the block has ended."""
    code = "import bench.crowd as crowd; " + ("" if ordered else "crowd.unordered(); ")
    told: list[str] = []

    def start(what: str, *rest: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", code + what, *rest],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    run = start(f"crowd.results(crowd.Workspace.open({str(workspace.path)!r}))")
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    begun = time.monotonic()
    importing = start(
        "from concord.cli import main; main()",
        "--workspace",
        str(workspace.path),
        "import",
        "ratings",
        str(file),
        "--study",
        "imported",
    )
    importing_took: list[float] = []
    waiting = threading.Thread(
        target=lambda: importing_took.append((importing.communicate(), time.monotonic() - begun)[1])
    )
    waiting.start()
    try:
        yield told
    finally:
        told.append(run.communicate()[0].strip())
        waiting.join()
        told.append(f"import in {importing_took[0]:.1f} s (exit code {importing.returncode})")


def at_work(process: int) -> float:
    """The milliseconds for which a process has had a core; 0 where the system has no /proc."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


async def rate(desk: Desk, items: int, waits: list[float]) -> dict[int, list[float]]:
    """Rate so many items; what was pressed, by item."""
    pressed = {}
    for item in desk.open_items()[:items]:
        pressed[item] = [float((item + k) % 5 + 1) for k in range(len(CRITERIA))]
        desk.rate(item, dict(zip((c.name for c in CRITERIA), pressed[item], strict=True)))
        sent = time.perf_counter()
        while desk.waiting:
            with contextlib.suppress(TimeoutError):  # then it reports again, as a browser does
                await asyncio.wait_for(desk.report(), PATIENCE_SECONDS)
        waits.append((time.perf_counter() - sent) * 1000)
    return pressed


async def once(people: int, items: int, ordered: bool, alone: bool) -> Figures:
    """One round in a new workspace."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        workspace = Workspace.open(Path(folder) / "workspace")
        fill(workspace, items=items)
        tokens = invited(workspace, people)
        table(Path(folder) / "ratings.csv")
        application = "pages.parts.server:app" if ordered else "bench.unordered_server:app"
        url, process = stack.enter_context(serving(application, workspace))
        waits: list[float] = []
        async with contextlib.AsyncExitStack() as sessions:
            desks = [
                Desk(await sessions.enter_async_context(opened(url, token=token, study="keeper")), "window")
                for token in tokens
            ]
            told: list[str] = []
            with (
                nullcontext(told) if alone else busy(workspace, Path(folder) / "ratings.csv", ordered) as told
            ):
                begun, before = time.perf_counter(), at_work(process)
                pressed = await asyncio.gather(*(rate(desk, items, waits) for desk in desks))
                took, worked = time.perf_counter() - begun, at_work(process) - before
        with workspace.read() as db:
            lost = 0
            for person, given in enumerate(pressed):
                rater = access.annotator_id(db, f"{people} at once: {person}")
                numbers = desk_store.Numbers(db, "keeper", rater)
                for unit, scores in given.items():
                    task = placements.numbered(db, rater, numbers.item(unit))
                    there = [task.answers.get(c.name) for c in CRITERIA]
                    lost += task.state != "done" or there != scores
        return Figures(
            len(waits) / took,
            statistics.median(waits),
            statistics.quantiles(waits, n=20)[-1],
            max(waits),
            worked / len(waits),
            lost + people * items - len(waits),
            ", ".join(told),
        )


def main() -> None:
    """Measure, alternating with the baseline, and print medians over the rounds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--people", default="20,60", help="annotators at once, several by commas")
    parser.add_argument("--items", type=int, default=50, help="items that each annotator rates")
    parser.add_argument("--rounds", type=int, default=2)
    wanted = parser.parse_args()
    for people in map(int, wanted.people.split(",")):
        _compared(people, wanted.items, wanted.rounds)


def _compared(people: int, items: int, rounds: int) -> None:
    """So many annotators beside the baseline, alone and beside a run and an import."""
    print(f"{people} sessions, {items} items each; load average {os.getloadavg()[0]:.1f}")
    print(f"{'':34} {'items/s':>8} {'median':>8} {'p95':>8} {'worst':>8} {'CPU':>8} {'lost':>5}   (ms)")
    for situation, alone in (("alone", True), ("beside a run and an import", False)):
        found: dict[bool, list[Figures]] = {True: [], False: []}
        for number in range(rounds):
            for ordered in (False, True):
                one = asyncio.run(once(people, items, ordered, alone))
                found[ordered].append(one)
                _line(f"  {number + 1} {situation}, {_NAMES[ordered]}", one)
        ours, theirs = (_medians(found[ordered]) for ordered in (True, False))
        _line(f"{situation}, {_NAMES[False]}", theirs)
        _line(f"{situation}, {_NAMES[True]}", ours)
        print(
            f"{situation}: {ours.rate / theirs.rate:.1f} times the items a second of the baseline, "
            f"p95 1/{theirs.p95 / ours.p95:.1f}, worst 1/{theirs.worst / ours.worst:.1f}"
        )
        if ours.lost:
            sys.exit(f"{ours.lost} answers were lost.")
    values = {
        f"crowd of {people}": ours.rate,
        f"crowd of {people} p95": ours.p95,
        f"crowd of {people} ratio": ours.rate / theirs.rate,
        f"crowd of {people} p95 ratio": ours.p95 / theirs.p95,
        f"crowd of {people} cpu": ours.cpu,
    }
    for name in values.keys() & AIMS.keys():
        reached(name, values[name])


_NAMES = {True: "Concord", False: "SQLite's own wait"}


def _medians(rounds: list[Figures]) -> Figures:
    """The median over rounds, but everything that was lost."""
    columns = zip(*((f.rate, f.median, f.p95, f.worst, f.cpu) for f in rounds), strict=True)
    return Figures(*map(statistics.median, columns), sum(f.lost for f in rounds))


def _line(name: str, f: Figures) -> None:
    figures = f"{f.rate:8.0f} {f.median:8.0f} {f.p95:8.0f} {f.worst:8.0f} {f.cpu:8.1f} {f.lost:5}"
    print(f"{name:34} {figures}   {f.beside}", flush=True)


if __name__ == "__main__":
    main()
