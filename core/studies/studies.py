"""The ratings of a study as the figures of agreement want them. Drawing and dealing are at hand here, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
from sqlite_utils import Database

from concord.arrays import Columns, Keyed, Names, as_column, coded, distinct_values, first_rows, taken
from concord.codes import AuditAct
from concord.errors import StudyError
from concord.store import (
    access,
    answers,
    audit,
    exclusions,
    frames,
    known,
    looks,
    progress,
    settings,
    studies,
)
from concord.store.answers import ItemAnswer
from concord.store.exclusions import ExcludedAnnotator
from concord.store.known import Check, Pair
from concord.store.progress import Item
from concord.store.studies import Study
from concord.studies import coverage
from concord.studies.clusters import FIRST_MESSAGE, clusters, facets_for
from concord.studies.coverage import Judge, Partial
from concord.studies.dealing import deal_study as deal_study
from concord.studies.drawing import StudyDraw as StudyDraw
from concord.studies.drawing import draw_study as draw_study
from concord.studies.drawing import left_to_draw as left_to_draw
from concord.studies.judge_runs import mean_of_runs, repeated

if TYPE_CHECKING:
    import pandas as pd


REFUSAL = "a judge saw a refusal"


@dataclass(frozen=True)
class StudyRatings:
    """A study's ratings ready for `concord.agreement`.

    `rows` has a row a unit, criterion and rater: unit, conversation_id, turn, player, criterion, rater,
    kind, simulated, score. `criteria` are shown, `final_criteria` enter *final*; `left_out`: unit → reason
    why judges are not compared on it. `refused_by` says in how many of these units each judge saw a refusal,
    `flags` on which criteria.
    """

    study: Study
    rows: Columns | pd.DataFrame
    criteria: tuple[str, ...]
    final_criteria: tuple[str, ...]
    left_out: Mapping[int, str]
    cluster_by: tuple[str, ...] = ()
    clusters: Mapping[Hashable, Hashable] | None = None
    """Which units hang together, where they are to be resampled together: unit → the values of the facets
    in `cluster_by`.
    """
    too_few: str = ""
    """Why units that share a scenario are not resampled together, where they are not by default."""
    repeats: Columns = field(default_factory=dict)
    """The runs of judges who rated repeatedly, whose means are among `rows`: unit, criterion, rater, repeat,
    score.
    """
    refused_by: Mapping[str, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    order: Any = ()
    """The units in an order that does not depend on the order in which they were stored."""
    extra: Columns = field(default_factory=dict)
    """People's extra ratings, given because the first raters differed; they are not among `rows`."""
    gold: Columns = field(default_factory=dict)
    """Gold labels, against which people and judges are measured; they are not among `rows` either."""
    excluded: tuple[ExcludedAnnotator, ...] = ()
    """The annotators excluded by a decision; `rows` have no ratings of theirs."""
    repeated_answers: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    """Answers to what came again, by purpose (“repeat”, “revise”). They are no ratings, and everybody's,
    an excluded annotator's too.
    """
    checks: tuple[Check, ...] = ()
    """Answers to gold items, likewise."""
    assigned_items: tuple[Item, ...] = ()
    """The items on everybody's desk, with the time they took."""
    adjudicated: tuple[ItemAnswer, ...] = ()
    """What adjudicators settled: one more rater's scores, in no figure but those of their own section."""
    facets: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """The facets that divide the units into groups: name → unit → value."""
    waiting: Mapping[str, int] = field(default_factory=dict)
    """How many items are open by annotator who was dealt the study and has rated nothing of it."""

    weights: Mapping[int, float] = field(default_factory=dict)
    """How many units each unit that people rated stands for, where they were not drawn alike."""
    looks: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """At how many items the verdict on each criterion was read, fewest first."""
    unfinished: int = 0
    """How many assigned ratings are open."""
    strata: Mapping[int, int] = field(default_factory=dict)
    """The number of the stratum from which each unit was drawn, where it is known."""
    orders: Columns = field(default_factory=dict)
    """Of pairs the answers of judges for which it is known what was shown first: unit, criterion, rater,
    straight (whether the first of two was), score.
    """

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows as a frame."""
        import pandas as pd

        return pd.DataFrame({name: np.asarray(self.column(str(name))) for name in self.rows})

    def column(self, name: str) -> Any:
        """A column of the rows: an array, or `Names`."""
        return as_column(self.rows[name])

    def of_units(self, name: str) -> Mapping[Any, Any]:
        """The value of a column for each unit, of which all its rows have the same."""
        column = self.column(name)
        unit = self.column("unit")
        if isinstance(column, Names) and isinstance(self.order, np.ndarray) and len(self.order):
            first = np.zeros(int(self.order.max()), dtype=np.int64)
            first[unit[::-1] - 1] = np.arange(len(unit))[::-1]
            return Keyed(column.codes[first], column.values)
        code, units = coded(unit)
        values = column[first_rows(code, len(units))].tolist()
        return dict(zip(units, values, strict=True))

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges, by name."""
        return tuple(sorted(map(str, coded(self.column("rater")[self.column("kind") == "judge"])[1])))

    @property
    def models_of_judges(self) -> dict[str, str]:
        """The model behind each judge, as models.toml names it; empty for ratings that were not stored."""
        return self._of_judges("model")

    @property
    def versions_of_judges(self) -> dict[str, str]:
        """The version of each judge's prompt; empty for ratings that were not stored."""
        return self._of_judges("variant")

    def covering(self, judges: Sequence[str]) -> tuple[str, ...]:
        """The judges that the answer rests on: see `concord.studies.coverage.covering`."""
        return tuple(judge.name for judge in coverage.covering(self._judges(judges), self._rated))

    def partial(self, judges: Sequence[str]) -> tuple[Partial, ...]:
        """The judges that it does not rest on, as they rated too few of the items."""
        return coverage.partial(self._judges(judges), self._rated)

    @cached_property
    def _rated(self) -> Mapping[str, set[int]]:
        return coverage.units_of({name: self.column(name) for name in ("unit", "kind", "rater")})

    def _judges(self, names: Sequence[str]) -> list[Judge]:
        models = self.models_of_judges
        versions = self.versions_of_judges
        return [Judge(name, models.get(name, name), versions.get(name, "")) for name in names]

    def _of_judges(self, column: str) -> dict[str, str]:
        if column not in self.rows:
            return {}
        judged = np.flatnonzero(self.column("kind") == "judge")
        code, judges = coded(self.column("rater")[judged])
        of_judges = self.column(column)[judged[first_rows(code, len(judges))]].tolist()
        return dict(zip(map(str, judges), of_judges, strict=True))

    @property
    def drawn_unequally(self) -> bool:
        """Whether strata were drawn with unequal probabilities."""
        return self.study.sample is not None and self.study.sample.chance is not None

    @property
    def simulated(self) -> tuple[str, ...]:
        """The raters that are neither people nor language models."""
        simulated = self.column("simulated").astype(bool)
        return tuple(sorted(map(str, coded(self.column("rater")[simulated])[1])))


