"""Evidence: what figures of agreement are made from, whoever brings it, a study, a file or a frame."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from concord.arrays import Columns, distinct_values
from concord.codes import PLAYERS, Claim
from concord.questions import Scale
from concord.rating import Criterion
from concord.reports.features import features, own_family
from concord.reports.names import reader_names
from concord.scores import no_final
from concord.statistics.claims import MARGIN, Flag, look_at, sure_of
from concord.statistics.coefficients import Name
from concord.statistics.distribution import of_people
from concord.statistics.figures import People
from concord.statistics.group_differences import GroupDifference
from concord.statistics.items import largest_differences
from concord.statistics.kinds import enough
from concord.statistics.lone import Lone
from concord.statistics.oddities import Copy, OnlyCopy, copies, only_copies
from concord.statistics.position import PairOrders, sides
from concord.statistics.ratings import (
    DIGITS,
    FINAL,
    Floats,
    Inclusion,
    Ratings,
    default_panels,
    read_ratings,
)
from concord.statistics.spread import Taste
from concord.statistics.study import StudyAgreement, study_agreement, title
from concord.studies.coverage import Partial
from concord.studies.scales import SharedScale, final_scale, other_scales, scale_notes, scales
from concord.studies.studies import StudyRatings
from concord.table import Table

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 60
"""A facet with more values than this is no division of the items that a reader could look through."""


@dataclass(frozen=True)
class Options:
    """How a study is measured: equal options on equal data give equal figures.

    Items alike in all facets of `cluster_by` are resampled
    together, by default those of one scenario; with `()` items are drawn one by one. `people` says whom
    intervals are about; None leaves it to the design. `scales` declare the scale of a criterion (“” for
    every one) on which people and judges answer.
    """

    exclude_refused: bool = True
    resamples: int = 1000
    seed: int = 0
    cluster_by: tuple[str, ...] | None = None
    people: People | None = None
    cuts: tuple[tuple[str, float], ...] = ()
    """Criteria with the score from which people pass an item; of the others it is the middle of the scale."""
    scales: tuple[tuple[str, Scale], ...] = ()
    families: tuple[tuple[str, str], ...] = ()
    """Models with their family, as models.toml has them."""
    margin: float = MARGIN
    """How much lower than another annotator's a judge's agreement may be to count as as good."""
    agreement: Literal["order", "absolute"] = "order"
    """Whether the verdict on scores is about their order, or about their level as well."""
    look: int = 0
    """Which look at a growing study this is, from 1; 0: as its looks were counted, else the only one."""


class RepeatedAnswers(NamedTuple):
    """A judge that repeats one annotator's answers on a criterion, and whether chance is excluded."""

    criterion: str
    copy: Copy | OnlyCopy
    sure: bool


