"""What changed from one judge to another on the same items, which judge to choose, and the sealed figure."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sqlite_utils import Database

from concord.errors import NotFound, StudyError
from concord.estimate import Estimate, too_few, undefined
from concord.lab import parts as divided
from concord.lab.measuring import OVERALL, Bench, Candidate
from concord.lab.parts import FEWEST, TEST
from concord.statistics.correlation import correlation
from concord.statistics.intervals import (
    DIFFERENCE,
    described,
    resampled,
    simultaneous,
    simultaneous_differences,
)
from concord.statistics.ratings import Floats, Ints
from concord.statistics.resampling import Statistic, mean
from concord.store import lab
from concord.store.lab import Asked
from concord.table import Cell, Column, Table

MARGIN = 0.05
"""How much less agreement counts as no worse, unless told: a twentieth of the width of the scale."""
LACKING = 0.1
"""A judge without a usable reply to a larger share of the items is not chosen."""


def differences(bench: Bench, part: str, one: Candidate, other: Candidate, *, seed: int = 0) -> Table:
    """From `one` to `other` on the same items of a part: a row for all criteria together and one for each.

    `change` is the mean of the other's agreement less the one's; the intervals of single criteria hold
    together (max-t). `order` is the change of Spearman's ρ with people's mean, of criteria with an order: a
    judge that hides in the middle of the scale comes closer to people and orders items no better. `better`
    and `worse` count items.
    """
    asked = [c.name for c in bench.criteria]
    names = ["", *asked] if len(asked) > 1 else asked
    inside, codes = bench.marked(part), bench.clusters(part)
    rows: list[dict[str, Cell]] = []
    figures: list[Statistic] = []
    for name in names:
        before, after = (np.where(inside, bench.agreement(judge, name), np.nan) for judge in (one, other))
        gap = (after - before).round(9)
        both = ~np.isnan(gap)
        figures.append(mean(gap))
        n = int(both.sum())
        label = next((c.label for c in bench.criteria if c.name == name), OVERALL)
        row: dict[str, Cell] = {"criterion": label, "n": n}
        row |= {"one": float(before[both].mean()), "other": float(after[both].mean())} if n else {}
        row |= {"better": int((gap > 0).sum()), "worse": int((gap < 0).sum())}
        row["order"] = _order(bench, part, one, other, name, seed) if name else None
        rows.append(row)
    own, drawn = bench.drawn(figures, part, seed)
    widened = simultaneous(drawn[1:], len(bench.units), DIFFERENCE) if len(names) > 2 else 1.0
    for place, (name, row) in enumerate(zip(names, rows, strict=True)):
        wide = widened if name else 1.0
        row["change"] = of_items(own[place], drawn[place], int(str(row["n"])), codes, wide)
    heads = _heads(one, other)
    columns = (
        Column("criterion"),
        Column("one", heads[0], digits=3),
        Column("other", heads[1], digits=3),
        Column("change", digits=3, interval="ends", signed=True),
        Column("order", "change of ρ", digits=2, interval="ends", signed=True),
        Column("better", "items better"),
        Column("worse", "items worse"),
        Column("n", "items"),
    )
    notes = [*judging(bench, part, one, other)]
    if codes is None and len({u.scenario for u in bench.parts.of(part)}) < len(bench.parts.of(part)):
        notes.append("Too few scenarios to be drawn together: intervals take items for independent.")
    method = described(
        [DIFFERENCE],
        resamples=bench.resamples,
        seed=seed,
        of="items" if codes is None else "scenarios",
    )
    caption = f"Agreement with people on the part “{part}” of {bench.parts.study}; 1 is complete. {method}."
    return Table(
        "lab-differences",
        f"From {one} to {other}",
        columns,
        tuple(rows),
        caption,
        tuple(notes),
        {"study": bench.parts.study, "part": part, "one": str(one), "other": str(other), "seed": seed},
    )


def _heads(one: Candidate, other: Candidate) -> tuple[str, str]:
    """What tells two judges apart, short: their versions, where the model is the same."""
    return (one.variant, other.variant) if one.model == other.model else (str(one), str(other))


def judging(bench: Bench, part: str, *judges: Candidate) -> list[str]:
    """What stands behind the figures of judges: unusable replies, and who is a mock model."""
    notes = []
    for judge in judges:
        asked = bench.asked[part].get(judge)
        if asked and asked.failed:
            notes.append(f"{judge} gave {asked.failed} unusable replies; these items are not compared.")
    if mocks := [str(j) for j in judges if (a := bench.asked[part].get(j)) and a.simulated]:
        notes.append(f"Simulated, not a language model: {', '.join(dict.fromkeys(mocks))}.")
    return notes


def of_items(value: float, drawn: Floats, n: int, codes: Ints | None, widened: float = 1.0) -> Estimate:
    """A figure of `n` items with its interval; undefined where both judges rated none of them."""
    if not n:
        return undefined("no item was answered by both and by people", n=0)
    units = n if codes is None else min(n, int(codes.max()) + 1)
    return resampled(float(value), drawn, n=n, kind=DIFFERENCE, units=units, widened=widened)


def _order(
    bench: Bench, part: str, one: Candidate, other: Candidate, name: str, seed: int
) -> Estimate | None:
    """The change of Spearman's ρ; None where answers have no order."""
    if not next(c.scale for c in bench.criteria if c.name == name).ordered:
        return None
    nothing = np.full(len(bench.units), np.nan)
    scores = [bench.answers[judge].get(name, nothing) for judge in (one, other)]
    missing = np.isnan(scores).any(axis=0) | ~bench.marked(part)
    target = np.where(missing, np.nan, bench.people[name].target)
    n = int((~np.isnan(target)).sum())
    if n < FEWEST:
        return undefined(too_few(n), n=n)
    first, second = (correlation(score, target) for score in scores)
    own, drawn = bench.drawn([lambda w: second(w) - first(w)], part, seed)
    if np.isnan(own[0]):
        return undefined("a judge's or people's answers are all equal", n=n)
    return of_items(own[0], drawn[0], n, bench.clusters(part))


