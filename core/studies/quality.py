"""Annotation quality: progress, skipped and flagged items, and signs of carelessness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sqlite_utils import Database

from concord.arrays import Columns, as_column, coded, taken
from concord.codes import Claim
from concord.estimate import undefined
from concord.questions import Scale
from concord.rating import Criterion
from concord.statistics.claims import Flag, flag, ranked, statable, sure_of
from concord.statistics.hidden import share
from concord.statistics.oddities import LARGE_SHARE, chance_of_hits, one_answer
from concord.statistics.ratings import Floats
from concord.store import exclusions, frames, known, studies
from concord.store import progress as stored
from concord.store.known import Check, Pair
from concord.store.progress import Item
from concord.studies.purposes.gold import hits
from concord.table import Cell, Column, Table

if TYPE_CHECKING:
    import pandas as pd

ROWS = ("rater", "unit", "criterion", "score")
READING = 60.0
"""Characters a second that nobody reads faster: about 700 words a minute."""
TOO_FAST = 0.2
"""The share of items done faster than that from which it is worth a word."""
GOLD_LEAST = 0.7
"""The share of gold items that a careful annotator hits at least."""
SAME_LEAST = 0.7
"""The share of repeated items that a careful annotator rates alike at least."""
FEWEST_ITEMS = 10
"""Below this many items done nothing is said about how somebody rates."""


def _by_annotator(items: Iterable[Item]) -> dict[str, list[Item]]:
    by_name: dict[str, list[Item]] = {}
    for item in items:
        by_name.setdefault(item.annotator, []).append(item)
    return by_name


class Signs(NamedTuple):
    """How a study's annotators work: what hidden items show, whose ratings look careless, and a table."""

    warnings: list[Flag]
    suspicions: list[Flag]
    table: Table


def signs(db: Database, name: str) -> Signs:
    """What the items and answers of a study show; of pairs hidden items and times. Raises NotFound."""
    study, items = studies.get(db, name), stored.items(db, name)
    criteria, frame = study.criteria, _frame(db, study)
    return Signs(
        warnings(criteria, known.pairs(db, name), known.checks(db, name)),
        suspicions(items, frame, criteria),
        quality_table(items, frame, [*exclusions.excluded(db, name)]),
    )


def _frame(db: Database, study: studies.Study) -> pd.DataFrame:
    """The long frame of a study; of pairs, whose answers are no ratings, without rows."""
    if not study.pairs:
        return frames.frame(db, study.name, with_extra=True)
    import pandas as pd

    return pd.DataFrame({"extra": np.zeros(0, dtype=bool)}).reindex(columns=[*ROWS, "kind", "extra"])


def suspicions(
    items: Sequence[Item], frame: Columns | pd.DataFrame, criteria: Sequence[Criterion]
) -> list[Flag]:
    """Flags of people whose way of rating deserves a look; empty where nothing stands out.

    `frame` has the columns of the study's ratings, extra ones included. Named are people with at least ten
    items done who gave one answer to a criterion in more than nine items of ten, more often than others did
    on the same items beyond chance (`concord.statistics.oddities`), and who were faster than anybody reads in
    more than two of ten conversations. Where nobody else rated the items, or all answers to them are alike,
    nothing is said.
    """
    names, grids = _grids(_people(frame))
    by_name = _by_annotator(items)
    scales = {c.name: c.scale for c in criteria}
    flags = [*_one_answer(names, grids, scales)]
    flags += [
        flag(Claim.TOO_FAST, subject=name, n=fast, items=timed, speed=READING)
        for name, own_items in by_name.items()
        for fast, timed in _too_fast(own_items)
    ]
    return ranked(flags)


def quality_table(items: Sequence[Item], frame: pd.DataFrame, excluded: Sequence[str] = ()) -> Table:
    """How each annotator works, one row a person: times, and one answer for everything.

    `frame` is the long frame of the study with extra ratings. `per_1000` is the median time for 1000
    characters of replies, `fast` the share of items done faster than they can be read (whole conversations
    only). `straight` is the share of items of three criteria or more with one answer to all.
    """
    people = frame[frame.kind == "human"]
    rows: list[dict[str, Cell]] = []
    for name, own_items in _by_annotator(items).items():
        timed_items = [i for i in own_items if i.state == "done" and i.seconds]
        timed = [i for i in timed_items if i.turn is None and i.reply_chars]
        fast = sum(i.seconds < i.reply_chars / READING for i in timed)
        alike = people[people.rater == name].groupby("unit").score.agg(["count", "nunique"])
        alike = alike[alike["count"] >= 3]
        row: dict[str, Cell] = {
            "annotator": name,
            "items": len(own_items),
            "done": sum(i.state == "done" for i in own_items),
            "skipped": sum(i.state == "skipped" for i in own_items),
            "flagged": sum(bool(i.flag) for i in own_items),
            "seconds": median(i.seconds for i in timed_items) if timed_items else None,
        }
        row["per_1000"] = median(1000 * i.seconds / i.reply_chars for i in timed) if timed else None
        row["fast"] = share(fast, len(timed)) if timed else undefined("no time was measured", n=0)
        row["straight"] = (
            share(int((alike["nunique"] == 1).sum()), len(alike))
            if len(alike)
            else undefined("no item has three criteria", n=0)
        )
        rows.append(row | ({"note": "excluded" if name in excluded else ""} if excluded else {}))
    share_of = partial(Column, percent=True, interval="ends")
    columns = (
        *map(Column, ("annotator", "items", "done", "skipped", "flagged")),
        Column("seconds", "seconds", digits=0),
        Column("per_1000", "for 1000 characters", digits=0),
        share_of("fast", "too fast"),
        share_of("straight", "one answer to all"),
        *((Column("note"),) if excluded else ()),
    )
    return Table(
        "annotation_quality",
        "Annotation quality",
        columns,
        tuple(rows),
        caption="How each annotator works. A low figure is a reason to look, not to exclude.",
        notes=(
            f"Times: medians. Too fast: faster than {READING:g} characters of replies a second. 95% "
            "intervals assume independent items.",
        ),
    )


