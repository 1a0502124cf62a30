"""Warnings of a study's summary: raters that distort a figure, and which figure."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from concord.estimate import Estimate
from concord.rating import Scale
from concord.statistics.judges import LARGE_SHARE, commonest
from concord.statistics.missing import missing_ratings
from concord.statistics.oddities import constants, copies, duplicates
from concord.statistics.ratings import FINAL, CriterionScores, Ratings
from concord.statistics.study import Labels, StudyAgreement
from concord.table import Cell

NAMED = 5
"""Names in a sentence; of more only the number is said."""

ENOUGH = 10
"""Items of a judge from which on it is said that most of its scores are equal."""

LIKELY = 0.05
"""A p-value below which missing ratings are said not to be chance."""


Words = Mapping[str, Callable[[float], str]]


def cautions(
    ratings: Ratings, found: StudyAgreement, label: Labels, scale: Callable[[str], Scale | None]
) -> list[str]:
    """Sentences on judges that order items the other way round, copy a person, are near-constant or lack
    ratings, on persons who are constant or duplicated, and on scales.

    A warning that holds for several criteria is given once. *Final* is looked at only if it is all there is.
    """
    names = [name for name in ratings.criteria if name != FINAL] or list(ratings.criteria)
    parts = {label(name): ratings[name] for name in names}
    words = {label(name): of.word if (of := scale(name)) else "{:g}".format for name in names}
    return [
        *_inverted(found, {label(name): name for name in names}),
        *_copies(parts, ratings.people),
        *_duplicates(parts, ratings.people),
        *_constant(parts, ratings.people, words),
        *_near_constant(parts, words),
        *_lacking(ratings, {label(name): name for name in names}),
        *_scales(ratings, {label(name): name for name in names}),
    ]


def _inverted(found: StudyAgreement, names: Mapping[str, str]) -> Iterable[str]:
    for number, judge in enumerate(row.name for row in next(iter(found.criteria.values())).judges):
        rows = [(on, found.criteria[name].judges[number].spearman) for on, name in names.items()]
        below = [(on, rho) for on, rho in rows if rho.value is not None and rho.value < 0]
        sure = [(on, rho) for on, rho in below if rho.interval and rho.interval[1] < 0]
        if sure:
            yield (
                f"{judge} orders the items the other way round than people do: "
                f"{_list(f'ρ = {_ends(rho)} on {on}' for on, rho in sure)}. Check the direction of its scale."
            )
        elif below:
            yield (
                f"It is not known yet whether {judge} follows people: "
                f"{_list(f'ρ = {_ends(rho)} on {on}' for on, rho in below)}."
            )


def _copies(parts: Mapping[str, CriterionScores], people: tuple[str, ...]) -> Iterable[str]:
    said: dict[tuple[str, str], list[str]] = {}
    for on, scores in parts.items():
        for copy in copies(scores, people):
            figures = f"{on} (ρ = {copy.rho:z.2f}, at most {copy.next:z.2f} with anybody else)"
            said.setdefault((copy.judge, copy.person), []).append(figures)
    for (judge, person), where in said.items():
        yield (
            f"{judge} repeats the answers of {person} on {_list(where)}: its agreement with people's mean is "
            f"{person}'s own share in that mean."
        )


def _duplicates(parts: Mapping[str, CriterionScores], people: tuple[str, ...]) -> Iterable[str]:
    said: dict[tuple[str, ...], list[str]] = {}
    for on, scores in parts.items():
        for alike in duplicates(scores, people):
            said.setdefault(alike, []).append(on)
    for alike, where in said.items():
        yield (
            f"{_list(alike)} gave the same answers to the same items on {_list(where)}: they are one rater, "
            "and the agreement among them says nothing."
        )


def _constant(parts: Mapping[str, CriterionScores], people: tuple[str, ...], words: Words) -> Iterable[str]:
    said: dict[tuple[str, str], list[str]] = {}
    for on, scores in parts.items():
        for person, (answer, items) in constants(scores, people).items():
            said.setdefault((person, words[on](answer)), []).append(f"all {items} items on {on}")
    if len(said) > NAMED:
        yield (
            f"{len({person for person, _ in said})} annotators give one and the same answer to all their "
            "items on a criterion, and are dropped from its correlations and its held-out comparison."
        )
        return
    for (person, word), where in said.items():
        yield (
            f"{person} gives {word} to {_list(where)}, and is dropped there from correlations and from "
            "the held-out comparison: no correlation with a constant is defined."
        )


def _near_constant(parts: Mapping[str, CriterionScores], words: Words) -> Iterable[str]:
    for on, scores in parts.items():
        for judge, score in scores.judges.items():
            answer, share = commonest(score)
            if answer is None or share is None or share <= LARGE_SHARE:
                continue
            if np.count_nonzero(~np.isnan(score)) < ENOUGH:
                continue
            same = f"the same score ({words[on](answer)}) on {on}"
            if share == 1:
                yield f"{judge} gave every item {same}: no correlation there is defined."
            else:
                yield (f"{judge} gave {share:.0%} of the items {same}: its correlation there says little.")


def _lacking(ratings: Ratings, names: Mapping[str, str]) -> Iterable[str]:
    said: dict[str, list[tuple[str, Mapping[str, Cell]]]] = {}
    for on, name in names.items():
        for row in missing_ratings(ratings, name).rows:
            said.setdefault(str(row["rater"]), []).append((on, row))
    for judge, rows in said.items():
        on, row = min(rows, key=lambda of: _p(of[1]))
        counts = _list(f"{row['missing']} of {_total(row)} items on {on}" for on, row in rows)
        low, high, p = (row[name] for name in ("mean_missing", "mean_rated", "p"))
        assert isinstance(low, Estimate)
        assert isinstance(high, Estimate)
        assert isinstance(p, Estimate)
        means = f"people's mean there is {low.value:z.2f}, elsewhere {high.value:z.2f}"
        if p.value is None:
            yield f"{judge} has no rating of {counts}, too few to tell whether they differ from the others."
        elif p.value < LIKELY:
            which = "worse" if (low.value or 0.0) < (high.value or 0.0) else "better"
            yield (
                f"{judge} has no rating of {counts}, and fails on the {which} ones: on {on} {means} "
                f"(p {_small(p.value)}). Compare judges on common items (section missing)."
            )
        else:
            yield (
                f"{judge} has no rating of {counts}; nothing shows that these differ: on {on} {means} "
                f"(p {_small(p.value)})."
            )


def _scales(ratings: Ratings, names: Mapping[str, str]) -> Iterable[str]:
    said: dict[tuple[str, str], list[str]] = {}
    for on, name in names.items():
        for note in dict.fromkeys(ratings.other_scale.get(name, {}).values()):
            said.setdefault(("Scale of ", note), []).append(on)
        for note in ratings.said.get(name, ()):
            if not note.startswith("scale guessed"):
                said.setdefault(("", note), []).append(on)
    for (of, note), where in said.items():
        yield f"{of}{_list(where)}: {note}."


def _p(row: Mapping[str, Cell]) -> float:
    p = row["p"]
    return p.value if isinstance(p, Estimate) and p.value is not None else 2.0


def _total(row: Mapping[str, Cell]) -> int:
    return sum(int(count) for name in ("rated", "missing") if isinstance(count := row[name], int))


def _small(p: float) -> str:
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".")


def _ends(rho: Estimate) -> str:
    ends = f" ({rho.interval[0]:z.2f} to {rho.interval[1]:z.2f})" if rho.interval else ""
    return f"{rho.value:z.2f}{ends}"


def _list(words: Iterable[str]) -> str:
    """“a, b and c”."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
