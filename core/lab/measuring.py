"""How well judges agree with people on a part of a study, and how two of them differ on the same items.

The agreement of a judge with people on an item is 1 − |answer − people's mean| / width of the scale; of
categories, the share of people who gave the judge's answer. Unlike a correlation it sees a judge that is too
kind, is defined for a single item, and is the same for every type of question, so that criteria can be
averaged; each criterion that people answered weighs alike.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sqlite_utils import Database

from concord.errors import NotFound, StudyError, not_found
from concord.estimate import Estimate, too_few, undefined
from concord.lab import parts as divided
from concord.lab.parts import TEST, Parts
from concord.questions import Scale
from concord.rating import Criterion
from concord.statistics.correlation import correlation
from concord.statistics.intervals import (
    DIFFERENCE,
    described,
    resampled,
    simultaneous,
    simultaneous_differences,
)
from concord.statistics.ratings import CriterionScores, Floats, Ints, Ratings, divide, read_ratings, sums
from concord.statistics.resampling import Statistic, bootstrap, mean
from concord.store import exclusions, frames, lab, ratings, rubrics, studies
from concord.store.lab import Asked
from concord.studies.clusters import FEWEST_CLUSTERS
from concord.studies.judge_runs import mean_of_runs
from concord.table import Cell, Column, Table

MARGIN = 0.05
"""How much less agreement counts as no worse, unless told: a twentieth of the width of the scale."""
OVERALL = "all criteria"
AT_LEAST = "__at_least_"
"""What stands between a criterion's name and a level, where a judge is asked yes or no level by level."""
LACKING = 0.1
"""A judge without a usable reply to a larger share of the items is not chosen."""


@dataclass(frozen=True, order=True)
class Candidate:
    """A judge: a model under one version of a rubric, or of a benchmark's prompt."""

    model: str
    variant: str

    def __str__(self) -> str:
        return f"{self.model} by {self.variant}"


@dataclass(frozen=True, eq=False)
class Bench:
    """What people and judges answered about a divided study. Arrays have an entry an item of `units`.

    `answers` are those of judges on people's scale, by criterion; `asked` says what each judge cost;
    `versions` has the numbers of the rubric's versions by variant.
    """

    parts: Parts
    criteria: tuple[Criterion, ...]
    units: tuple[int, ...]
    people: Ratings
    answers: Mapping[Candidate, Mapping[str, Floats]]
    asked: Mapping[str, Mapping[Candidate, Asked]]
    versions: Mapping[str, int]
    resamples: int = 1000

    def marked(self, part: str) -> "np.typing.NDArray[np.bool_]":
        """Which items belong to a part."""
        there = {unit.id for unit in self.parts.of(part)}
        return np.array([unit in there for unit in self.units], dtype=bool)

    def agreement(self, judge: Candidate, criterion: str = "") -> Floats:
        """A judge's agreement with people on each item, 0 to 1; nan where one of them gave no answer.

        Without a criterion it is the mean over the criteria that people answered; nan where the judge lacks
        one of them.
        """
        if criterion:
            scores, scale = self.people[criterion], _scale(self.criteria, criterion)
            return closeness(self.answers[judge].get(criterion), scores, scale)
        every = np.array([self.agreement(judge, c.name) for c in self.criteria])
        present = np.array([self.people[c.name].present > 0 for c in self.criteria])
        lacks = (present & np.isnan(every)).any(axis=0) | ~present.any(axis=0)
        total = np.where(present, np.nan_to_num(every), 0).sum(axis=0)
        return np.where(lacks, np.nan, divide(total, present.sum(axis=0)))

    def mean(self, judge: Candidate, among: "str | np.typing.NDArray[np.bool_]") -> float | None:
        """A judge's mean agreement on a part, or on marked items; None where nothing usable was answered."""
        if judge not in self.answers:
            return None
        given = self.agreement(judge)[self.marked(among) if isinstance(among, str) else among]
        return None if np.isnan(given).all() else float(np.nanmean(given))

    def answered(self, part: str) -> list[Candidate]:
        """The judges with a usable answer to a part."""
        return [judge for judge in self.answers if self.mean(judge, part) is not None]

    def one_more_person(self) -> Floats:
        """The agreement of a person with the others on each item, averaged over people; nan for one alone."""
        given: list[Floats] = []
        for number in range(len(self.people.people)):
            every = []
            for criterion in self.criteria:
                scores = self.people[criterion.name]
                every.append(closeness(scores.of(number), scores.without(number), criterion.scale))
            given.append(_mean(np.array(every)))
        return _mean(np.array(given)) if given else np.full(len(self.units), np.nan)

    def find(self, model: str, variant: str) -> Candidate:
        """A judge that answered. Raises NotFound."""
        wanted = Candidate(model, variant)
        if wanted not in self.answers:
            raise not_found("judge of these items", str(wanted), map(str, self.answers))
        return wanted

    def clusters(self, part: str) -> Ints | None:
        """The scenario of each item as a number, −1 outside the part; None where they are too few to draw."""
        names = {unit.id: unit.scenario for unit in self.parts.of(part)}
        codes = {name: code for code, name in enumerate(sorted(set(names.values())))}
        if len(codes) < FEWEST_CLUSTERS or len(codes) == len(names):
            return None
        return np.array([codes[names[u]] if u in names else -1 for u in self.units], dtype=np.int64)


