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
from concord.store.lab import JudgeUse
from concord.table import Cell, Column, Table

MARGIN = 0.05
"""How much less agreement counts as no worse, unless told: a twentieth of the width of the scale."""
LACKING = 0.1
"""A judge without a usable reply to a larger share of the items is not chosen."""


def differences(bench: Bench, part: str, one: Candidate, second_judge: Candidate, *, seed: int = 0) -> Table:
    """From `one` to `second_judge` on the same items of a part: a row for all criteria together and one for
    each.

    `change` is the mean of the other's agreement less the one's; the intervals of single criteria hold
    together (max-t). `order` is the change of Spearman's ρ with people's mean, of criteria with an order: a
    judge that hides in the middle of the scale comes closer to people and orders items no better. `better`
    and `worse` count items.
    """
    criterion_names = [c.name for c in bench.criteria]
    names = ["", *criterion_names] if len(criterion_names) > 1 else criterion_names
    inside = bench.marked(part)
    codes = bench.clusters(part)
    rows: list[dict[str, Cell]] = []
    figures: list[Statistic] = []
    for name in names:
        before, after = (
            np.where(inside, bench.agreement(judge, name), np.nan) for judge in (one, second_judge)
        )
        gap = (after - before).round(9)
        compared_items = ~np.isnan(gap)
        figures.append(mean(gap))
        n = int(compared_items.sum())
        label = next((c.label for c in bench.criteria if c.name == name), OVERALL)
        row: dict[str, Cell] = {"criterion": label, "n": n}
        row |= (
            {"one": float(before[compared_items].mean()), "other": float(after[compared_items].mean())}
            if n
            else {}
        )
        row |= {"better": int((gap > 0).sum()), "worse": int((gap < 0).sum())}
        row["order"] = _order(bench, part, one, second_judge, name, seed) if name else None
        rows.append(row)
    point_values, resampled_values = bench.resample(figures, part, seed)
    widened = simultaneous(resampled_values[1:], len(bench.units), DIFFERENCE) if len(names) > 2 else 1.0
    for place, (name, row) in enumerate(zip(names, rows, strict=True)):
        wide = widened if name else 1.0
        row["change"] = of_items(
            point_values[place], resampled_values[place], int(str(row["n"])), codes, wide
        )
    heads = _heads(one, second_judge)
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
    notes = [*judging(bench, part, one, second_judge)]
    if codes is None and len({u.scenario for u in bench.parts.units_of(part)}) < len(
        bench.parts.units_of(part)
    ):
        notes.append("Too few scenarios for cluster resampling; intervals assume independent items.")
    method = described(
        [DIFFERENCE],
        resamples=bench.resamples,
        seed=seed,
        units="items" if codes is None else "scenarios",
    )
    caption = (
        f"Agreement with annotators on the part “{part}” of {bench.parts.study}; 1 is complete. {method}."
    )
    return Table(
        "lab-differences",
        f"From {one} to {second_judge}",
        columns,
        tuple(rows),
        caption,
        tuple(notes),
        {"study": bench.parts.study, "part": part, "one": str(one), "other": str(second_judge), "seed": seed},
    )


def _heads(one: Candidate, second_judge: Candidate) -> tuple[str, str]:
    """What tells two judges apart, short: their versions, where the model is the same."""
    return (
        (one.variant, second_judge.variant)
        if one.model == second_judge.model
        else (str(one), str(second_judge))
    )


def judging(bench: Bench, part: str, *judges: Candidate) -> list[str]:
    """What stands behind the figures of judges: unusable replies, and who is a mock model."""
    notes = []
    for judge in judges:
        cost_of_judge = bench.costs[part].get(judge)
        if cost_of_judge and cost_of_judge.failed:
            notes.append(f"{judge} gave {cost_of_judge.failed} unusable replies; these items are excluded.")
    if mocks := [str(j) for j in judges if (a := bench.costs[part].get(j)) and a.simulated]:
        notes.append(f"Rule-based mock model, not a language model: {', '.join(dict.fromkeys(mocks))}.")
    return notes


