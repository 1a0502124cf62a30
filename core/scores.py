"""What one conversation was given: criteria × raters, each the mean over turns and repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.rating import Rater
from core.store.ratings import Stored

DIGITS = 9
FINAL = "final"


@dataclass(frozen=True)
class Line:
    """One criterion: every rater's mean, then the mean of the judges' and of the people's means; None where none of them rated it."""

    criterion: str
    raters: Mapping[Rater, float]
    judges: float | None
    people: float | None


def scorecard(given: Sequence[Stored]) -> list[Line]:
    """A line for each criterion, in the order they come. A rater's turns and repeats are summed first and divided once."""
    lines = []
    for criterion in dict.fromkeys(r.criterion for r in given):
        scores: dict[Rater, list[float]] = {}
        for r in given:
            if r.criterion == criterion:
                scores.setdefault(r.rater, []).append(r.score)
        means = {rater: _mean(found) for rater, found in scores.items()}
        judges, people = (
            [mean for rater, mean in means.items() if rater.kind == kind] for kind in ("judge", "human")
        )
        lines.append(
            Line(criterion, means, _mean(judges) if judges else None, _mean(people) if people else None)
        )
    return lines


def final(lines: Sequence[Line], counted: Sequence[str]) -> Line | None:
    """*Final*: the mean of the counted criteria that anybody rated, for each rater who rated all of these; None for fewer than two."""
    parts = [line for line in lines if line.criterion in counted]
    if len(parts) < 2:
        return None
    raters = [rater for rater in parts[0].raters if all(rater in line.raters for line in parts)]
    means = {rater: _mean([line.raters[rater] for line in parts]) for rater in raters}
    judges, people = ([m for rater, m in means.items() if rater.kind == kind] for kind in ("judge", "human"))
    return Line(FINAL, means, _mean(judges) if judges else None, _mean(people) if people else None)


def names(given: Sequence[Stored]) -> dict[Rater, str]:
    """What to call each rater: with the prompt's version where a judge has several, and marked where it is a mock."""
    raters = list(dict.fromkeys(r.rater for r in given))
    same = Counter((rater.kind, rater.name) for rater in raters)
    return {
        rater: rater.name
        + (f" {rater.variant}" if same[rater.kind, rater.name] > 1 else "")
        + (" (simulated)" if rater.simulated and "stand" not in rater.name else "")
        for rater in raters
    }


def _mean(scores: Sequence[float]) -> float:
    return round(sum(scores) / len(scores), DIGITS)
