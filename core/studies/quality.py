"""Annotation quality: progress, skipped and flagged items, and signs of carelessness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import compress
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sqlite_utils import Database

from concord.arrays import Columns, as_column, coded, taken
from concord.codes import Claim
from concord.estimate import Estimate, undefined
from concord.questions import Scale
from concord.rating import Criterion
from concord.statistics.claims import Flag, flag, ranked, statable, sure_of
from concord.statistics.hidden import share
from concord.statistics.oddities import LARGE_SHARE, OneAnswer, chance_of_hits, one_answer
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
    study = studies.get(db, name)
    items = stored.items(db, name)
    criteria = study.criteria
    frame = _frame(db, study)
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
    flags = list(_one_answer(names, grids, scales))
    for name, own_items in by_name.items():
        # An item that is one turn of a conversation is not read alone: what a fair time for it is depends on
        # the turns before.
        conversations = [item for item in _timed(own_items) if item.turn is None]
        fast = _count_fast(conversations)
        if len(conversations) >= FEWEST_ITEMS and fast > TOO_FAST * len(conversations):
            flags.append(flag(Claim.TOO_FAST, subject=name, n=fast, items=len(conversations), speed=READING))
    return ranked(flags)


def _timed(items: Sequence[Item]) -> list[Item]:
    """The items that are done, and whose time was measured."""
    return [item for item in items if item.state == "done" and item.seconds]


def _count_fast(items: Sequence[Item]) -> int:
    """How many were done faster than anybody reads."""
    return sum(item.seconds < item.reply_chars / READING for item in items)


def quality_table(items: Sequence[Item], frame: pd.DataFrame, excluded: Sequence[str] = ()) -> Table:
    """How each annotator works, one row a person: times, and one answer for everything.

    `frame` is the long frame of the study with extra ratings. `per_1000` is the median time for 1000
    characters of replies, `fast` the share of items done faster than they can be read (whole conversations
    only). `straight` is the share of items of three criteria or more with one answer to all.
    """
    people = frame[frame.kind == "human"]
    rows: list[dict[str, Cell]] = []
    for name, own_items in _by_annotator(items).items():
        states = Counter(item.state for item in own_items)
        row: dict[str, Cell] = {
            "annotator": name,
            "items": len(own_items),
            "done": states["done"],
            "skipped": states["skipped"],
            "flagged": sum(bool(item.flag) for item in own_items),
            **_times(_timed(own_items)),
            "straight": _share_of_one_answer(people[people.rater == name]),
        }
        if excluded:
            row["note"] = "excluded" if name in excluded else ""
        rows.append(row)
    share_of = partial(Column, percent=True, interval="ends")
    columns = (
        *map(Column, ("annotator", "items", "done", "skipped", "flagged")),
        Column("seconds", "seconds", digits=0),
        Column("per_1000", "for 1000 characters", digits=0),
        share_of("fast", "too fast"),
        share_of("straight", "one answer to all"),
    )
    if excluded:
        columns = (*columns, Column("note"))
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


def _times(items: Sequence[Item]) -> dict[str, Cell]:
    """The columns of times, from items whose time was measured."""
    seconds = median(item.seconds for item in items) if items else None
    conversations = [item for item in items if item.turn is None and item.reply_chars]
    if not conversations:
        return {
            "seconds": seconds,
            "per_1000": None,
            "fast": undefined("no time was measured", n=0),
        }
    return {
        "seconds": seconds,
        "per_1000": median(1000 * item.seconds / item.reply_chars for item in conversations),
        "fast": share(_count_fast(conversations), len(conversations)),
    }


def _share_of_one_answer(frame: pd.DataFrame) -> Estimate:
    """The share of items of three criteria or more with one answer to all."""
    items = frame.groupby("unit").score.agg(["count", "nunique"])
    items = items[items["count"] >= 3]
    if not len(items):
        return undefined("no item has three criteria", n=0)
    return share(int((items["nunique"] == 1).sum()), len(items))


class Hits(NamedTuple):
    """How many of an annotator's answers are as they should be, of how many."""

    hits: int
    n: int

    @property
    def words(self) -> str:
        """“3 of 8 (14% to 69%)”."""
        estimate = share(self.hits, self.n)
        if estimate.low is None or estimate.high is None:
            return f"{self.hits} of {self.n}"
        return f"{self.hits} of {self.n} ({estimate.low:.0%} to {estimate.high:.0%})"


