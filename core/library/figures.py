"""Single figures of answers that are at hand: alpha, a rank correlation, the alternative annotator test."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from concord.errors import StudyError
from concord.estimate import Estimate
from concord.scores import LARGEST
from concord.statistics import alt_test as alternative
from concord.statistics.alpha import Metric, people_alpha
from concord.statistics.coefficients import coefficient
from concord.statistics.figures import Figure, estimates
from concord.statistics.ratings import Floats, Ratings, read_ratings

ANSWER = "answer"


class AltTest(NamedTuple):
    """Whether a judge may replace an annotator: `passed` where `omega` is at least a half, None untested.

    `omega` is the share of people for whom the judge is not worse by epsilon, `rho` the share of items on
    which it comes at least as near to the others as a person, `people` how many people were tested.
    """

    passed: bool | None
    omega: Estimate
    rho: Estimate
    people: int


def alpha(answers: Any, level: Metric = "ordinal", *, resamples: int = 1000, seed: int = 0) -> Estimate:
    """Krippendorff's alpha (2011) of raters of the same items, with a bootstrap interval over items.

    `answers` has a row an item and a column a rater: an array, lists, a frame of pandas, polars or Arrow, or
    a mapping of columns. None, nan and “” are missing. Undefined where no item has two answers, and where all
    are equal. Raises StudyError for texts at a level other than “nominal”.
    """
    of, categories = _numbers(_columns(answers))
    if categories and level != "nominal":
        raise StudyError('Answers in words have no order: alpha(answers, "nominal").')
    table = _ratings(of, of[:, :0])
    return _measured(people_alpha(table[ANSWER], level), table, resamples, seed)


def spearman(x: Any, y: Any, *, resamples: int = 1000, seed: int = 0) -> Estimate:
    """Spearman's ρ of two raters' scores of the same items, with a bootstrap interval over items.

    Items that lack either are left out. Undefined with fewer than three, and where one rater gave one score.
    """
    of, categories = _numbers([x, y])
    if categories:
        raise StudyError("Answers in words have no order, so that they have no correlation.")
    table = _ratings(of[:, :1], of[:, 1:])
    return _measured(coefficient(table, ANSWER, ["judge 0"], "spearman"), table, resamples, seed)


def alt_test(
    people: Any, judge: Any, *, epsilon: float = 0.2, score: alternative.Score | None = None
) -> AltTest:
    """The alternative annotator test of Calderon, Reichart and Dror (2025) of one judge.

    `people` has a row an item and a column a person, as for `alpha`; `judge` an answer an item. Answers are
    scored by their distance, words by being equal. It needs three people with 30 items each.
    """
    of, categories = _numbers([*_columns(people), judge])
    table = _ratings(of[:, :-1], of[:, -1:])
    how = score or ("agreement" if categories else "distance")
    if categories and how != "agreement":
        raise StudyError("Answers in words have no distance: leave score out.")
    row = alternative.alt_test(table, ANSWER, panels=(), epsilons=(epsilon,), score=how).rows[0]
    omega, rho = (cast(Estimate, row[name]) for name in ("omega", "rho"))
    return AltTest(bool(row["passed"]) if omega.defined else None, omega, rho, int(cast(int, row["people"])))


def _columns(answers: Any) -> list[Any]:
    """The answers of each rater."""
    table = answers.to_pandas() if hasattr(answers, "to_pandas") else answers
    if isinstance(table, Mapping) or hasattr(table, "columns"):
        return [table[name] for name in table]
    return [*zip(*table, strict=True)]


def _numbers(columns: list[Any]) -> tuple[Floats, bool]:
    """Answers as numbers, items × raters, nan where missing; whether they are words, which are numbered.

    Raises StudyError for raters with different numbers of items, and for a number beyond all scales.
    """
    columns = [c.astype(object).where(c.notna(), None) if hasattr(c, "notna") else c for c in columns]
    cells = [[None if cell in (None, "") or cell != cell else cell for cell in column] for column in columns]
    if len({len(column) for column in cells}) > 1:
        raise StudyError(f"Raters have {', '.join(str(len(c)) for c in cells)} items: give each all of them.")
    given = [cell for column in cells for cell in column if cell is not None]
    categories = any(isinstance(cell, str) for cell in given)
    number = {cell: place for place, cell in enumerate(sorted(set(map(str, given))))}
    scores = [
        [np.nan if c is None else number[str(c)] if categories else float(c) for c in column]
        for column in cells
    ]
    given_ = np.array(scores, dtype=np.float64).reshape(len(cells), len(cells[0]) if cells else 0)
    if (beyond := given_[np.abs(given_) > LARGEST]).size:
        raise StudyError(f"The answer {beyond[0]:g} is beyond ±{LARGEST:g}; correct or remove it.")
    return given_.T, categories


def _ratings(people: Floats, judges: Floats) -> Ratings:
    """Answers (items × raters) as ratings on one criterion."""
    every = np.hstack([people, judges])
    names = [f"person {n}" for n in range(people.shape[1])] + [f"judge {n}" for n in range(judges.shape[1])]
    item, rater = np.nonzero(~np.isnan(every))
    kinds = np.array(["human"] * people.shape[1] + ["judge"] * judges.shape[1], dtype=object)
    rows = {
        "unit": item,
        "criterion": np.full(len(item), ANSWER, dtype=object),
        "rater": np.array(names, dtype=object)[rater],
        "kind": kinds[rater],
        "score": every[item, rater],
    }
    return read_ratings(rows, criteria=[ANSWER])


def _measured(figure: Figure, table: Ratings, resamples: int, seed: int) -> Estimate:
    [estimate] = estimates([figure], table, resamples=resamples, seed=seed)
    return estimate