def warnings(criteria: Sequence[Criterion], pairs: Sequence[Pair], checks: Sequence[Check]) -> list[Flag]:
    """Flags of annotators by their answers to hidden items; nobody is dropped for it.

    Named are people who missed an attention check, and those whose share of gold items hit, or of repeated
    items rated alike, lies below `GOLD_LEAST` and `SAME_LEAST` beyond chance (binomial, adjusted for the
    annotators by Holm). Alike is every answer within a quarter of its scale (of categories and of yes or no:
    the same).
    """
    flags = []
    gold: dict[str, tuple[int, int]] = {}
    for name, results in hits(checks).items():
        gold[name] = sum(right for right, _ in results), len(results)
        if missed := sum(attention and not right for right, attention in results):
            checks_of_attention = sum(attention for _, attention in results)
            flags.append(flag(Claim.ATTENTION, subject=name, n=missed, items=checks_of_attention))
    flags += [
        flag(Claim.GOLD, subject=name, share=_share(hit, n), least=GOLD_LEAST)
        for name, hit, n in _below(Claim.GOLD, gold, GOLD_LEAST)
    ]
    near: dict[str, dict[int, bool]] = {}
    for pair in pairs:
        close = abs(pair.second - pair.first) <= _near(criteria, pair.criterion)
        of_unit = near.setdefault(pair.annotator, {})
        of_unit[pair.unit] = of_unit.get(pair.unit, True) and close
    alike = {name: (sum(of_unit.values()), len(of_unit)) for name, of_unit in near.items()}
    flags += [
        flag(Claim.REPEATS, subject=name, share=_share(equal, n), least=SAME_LEAST)
        for name, equal, n in _below(Claim.REPEATS, alike, SAME_LEAST)
    ]
    return flags


def _below(
    claim: Claim, counts: Mapping[str, tuple[int, int]], lowest_share: float
) -> list[tuple[str, int, int]]:
    """Names with their hits and number, of those whose share lies below the least beyond chance."""
    p = [chance_of_hits(n - hit, np.full(n, 1 - lowest_share)) for hit, n in counts.values()]
    sure = statable(claim, p)
    return [(name, hit, n) for (name, (hit, n)), below in zip(counts.items(), sure, strict=True) if below]


def _near(criteria: Sequence[Criterion], name: str) -> float:
    """How far apart two answers are alike: a quarter of the scale, of categories and two answers nothing."""
    scale = next(criterion.scale for criterion in criteria if criterion.name == name)
    return 0.0 if scale.named else scale.width / 4


def _share(hits: int, n: int) -> str:
    estimate_ = share(hits, n)
    ends = (
        f" ({estimate_.low:.0%} to {estimate_.high:.0%})"
        if estimate_.low is not None and estimate_.high is not None
        else ""
    )
    return f"{hits} of {n}{ends}"


def _people(frame: Columns | pd.DataFrame) -> Columns:
    """The rows of people."""
    return taken({name: as_column(frame[name]) for name in ROWS}, as_column(frame["kind"]) == "human")


def _grids(people: Columns) -> tuple[list[str], dict[str, Floats]]:
    """The people, and their scores on each criterion: people × units; nan where there is none."""
    rater, names = coded(people["rater"])
    unit, units = coded(people["unit"])
    grids = {}
    for criterion in coded(people["criterion"])[1]:
        rows = people["criterion"] == criterion
        grids[str(criterion)] = np.full((len(names), len(units)), np.nan)
        grids[str(criterion)][rater[rows], unit[rows]] = people["score"][rows]
    return [str(name) for name in names], grids


def _one_answer(
    names: Sequence[str], grids: Mapping[str, Floats], scales: Mapping[str, Scale]
) -> Iterable[Flag]:
    findings = []
    tests = 0
    for criterion, grid in grids.items():
        answers_by_name = {
            name: answers for name, answers in zip(names, grid, strict=True) if not np.isnan(answers).all()
        }
        tests += len(answers_by_name)
        counts = [
            np.unique(answers[~np.isnan(answers)], return_counts=True)[1]
            for answers in answers_by_name.values()
        ]
        if any(count.max() > LARGE_SHARE * count.sum() for count in counts):
            findings += [(criterion, row) for row in one_answer(answers_by_name)]
    for (criterion, row), sure in zip(
        findings, sure_of(Claim.CARELESS, [r.p for _, r in findings], tests), strict=True
    ):
        if sure:
            answer = scales[criterion].word(row.answer)
            yield flag(
                Claim.CARELESS,
                kind="annotator",
                subject=row.name,
                criterion_keys=(criterion,),
                answer=answer,
                criterion=criterion,
                share=row.share,
                n=row.n,
                others=row.typical_share,
            )


def _too_fast(own_items: Sequence[Item]) -> Iterable[tuple[int, int]]:
    # An item that is one turn of a conversation is not read alone: what a fair time for it is depends on the
    # turns before.
    timed = [i for i in own_items if i.state == "done" and i.seconds and i.turn is None]
    fast = sum(i.seconds < i.reply_chars / READING for i in timed)
    if len(timed) >= FEWEST_ITEMS and fast > TOO_FAST * len(timed):
        yield fast, len(timed)