def closeness(score: Floats | None, scores: CriterionScores, scale: Scale) -> Floats:
    """The agreement of answers with people's, item by item (see the file's head); nan without both."""
    if score is None:
        return np.full(scores.items, np.nan)
    if scale.ordered:
        return np.asarray(1 - np.abs(score - scores.target) / (scale.high - scale.low))
    same = sums(scores.item, (np.round(score[scores.item]) == scores.score).astype(np.float64), scores.items)
    return np.where(np.isnan(score), np.nan, divide(same, scores.present))


def read(db: Database, study: str, *, resamples: int = 1000) -> Bench:
    """The people and judges of a divided study. Raises StudyError where it is not divided."""
    parts = divided.read(db, study)
    described_study = studies.get(db, study)
    criteria = tuple(c for c in described_study.criteria if not c.scale.kind.of_two)
    without = [] if not (out := exclusions.excluded(db, study)) else [one.rater for one in out.values()]
    rows = frames.rows(db, study, without=without, every_judge=True)
    rows = mean_of_runs(rows, [c.name for c in criteria if not c.scale.ordered])
    everything = read_ratings(rows, counted=(), anonymous_people=described_study.anonymous)
    who = {
        str(rater): Candidate(str(model), str(variant))
        for rater, model, variant, kind in zip(
            *(rows[name].tolist() for name in ("rater", "model", "variant", "kind")), strict=True
        )
        if kind == "judge"
    }
    known = {version.variant: version for version in rubrics.versions(db)}
    answers: dict[Candidate, dict[str, Floats]] = {}
    for label, judge in sorted(who.items(), key=lambda item: item[1]):
        version = known.get(judge.variant)
        scope = rubrics.scope(version.name, version.version) if version else parts.benchmark
        asked = {c.name: c.scale_of("judge") for c in ratings.criteria(db, scope)}
        given = {c.name: _on_scale(everything, label, c, asked) for c in criteria}
        answers[judge] = {name: score for name, score in given.items() if score is not None}
    missing = [c.name for c in criteria if c.name not in everything.criteria]
    criteria = tuple(c for c in criteria if c.name not in missing)
    spent = {
        part: {Candidate(a.judge, a.variant): a for a in lab.asked(db, parts.conversations(part))}
        for part in divided.PARTS
    }
    units = tuple(int(str(unit)) for unit in everything.units)
    numbers = {variant: version.version for variant, version in known.items() if version.name == parts.rubric}
    return Bench(parts, criteria, units, everything, answers, spent, numbers, resamples)


def _on_scale(table: Ratings, label: str, criterion: Criterion, asked: Mapping[str, Scale]) -> Floats | None:
    """A judge's answers to a question on people's scale; None where it was not asked.

    Another range is placed on people's end to end; of answers level by level each yes is one level more.
    """
    scale, name = criterion.scale, criterion.name
    score = table[name].judges.get(label) if name in table.criteria else None
    if score is not None and not np.isnan(score).all():
        own = asked.get(name)
        if own is None or not scale.ordered or (own.low, own.high) == (scale.low, scale.high):
            return score
        return scale.low + (score - own.low) / (own.high - own.low) * (scale.high - scale.low)
    levels = [each for each in table.criteria if re.fullmatch(re.escape(name) + AT_LEAST + r"\d+", each)]
    given = [table[each].judges[label] for each in levels if label in table[each].judges]
    if not given or len(given) != len(scale.offered) - 1:
        return None
    yes = np.sum(given, axis=0)
    placed = np.array(scale.offered)[np.nan_to_num(yes).round().astype(int)]
    return np.where(np.isnan(yes), np.nan, placed)