def invite(
    db: Database,
    names: Sequence[str],
    base_url: str | None = None,
    days: int = access.LINK_DAYS,
    role: str = "annotator",
) -> dict[str, str]:
    """Links for people of a role, by name, which expire after so many days (0: never). A link is returned
    once, not stored, and ends the one before it. Without `base_url` it leads to where the app last listened.
    """
    page = "rate" if role == "annotator" else ""
    address = (base_url or settings.address(db)).rstrip("/")
    links = {}
    for name in names:
        token = access.invite(db, name, role, days=days)
        links[name] = f"{address}/{page}?{urlencode({'token': token})}"
        if role == "annotator":
            audit.record(db, AuditAct.INVITED, about=name)
    return links


def ratings_for_agreement(
    db: Database,
    name: str,
    *,
    exclude_refused: bool = True,
    cluster_by: Sequence[str] | None = None,
) -> StudyRatings:
    """A study's ratings, of a judge's repeated runs the mean, of categories the one given most often.

    Final is the mean of the counted criteria that people and, where there are any, judges rated. With
    `exclude_refused` judges are not compared on conversations in which one of them saw a refusal. Units alike
    in the facets of `cluster_by` are resampled together, by default those of one scenario. Annotators whom a
    decision left out are so. Raises NotFound for an unknown study or facet, StudyError
    for a study without any rating.
    """
    study = studies.get(db, name)
    rows, extra = _split_extra(frames.rows(db, name, without=exclusions.raters(db, name), with_extra=True))
    if not len(rows["unit"]):
        raise StudyError(
            f"The study “{name}” has no ratings yet. Have judges rate its conversations with "
            "`concord judge`, and assign it to annotators with `concord study deal`."
        )
    saw = frames.refusals_seen(db, name) if exclude_refused else {}
    places = frames.places(db, name)
    ratings = study_ratings(
        study,
        rows,
        places,
        facets_for(db, study, places, cluster_by),
        saw,
        frames.refusal_criteria(db, name),
        cluster_by=cluster_by,
    )
    weights, strata = _inclusion(db, study, rows)
    return replace(
        ratings,
        weights=weights,
        strata=strata,
        extra=extra,
        excluded=tuple(exclusions.excluded(db, name).values()),
        repeated_answers={purpose: tuple(known.pairs(db, name, purpose)) for purpose in ("repeat", "revise")},
        checks=tuple(known.checks(db, name)),
        assigned_items=tuple(progress.items(db, name)),
        adjudicated=tuple(answers.answers(db, name, "adjudicate")),
        waiting={a.name: a.items - a.skipped for a in access.annotators(db, name) if a.items and not a.done},
        looks=looks.items_at_looks(db, name),
        unfinished=looks.unfinished(db, name),
    )


