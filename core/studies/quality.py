"""Annotation quality: progress, skipped and flagged items, and signs of carelessness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from concord.estimate import Estimate, estimate, undefined
from concord.rating import Criterion, Scale
from concord.statistics.hidden import share
from concord.statistics.intervals import FEWEST, of_ranks, student
from concord.statistics.ratings import Floats
from concord.store.known import Check, Pair
from concord.store.progress import Item
from concord.studies.checks import hits
from concord.table import Cell, Column, Table

if TYPE_CHECKING:
    import pandas as pd

READING = 60.0
"""Characters a second that nobody reads faster: about 700 words a minute."""
TOO_FAST = 0.2
"""The share of items done faster than that from which it is worth a word."""
GOLD_LEAST = 0.7
"""The share of gold items below which hits are worth a warning."""
FEWEST_GOLD = 4
"""Below this many gold items submitted nothing is said about hits."""
SAME_LEAST = 0.7
"""The share of repeated items rated alike below which it is worth a warning."""
ONE_ANSWER = 0.9
SAME_ON_ALL = 0.8
FEWEST_ITEMS = 10
"""Below this many items done nothing is said about how somebody rates."""


@dataclass(frozen=True)
class AnnotatorProgress:
    """An annotator's part of a study. `seconds` is the median time of an item done, None if not measured."""

    annotator: str
    items: int
    done: int
    skipped: int
    flagged: int
    seconds: float | None
    last: str | None


def progress(items: Iterable[Item]) -> list[AnnotatorProgress]:
    """Everybody's part, by name."""
    by_name: dict[str, list[Item]] = {}
    for item in items:
        by_name.setdefault(item.annotator, []).append(item)
    return [
        AnnotatorProgress(
            annotator=name,
            items=len(mine),
            done=sum(i.state == "done" for i in mine),
            skipped=sum(i.state == "skipped" for i in mine),
            flagged=sum(bool(i.flag) for i in mine),
            seconds=median(timed)
            if (timed := [i.seconds for i in mine if i.state == "done" and i.seconds])
            else None,
            last=max((i.submitted for i in mine if i.submitted), default=None),
        )
        for name, mine in by_name.items()
    ]


def remarks(items: Iterable[Item]) -> list[Item]:
    """The items somebody skipped or flagged, newest first."""
    noted = [i for i in items if i.state == "skipped" or i.flag]
    return sorted(noted, key=lambda i: i.submitted or "", reverse=True)


def suspicions(items: Sequence[Item], given: pd.DataFrame, criteria: Sequence[Criterion]) -> list[str]:
    """Sentences about people whose way of rating deserves a look; empty where nothing stands out.

    `given` is the long frame of the study with extra ratings. Named are people with at least ten items done
    who gave one answer to a criterion in more than nine items of ten, the same answer to all criteria in more
    than eight of ten (of three criteria or more), or who were faster than anybody reads in more than two of
    ten conversations.
    """
    people = given[given.kind == "human"]
    scales = {criterion.name: criterion.scale for criterion in criteria}
    found = []
    for name in dict.fromkeys([i.annotator for i in items] + list(people.rater)):
        theirs = people[people.rater == name]
        found += [
            f"{name} {what}"
            for what in [
                *_one_answer(theirs, scales),
                *_same_on_all(theirs),
                *_too_fast([i for i in items if i.annotator == name]),
            ]
        ]
    return found


def unsuspicious(items: Sequence[Item], given: pd.DataFrame) -> str:
    """The sentence for a study in which `suspicions` names nobody: how many it looked at, and for what.

    Speed is looked at only where times were measured, and not in items of one turn.
    """
    people = given[given.kind == "human"]
    enough = int((people.groupby("rater").unit.nunique() >= FEWEST_ITEMS).sum())
    if not enough:
        return f"Whose ratings look careless is not said yet: nobody has rated {FEWEST_ITEMS} items."
    timed = any(i.state == "done" and i.seconds and i.turn is None for i in items)
    fast = " or rates faster than the replies can be read" if timed else ""
    return (
        f"Nobody's ratings look careless: of the annotators with at least {FEWEST_ITEMS} items ({enough}) "
        f"none gives one answer nearly always{fast}."
    )