def _scale(criteria: Sequence[Criterion], name: str) -> Scale:
    return next(c.scale for c in criteria if c.name == name)


def _mean(values: Floats) -> Floats:
    """The mean over rows of what is defined; nan where nothing is."""
    there = ~np.isnan(values)
    return divide(np.where(there, values, 0).sum(axis=0), there.sum(axis=0))


def differences(bench: Bench, part: str, one: Candidate, other: Candidate, *, seed: int = 0) -> Table:
    """From `one` to `other` on the same items of a part: a row for all criteria together and one for each.

    `change` is the mean of the other's agreement less the one's; the intervals of single criteria hold
    together (max-t). `order` is the change of Spearman's ρ with people's mean, of criteria with an order: a
    judge that hides in the middle of the scale comes closer to people and orders items no better. `better`
    and `worse` count items.
    """
    rows: list[dict[str, Cell]] = []
    figures: list[Statistic] = []
    names = (
        [OVERALL, *(c.name for c in bench.criteria)]
        if len(bench.criteria) > 1
        else [c.name for c in bench.criteria]
    )
    inside, codes = bench.marked(part), bench.clusters(part)
    for name in names:
        of = "" if name == OVERALL else name
        before, after = (np.where(inside, bench.agreement(judge, of), np.nan) for judge in (one, other))
        gap = (after - before).round(9)
        both = ~np.isnan(gap)
        figures.append(mean(gap))
        label = OVERALL if not of else next(c.label for c in bench.criteria if c.name == name)
        row: dict[str, Cell] = {"criterion": label, "n": int(both.sum())}
        row |= {"one": _value(before[both]), "other": _value(after[both])}
        row |= {"better": int((gap > 0).sum()), "worse": int((gap < 0).sum())}
        rows.append(row)
    _, drawn = _drawn(bench, figures, np.flatnonzero(inside), codes, seed)
    widened = simultaneous(drawn[1:], len(bench.units), DIFFERENCE) if len(names) > 2 else 1.0
    for place, (name, row) in enumerate(zip(names, rows, strict=True)):
        n = int(str(row["n"]))
        value = math.nan if not n else float(figures[place](np.ones((len(bench.units), 1)))[0])
        wide = 1.0 if name == OVERALL else widened
        row["change"] = _estimate(bench, value, drawn[place], n, codes, wide)
        row["order"] = _order(bench, part, one, other, name, codes, seed) if name != OVERALL else None
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
    notes = [*_judging(bench, part, one, other)]
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


def _judging(bench: Bench, part: str, *judges: Candidate) -> list[str]:
    """What stands behind the figures of judges: unusable replies, and who is a mock model."""
    notes = []
    for judge in judges:
        asked = bench.asked[part].get(judge)
        if asked and asked.failed:
            notes.append(f"{judge} gave {asked.failed} unusable replies; these items are not compared.")
    if mocks := [str(j) for j in judges if (a := bench.asked[part].get(j)) and a.simulated]:
        notes.append(f"Simulated, not a language model: {', '.join(dict.fromkeys(mocks))}.")
    return notes