def _inclusion(db: Database, study: Study, rows: Columns) -> tuple[dict[int, float], dict[int, int]]:
    """How many conversations each unit that people rated stands for, and its stratum, where the study was
    drawn from strata whose sizes it says.
    """
    sizes = study.sample.strata if study.sample else {}
    if len(sizes) < 2:
        return {}, {}
    rated = set(coded(rows["unit"][rows["kind"] == "human"])[1])
    units = [unit for unit in studies.units(db, study.name) if unit["id"] in rated]
    conversations = Counter(stratum for stratum, _ in {(u["stratum"], u["conversation_id"]) for u in units})
    numbers = {stratum: number for number, stratum in enumerate(sizes)}
    items = [unit for unit in units if unit["stratum"] in sizes]
    weights = {unit["id"]: sizes[unit["stratum"]] / conversations[unit["stratum"]] for unit in items}
    return weights, {unit["id"]: numbers[unit["stratum"]] for unit in items}


def study_ratings(
    study: Study,
    rows: Columns,
    places: Sequence[tuple[int, str, str, int]],
    facets: Mapping[str, Mapping[int, str]],
    saw: Mapping[int, Sequence[str]],
    flags: tuple[str, ...] = (),
    *,
    cluster_by: Sequence[str] | None = None,
    order: Any = None,
) -> StudyRatings:
    """The ratings of a study from its rows, wherever they come from: a store, a file or a frame.

    `rows` are those of `concord.store.frames.rows`, `places` those of `frames.places`, `facets` (name → unit
    → value) those of `frames.facet_values`; `saw` has the units in which judges saw a refusal, with these
    judges, on the criteria `flags`. `order` is that of units, an array, where `places` are not needed. Raises
    NotFound for an unknown facet.
    """
    categories = [c.name for c in study.criteria if not c.scale.ordered]
    repeats = repeated(rows)
    rows = mean_of_runs(rows, categories)
    is_gold = rows["kind"] == "gold"
    gold = {}
    if is_gold.any() and not (rows["kind"] == "human").any():  # they stand for a person
        rows = {**rows, "kind": np.where(is_gold, "human", np.asarray(rows["kind"]))}
    elif is_gold.any():
        rows, gold = taken(rows, ~is_gold), taken(rows, is_gold)
    refusals_by_judge = dict(Counter(judge for judges in saw.values() for judge in judges).most_common())
    reason = f"{REFUSAL} ({', '.join(f'{judge} {n}' for judge, n in refusals_by_judge.items())})"
    rated = {kind: set(coded(rows["criterion"][rows["kind"] == kind])[1]) for kind in coded(rows["kind"])[1]}
    compared = set.intersection(*rated.values())
    by_facets, clustered, too_few = clusters(study, facets, places, cluster_by)
    return StudyRatings(
        study,
        rows,
        tuple(c.name for c in study.criteria),
        tuple(c.name for c in study.criteria if c.counted and c.name in compared),
        dict.fromkeys(saw, reason),
        by_facets,
        clustered,
        too_few,
        repeats,
        refusals_by_judge,
        flags,
        order=[unit for unit, *_ in places] if order is None else order,
        gold=gold,
        facets={
            facet: values
            for facet, values in facets.items()
            if facet != FIRST_MESSAGE and 1 < len(distinct_values(values)) < len(values)
        },
    )


def _split_extra(rows: Columns) -> tuple[Columns, Columns]:
    """First ratings and judges', and extra ratings."""
    extra = rows["extra"]
    rows = {name: column for name, column in rows.items() if name != "extra"}
    return taken(rows, ~extra) if extra.any() else rows, taken(rows, extra)