def choose(
    bench: Bench, part: str, among: Sequence[Candidate], *, margin: float = MARGIN, seed: int = 0
) -> tuple[Table, Candidate]:
    """Compare judges on the items of a part that all of them answered, the best first; and the best one.

    The intervals of all agreements hold together (max-t), and so do those of every difference to the best.
    Chosen as cheapest is the judge of least cost whose difference to the best lies above −`margin` with its
    whole interval. One with a price of nothing is cheapest; one without a price is never. Judges who lack
    more than a tenth of the items others answered (unusable replies) are listed and not compared. The first
    note says what was chosen.
    """
    inside = bench.marked(part)
    rated = {judge: np.where(inside, bench.agreement(judge), np.nan) for judge in among}
    answered = {judge: int((~np.isnan(values)).sum()) for judge, values in rated.items()}
    most = max(answered.values(), default=0)
    whole = [judge for judge in among if most and answered[judge] >= (1 - LACKING) * most]
    if not whole:
        raise NotFound(f"No judge has answered the part “{part}” yet: concord lab run {bench.parts.study} …")
    together = ~np.isnan([rated[judge] for judge in whole]).any(axis=0)
    n, codes = int(together.sum()), bench.clusters(part)
    if not n:
        raise StudyError(f"No item of the part “{part}” was answered by all of these judges.")
    own, drawn = bench.drawn([mean(np.where(together, rated[judge], np.nan)) for judge in whole], part, seed)
    order = np.argsort(-own, kind="stable")
    whole, own, drawn = [whole[place] for place in order], own[order], drawn[order]
    wide = simultaneous(drawn, n), simultaneous_differences(drawn)
    rows: list[dict[str, Cell]] = []
    close: list[tuple[float, int]] = []
    for place, judge in enumerate(whole):
        asked, behind = bench.asked[part].get(judge), None
        cost = price(asked)
        if place:
            behind = of_items(own[place] - own[0], drawn[place] - drawn[0], n, codes, wide[1])
        if cost is not None and (behind is None or (behind.interval and behind.interval[0] > -margin)):
            close.append((cost, place))
        rows.append(
            {
                "judge": str(judge),
                "agreement": of_items(own[place], drawn[place], n, codes, wide[0]),
                "behind": behind,
                "cost": cost,
                "seconds": asked.seconds / asked.judgements if asked and asked.judgements else None,
                "n": answered[judge],
            }
        )
    stopped = [judge for judge in among if judge not in whole]
    rows += [{"judge": str(judge), "n": answered[judge]} for judge in stopped]
    best, cheapest = whole[0], whole[min(close)[1]] if close else None
    sentence = f"Best on {part}: {best}."
    if len(whole) == 1:
        sentence += " There is no other to compare it with."
    elif cheapest is None:
        sentence += " No judge that is close to it has a price in models.toml."
    elif cheapest == best:
        sentence += f" No cheaper one is shown to be within {margin:g} of it."
    else:
        sentence += (
            f" The cheapest that is not worse than it by more than {margin:g}: {cheapest}, at "
            f"{min(close)[0]:.2f} instead of {rows[0]['cost'] or 0:.2f} per 1,000 judgements."
        )
    notes = [sentence, f"These {n} items chose: the agreement of the best one is too good on them."]
    if stopped:
        notes.append(f"Not compared, for too few usable answers: {', '.join(map(str, stopped))}.")
    columns = (
        Column("judge"),
        Column("agreement", digits=3, interval="ends"),
        Column("behind", "behind the best", digits=3, interval="ends", signed=True),
        Column("cost", "cost of 1,000", digits=3, help="Cost of 1,000 judgements, as measured here"),
        Column("seconds", "seconds", digits=1, help="Mean time of a judgement"),
        Column("n", "items"),
    )
    meta = {"part": part, "margin": margin, "seed": seed, "compared": n}
    title = f"Judges on the part “{part}” of {bench.parts.study}"
    return Table("lab-choice", title, columns, tuple(rows), notes=tuple(notes), meta=meta), best