def warnings(criteria: Sequence[Criterion], pairs: Sequence[Pair], checks: Sequence[Check]) -> list[Flag]:
    """Flags of annotators by their answers to hidden items; nobody is dropped for it.

    Named are people who missed an attention check, and those whose share of gold items hit, or of repeated
    items rated alike, lies below `GOLD_LEAST` and `SAME_LEAST` beyond chance (binomial, adjusted for the
    annotators by Holm). Alike is every answer within a quarter of its scale (of categories and of yes or no:
    the same).
    """
    flags: list[Flag] = []
    gold: dict[str, Hits] = {}
    for name, results in hits(checks).items():
        gold[name] = Hits(sum(right for right, _ in results), len(results))
        missed = sum(attention and not right for right, attention in results)
        if missed:
            checks_of_attention = sum(attention for _, attention in results)
            flags.append(flag(Claim.ATTENTION, subject=name, n=missed, items=checks_of_attention))
    for name, gold_hits in _below(Claim.GOLD, gold, GOLD_LEAST).items():
        flags.append(flag(Claim.GOLD, subject=name, share=gold_hits.words, least=GOLD_LEAST))
    for name, repeat_hits in _below(Claim.REPEATS, _alike(criteria, pairs), SAME_LEAST).items():
        flags.append(flag(Claim.REPEATS, subject=name, share=repeat_hits.words, least=SAME_LEAST))
    return flags


def _alike(criteria: Sequence[Criterion], pairs: Sequence[Pair]) -> dict[str, Hits]:
    """By annotator, on how many items that came again all answers are near the first ones."""
    near: dict[str, dict[int, bool]] = {}
    for pair in pairs:
        close = abs(pair.second - pair.first) <= _near(criteria, pair.criterion)
        near_by_unit = near.setdefault(pair.annotator, {})
        near_by_unit[pair.unit] = near_by_unit.get(pair.unit, True) and close
    return {name: Hits(sum(units.values()), len(units)) for name, units in near.items()}


def _below(claim: Claim, counts: Mapping[str, Hits], lowest_share: float) -> dict[str, Hits]:
    """Those whose share lies below the least beyond chance."""
    p: list[float] = []
    for hits_of_name in counts.values():
        misses = hits_of_name.n - hits_of_name.hits
        p.append(chance_of_hits(misses, np.full(hits_of_name.n, 1 - lowest_share)))
    sure = statable(claim, p)
    return {name: counts[name] for name in compress(counts, sure)}


def _near(criteria: Sequence[Criterion], name: str) -> float:
    """How far apart two answers are alike: a quarter of the scale, of categories and two answers nothing."""
    scale = next(criterion.scale for criterion in criteria if criterion.name == name)
    return 0.0 if scale.named else scale.width / 4


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
    findings: list[tuple[str, OneAnswer]] = []
    tests = 0
    for criterion, grid in grids.items():
        answers_by_name: dict[str, Floats] = {}
        one_is_frequent = False
        for name, answers in zip(names, grid, strict=True):
            if np.isnan(answers).all():
                continue
            answers_by_name[name] = answers
            counts = np.unique(answers[~np.isnan(answers)], return_counts=True)[1]
            one_is_frequent |= bool(counts.max() > LARGE_SHARE * counts.sum())
        tests += len(answers_by_name)
        if one_is_frequent:
            for row in one_answer(answers_by_name):
                findings.append((criterion, row))
    proven = sure_of(Claim.CARELESS, [row.p for _, row in findings], tests)
    for (criterion, row), sure in zip(findings, proven, strict=True):
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
