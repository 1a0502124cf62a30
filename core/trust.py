"""What a researcher reads of a study: its figures, the ratings behind them item by item, and the answer in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlite_utils import Database

from core import studies
from core.agreement import Ratings, default_panels, read_ratings, study_agreement
from core.agreement.ratings import FINAL, Scores
from core.rating import Criterion, Scale
from core.studies import Runs, StudyRatings


@dataclass(frozen=True)
class Options:
    """How a study is measured: equal options on equal data give equal figures. `panels` are measured beside the usual ones."""

    runs: Runs = "mean"
    exclude_refused: bool = True
    panels: tuple[tuple[str, ...], ...] = ()
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Measured:
    """A study's ratings as they were read, and the figures of `study_agreement`."""

    of: StudyRatings
    ratings: Ratings
    figures: Mapping[str, Any]
    options: Options

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria people were asked or judges answered, *final* last."""
        return tuple(self.ratings.criteria)

    def criterion(self, name: str) -> Criterion | None:
        """The question behind a criterion; None for *final*, which nobody was asked."""
        return next((c for c in self.of.study.criteria if c.name == name), None)

    def label(self, name: str) -> str:
        """A criterion as a reader sees it."""
        asked = self.criterion(name)
        return asked.label if asked else name.capitalize()

    @property
    def main(self) -> str:
        """The criterion a reader asks for first: *final* where there is one."""
        return FINAL if FINAL in self.ratings.criteria else self.criteria[0]


def measure(db: Database, study: str, options: Options = Options()) -> Measured:
    """Read a study and measure it. Raises NotFound for an unknown study, StudyError for one without any rating."""
    return figures_of(
        studies.ratings_for_agreement(db, study, runs=options.runs, exclude_refused=options.exclude_refused),
        options,
    )


def figures_of(of: StudyRatings, options: Options) -> Measured:
    """The figures of ratings that were read.

    Panels are the mean of all judges, every pair, and those asked for; single runs of one judge are a test–retest, so of
    them only the panels asked for.
    """
    ratings = read_ratings(
        of.table,
        criteria=of.criteria,
        counted=of.counted,
        exclude_units=of.left_out,
        anonymous_people=of.study.anonymous,
    )
    usual = [] if of.runs == "single" else default_panels(ratings.judges)
    known = [panel for panel in options.panels if set(panel) <= set(ratings.judges)]
    figures = study_agreement(
        ratings,
        panels=[*usual, *known],
        resamples=options.resamples,
        seed=options.seed,
        study=of.study.name,
    )
    return Measured(of, ratings, figures, options)


def raters_per_item(measured: Measured, criterion: str) -> tuple[int, int, int] | None:
    """How many people rated an item that anybody rated: (least, median, most); None where nobody rated."""
    present = measured.ratings[criterion].present
    rated = present[present > 0]
    if not len(rated):
        return None
    return int(rated.min()), int(np.median(rated)), int(rated.max())


def points(measured: Measured, criterion: str, judges: Sequence[str]) -> pd.DataFrame:
    """A judge's (or a panel's mean) score beside people's mean, one row an item that has both.

    Columns: conversation_id, turn, player, people, raters (people on the item), judge, gap (judge less people).
    """
    scores = measured.ratings[criterion]
    judge = scores.panel(judges)
    table = _items(measured).assign(people=scores.target, raters=scores.present, judge=judge)
    table["gap"] = (table.judge - table.people).round(9)
    return table.dropna(subset=["people", "judge"]).reset_index(drop=True)


def _items(measured: Measured) -> pd.DataFrame:
    """conversation_id, turn and player of every item, in the order of `Ratings.units`."""
    about = measured.of.table.drop_duplicates("unit").set_index("unit")[["conversation_id", "turn", "player"]]
    return about.loc[list(measured.ratings.units)].reset_index(drop=True)


def shares(measured: Measured, criterion: str) -> pd.DataFrame:
    """How often everybody gives which answer: rater, kind (“people”, “person”, “judge”), score, share, n (that rater's answers).

    All people together come first, then each of them unless they are unnamed, then the judges. What lies between two answers of
    the scale (a mean over turns or criteria) is counted with the nearer one, the upper of two equally near.
    """
    scores = measured.ratings[criterion]
    grid = answers(measured, criterion)
    given = [("All people", "people", _people_scores(scores))]
    if not scores.unlinked:
        given += [
            (measured.ratings.people[person], "person", scores.by(person)[1])
            for person in scores.people.tolist()
        ]
    given += [(name, "judge", score[~np.isnan(score)]) for name, score in scores.judges.items()]
    rows = []
    for name, kind, score in given:
        nearest = np.abs(score[:, None] - grid[None, ::-1]).argmin(axis=1)
        count = np.bincount(nearest, minlength=len(grid))[::-1]
        rows += [
            (name, kind, float(answer), share, len(score))
            for answer, share in zip(grid, count / max(1, len(score)), strict=True)
            if len(score)
        ]
    return pd.DataFrame(rows, columns=["rater", "kind", "score", "share", "n"])


def _people_scores(scores: Scores) -> np.ndarray:
    """Every answer of a person; of unnamed people's *final*, which has no answers of its own, the items' means."""
    return scores.score if len(scores.score) else scores.target[~np.isnan(scores.target)]


def answers(measured: Measured, criterion: str) -> np.ndarray:
    """The answers a score is counted with: the scale's; for *final* and for a continuous scale whole numbers from end to end."""
    scale = scale_of(measured, criterion)
    if scale is None:
        scores = measured.ratings[criterion]
        seen = np.concatenate([_people_scores(scores), *scores.judges.values()])
        low, high = (np.nanmin(seen), np.nanmax(seen)) if (~np.isnan(seen)).any() else (0, 1)
        return np.arange(np.floor(low), np.ceil(high) + 1)
    if scale.continuous:
        return np.arange(np.floor(scale.low), np.ceil(scale.high) + 1)
    return np.array(scale.values, dtype=np.float64)


def scale_of(measured: Measured, criterion: str) -> Scale | None:
    """The scale of a criterion; of *final* that of the criteria it is the mean of, if they share one; else None."""
    asked = measured.criterion(criterion)
    if asked is not None:
        return asked.scale
    scales = {c.scale for c in measured.of.study.criteria if c.name in measured.ratings.counted}
    return scales.pop() if len(scales) == 1 else None
