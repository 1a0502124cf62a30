"""The aims of speed: what is measured, against what, and how far Concord may lie from it.

A measurement calls `reached` with its ratio. `python -m bench` runs them all and prints one table. What was
measured last, and of which version, stands in measured.json.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from concord.files import VERSION

RESULTS = "CONCORD_BENCH_RESULTS"
"""The environment variable that names the file to which ratios are added, a line each."""
MEASURED = Path(__file__).with_name("measured.json")
PARTS = {
    "calls": ("throughput", "replies", "resume", "lake"),
    "tables": ("agreement", "command", "tables", "store"),
    "pages": ("page_times", "desk", "sessions", "crowd"),
}
"""The modules that have aims, in three parts of about twenty minutes."""


class Aim(NamedTuple):
    """`bound` is the most that the value may be; the least, if `at_least`."""

    module: str
    what: str
    against: str
    bound: float
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Whether the value keeps the bound."""
        return value >= self.bound if self.at_least else value <= self.bound

    @property
    def words(self) -> str:
        """The bound as a reader writes it: “≤ 1.5”."""
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


def _throughput(places: int, least: float) -> Aim:
    return Aim("throughput", f"a run, {places} calls at once, all stored", "ideal", least, at_least=True)


def _short(places: int, least: float) -> Aim:
    what = f"a run at 200 ms latency, {places} calls at once"
    return Aim("throughput", what, "the bare client in the same run", least, at_least=True)


AIMS: dict[str, Aim] = {
    "call": Aim("throughput", "CPU of a call, all stored", "openai with aiohttp, nothing stored", 1.5),
    "throughput 32": _throughput(32, 0.95),
    "throughput 64": _throughput(64, 0.94),
    "throughput 128": _throughput(128, 0.90),
    "throughput 256": _throughput(256, 0.80),
    "throughput 32 at 200 ms": _short(32, 0.97),
    "throughput 64 at 200 ms": _short(64, 0.96),
    "throughput 128 at 200 ms": _short(128, 0.95),
    "throughput 256 at 200 ms": _short(256, 0.90),
    "replies": Aim("replies", "calls per stored judgement, replies of every kind", "calls", 1.0),
    "replies made up": Aim("replies", "scores of replies that give none", "scores", 0),
    "resume": Aim("resume", "a stored run of 10,000 but for one, CPU", "a bare script", 2.0),
    "read": Aim("agreement", "reading 50 people × 100,000 items", "CPU seconds", 2.5),
    "figures": Aim("agreement", "every interval of 13 people × 1,700 items", "a loop over scipy", 0.1),
    "command": Aim(
        "command", "`concord agreement` of 1,600 items, CPU", "importing pandas, scipy.stats", 1.15
    ),
    "large": Aim("command", "`concord agreement`, 50 people, 100,000 items", "CPU seconds", 8),
    "large memory": Aim("command", "the same, its peak", "MB", 600),
    "table 20,000": Aim("tables", "a table of 20,000 rows, CPU", "importing pandas, scipy.stats", 1.5),
    "reading five raters": Aim("tables", "reading 100,000 rows × 5 raters", "pandas and spearmanr", 2.5),
    "check five raters": Aim(
        "tables", "`concord check`, 100,000 rows × 5 raters", "pandas and spearmanr", 2.5
    ),
    "check 20,000 rated": Aim(
        "tables", "`concord check`, 20,000 rows × 5 raters", "importing pandas, scipy.stats", 1.5
    ),
    "20 raters": Aim("tables", "`concord check`, 20 raters × 100 items, 3 judges", "CPU seconds", 1.5),
    "50 raters": Aim("tables", "the same, 50 raters", "CPU seconds", 2.5),
    "100 raters": Aim("tables", "the same, 100 raters", "CPU seconds", 5),
    "table of a million": Aim("tables", "`concord check`, a million rows, 2,000 rated", "CPU seconds", 6),
    "table of a million, memory": Aim("tables", "the same, its peak", "MB", 700),
    "table of ten million": Aim("tables", "`concord check`, ten million rows of Parquet", "CPU seconds", 60),
    "table of ten million, memory": Aim("tables", "the same, its peak", "MB", 2000),
    "import": Aim("store", "import of 60,000 ratings", "csv.reader and executemany", 5.0),
    "conversations": Aim("store", "import of 10,000 conversations", "json.loads and executemany", 10.0),
    "frame": Aim("store", "a study of a million ratings as a frame", "pandas.read_sql_query", 1.0),
    "list": Aim("store", "the slowest page of 100,000 conversations", "the table in pandas", 1.0),
    "page": Aim("page_times", "the slowest page, in a new window, CPU", "a plain page of Streamlit", 1.25),
    "first page": Aim("page_times", "the first page after the start, CPU", "a plain page of Streamlit", 1.5),
    "first visit": Aim("page_times", "the slowest first visit of a page, the server's CPU", "ms", 300),
    "desk of 12": Aim("desk", "the next item of 12, ten windows", "a form of Streamlit", 0.2),
    "desk of 12 stored": Aim("desk", "an answer to one of 12 items stored, ten windows, p95", "ms", 200),
    "desk of 50": Aim("desk", "the next item of 50, ten windows", "a form of Streamlit", 0.2),
    "desk of 50 stored": Aim("desk", "an answer to one of 50 items stored, ten windows, p95", "ms", 200),
    "sessions": Aim("sessions", "memory that 1,000 more sessions of the desk take", "MB", 10),
    "crowd of 20": Aim(
        "crowd", "items a second, 20 annotators beside a run", "items a second", 100, at_least=True
    ),
    "crowd of 20 p95": Aim("crowd", "the wait of 20 annotators beside a run, p95", "ms", 300),
    "crowd of 20 ratio": Aim("crowd", "the same, items a second", "SQLite's own wait", 1.5, at_least=True),
    "crowd of 20 p95 ratio": Aim("crowd", "the same, p95", "SQLite's own wait", 0.2),
    "crowd of 20 cpu": Aim("crowd", "the same, the server's CPU an item", "ms", 8),
    "crowd of 60 p95": Aim("crowd", "the wait of 60 annotators beside a run, p95", "ms", 1000),
    "lake cpu": Aim("lake", "files judged, CPU", "a run", 1.0),
    "lake workers": Aim("lake", "two workers, judgements per CPU second", "one process", 0.9, at_least=True),
    "lake coordinator": Aim("lake", "their coordinator, CPU of 1,000 conversations", "seconds", 0.05),
    "lake ideal": Aim("lake", "files judged, 64 calls at once", "ideal", 0.95, at_least=True),
    "lake memory": Aim("lake", "memory of 300,000 conversations", "10,000", 1.15),
    "lake estimate": Aim("lake", "`concord estimate`, ten million rows", "CPU seconds", 30),
    "lake estimate memory": Aim("lake", "the same, its peak", "MB", 500),
}


