"""Scripts of a workspace: cut from judged dialogues, set aside where they distinguish no models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlite_utils import Database

from concord.benchmarks.simulbench.dialogues import CHALLENGING, DIALOGUES
from concord.benchmarks.simulbench.scripts import SCRIPT, Script, extract, stored
from concord.benchmarks.simulbench.targets import QUALITY, SIMULBENCH
from concord.benchmarks.simulbench.tasks import STORED
from concord.errors import ConcordError, check_known
from concord.store import conversations, ratings, scenarios, tables


class Extracted(NamedTuple):
    """Dialogues read, those without a usable judgement, the scripts cut, and how many of them are new."""

    dialogues: int
    unjudged: int
    scripts: Sequence[Script]
    new: int


def extract_scripts(db: Database, judge: str, *, by: str = "extraction") -> Extracted:
    """Cut scripts from every stored dialogue by what one judge found in its first look.

    A script that was cut before is left as it is. Raises NotFound for a judge who has not looked,
    ConcordError where none has.
    """
    known = sorted({r.name for r in ratings.judges(db, DIALOGUES.name)})
    if not known:
        raise ConcordError(
            "No judge has looked for challenging turns yet. Collect dialogues with `concord run "
            "simulbench-dialogues --judges …`."
        )
    check_known("judge of dialogues", judge, known)
    scripts, turns = list[Script](), list[int | None]()
    for number, dialogue in conversations.each(db, DIALOGUES.name):
        of = (
            r for r in ratings.of_conversation(db, number) if (r.rater.kind, r.rater.name) == ("judge", judge)
        )
        turns.append(next((int(r.score) for r in of if r.criterion == CHALLENGING.name), None))
        if turns[-1] is not None:
            scripts += extract(dialogue, turns[-1])
    new = scenarios.save(db, [script.scenario(f"cut by {judge}", by) for script in scripts])
    return Extracted(len(turns), turns.count(None), scripts, new)


def easy_scripts(db: Database) -> tuple[list[Script], tuple[str, ...]]:
    """The accepted scripts on which every target has full marks from every judge, and the targets.

    A script that one of them has not answered, or whose answer a judge has not usably scored, is kept.
    """
    answers = tables.conversations(db, SIMULBENCH.name).join(tables.facets(db, SIMULBENCH.name, ["script"]))
    scores = tables.scores(db, SIMULBENCH.name, [QUALITY.name])
    top = scores[scores[QUALITY.name] == QUALITY.scale.high]
    full = top.groupby("conversation").judge.nunique() == scores.judge.nunique()
    answers = answers.assign(full=full.reindex(answers.index, fill_value=False))
    of = answers.groupby("script").agg(players=("player", "nunique"), full=("full", "all"))
    targets = tuple(sorted(answers.player.unique()))
    easy = set(of.index[(of.players == len(targets)) & of.full])
    known = stored(scenarios.accepted(db, STORED, SCRIPT))
    return [script for key, script in known.items() if key in easy], targets
