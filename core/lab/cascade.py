"""Judges together, learned on *develop* and measured on *select*: a cheap judge first."""

import numpy as np

from concord.errors import StudyError
from concord.estimate import undefined
from concord.lab import comparing
from concord.lab.measuring import Bench, Candidate
from concord.lab.parts import DEVELOP, FEWEST, SELECT
from concord.statistics.intervals import simultaneous
from concord.statistics.ratings import Bools, Floats, sums
from concord.statistics.resampling import mean, mean_defined
from concord.table import Cell, Column, Table

SMOOTHED = 2  # usual items beside each answer of a judge
LEVELS, BINS, ROWS = 10, 5, 4  # a judge of more answers than levels is read in bins; rows of thresholds
USUAL = 0.75  # the share of items on which one person is no further from the others than usual


def cascade(bench: Bench, cheap: Candidate, dear: Candidate, *, currency: str = "", seed: int = 0) -> Table:
    """The cheap judge first, the dear one where it is unsure, people where they differ. Raises StudyError."""
    there = _answered(bench, list(dict.fromkeys([cheap, dear])))
    doubt, apart = unsure(bench, cheap), []
    for criterion in bench.criteria:
        gap = np.abs(np.diff(_answers(bench, [cheap, dear], criterion.name), axis=0)[0])
        apart.append(gap / criterion.scale.width if criterion.scale.ordered else np.minimum(gap, 1))
    people = 1 - bench.one_more_person()[bench.marked(DEVELOP)]
    people = people[~np.isnan(people)]
    usual = np.quantile(people, USUAL, method="inverted_cdf") if len(people) else np.inf
    levels = np.unique(doubt[there & bench.marked(DEVELOP)])
    if len(levels) < 2:
        raise StudyError(f"“{DEVELOP}” does not tell where {cheap} is unsure: it errs alike at each answer.")
    there &= bench.marked(SELECT)
    picked = levels[np.unique(np.linspace(0, len(levels) - 2, ROWS).round().astype(int))].tolist()
    talks = {unit.id: unit.key for unit in bench.parts.units}
    talk = np.array([talks[unit] for unit in bench.units])
    prices = [comparing.price(bench.asked[SELECT].get(judge)) for judge in (cheap, dear)]
    first, second = bench.agreement(cheap), bench.agreement(dear)
    rows, values = list[dict[str, Cell]](), list[Floats]()
    for limit in [np.inf, *picked, -np.inf]:
        sent = there & (doubt > limit)
        given = sent & (mean_defined(np.array(apart)) > usual + 1e-9) & np.isfinite(limit)
        decided = np.where(there & ~given, np.where(sent, second, first), np.nan)
        values += [decided, decided - second]
        calls = float(limit > -np.inf), len(set(talk[sent])) / len(set(talk[there]))
        cost = sum((np.nan if p is None else p) * n for p, n in zip(prices, calls, strict=True) if n)
        way = f"unsure above {limit:.3f}" if np.isfinite(limit) else f"{cheap if limit > 0 else dear} alone"
        row: dict[str, Cell] = {"way": way, "cheap": float((~sent)[there].mean())}
        row |= {"dear": float((sent & ~given)[there].mean()), "people": float(given[there].mean())}
        rows.append(row | {"cost": undefined("not known: no price") if np.isnan(cost) else float(cost)})
    own, drawn = bench.drawn([mean(value) for value in values], SELECT, seed)
    codes, wide = bench.clusters(SELECT), simultaneous(drawn[~np.isnan(own)], int(there.sum()))
    for at, value in enumerate(values):
        figure = comparing.of_items(own[at], drawn[at], int(np.isfinite(value).sum()), codes, wide)
        rows[at // 2][("agreement", "change")[at % 2]] = figure
    del rows[-1]["change"]
    columns = (
        Column("way", "who decides"),
        *(Column(name, percent=True) for name in ("cheap", "dear", "people")),
        Column("cost", f"cost of 1,000 judgements {currency}".strip(), digits=3),
        Column("agreement", "agreement where judges decide", digits=3, interval="ends", n=True),
        Column("change", "behind the dear one there", digits=3, interval="ends", signed=True),
    )
    notes = (
        f"Learned on “{DEVELOP}”, measured on “{SELECT}”: a threshold taken for its row looks too good.",
        f"People, unpriced here, decide where the judges then differ by more than {usual:.3f} of the scale."
        if len(people)
        else "No item was rated by two people: when to ask people is not known.",
        *comparing.judging(bench, SELECT, cheap, dear),
    )
    return Table("lab-cascade", f"{cheap} first, then {dear}", columns, tuple(rows), notes=notes)


def unsure(bench: Bench, judge: Candidate) -> Floats:
    """How far a judge is expected to be from people on an item: as at the same answers on *develop*."""
    expected = [np.full(len(bench.units), np.nan)]
    for criterion in bench.criteria:
        off, answer = 1 - bench.agreement(judge, criterion.name), _answers(bench, [judge], criterion.name)[0]
        if (seen := bench.marked(DEVELOP) & ~np.isnan(off)).any():
            marks = np.unique(answer[seen])
            if criterion.scale.ordered and len(marks) > LEVELS:
                marks = np.quantile(answer[seen], (np.arange(BINS) + 0.5) / BINS)
            level = np.abs(answer[:, None] - marks).argmin(axis=1)
            total = sums(level[seen], off[seen], len(marks)) + SMOOTHED * off[seen].mean()
            each = total / (np.bincount(level[seen], minlength=len(marks)) + SMOOTHED)
            known = np.isin(answer, marks) | criterion.scale.ordered
            expected.append(
                np.where(np.isnan(answer), np.nan, np.where(known, each[level], off[seen].mean()))
            )
    return mean_defined(np.array(expected)).round(9)


def _answers(bench: Bench, judges: list[Candidate], criterion: str) -> Floats:
    nothing = np.full(len(bench.units), np.nan)
    return np.array([bench.answers[judge].get(criterion, nothing) for judge in judges])


def _answered(bench: Bench, judges: list[Candidate]) -> Bools:
    """The items that people and all of these judges answered. Raises StudyError where that is too little."""
    if len(judges) < 2:
        raise StudyError(f"Two judges or more are needed, with scores of “{DEVELOP}” and “{SELECT}”.")
    there = np.asarray(~np.isnan([bench.agreement(judge) for judge in judges]).any(axis=0))
    for part in (DEVELOP, SELECT):
        if (n := int((there & bench.marked(part)).sum())) < FEWEST:
            raise StudyError(f"{n} items of “{part}” have all scores, {FEWEST} are needed: concord lab run …")
    return there