@dataclass(frozen=True, eq=False)
class Evidence:
    """Ratings and how they are measured; what figures need of them is computed when asked for, and kept."""

    data: StudyRatings
    ratings: Ratings
    options: Options = Options()
    feature_columns: Columns = field(default_factory=dict)
    scales: Mapping[str, SharedScale] = field(default_factory=dict)
    table_cache: MutableMapping[tuple[str, str], dict[str, Table]] = field(default_factory=dict)
    flag_cache: MutableMapping[str, list[Flag]] = field(default_factory=dict)
    """Sentences that are made once."""
    agreement_cache: MutableMapping[str, StudyAgreement] = field(default_factory=dict)
    """The figures over all criteria, made once."""
    lone_cache: dict[str, list[Lone]] = field(default_factory=dict)
    """Annotators beside the others by criterion, made once."""
    difference_cache: dict[str, list[GroupDifference]] = field(default_factory=dict)
    """Differences of judges between groups by criterion, made once."""
    length_cache: dict[str, list[Taste]] = field(default_factory=dict)
    """Judges on the length of replies by criterion, made once."""

    @classmethod
    def read(cls, data: StudyRatings, options: Options = Options(), features: Columns | None = None) -> Self:
        """Evidence of ratings that were read; `features` are columns of numbers beside “unit”.

        Raises NotFound for a scale that is declared for an unknown criterion.
        """
        shared = scales(data, options.scales)
        criteria = _criteria_of_final(data)
        ratings = read_ratings(
            data.rows,
            criteria=data.criteria,
            final_criteria=criteria,
            without_judges=data.left_out,
            flags=data.flags,
            anonymous_people=data.study.anonymous,
            order=data.order,
            other_scale=other_scales(shared),
            basis_notes=scale_notes(shared, criteria),
            sets=[c.name for c in data.study.criteria if c.scale.sets],
            categories=[c.name for c in data.study.criteria if not c.scale.ordered],
        )
        if data.weights:
            ratings = replace(ratings, inclusion=_inclusion(data, ratings))
        return cls(data, ratings, options, features or {}, shared)

    @property
    def criteria(self) -> tuple[str, ...]:
        """What people were asked or judges answered: what has an order, *final* its last, then categories."""
        categories = [name for name, scores in self.ratings.criteria.items() if not scores.ordered]
        return (*self.ordered, *categories)

    @property
    def ordered(self) -> tuple[str, ...]:
        """The criteria whose answers have an order, and *final*."""
        return tuple(name for name, scores in self.ratings.criteria.items() if scores.ordered)

    @property
    def main(self) -> str:
        """The criterion a reader asks for first: *final*, else the only one that counts, else the last.

        A rubric asks no overall question, and its *final* is a mean of what it asks: its first criterion
        leads. Where nobody can be compared on it, the first follows on which somebody can.
        """
        names = self.ordered or self.criteria
        candidates = [name for name in self.data.final_criteria if name in names]
        leading = (*names[-1:], *candidates)[-1]
        if FINAL in names and self.data.study.rubric:
            leading = candidates[0]
        elif FINAL in names:
            leading = FINAL
        for name in (leading, *names):
            if self._compared(name):
                return name
        return leading

    def _compared(self, criterion: str) -> bool:
        """Whether a judge and people have an item in common."""
        scores = self.ratings[criterion]
        means_of_people = np.unique(scores.target[np.isfinite(scores.target)])
        if criterion == FINAL and len(means_of_people) < 2:
            return False  # people's means of opposite criteria may all be equal
        return any(np.isfinite(score + scores.target).any() for score in scores.judges.values())

    @cached_property
    def judges(self) -> tuple[str, ...]:
        """The judges that the answer rests on, each model once: see `concord.studies.coverage.covering`."""
        return self.data.covering(self.ratings.judges)

    @cached_property
    def partial(self) -> tuple[Partial, ...]:
        """The judges that it does not rest on, as they rated too few of the items."""
        return self.data.partial(self.ratings.judges)

    def lead(self, criterion: str) -> Name:
        """The coefficient of a criterion where none is asked for: kappa of two answers and of categories,
        else Spearman's ρ.
        """
        question = self.criterion(criterion)
        return question.scale.lead if question else "spearman"

    def items(self, criterion: str) -> int:
        """How many items annotators rated on a criterion."""
        return int((self.ratings[criterion].present > 0).sum())

    def look(self, criterion: str) -> int:
        """Which look at the verdict on a criterion this is: the one that is stated, else by those counted."""
        return self.options.look or look_at(self.items(criterion), self.data.looks.get(criterion, ()))

    @property
    def first_criteria(self) -> dict[str, str]:
        """The criteria that raters are looked at on, by their labels: *final* only if it is all there is."""
        asked_names = [name for name in self.ordered if name != FINAL]
        names = asked_names or self.ordered or self.criteria
        return {self.label(name): name for name in names}

    @cached_property
    def repeated(self) -> tuple[RepeatedAnswers, ...]:
        """Judges whose answers are those of one annotator, all or nearly all, and whether that is shown."""
        parts = {name: self.ratings[name] for name in self.first_criteria.values()}
        tests = sum(len(scores.judges) for scores in parts.values())
        people = self.ratings.people
        repeats: list[RepeatedAnswers] = []
        for name, scores in parts.items():
            nominal = self.lead(name) == "kappa"
            for copy in copies(scores, people, nominal=nominal):
                repeats.append(RepeatedAnswers(name, copy, sure=False))
            for only_copy in only_copies(scores, people):
                repeats.append(RepeatedAnswers(name, only_copy, sure=False))
        sure = sure_of(Claim.COPY, [repeat.copy.p for repeat in repeats], tests)
        return tuple(repeat._replace(sure=proven) for repeat, proven in zip(repeats, sure, strict=True))

    @property
    def copied(self) -> dict[str, str]:
        """The judges that are shown to repeat one annotator's answers, and whose."""
        return {one.copy.judge: one.copy.person for one in self.repeated if one.sure}

    @property
    def panels(self) -> tuple[tuple[str, ...], ...]:
        """The panel looked at closely, of all judges, where there are several.

        A judge that answered several versions of the prompt is in it once: see `judges`.
        """
        return (self.judges,) if len(self.judges) > 1 else ()

    @property
    def primary_panel(self) -> tuple[str, ...]:
        """Who is meant by “the judges”: the panel of all, else the only judge."""
        return self.judges if self.panels else self.judges[:1]

    @cached_property
    def features(self) -> dict[str, Floats]:
        """The features of units that vary, by item."""
        return features(self.feature_columns, self.ratings.units)

    @cached_property
    def own_family(self) -> dict[str, Floats]:
        """Each judge with a family: which items are by a player of this family."""
        families = dict(self.options.families)
        if not families.keys() & set(self.data.models_of_judges.values()):
            return {}
        of_items = [self.players.get(unit, "") for unit in self.ratings.units]
        return own_family(families, self.data.models_of_judges, self.ratings.judges, of_items)

    def criterion(self, name: str) -> Criterion | None:
        """The question behind a criterion; None for *final*, which nobody was asked."""
        for criterion in self.data.study.criteria:
            if criterion.name == name:
                return criterion
        return None

    def preferences(self, criterion: str) -> dict[float, float]:
        """What each answer chooses of two: the share of the first, ½ in a tie; {} where they are no pair."""
        question = self.criterion(criterion)
        if question is None or not question.scale.named or question.scale.sets:
            return {}
        both_sides = sides(question.scale.labels)
        if not both_sides:
            return {}
        return dict(zip(question.scale.values, both_sides.shares, strict=True))

    def orders(self, criterion: str) -> dict[str, PairOrders]:
        """Each judge's answers by what was shown first, where this is known."""
        rows = self.data.orders
        if not rows:
            return {}
        place = {unit: index for index, unit in enumerate(self.ratings.units)}
        item = np.array([place.get(unit, -1) for unit in rows["unit"].tolist()], dtype=np.int64)

        def answers(rows_of_order: npt.NDArray[np.bool_]) -> Floats:
            scores = np.full(len(place), np.nan)
            scores[item[rows_of_order]] = rows["score"][rows_of_order]
            return scores

        by_judge: dict[str, PairOrders] = {}
        for judge in self.ratings.judges:
            rows_of_judge = (rows["rater"] == judge) & (rows["criterion"] == criterion) & (item >= 0)
            straight = np.asarray(rows["straight"], dtype=bool)
            if rows_of_judge.any():
                by_judge[judge] = PairOrders(
                    answers(rows_of_judge & straight), answers(rows_of_judge & ~straight)
                )
        return by_judge

    @cached_property
    def names(self) -> dict[str, str]:
        """What readers see for the names of judges and panels in tables."""
        models = [self.data.models_of_judges.get(judge, judge) for judge in self.ratings.judges]
        return reader_names(list(dict.fromkeys(models))) | reader_names(self.ratings.judges, self.judges)

    def label(self, name: str) -> str:
        """A criterion as a reader sees it."""
        question = self.criterion(name)
        return question.label if question else title(name)

    @cached_property
    def agreement(self) -> StudyAgreement:
        """Alpha and correlations on every criterion; panels are the mean of all judges, and every pair."""
        name = self.data.study.name
        if name not in self.agreement_cache:
            panels = default_panels(self.judges)
            self.agreement_cache[name] = study_agreement(
                self.ratings, panels=panels, study=name, **self.resampling
            )
        return self.agreement_cache[name]

    def points(self, criterion: str, members: Sequence[str]) -> pd.DataFrame:
        """A judge's (or a panel's) score beside people's mean, one row an item that has both, the farthest
        first.

        Columns: those of `largest_differences`, conversation_id, turn, player. Equal averages are equal.
        """
        items = largest_differences(self.ratings, criterion, members).round({"mean": DIGITS, "score": DIGITS})
        places = self.data.table.drop_duplicates("unit")[["unit", "conversation_id", "turn", "player"]]
        return items.merge(places, on="unit", how="left")

    def answers(self, criterion: str) -> Floats:
        """The answers a score is counted with: the scale's; else whole numbers from end to end."""
        scale = self.scale(criterion)
        if scale is not None and scale.offered and not self.ratings.other_scale.get(criterion):
            return np.array(scale.offered, dtype=np.float64)
        scores = self.ratings[criterion]
        answers = [of_people(scores), *scores.judges.values()]
        if scale:
            answers.append(np.array([scale.low, scale.high], dtype=np.float64))
        known_answers = np.concatenate(answers)
        known_answers = known_answers[~np.isnan(known_answers)]
        if not len(known_answers):
            return np.zeros(1)
        return np.arange(np.floor(known_answers.min()), np.ceil(known_answers.max()) + 1)

    def cut(self, criterion: str) -> tuple[float, str]:
        """The score from which people pass an item, and in words where it comes from."""
        cuts = dict(self.options.cuts)
        if criterion in cuts:
            return cuts[criterion], ""
        names = (criterion,) if self.criterion(criterion) else self.ratings.final_criteria
        questions = [question for question in self.data.study.criteria if question.name in names]
        if questions:
            middles = [(question.scale.low + question.scale.high) / 2 for question in questions]
            return sum(middles) / len(middles), "the middle of the scale"
        answers = self.answers(criterion)
        return float(answers[0] + answers[-1]) / 2, "the middle of all answers"

    def scale(self, criterion: str) -> Scale | None:
        """The scale people answer on; for *final* the one that its criteria share, if they do."""
        shared = self.scales.get(criterion)
        return shared.scale if shared else final_scale(self.scales, self.ratings.final_criteria)

    @property
    def resampling(self) -> dict[str, Any]:
        """How resamples are drawn: their number and seed, and what is drawn together."""
        return {
            "resamples": enough(self.ratings, self.options.resamples),
            "seed": self.options.seed,
            "clusters": self.data.clusters,
            "alike": " and ".join(self.data.cluster_by),
            "people": self.people,
        }

    @property
    def panels_and_resampling(self) -> dict[str, Any]:
        """The panels looked at closely, and how resamples are drawn."""
        return {"panels": self.panels, **self.resampling}

    @property
    def people(self) -> People:
        """Whom intervals are about: who is asked for, else annotators like these where the design allows."""
        if self.options.people:
            return self.options.people
        return "like-these" if self.ratings.several_people else "these"

    @cached_property
    def players(self) -> Mapping[Any, str]:
        """The player of each unit."""
        return self.data.of_units("player")

    @property
    def facets(self) -> dict[str, Mapping[int, str]]:
        """The facets that divide the items into at most `MOST_GROUPS` groups: name → unit → value."""
        facets: dict[str, Mapping[int, str]] = {}
        for name, values in self.data.facets.items():
            if len(distinct_values(values)) <= MOST_GROUPS:
                facets[name] = values
        return facets

    @property
    def groups(self) -> dict[str, Mapping[Any, str]]:
        """What divides the items into groups: the model or player, if there are several, and `facets`."""
        if len(distinct_values(self.players)) < 2:
            return self.facets
        noun = PLAYERS[-1]
        if benchmark := self.data.study.benchmark:
            from concord.runs.registry import known_or_imported  # loads the benchmarks

            noun = known_or_imported(benchmark).player_noun
        return {noun: self.players, **self.facets}


def _criteria_of_final(data: StudyRatings) -> tuple[str, ...]:
    """The criteria of which *final* is made; none where it is not measured: the final of one criterion would
    say everything twice.
    """
    questions: list[Criterion] = []
    for criterion in data.study.criteria:
        if criterion.name in data.final_criteria and criterion.scale.ordered:
            questions.append(criterion)
    if len(questions) < 2 or no_final(questions):
        return ()
    return tuple(question.name for question in questions)


def _inclusion(data: StudyRatings, ratings: Ratings) -> Inclusion:
    """The weights of the items, and their strata where they were drawn by strata."""
    units = [int(str(unit)) for unit in ratings.units]
    weights = np.array([data.weights.get(unit, 0.0) for unit in units])
    if not data.strata:
        return Inclusion(weights, None)
    return Inclusion(weights, np.array([data.strata.get(unit, -1) for unit in units]))