def reached(name: str, value: float) -> None:
    """Print how a value stands to its aim, and add it to the results where they are collected.

    Raises KeyError for a name without an aim.
    """
    aim = AIMS[name]
    print(
        f"  aim: {aim.what} ÷ {aim.against}: {_shown(value)} ({aim.words}), {_word(aim, value)}", flush=True
    )
    if file := os.environ.get(RESULTS):
        with Path(file).open("a", encoding="utf-8") as out:
            out.write(json.dumps([name, value]) + "\n")


def measured() -> dict[str, tuple[float, str]]:
    """The value that each aim had last, and the version of which it was."""
    entries = json.loads(MEASURED.read_text(encoding="utf-8")).items()
    return {name: (value, version) for name, (value, version) in entries if name in AIMS}


def keep(values: Mapping[str, float]) -> dict[str, tuple[float, str]]:
    """Write new values of this version beside what was measured before; returns both."""
    both = measured() | {name: (value, VERSION) for name, value in values.items()}
    lines = (f"  {json.dumps(name)}: {json.dumps(both[name])}" for name in AIMS if name in both)
    MEASURED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return both


def table(values: Mapping[str, tuple[float, str]]) -> str:
    """The aims as a Markdown table; a value of another version says so."""
    lines = ["| what | against | aim | measured | |", "|---|---|---|--:|---|"]
    for name, aim in AIMS.items():
        value, version = values.get(name, (None, ""))
        shown, word = ("", "not measured") if value is None else (_shown(value), _word(aim, value))
        word += "" if version in ("", VERSION) else f", not measured since {version}"
        lines.append(f"| {aim.what} | {aim.against} | {aim.words} | {shown} | {word} |")
    return "\n".join(lines)


def _shown(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _word(aim: Aim, value: float) -> str:
    return "pass" if aim.met(value) else "short"