def _value(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _drawn(
    bench: Bench, figures: Sequence[Statistic], among: Ints, codes: Ints | None, seed: int
) -> tuple[Floats, Floats]:
    return bootstrap(
        figures, len(bench.units), resamples=bench.resamples, seed=seed, among=among, clusters=codes
    )


def _estimate(
    bench: Bench, value: float, drawn: Floats, n: int, codes: Ints | None, widened: float = 1.0
) -> Estimate:
    """A figure of `n` items with its interval; undefined where both judges rated none of them."""
    if not n:
        return undefined("no item was answered by both and by people", n=0)
    units = n if codes is None else min(n, int(codes.max()) + 1)
    return resampled(value, drawn, n=n, kind=DIFFERENCE, units=units, widened=widened)


def _order(
    bench: Bench, part: str, one: Candidate, other: Candidate, name: str, codes: Ints | None, seed: int
) -> Estimate | None:
    """The change of Spearman's ρ; None where answers have no order."""
    if not _scale(bench.criteria, name).ordered:
        return None
    given = [bench.answers[judge].get(name) for judge in (one, other)]
    scores = [np.full(len(bench.units), np.nan) if g is None else g for g in given]
    missing = np.isnan(scores).any(axis=0) | ~bench.marked(part)
    target = np.where(missing, np.nan, bench.people[name].target)
    n = int((~np.isnan(target)).sum())
    if n < divided.FEWEST:
        return undefined(too_few(n), n=n)
    first, second = (correlation(score, target) for score in scores)
    own, drawn = _drawn(
        bench, [lambda w: second(w) - first(w)], np.flatnonzero(bench.marked(part)), codes, seed
    )
    if np.isnan(own[0]):
        return undefined("a judge's or people's answers are all equal", n=n)
    return _estimate(bench, float(own[0]), drawn[0], n, codes)


def flips(bench: Bench, part: str, one: Candidate, other: Candidate) -> Table:
    """The items whose agreement changed from `one` to `other`, the largest change first, for the worse first.

    Of each item the criterion that changed most, with what people and both judges answered. Of the test part
    nothing is listed: who reads its items has opened it for good.
    """
    if part == TEST:
        raise StudyError("Single items of the test part are not shown: they would be no test any more.")
    inside = bench.marked(part)
    keys = {unit.id: (unit.key, unit.turn) for unit in bench.parts.units}
    found: list[dict[str, Cell]] = []
    for place in np.flatnonzero(inside).tolist():
        gaps = {
            c.name: float(bench.agreement(other, c.name)[place] - bench.agreement(one, c.name)[place])
            for c in bench.criteria
        }
        gaps = {name: gap for name, gap in gaps.items() if not math.isnan(gap) and abs(gap) > 1e-9}
        if not gaps:
            continue
        name = max(gaps, key=lambda name: abs(gaps[name]))
        criterion = next(c for c in bench.criteria if c.name == name)
        key, turn = keys[bench.units[place]]
        scores = bench.people[name]
        found.append(
            {
                "item": key + (f", turn {turn}" if turn is not None else ""),
                "criterion": criterion.label,
                "people": criterion.scale.words(sorted(scores.score[scores.item == place].tolist())),
                "one": criterion.scale.word(float(bench.answers[one][name][place])),
                "other": criterion.scale.word(float(bench.answers[other][name][place])),
                "change": gaps[name],
            }
        )
    found.sort(key=lambda row: (-abs(float(str(row["change"]))), float(str(row["change"])), str(row["item"])))
    heads = _heads(one, other)
    columns = (
        Column("item"),
        Column("criterion"),
        Column("people"),
        Column("one", heads[0]),
        Column("other", heads[1]),
        Column("change", digits=2, signed=True),
    )
    worse = sum(float(str(row["change"])) < 0 for row in found)
    note = f"{len(found) - worse} items came closer to people, {worse} went away from them."
    return Table("lab-flips", f"Items that changed on {part}", columns, tuple(found), notes=(note,))


@dataclass(frozen=True)
class Chosen:
    """What was chosen on a part: the table of all, the best, the cheapest that is not worse by a margin."""

    table: Table
    best: Candidate | None
    cheapest: Candidate | None
    sentence: str


def choose(
    bench: Bench, part: str, among: Sequence[Candidate], *, margin: float = MARGIN, seed: int = 0
) -> Chosen:
    """Compare judges on the items of a part that all of them answered, the best first.

    The intervals of all agreements hold together (max-t), and so do those of every difference to the best.
    `frontier` marks whom nobody cheaper or as cheap agrees with people as well as. Chosen as cheapest is the
    judge of least cost whose difference to the best lies above −`margin` with its whole interval. One with a
    price of nothing is cheapest; one without a price is never. Judges who lack more than a tenth of the items
    others answered (stopped early, or unusable replies) are listed and not compared.
    """
    inside = bench.marked(part)
    rated = {judge: np.where(inside, bench.agreement(judge), np.nan) for judge in among}
    most = max((int((~np.isnan(of)).sum()) for of in rated.values()), default=0)
    whole = [j for j, of in rated.items() if most and (~np.isnan(of)).sum() >= (1 - LACKING) * most]
    if not whole:
        raise NotFound(f"No judge has answered the part “{part}” yet: concord lab run {bench.parts.study} …")
    together = ~np.isnan([rated[judge] for judge in whole]).any(axis=0)
    n, codes = int(together.sum()), bench.clusters(part)
    figures = [mean(np.where(together, rated[judge], np.nan)) for judge in whole]
    own, drawn = _drawn(bench, figures, np.flatnonzero(inside), codes, seed)
    if not n:
        raise StudyError(f"No item of the part “{part}” was answered by all of these judges.")
    at = int(np.argmax(own))
    wide = simultaneous(drawn, n), simultaneous_differences(drawn)
    prices = {judge: price(bench.asked[part].get(judge)) for judge in whole}
    rows: list[dict[str, Cell]] = []
    close = []
    for place in np.argsort(-own, kind="stable").tolist():
        judge = whole[place]
        gap = _estimate(bench, float(own[place] - own[at]), drawn[place] - drawn[at], n, codes, wide[1])
        dominated = any(
            other != judge
            and prices[other] is not None
            and prices[judge] is not None
            and (prices[other], -own[p]) < (prices[judge], -own[place])
            and own[p] >= own[place]
            for p, other in enumerate(whole)
        )
        if place == at or (gap.interval is not None and gap.interval[0] > -margin):
            close.append(judge)
        asked = bench.asked[part].get(judge)
        rows.append(
            {
                "judge": str(judge),
                "agreement": _estimate(bench, float(own[place]), drawn[place], n, codes, wide[0]),
                "behind": None if place == at else gap,
                "cost": prices[judge],
                "seconds": asked.seconds / asked.judgements if asked and asked.judgements else None,
                "frontier": not dominated,
                "n": int((~np.isnan(rated[judge])).sum()),
            }
        )
    stopped = [judge for judge in among if judge not in whole]
    rows += [{"judge": str(j), "n": int((~np.isnan(rated[j])).sum())} for j in stopped]
    priced = [judge for judge in close if prices[judge] is not None]
    cheapest = min(priced, key=lambda j: (prices[j] or 0.0, -own[whole.index(j)]), default=None)
    best = whole[at]
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
            f"{prices[cheapest] or 0:.2f} instead of {prices[best] or 0:.2f} per 1,000 judgements."
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
        Column("frontier", help="Nobody cheaper agrees with people as well"),
        Column("n", "items"),
    )
    meta = {"part": part, "margin": margin, "seed": seed, "compared": n}
    title = f"Judges on the part “{part}” of {bench.parts.study}"
    return Chosen(
        Table("lab-choice", title, columns, tuple(rows), notes=tuple(notes), meta=meta),
        best,
        cheapest,
        sentence,
    )