def quality_tables(
    items: Sequence[Item], given: pd.DataFrame, excluded: Sequence[str] = ()
) -> tuple[Table, Table]:
    """How each annotator works, one row a person: times and one answer for everything; the others' scores.

    `given` is the long frame of the study with extra ratings; an item's score is the mean of a person's
    answers to it. Extra items count in how somebody works, as all their items do. They were chosen by what
    others answered, so that they are not compared with the others' mean.
    `per_1000` is the median time for 1000 characters of replies, `fast` the share of items done faster than
    they can be read (whole conversations only). `straight` is the share of items of three criteria or more
    with one answer to all. With the mean of the others on an item: `agreement` is Spearman's rho (interval
    after Bonett and Wright 2000), `bias` the mean of own minus theirs, `drift` how much more that is in
    the second half of the items than in the first, in the order in which they were submitted (Student's t, of
    Welch 1947 for drift). No figure of these below `FEWEST` items, none of drift below twice as many.
    """
    people = given[given.kind == "human"]
    first = people[~people.extra] if "extra" in people else people
    scores = first.pivot_table(index="unit", columns="rater", values="score", aggfunc="mean")
    rows: list[dict[str, Cell]] = []
    for part in progress(items):
        mine = [i for i in items if i.annotator == part.annotator]
        theirs = people[people.rater == part.annotator]
        timed = [i for i in mine if i.state == "done" and i.seconds and i.turn is None and i.reply_chars]
        fast = sum(i.seconds < i.reply_chars / READING for i in timed)
        alike = theirs.groupby("unit").score.agg(["count", "nunique"])
        alike = alike[alike["count"] >= 3]
        rows.append(
            {name: getattr(part, name) for name in ("annotator", "done", "skipped", "flagged", "seconds")}
            | {
                "per_1000": median(1000 * i.seconds / i.reply_chars for i in timed) if timed else None,
                "fast": share(fast, len(timed)) if timed else undefined("no time was measured", n=0),
                "straight": share(int((alike["nunique"] == 1).sum()), len(alike))
                if len(alike)
                else undefined("no item has three criteria", n=0),
            }
            | _beside_the_others(scores, part.annotator, mine)
            | {"note": "left out" if part.annotator in excluded else ""}
        )
    share_of = partial(Column, percent=True, interval="ends")
    out = (Column("note"),) if excluded else ()
    alone = (
        *map(Column, ("annotator", "done", "skipped", "flagged")),
        Column("seconds", "seconds", digits=0),
        Column("per_1000", "for 1000 characters", digits=0),
        share_of("fast", "too fast"),
        share_of("straight", "one answer to all"),
        *out,
    )
    beside = (
        Column("annotator"),
        Column("agreement", "ρ with the others", interval="ends", n=True),
        Column("bias", signed=True, interval="ends"),
        Column("drift", signed=True, interval="ends"),
        *out,
    )
    work = Table(
        "annotation_quality",
        "Annotation quality",
        alone,
        _only(alone, rows),
        caption="How each annotator works. A low figure is a reason to look, not to leave somebody out.",
        notes=(
            f"Times: medians. Too fast: faster than {READING:g} characters of replies a second. 95% "
            "intervals take items for independent.",
        ),
    )
    others = Table(
        "annotators_beside_others",
        "Annotators beside the others",
        beside,
        _only(beside, rows),
        notes=(
            "The others: the mean of the others on an item. Bias: own minus theirs, above 0 for higher "
            "scores. Drift: the bias on the second half of the items less that on the first. 95% intervals "
            "take items for independent.",
        ),
    )
    return work, others


