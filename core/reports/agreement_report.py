"""What a researcher reads of a study: every figure of it, the items behind them, and the answer in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlite_utils import Database

from core import agreement
from core.agreement import FINAL, Figures, Forecast, Ratings, Search
from core.agreement.panels import called
from core.agreement.ratings import DIGITS, Floats, Scores
from core.rating import Criterion, Scale
from core.studies import studies
from core.studies.studies import Runs, StudyRatings


@dataclass(frozen=True)
class Options:
    """How a study is measured: equal options on equal data give equal figures. `panels` are measured beside the usual ones."""

    runs: Runs = "mean"
    exclude_refused: bool = True
    panels: tuple[tuple[str, ...], ...] = ()
    resamples: int = 1000
    seed: int = 0
    cluster_by: tuple[str, ...] = ()
    """Facets: items alike in all of them are resampled together."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A study's ratings as they were read, and the figures of `study_agreement`."""

    of: StudyRatings
    ratings: Ratings
    figures: Mapping[str, Any]
    options: Options

    @property
    def criteria(self) -> tuple[str, ...]:
        """What people were asked or judges answered, *final* last."""
        return tuple(self.ratings.criteria)

    @property
    def main(self) -> str:
        """The criterion a reader asks for first: *final* where there is one, else the last."""
        return FINAL if FINAL in self.ratings.criteria else self.criteria[-1]

    @property
    def panels(self) -> tuple[tuple[str, ...], ...]:
        """The panels looked at closely: all judges (unless they are runs of one), and those asked for."""
        judges = self.ratings.judges
        everybody = (judges,) if len(judges) > 1 and self.of.runs == "mean" else ()
        return tuple(dict.fromkeys([*everybody, *self._asked()]))

    @property
    def primary_panel(self) -> tuple[str, ...]:
        """Who is meant by “the judges”: the panel of all, else the only judge, else the first run; nobody without judges."""
        return self.panels[0] if self.panels else self.ratings.judges[:1]

    def _asked(self) -> list[tuple[str, ...]]:
        return [
            panel
            for panel in self.options.panels
            if len(panel) > 1 and set(panel) <= set(self.ratings.judges)
        ]

    def criterion(self, name: str) -> Criterion | None:
        """The question behind a criterion; None for *final*, which nobody was asked."""
        return next((c for c in self.of.study.criteria if c.name == name), None)

    def label(self, name: str) -> str:
        """A criterion as a reader sees it."""
        asked = self.criterion(name)
        return asked.label if asked else name.capitalize()


@dataclass(frozen=True, eq=False)
class Detail:
    """The figures of one criterion, for each judge and each of `Measured.panels`; one without judges or people has empty rows.

    Judges are a panel, with its redundancy and a search for its best pair, unless single runs were asked for: then each judge's
    runs have a test and retest.
    """

    criterion: str
    judges: Figures
    held_out: Figures
    people: Figures
    players: Figures
    levels: Figures
    redundancy: Figures | None
    search: Search | None
    retests: Mapping[str, Figures]


def name_of(row: Mapping[str, Any]) -> str:
    """The name of a judge or a panel of `study_agreement`."""
    return called(row["judges"] if "judges" in row else (row["rater"],))


def short_names(judges: Sequence[str]) -> dict[str, str]:
    """Judges' names without the words that all of them begin with, for where there is little room."""
    words = {judge: re.split(r"(?<=[-_/ :])", judge) for judge in judges}
    while (
        len(words) > 1
        and min(map(len, words.values())) > 1
        and len({first for first, *_ in words.values()}) == 1
    ):
        words = {judge: rest for judge, (_, *rest) in words.items()}
    return {judge: "".join(rest) for judge, rest in words.items()}


@dataclass(frozen=True, eq=False)
class Further:
    """Figures of one criterion that are asked for less often: where noise or a band of the scale explains a judge, and what it would take."""

    high_disagreement: Figures
    bands: Figures
    replacement: Figures
    feature_bias: Figures | None
    needed: Mapping[str, Forecast]


WIDTH = 0.1
"""The width of interval, from end to end, that a forecast of items is made for."""


