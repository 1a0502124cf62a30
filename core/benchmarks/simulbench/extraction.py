"""Scripts of a workspace: cut from judged dialogues, set aside where they distinguish no models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from sqlite_utils import Database

from concord.benchmarks.simulbench.dialogues import CHALLENGING, DIALOGUES
from concord.benchmarks.simulbench.scripts import KINDS, SCRIPT, Script, extract, stored
from concord.benchmarks.simulbench.targets import QUALITY, SIMULBENCH
from concord.benchmarks.simulbench.tasks import STORED
from concord.errors import ConcordError, check_known, not_found
from concord.store import conversations, ratings, scenarios, tables


@dataclass(frozen=True)
class Extracted:
    """Dialogues read, those without a usable judgement, scripts by kind, and how many were known before."""

    judge: str
    dialogues: int
    unjudged: int
    kinds: dict[str, int]
    known: int


def extract_scripts(db: Database, judge: str = "", *, by: str = "") -> Extracted:
    """Cut scripts from every stored dialogue by what one judge found in its first look.

    The judge may be left out where only one has looked. A script that was cut before is left as it is.
    Raises NotFound for an unknown judge, ConcordError where none or several have looked.
    """
    judge = _one_judge(db, judge)
    scripts, read, unjudged = [], 0, 0
    for number, dialogue in conversations.each(db, DIALOGUES.name):
        read += 1
        turn = next(
            (
                int(r.score)
                for r in ratings.of_conversation(db, number)
                if r.rater.kind == "judge" and r.rater.name == judge and r.criterion == CHALLENGING.name
            ),
            None,
        )
        if turn is None:
            unjudged += 1
        else:
            scripts += extract(dialogue, turn)
    new = scenarios.save(db, [script.scenario(f"cut by {judge}", by or "extraction") for script in scripts])
    kinds: dict[str, int] = {kind: sum(script.kind == kind for script in scripts) for kind in KINDS}
    return Extracted(judge, read, unjudged, kinds, len(scripts) - new)


def _one_judge(db: Database, judge: str) -> str:
    known = sorted({r.name for r in ratings.judges(db, DIALOGUES.name)})
    if not known:
        raise ConcordError(
            "No judge has looked for challenging turns yet. Collect dialogues with `concord run "
            "simulbench-dialogues --judges …`."
        )
    if judge and judge not in known:
        raise not_found("judge of dialogues", judge, known)
    if not judge and len(known) > 1:
        raise ConcordError(
            f"Several judges looked for challenging turns: {', '.join(known)}. Name one with --judge."
        )
    return judge or known[0]


def easy_scripts(
    db: Database, *, targets: Sequence[str] = (), judges: Sequence[str] = ()
) -> tuple[list[Script], tuple[str, ...]]:
    """The accepted scripts on which every target has full marks from every judge (all, unless named).

    Returns the targets as well. A script that one of them has not answered, or whose answer one of the judges
    has not usably scored, is kept. Raises NotFound for a target or a judge that has no part in any script.
    """
    answers = tables.conversations(db, SIMULBENCH.name).join(tables.facets(db, SIMULBENCH.name, ["script"]))
    scores = tables.scores(db, SIMULBENCH.name, [QUALITY.name])
    wanted = _named("target", targets, answers.player)
    panel = _named("judge", judges, scores.judge)
    top = scores[scores.judge.isin(panel) & (scores[QUALITY.name] == QUALITY.scale.high)]
    full = top.groupby("conversation").judge.nunique() == len(panel)
    answers = answers[answers.player.isin(wanted)]
    answers = answers.assign(full=full.reindex(answers.index, fill_value=False))
    of = answers.groupby("script").agg(players=("player", "nunique"), full=("full", "all"))
    easy = set(of.index[(of.players == len(wanted)) & of.full]) if wanted and panel else set()
    known = stored(scenarios.accepted(db, STORED, SCRIPT))
    return [script for key, script in known.items() if key in easy], wanted


def _named(what: str, names: Sequence[str], known: pd.Series[str]) -> tuple[str, ...]:
    there = sorted(known.unique())
    check_known(what, names, there)
    return tuple(dict.fromkeys(names)) or tuple(there)