def of_items(
    value: float, resampled_values: Floats, n: int, codes: Ints | None, widened: float = 1.0
) -> Estimate:
    """A figure of `n` items with its interval; undefined where both judges rated none of them."""
    if not n:
        return undefined("no item has answers of both judges and of annotators", n=0)
    units = n if codes is None else min(n, int(codes.max()) + 1)
    return resampled(float(value), resampled_values, n=n, kind=DIFFERENCE, units=units, widened=widened)


def _order(
    bench: Bench, part: str, one: Candidate, second_judge: Candidate, name: str, seed: int
) -> Estimate | None:
    """The change of Spearman's ρ; None where answers have no order."""
    if not next(c.scale for c in bench.criteria if c.name == name).ordered:
        return None
    unanswered = np.full(len(bench.units), np.nan)
    scores = [bench.answers[judge].get(name, unanswered) for judge in (one, second_judge)]
    missing = np.isnan(scores).any(axis=0) | ~bench.marked(part)
    target = np.where(missing, np.nan, bench.people[name].target)
    n = int((~np.isnan(target)).sum())
    if n < FEWEST:
        return undefined(too_few(n), n=n)
    first, second = (correlation(score, target) for score in scores)
    point_values, resampled_values = bench.resample([lambda w: second(w) - first(w)], part, seed)
    if np.isnan(point_values[0]):
        return undefined("all answers of a judge or of the annotators are equal", n=n)
    return of_items(point_values[0], resampled_values[0], n, bench.clusters(part))


def choose(
    bench: Bench, part: str, candidates: Sequence[Candidate], *, margin: float = MARGIN, seed: int = 0
) -> tuple[Table, Candidate]:
    """Compare judges on the items of a part that all of them answered, the best first; and the best one.

    The intervals of all agreements hold together (max-t), and so do those of every difference to the best.
    Chosen as cheapest is the judge of least cost whose difference to the best lies above −`margin` with its
    whole interval. One with a price of nothing is cheapest; one without a price is never. Judges who lack
    more than a tenth of the items others answered (unusable replies) are listed and not compared. The first
    note says what was chosen.
    """
    inside = bench.marked(part)
    rated = {judge: np.where(inside, bench.agreement(judge), np.nan) for judge in candidates}
    answer_counts = {judge: int((~np.isnan(values)).sum()) for judge, values in rated.items()}
    largest = max(answer_counts.values(), default=0)
    complete = [judge for judge in candidates if largest and answer_counts[judge] >= (1 - LACKING) * largest]
    if not complete:
        raise NotFound(f"No judge has answered the part “{part}” yet: concord lab run {bench.parts.study} …")
    common = ~np.isnan([rated[judge] for judge in complete]).any(axis=0)
    n = int(common.sum())
    codes = bench.clusters(part)
    if not n:
        raise StudyError(f"No item of the part “{part}” was answered by all of these judges.")
    point_values, resampled_values = bench.resample(
        [mean(np.where(common, rated[judge], np.nan)) for judge in complete], part, seed
    )
    order = np.argsort(-point_values, kind="stable")
    complete = [complete[place] for place in order]
    point_values = point_values[order]
    resampled_values = resampled_values[order]
    wide = simultaneous(resampled_values, n), simultaneous_differences(resampled_values)
    rows: list[dict[str, Cell]] = []
    close: list[tuple[float, int]] = []
    for place, judge in enumerate(complete):
        cost_of_judge = bench.costs[part].get(judge)
        behind = None
        cost = price(cost_of_judge)
        if place:
            behind = of_items(
                point_values[place] - point_values[0],
                resampled_values[place] - resampled_values[0],
                n,
                codes,
                wide[1],
            )
        if cost is not None and (behind is None or (behind.interval and behind.interval[0] > -margin)):
            close.append((cost, place))
        rows.append(
            {
                "judge": str(judge),
                "agreement": of_items(point_values[place], resampled_values[place], n, codes, wide[0]),
                "behind": behind,
                "cost": cost,
                "seconds": cost_of_judge.seconds / cost_of_judge.judgements
                if cost_of_judge and cost_of_judge.judgements
                else None,
                "n": answer_counts[judge],
            }
        )
    stopped = [judge for judge in candidates if judge not in complete]
    rows += [{"judge": str(judge), "n": answer_counts[judge]} for judge in stopped]
    best = complete[0]
    cheapest = complete[min(close)[1]] if close else None
    sentence = f"Best on {part}: {best}."
    if len(complete) == 1:
        sentence += " No other judge to compare it with."
    elif cheapest is None:
        sentence += " No judge close to it has a price in models.toml."
    elif cheapest == best:
        sentence += f" No cheaper judge is shown to be within {margin:g} of it."
    else:
        sentence += (
            f" The cheapest judge that loses at most {margin:g}: {cheapest}, at "
            f"{min(close)[0]:.2f} instead of {rows[0]['cost'] or 0:.2f} per 1,000 judgements."
        )
    notes = [
        sentence,
        f"These {n} items were used to choose, so the agreement of the best judge on them is too good.",
    ]
    if stopped:
        notes.append(f"Excluded because of too few usable answers: {', '.join(map(str, stopped))}.")
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


