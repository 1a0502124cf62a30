"""Scripts of a workspace: cut from judged dialogues, set aside where they distinguish no models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlite_utils import Database

from concord.benchmarks.simulbench.dialogues import CHALLENGING, DIALOGUES
from concord.benchmarks.simulbench.scripts import HARD, KINDS, SCRIPT, Script, extract, scripts_by_key
from concord.benchmarks.simulbench.targets import QUALITY, SIMULBENCH
from concord.benchmarks.simulbench.tasks import BENCHMARK, TYPES
from concord.errors import ConcordError, check_known
from concord.store import conversations, ratings, scenarios, tables
from concord.table import Cell, Column, Table


class Cut(NamedTuple):
    """Dialogues read, those without a usable judgement, and the scripts cut from the others."""

    dialogues: int
    unjudged: int
    scripts: Sequence[Script]


class Extracted(NamedTuple):
    """What was cut, and the keys of the scripts that are new."""

    cut: Cut
    new: Sequence[str]


def dialogue_judges(db: Database) -> list[str]:
    """The judges who have looked for challenging turns."""
    return sorted({rater.name for rater in ratings.judges(db, DIALOGUES.name)})


def cut_scripts(db: Database, judge: str) -> Cut:
    """The scripts of every stored dialogue by what one judge found in its first look; nothing is stored.

    Raises NotFound for a judge who has not looked, ConcordError where none has.
    """
    judge_names = dialogue_judges(db)
    if not judge_names:
        raise ConcordError(
            "No judge has looked for challenging turns yet. Collect dialogues with `concord run "
            "simulbench-dialogues --judges …`."
        )
    check_known("judge of dialogues", judge, judge_names)
    scripts = list[Script]()
    turns = list[int | None]()
    for number, dialogue in conversations.of_benchmark(db, DIALOGUES.name):
        by_judge = (
            r for r in ratings.of_conversation(db, number) if (r.rater.kind, r.rater.name) == ("judge", judge)
        )
        turns.append(next((int(r.score) for r in by_judge if r.criterion == CHALLENGING.name), None))
        if turns[-1] is not None:
            scripts += extract(dialogue, turns[-1])
    return Cut(len(turns), turns.count(None), scripts)


def extract_scripts(db: Database, judge: str, *, origin: str = "extraction") -> Extracted:
    """Store the scripts of `cut_scripts`. A script that was cut before is left as it is. Raises as that."""
    cut = cut_scripts(db, judge)
    return Extracted(
        cut, scenarios.bring(db, [script.scenario(f"cut by {judge}", origin) for script in cut.scripts])
    )


def script_counts(scripts: Sequence[Script]) -> Table:
    """How many scripts there are of each kind and type; the last row has the hard ones together."""
    rows: list[dict[str, Cell]] = []
    for name, kinds in (*((kind, (kind,)) for kind in KINDS), ("Hard", HARD)):
        types = [script.type for script in scripts if script.kind in kinds]
        rows.append({"kind": name, **{type: types.count(type) for type in TYPES}, "all": len(types)})
    return Table("scripts", "Scripts", tuple(map(Column, ("kind", *TYPES, "all"))), tuple(rows))


def set_aside(db: Database, actor_name: str) -> tuple[list[Script], tuple[str, ...]]:
    """Discard what `easy_scripts` finds, and return it."""
    easy, targets = easy_scripts(db)
    for script in easy:
        scenarios.decide(db, BENCHMARK, SCRIPT, script.key, "discarded", actor_name)
    return easy, targets


def easy_scripts(db: Database) -> tuple[list[Script], tuple[str, ...]]:
    """The accepted scripts on which every target has full marks from every judge, and the targets.

    A script that one of them has not answered, or whose answer a judge has not usably scored, is kept.
    """
    answers = tables.conversations(db, SIMULBENCH.name).join(tables.facets(db, SIMULBENCH.name, ["script"]))
    scores = tables.scores(db, SIMULBENCH.name, [QUALITY.name])
    top = scores[scores[QUALITY.name] == QUALITY.scale.high]
    full = top.groupby("conversation").judge.nunique() == scores.judge.nunique()
    answers = answers.assign(full=full.reindex(answers.index, fill_value=False))
    summary = answers.groupby("script").agg(players=("player", "nunique"), full=("full", "all"))
    targets = tuple(sorted(answers.player.unique()))
    easy = set(summary.index[(summary.players == len(targets)) & summary.full])
    known_scripts = scripts_by_key(scenarios.accepted(db, BENCHMARK, SCRIPT))
    return [script for key, script in known_scripts.items() if key in easy], targets