def measure(db: Database, study: str, options: Options = Options()) -> Measured:
    """Read a study and measure it. Raises NotFound for an unknown study, StudyError for one without any rating."""
    return figures_of(
        studies.ratings_for_agreement(
            db,
            study,
            runs=options.runs,
            exclude_refused=options.exclude_refused,
            cluster_by=options.cluster_by,
        ),
        options,
    )


def figures_of(of: StudyRatings, options: Options = Options()) -> Measured:
    """The figures of ratings that were read.

    Panels are the mean of all judges, every pair, and those asked for; single runs of one judge are a test–retest, so of
    them only the panels asked for. A panel that names somebody who is no judge here is passed over.
    """
    ratings = agreement.read_ratings(
        of.table,
        criteria=of.criteria,
        counted=of.counted,
        exclude_units=of.left_out,
        anonymous_people=of.study.anonymous,
        same_scale=share_scale(of),
    )
    usual = [] if of.runs == "single" else agreement.default_panels(ratings.judges)
    asked = [panel for panel in options.panels if len(panel) > 1 and set(panel) <= set(ratings.judges)]
    figures = agreement.study_agreement(
        ratings, panels=[*usual, *asked], resamples=options.resamples, seed=options.seed, study=of.study.name, clusters=of.clusters,
    )  # fmt: skip
    return Measured(of, ratings, figures, options)


def share_scale(of: StudyRatings) -> bool:
    """Whether judges answer on people's scales: no judge's score lies off the scale of its criterion."""
    judged = of.table[of.table.kind == "judge"]
    span = judged.groupby("criterion").score.agg(["min", "max"])
    scales = {c.name: c.scale for c in of.study.criteria}
    return all(
        scales[name].low <= low and high <= scales[name].high
        for name, low, high in span.itertuples()
        if name in scales
    )


def detail(measured: Measured, criterion: str) -> Detail:
    """Everything about one criterion. Raises StudyError for one the study does not have."""
    ratings, panels = measured.ratings, measured.panels
    drawn: dict[str, Any] = {"resamples": measured.options.resamples, "seed": measured.options.seed}
    players = _about(measured).set_index("unit").player
    several = measured.of.runs == "mean" and len(ratings.judges) > 1
    return Detail(
        criterion,
        judges=agreement.judge_figures(
            ratings, criterion, panels=panels, clusters=measured.of.clusters, **drawn
        ),
        held_out=agreement.held_out(
            ratings, criterion, panels=panels, clusters=measured.of.clusters, **drawn
        ),
        people=agreement.reliability(ratings, criterion, clusters=measured.of.clusters, **drawn),
        players=agreement.within_groups(ratings, criterion, players, panels=panels, **drawn),
        levels=agreement.levels(ratings, criterion, players, panels=panels, **drawn),
        redundancy=agreement.redundancy(ratings, criterion, **drawn) if several else None,
        search=agreement.best_panel(ratings, criterion, **drawn) if several else None,
        retests={
            judge: agreement.retest(ratings, criterion, runs, **drawn)
            for judge, runs in measured.of.runs_of.items()
        },
    )


def further(measured: Measured, criterion: str, features: pd.DataFrame) -> Further:
    """What is asked less often about one criterion; `needed` forecasts items for people's alpha and for the judges' ρ."""
    ratings, panels = measured.ratings, measured.panels
    drawn: dict[str, Any] = {"resamples": measured.options.resamples, "seed": measured.options.seed}
    needed = {"People's alpha, ordinal": agreement.needed(ratings, criterion, width=WIDTH, **drawn)}
    if measured.primary_panel:
        name = f"ρ of {called(measured.primary_panel)}"
        needed[name] = agreement.needed(ratings, criterion, measured.primary_panel, width=WIDTH, **drawn)
    return Further(
        high_disagreement=agreement.high_disagreement(ratings, criterion, panels=panels, **drawn),
        bands=agreement.bands(ratings, criterion, panels=panels, **drawn),
        replacement=agreement.replacement(ratings, criterion, panels=panels),
        feature_bias=_feature_bias(measured, criterion, features, **drawn),
        needed=needed,
    )