def price(judging_cost: JudgeUse | None) -> float | None:
    """The cost of 1,000 judgements; None where nothing was asked or a call had no price."""
    if judging_cost is None or not judging_cost.judgements or judging_cost.unpriced:
        return None
    return 1000 * judging_cost.cost / judging_cost.judgements


def better(table: Table) -> bool:
    """Whether the second judge of `differences` is shown to agree better with people than the first."""
    change = table.rows[0]["change"]
    return isinstance(change, Estimate) and change.interval is not None and change.interval[0] > 0


def gain(table: Table) -> str:
    """One sentence on whether the second judge of `differences` is better than the first on these items."""
    change = table.rows[0]["change"]
    assert isinstance(change, Estimate)
    one, second_judge, part = (table.meta[name] for name in ("one", "other", "part"))
    if change.value is None:
        return f"Inconclusive whether {second_judge} is better than {one}: {change.reason}."
    if change.value == 0 and change.interval is None:
        return (
            f"No gain is shown from {one} to {second_judge}: no change on any of {change.n} items of {part}."
        )
    if change.interval is None:
        return f"{second_judge} is {change.value:+.3f} from {one} on {part}, {change.reason}."
    low, high = change.interval
    figure = f"{change.value:+.3f} [{low:+.3f}, {high:+.3f}] on {change.n} items of {part}"
    if better(table):
        return f"{second_judge} agrees with annotators better than {one}: {figure}."
    if high < 0:
        return f"{second_judge} agrees with annotators worse than {one}: {figure}."
    return f"No gain is shown from {one} to {second_judge}: {figure}; the interval includes 0."


def report(
    db: Database, bench: Bench, one: Candidate, second_judge: Candidate, reason: str, *, seed: int = 0
) -> Table:
    """The change from `one` to `second_judge` on the sealed part, which is thereby opened, counted and
    recorded.

    The first of the table's notes is the sentence, the second, where the part was seen before, what follows
    from that; `sentences` of its meta counts both. Raises StudyError where one has not answered all of it.
    """
    for judge in (one, second_judge):
        if missing := bench.unanswered(judge, TEST):
            arguments = (
                f"--judges {judge.model} --versions {bench.versions.get(judge.variant, '…')} --part {TEST}"
            )
            raise StudyError(
                f"{judge} has not answered {missing} conversations of the sealed part, so the part stays "
                f"sealed. Run it: concord lab run {bench.parts.study} {arguments}"
            )
    before = lab.open_test(db, bench.parts.study, f"{one} → {second_judge}", reason.strip() or "final figure")
    table = differences(bench, TEST, one, second_judge, seed=seed)
    sentences = (gain(table), *divided.variants_before(db, bench.parts, before))
    meta = {**table.meta, "opened before": before, "sentences": len(sentences)}
    return replace(table, name="lab-report", notes=(*sentences, *table.notes), meta=meta)