def _only(columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> tuple[Mapping[str, Cell], ...]:
    return tuple({column.name: row[column.name] for column in columns} for row in rows)


def _beside_the_others(scores: pd.DataFrame, name: str, mine: Sequence[Item]) -> dict[str, Cell]:
    """Agreement, bias and drift of one person."""
    order = {i.unit: i.submitted or "" for i in mine if i.state == "done"}
    if name not in scores:
        return dict.fromkeys(("agreement", "bias", "drift"), undefined("nothing was submitted", n=0))
    import pandas as pd

    both = pd.DataFrame({"own": scores[name], "others": scores.drop(columns=name).mean(axis=1)}).dropna()
    both = both.loc[sorted(both.index, key=lambda unit: (order.get(unit, ""), unit))]
    n, distance = len(both), (both.own - both.others).to_numpy()
    if n < FEWEST:
        reason = f"{n} items that others rated too are too few, at least {FEWEST} are needed"
        return dict.fromkeys(("agreement", "bias", "drift"), undefined(reason, n=n))
    return {
        "agreement": _spearman(both),
        "bias": _shifted(distance),
        "drift": _shifted(distance[n // 2 :], distance[: n // 2])
        if n >= 2 * FEWEST
        else undefined(f"{n} items are too few, at least {2 * FEWEST} are needed", n=n),
    }


def _spearman(both: pd.DataFrame) -> Estimate:
    if both.own.nunique() < 2 or both.others.nunique() < 2:
        return undefined("all scores are equal", n=len(both))
    rho = float(both.own.rank().corr(both.others.rank()))
    low, high, reason = of_ranks(rho, len(both))
    if low is None or high is None:
        return estimate(rho, n=len(both), reason=reason)
    return estimate(rho, low, high, n=len(both), method="Bonett and Wright")


def _shifted(values: Floats, before: Floats | None = None) -> Estimate:
    """The mean of values (minus that of others before them) ± t·SE."""
    parts = [values] if before is None else [values, before]
    errors = [float(part.var(ddof=1)) / len(part) for part in parts]
    value = float(values.mean()) - (float(before.mean()) if before is not None else 0.0)
    n = sum(map(len, parts))
    if sum(errors) <= 0:
        return estimate(value, n=n, reason="no interval: all distances are equal")
    freedom = sum(errors) ** 2 / sum(e**2 / (len(part) - 1) for e, part in zip(errors, parts, strict=True))
    half = student(freedom) * sum(errors) ** 0.5
    return estimate(value, value - half, value + half, n=n, method="Student's t")


def warnings(criteria: Sequence[Criterion], pairs: Sequence[Pair], checks: Sequence[Check]) -> list[str]:
    """Sentences about annotators whose answers to hidden items pass a threshold; nobody is dropped for it.

    Named are people who hit fewer than `GOLD_LEAST` of at least `FEWEST_GOLD` gold items, missed an attention
    check, or rated fewer than `SAME_LEAST` of at least `intervals.FEWEST` repeated items alike: every answer
    within a quarter of its scale (of categories and of yes or no: the same).
    """
    found = []
    for name, of in hits(checks).items():
        hit = sum(right for right, _ in of)
        if len(of) >= FEWEST_GOLD and hit < GOLD_LEAST * len(of):
            found.append(f"{name} hit {_share(hit, len(of))} gold items, fewer than {GOLD_LEAST:.0%}.")
        if missed := sum(attention and not right for right, attention in of):
            every = sum(attention for _, attention in of)
            found.append(f"{name} missed {missed} of {every} attention checks.")
    for name in dict.fromkeys(pair.annotator for pair in pairs):
        near: dict[int, bool] = {}
        for pair in pairs:
            if pair.annotator == name:
                close = abs(pair.second - pair.first) <= _near(criteria, pair.criterion)
                near[pair.unit] = near.get(pair.unit, True) and close
        if len(near) >= FEWEST and sum(near.values()) < SAME_LEAST * len(near):
            found.append(
                f"{name} rated {_share(sum(near.values()), len(near))} repeated items alike, fewer than "
                f"{SAME_LEAST:.0%}: every answer within a quarter of its scale."
            )
    return found


def _near(criteria: Sequence[Criterion], name: str) -> float:
    """How far apart two answers are alike: a quarter of the scale, of categories and two answers nothing."""
    scale = next(criterion.scale for criterion in criteria if criterion.name == name)
    return 0.0 if scale.named else (scale.high - scale.low) / 4


def _share(hits: int, n: int) -> str:
    of = share(hits, n)
    ends = f" ({of.low:.0%} to {of.high:.0%})" if of.low is not None and of.high is not None else ""
    return f"{hits} of {n}{ends}"


def _one_answer(given: pd.DataFrame, scales: Mapping[str, Scale]) -> Iterable[str]:
    for criterion, rows in given.groupby("criterion", sort=False):
        share = rows.score.value_counts(normalize=True)
        if len(rows) >= FEWEST_ITEMS and share.iloc[0] > ONE_ANSWER:
            answer = scales[str(criterion)].word(share.index[0])
            yield f"answered {answer} on {criterion} in {share.iloc[0]:.0%} of {len(rows)} items."


def _same_on_all(given: pd.DataFrame) -> Iterable[str]:
    by_item = given.groupby("unit").score.agg(["count", "nunique"])
    by_item = by_item[by_item["count"] >= 3]
    share = (by_item["nunique"] == 1).mean()
    if len(by_item) >= FEWEST_ITEMS and share > SAME_ON_ALL:
        yield f"gave all criteria the same answer in {share:.0%} of {len(by_item)} items."


def _too_fast(mine: Sequence[Item]) -> Iterable[str]:
    # An item that is one turn of a conversation is not read alone: what a fair time for it is depends on the
    # turns before.
    timed = [i for i in mine if i.state == "done" and i.seconds and i.turn is None]
    fast = sum(i.seconds < i.reply_chars / READING for i in timed)
    if len(timed) >= FEWEST_ITEMS and fast > TOO_FAST * len(timed):
        yield (
            f"was faster than the replies can be read in {fast} of {len(timed)} items ({READING:g} "
            "characters a second)."
        )