def _feature_bias(measured: Measured, criterion: str, features: pd.DataFrame, **drawn: Any) -> Figures | None:
    """What judges lean on, of what varies among the items that can be counted; None where nothing does."""
    varied = features.loc[:, features.nunique() > 1]
    if varied.empty:
        return None
    return agreement.feature_bias(
        measured.ratings, criterion, varied, panels=measured.panels, clusters=measured.of.clusters, **drawn
    )


def points(measured: Measured, criterion: str, members: Sequence[str]) -> pd.DataFrame:
    """A judge's (or a panel's) score beside people's mean, one row an item that has both.

    Columns: unit, conversation_id, turn, player, mean, spread and people (of the people on the item), score. Equal averages are equal.
    """
    items = agreement.item_scores(measured.ratings, criterion, [tuple(members)])
    items = items.rename(columns={called(members): "score"}).dropna(subset=["mean", "score"])
    return _with_about(measured, items.round({"mean": DIGITS, "score": DIGITS}))


def at(points: pd.DataFrame, mean: float, score: float) -> pd.DataFrame:
    """The items at one place of a scatter."""
    return points[(points["mean"] == round(mean, DIGITS)) & (points["score"] == round(score, DIGITS))]


def gaps(measured: Measured, criterion: str, members: Sequence[str], count: int = 20) -> pd.DataFrame:
    """The items on which a judge is farthest from people: the columns of `points` and gap, farthest first."""
    return _with_about(measured, agreement.largest_gaps(measured.ratings, criterion, members, count=count))


def _about(measured: Measured) -> pd.DataFrame:
    return measured.of.table.drop_duplicates("unit")[["unit", "conversation_id", "turn", "player"]]


def _with_about(measured: Measured, items: pd.DataFrame) -> pd.DataFrame:
    return items.merge(_about(measured), on="unit", how="left").reset_index(drop=True)


def shares(measured: Measured, criterion: str) -> pd.DataFrame:
    """How often everybody gives which answer: rater, kind (“people”, “person”, “judge”), score, share, n (that rater's answers).

    All people together come first, then each of them unless they are unnamed, then the judges. What lies between two answers
    (a mean over turns or criteria) is counted with the nearer one, the upper of two equally near.
    """
    scores = measured.ratings[criterion]
    grid = answers(measured, criterion)
    given = [("All people", "people", _of_people(scores))]
    if not scores.unlinked:
        given += [(measured.ratings.people[p], "person", scores.by(p)[1]) for p in scores.people.tolist()]
    given += [(name, "judge", score[~np.isnan(score)]) for name, score in scores.judges.items()]
    rows = []
    for name, kind, score in given:
        nearest = len(grid) - 1 - np.abs(score[:, None] - grid[None, ::-1]).argmin(axis=1)
        count = np.bincount(nearest, minlength=len(grid))
        rows += [
            (name, kind, float(answer), times / len(score), len(score))
            for answer, times in zip(grid, count, strict=True)
            if len(score)
        ]
    return pd.DataFrame(rows, columns=["rater", "kind", "score", "share", "n"])


def answers(measured: Measured, criterion: str) -> Floats:
    """The answers a score is counted with: the scale's; where it is continuous, unknown or not the judges', whole numbers end to end."""
    scale = scale_of(measured, criterion)
    if scale is not None and not scale.continuous and measured.ratings.same_scale:
        return np.array(scale.values, dtype=np.float64)
    scores = measured.ratings[criterion]
    seen = np.concatenate(
        [_of_people(scores), *scores.judges.values(), [scale.low, scale.high] if scale else []]
    )
    seen = seen[~np.isnan(seen)]
    return np.arange(np.floor(seen.min()), np.ceil(seen.max()) + 1) if len(seen) else np.zeros(1)


def scale_of(measured: Measured, criterion: str) -> Scale | None:
    """The scale people answer on; of *final* that of the criteria it is the mean of, if they share one; else None."""
    asked = measured.criterion(criterion)
    if asked is not None:
        return asked.scale
    scales = {c.scale for c in measured.of.study.criteria if c.name in measured.ratings.counted}
    return scales.pop() if len(scales) == 1 else None


def _of_people(scores: Scores) -> Floats:
    """Every answer of a person; of unnamed people's *final*, which has no answers of its own, the items' means."""
    return scores.score if len(scores.score) else scores.target[~np.isnan(scores.target)]