def price(asked: Asked | None) -> float | None:
    """The cost of 1,000 judgements; None where nothing was asked or a call had no price."""
    if asked is None or not asked.judgements or asked.unpriced:
        return None
    return 1000 * asked.cost / asked.judgements


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
        return f"{other} is {change.value:+.3f} from {one} on {part}, without an interval: {change.reason}."
    low, high = change.interval
    figure = f"{change.value:+.3f} [{low:+.3f}, {high:+.3f}] on {change.n} items of {part}"
    if low > 0:
        return f"{other} agrees with people better than {one}: {figure}."
    if high < 0:
        return f"{other} agrees with people worse than {one}: {figure}."
    return f"No gain is shown from {one} to {other}: {figure}; the interval holds 0."


def report(db: Database, bench: Bench, one: Candidate, other: Candidate, reason: str) -> Table:
    """The change from `one` to `other` on the sealed part, which is thereby opened, counted and recorded.

    The first of the table's notes is the sentence, the second, where the part was seen before, what follows
    from that; `sentences` of its meta counts both.
    """
    before = lab.open_test(db, bench.parts.study, f"{one} → {other}", reason.strip() or "final figure")
    table = differences(bench, TEST, one, other)
    said = (gain(table), *divided.seen(db, bench.parts, before))
    meta = {**table.meta, "opened before": before, "sentences": len(said)}
    return replace(table, name="lab-report", notes=(*said, *table.notes), meta=meta)