def price(asked: Asked | None) -> float | None:
    """The cost of 1,000 judgements; None where nothing was asked or a call had no price."""
    if asked is None or not asked.judgements or asked.unpriced:
        return None
    return 1000 * asked.cost / asked.judgements


def better(table: Table) -> bool:
    """Whether the second judge of `differences` is shown to agree better with people than the first."""
    change = table.rows[0]["change"]
    return isinstance(change, Estimate) and change.interval is not None and change.interval[0] > 0


def gain(table: Table) -> str:
    """One sentence on whether the second judge of `differences` is better than the first on these items."""
    change = table.rows[0]["change"]
    assert isinstance(change, Estimate)
    one, other, part = (table.meta[name] for name in ("one", "other", "part"))
    if change.value is None:
        return f"Whether {other} is better than {one} is not known: {change.reason}."
    if change.value == 0 and change.interval is None:
        return f"No gain is shown from {one} to {other}: no change on any of {change.n} items of {part}."
    if change.interval is None:
        return f"{other} is {change.value:+.3f} from {one} on {part}, {change.reason}."
    low, high = change.interval
    figure = f"{change.value:+.3f} [{low:+.3f}, {high:+.3f}] on {change.n} items of {part}"
    if better(table):
        return f"{other} agrees with people better than {one}: {figure}."
    if high < 0:
        return f"{other} agrees with people worse than {one}: {figure}."
    return f"No gain is shown from {one} to {other}: {figure}; the interval holds 0."


def report(
    db: Database, bench: Bench, one: Candidate, other: Candidate, reason: str, *, seed: int = 0
) -> Table:
    """The change from `one` to `other` on the sealed part, which is thereby opened, counted and recorded.

    The first of the table's notes is the sentence, the second, where the part was seen before, what follows
    from that; `sentences` of its meta counts both. Raises StudyError where one has not answered all of it.
    """
    for judge in (one, other):
        if owed := bench.owed(judge, TEST):
            how = f"--judges {judge.model} --versions {bench.versions.get(judge.variant, '…')} --part {TEST}"
            raise StudyError(
                f"{judge} has not answered {owed} conversations of the sealed part, which is not opened. "
                f"Have it answer: concord lab run {bench.parts.study} {how}"
            )
    before = lab.open_test(db, bench.parts.study, f"{one} → {other}", reason.strip() or "final figure")
    table = differences(bench, TEST, one, other, seed=seed)
    sentences = (gain(table), *divided.seen(db, bench.parts, before))
    meta = {**table.meta, "opened before": before, "sentences": len(sentences)}
    return replace(table, name="lab-report", notes=(*sentences, *table.notes), meta=meta)
