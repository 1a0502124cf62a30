"""How fast the store is at its three heaviest readings and writings, each against a plain way of doing the
same.

    python -m bench.store [--rows 60000] [--conversations 100000] [--ratings 1000000] [--repeats 3]

- import of ratings from CSV: everything `concord import ratings` does (check, match, store, sum up), against
  `csv.reader` and one bare
  `executemany` into a table without an index, which checks nothing and finds nothing again;
- import of conversations from JSON Lines: check, keep, and store, against `json.loads` and one bare
  `executemany` of a row a message;
- the long frame of a study, which every figure of agreement reads: against `pandas.read_sql_query` of the
  bare ratings table;
- one page of the conversations list, in each order and with filters: against reading the whole table into
  pandas and sorting it there.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.aims import reached
from concord.exchange import conversations_file, conversations_import, incoming, ratings_csv, ratings_study
from concord.questions import LIKERT_5
from concord.rating import Criterion, Rater
from concord.store import conversations, frames, ratings, studies, summaries
from concord.store.conversations import Filter
from concord.store.database import now
from concord.store.studies import Study
from concord.workspace import Workspace

CRITERIA = ("in_character", "entertaining", "fluency")
PEOPLE, JUDGES = ("ann", "bob"), ("one", "two", "three")
TURNS = 4


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--conversations", type=int, default=100_000)
    parser.add_argument("--ratings", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        imported(Path(folder), wanted.rows, wanted.repeats)
        conversed(Path(folder), wanted.conversations // 10, wanted.repeats)
        workspace = filled(Path(folder) / "filled", wanted.conversations, wanted.ratings)
        framed(workspace, wanted.repeats)
        browsed(workspace, wanted.repeats)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def imported(folder: Path, rows: int, repeats: int) -> None:
    file, chance = folder / "ratings.csv", random.Random(0)
    raters = [("human", name) for name in PEOPLE] + [("judge", name) for name in JUDGES]
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["item_id", "criterion", "rater_type", "rater", "score", "text", "model", "topic"])
        for row in range(rows):
            rest, criterion = divmod(row, len(CRITERIA))
            item, rater = divmod(rest, len(raters))
            text = (
                f'A reply, with "quotes" and\nlines, number {item}. ' * 8 if rater == criterion == 0 else ""
            )
            writer.writerow(
                [
                    f"i{item}",
                    CRITERIA[criterion],
                    *raters[rater],
                    chance.randint(1, 5),
                    text,
                    f"m{item % 8}",
                    f"t{item % 20}",
                ]
            )

    def ours(n: int) -> None:
        workspace = Workspace.open(folder / f"ours{n}")
        table = ratings_csv.read(file)
        with workspace.read() as db:
            brought = ratings_study.incoming(db, table, "study")
        incoming.store(workspace, brought)

    def plain(n: int) -> None:
        db = sqlite3.connect(folder / f"plain{n}.db")
        with file.open(encoding="utf-8", newline="") as lines, db:
            reader = csv.reader(lines)
            next(reader)
            db.execute("CREATE TABLE ratings (item, criterion, kind, rater, score, text, model, topic)")
            db.executemany("INSERT INTO ratings VALUES (?, ?, ?, ?, ?, ?, ?, ?)", reader)
        db.close()

    reached(
        "import",
        report(
            f"import of {rows:,} ratings",
            timed(ours, repeats),
            "csv.reader + executemany",
            timed(plain, repeats),
        ),
    )


def conversed(folder: Path, count: int, repeats: int) -> None:
    file, words = folder / "talks.jsonl", "Some words of a dialogue. " * 8
    turns = [{"role": role, "content": words} for _ in range(TURNS) for role in ("user", "assistant")]
    with file.open("w", encoding="utf-8") as out:
        for number in range(count):
            messages = [{**turn, "content": f"{number} {turn['content']}"} for turn in turns]
            out.write(json.dumps({"id": number, "model": "elm", "messages": messages}) + "\n")

    def ours(n: int) -> None:
        workspace = Workspace.open(folder / f"talks{n}")
        conversations_import.store(workspace, conversations_file.survey(file))

    def plain(n: int) -> None:
        db = sqlite3.connect(folder / f"talks{n}.db")
        with file.open(encoding="utf-8") as lines, db:
            db.execute("CREATE TABLE messages (conversation, place, role, content)")
            rows = (
                (talk["id"], place, message["role"], message["content"])
                for talk in map(json.loads, lines)
                for place, message in enumerate(talk["messages"])
            )
            db.executemany("INSERT INTO messages VALUES (?, ?, ?, ?)", rows)
        db.close()

    reached(
        "conversations",
        report(
            f"import of {count:,} conversations",
            timed(ours, repeats),
            "json.loads + executemany",
            timed(plain, repeats),
        ),
    )


def filled(path: Path, count: int, rated: int) -> Workspace:
    """A workspace of judged conversations, with a study of as many of them as make up the ratings wanted."""
    workspace, chance, moment = Workspace.open(path), random.Random(0), now()
    text = json.dumps(
        [[role, "Some words of a dialogue. " * 8, {}] for _ in range(TURNS) for role in ("user", "assistant")]
    )
    # Judges' ratings of turns and people's ratings of the whole are all rows of one table.
    each = len(CRITERIA) * (len(JUDGES) * TURNS + len(PEOPLE))
    with workspace.write() as db:
        ratings.register(db, "pingpong", [Criterion(name, name) for name in CRITERIA])
        studies.create(db, Study("study", tuple(Criterion(name, name, LIKERT_5) for name in CRITERIA)))
        people = [ratings.rater_id(db, Rater(name, "human")) for name in PEOPLE]
        judges = [ratings.rater_id(db, Rater(name, "judge")) for name in JUDGES]
        db.conn.executemany(
            "INSERT INTO conversations (id, key, benchmark, language, player, messages, turns, "
            "reply_chars, created) "
            "VALUES (?, ?, 'pingpong', 'en', ?, ?, ?, ?, ?)",
            [(i, f"k{i}", f"player {i % 20}", text, TURNS, 800, moment) for i in range(1, count + 1)],
        )
        db.conn.executemany(
            "INSERT INTO facets (name, value, conversation_id) VALUES (?, ?, ?)",
            [
                pair
                for i in range(1, count + 1)
                for pair in (("character", f"c{i % 32}", i), ("situation", f"s{i % 56}", i))
            ],
        )
        units = min(count, rated // each)
        studies.add_units(db, "study", [(i, None, "") for i in range(1, units + 1)])

        def rows() -> Any:
            for i in range(1, units + 1):
                quality = chance.gauss(3, 1)
                for criterion in CRITERIA:
                    for rater in judges:
                        for turn in range(1, TURNS + 1):
                            yield (
                                i,
                                turn,
                                criterion,
                                rater,
                                0,
                                None,
                                _likert(quality, chance),
                                "",
                                None,
                                moment,
                            )
                    for rater in people:
                        yield i, None, criterion, rater, 0, 1, _likert(quality, chance), "", None, moment

        ratings.insert_rows(db, rows())
        start = time.perf_counter()
        summaries.refresh(db)
        print(f"sums and summaries of {units:,} conversations: {time.perf_counter() - start:.2f} s")
        # The others have summaries as well, so that every order has the whole table to go through.
        db.conn.executemany(
            "INSERT INTO summaries (conversation_id, final, spread, people, judges, refused, "
            "failed) VALUES (?, ?, ?, ?, 3, ?, 0)",
            [
                (
                    i,
                    chance.uniform(1, 5),
                    chance.uniform(0, 2),
                    chance.uniform(1, 5),
                    int(chance.random() < 0.05),
                )
                for i in range(units + 1, count + 1)
            ],
        )
    print(
        f"{units * each:,} ratings, {count:,} conversations, "
        f"{workspace.db_path.stat().st_size / 2**20:.0f} MiB"
    )
    return workspace


def framed(workspace: Workspace, repeats: int) -> None:
    def ours(_: int) -> None:
        with workspace.read() as db:
            frames.frame(db, "study")

    def plain(_: int) -> None:
        with workspace.read() as db:
            pd.read_sql_query("SELECT * FROM ratings", db.conn)

    reached(
        "frame",
        report("the study as a frame", timed(ours, repeats), "pandas.read_sql_query", timed(plain, repeats)),
    )


def browsed(workspace: Workspace, repeats: int) -> None:
    def page(wanted: Filter, order: conversations.Order, offset: int = 0) -> Callable[[int], None]:
        def ours(_: int) -> None:
            with workspace.read() as db:
                conversations.search(db, wanted, order, offset=offset)
                conversations.count(db, wanted)

        return ours

    def plain(_: int) -> None:
        with workspace.read() as db:
            table = pd.read_sql_query(
                "SELECT * FROM conversations c LEFT JOIN summaries s ON s.conversation_id = c.id", db.conn
            )
            table.sort_values("final").head(50)

    baseline, ratios = timed(plain, repeats), []
    everything, some = (
        Filter(),
        Filter(benchmark="pingpong", players=("player 3",), facets={"character": ("c3", "c7")}),
    )
    for name, ours in (
        ("newest", page(everything, "newest")),
        ("newest, page 1,000", page(everything, "newest", 50_000)),
        ("lowest", page(everything, "lowest")),
        ("disagreement", page(everything, "disagreement")),
        ("gap to people", page(everything, "people_gap")),
        ("a player and two characters, lowest", page(some, "lowest")),
        ("refused", page(Filter(refused=True), "newest")),
        ("not refused, lowest", page(Filter(refused=False), "lowest")),
        ("of a study, newest", page(Filter(study="study"), "newest")),
        ("with words in the text", page(Filter(text="no such words"), "newest")),
    ):
        ratios.append(report(f"a page: {name}", timed(ours, repeats), "the whole table in pandas", baseline))
    reached("list", max(ratios))


def timed(work: Callable[[int], None], repeats: int) -> float:
    """Processor seconds, the median of the repeats."""
    seconds = []
    for n in range(repeats):
        start = time.process_time()
        work(n)
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def report(what: str, ours: float, baseline: str, theirs: float) -> float:
    """Print both times, and give their ratio."""
    print(f"{what}: {ours:.3f} s; {baseline} {theirs:.3f} s; ratio {ours / theirs:.2f}", flush=True)
    return ours / theirs


def _likert(quality: float, chance: random.Random) -> int:
    return min(5, max(1, round(chance.gauss(quality, 0.8))))


if __name__ == "__main__":
    main()
