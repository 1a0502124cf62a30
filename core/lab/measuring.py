"""How well judges agree with people on each item of a divided study.

The agreement of a judge with people on an item is 1 − |answer − people's mean| / width of the scale; of
categories, the share of people who gave the judge's answer. Unlike a correlation it sees a judge that is too
kind, is defined for a single item, and is the same for every type of question, so that criteria can be
averaged; each criterion that people answered weighs alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlite_utils import Database

from concord.errors import NotFound
from concord.estimate import Estimate
from concord.lab import parts as divided
from concord.lab.parts import Parts
from concord.questions import Scale
from concord.rating import Criterion
from concord.statistics.ratings import CriterionScores, Floats, Ints, Ratings, divide, read_ratings, sums
from concord.statistics.resampling import Statistic, bootstrap, mean_defined, mean_estimates
from concord.store import exclusions, frames, lab, ratings, rubrics, studies
from concord.store.lab import JudgeUse
from concord.studies.clusters import FEWEST_CLUSTERS
from concord.studies.judge_runs import mean_of_runs

OVERALL = "all criteria"


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

    `answers` are those of judges on people's scale, by criterion; `costs` says what each judge cost;
    `versions` has the numbers of the rubric's versions by variant.
    """

    parts: Parts
    criteria: tuple[Criterion, ...]
    units: tuple[int, ...]
    people: Ratings
    answers: Mapping[Candidate, Mapping[str, Floats]]
    costs: Mapping[str, Mapping[Candidate, JudgeUse]]
    versions: Mapping[str, int]
    resamples: int = 1000

    def marked(self, part: str) -> "np.typing.NDArray[np.bool_]":
        """Which items belong to a part."""
        return np.isin(self.units, [unit.id for unit in self.parts.units_of(part)])

    def agreement(self, judge: Candidate, criterion: str = "") -> Floats:
        """A judge's agreement with people on each item, 0 to 1; nan where one of them gave no answer.

        Without a criterion it is the mean over the criteria that people answered; nan where the judge lacks
        one of them.
        """
        if criterion:
            question = next(c for c in self.criteria if c.name == criterion)
            return closeness(self.answers[judge].get(criterion), self.people[criterion], question.scale)
        agreements = np.array([self.agreement(judge, c.name) for c in self.criteria])
        present = np.array([self.people[c.name].present > 0 for c in self.criteria])
        lacks = (present & np.isnan(agreements)).any(axis=0) | ~present.any(axis=0)
        total = np.where(present, np.nan_to_num(agreements), 0).sum(axis=0)
        return np.where(lacks, np.nan, divide(total, present.sum(axis=0)))

    def mean(self, judge: Candidate, part: str) -> float | None:
        """A judge's mean agreement on a part; None where nothing usable was answered."""
        if judge not in self.answers:
            return None
        values_of_part = self.agreement(judge)[self.marked(part)]
        return None if np.isnan(values_of_part).all() else float(np.nanmean(values_of_part))

    def judges_of_part(self, part: str) -> list[Candidate]:
        """The judges with a usable answer to a part."""
        return [judge for judge in self.answers if self.mean(judge, part) is not None]

    def unanswered(self, judge: Candidate, part: str) -> int:
        """The conversations of a part about which a judge was not asked."""
        judging_cost = self.costs[part].get(judge)
        return len(self.parts.keys(part)) - (
            judging_cost.conversations + judging_cost.failed if judging_cost else 0
        )

    def one_more_person(self) -> Floats:
        """The agreement of a person with the others on each item, averaged over people; nan for one alone."""
        answer_rows: list[Floats] = []
        for number in range(len(self.people.people)):
            rows_of_judges = []
            for criterion in self.criteria:
                scores = self.people[criterion.name]
                rows_of_judges.append(
                    closeness(scores.scores_of(number), scores.excluding(number), criterion.scale)
                )
            answer_rows.append(mean_defined(np.array(rows_of_judges)))
        return mean_defined(np.array(answer_rows)) if answer_rows else np.full(len(self.units), np.nan)

    def find(self, model: str, version: str) -> Candidate:
        """A judge that answered: by its number a version of the study's rubric (“2”), else any (“support v2”,
        or a benchmark's “v2”). Raises NotFound.
        """
        candidate = Candidate(model, f"{self.parts.rubric} v{version}" if version.isdigit() else version)
        if candidate not in self.answers:
            number = f" --versions {version}" if version.isdigit() else ""
            available = f" Stored answers: {', '.join(map(str, self.answers))}." if self.answers else ""
            raise NotFound(
                f"{candidate} has not answered any item of “{self.parts.study}” yet.{available} Run it: "
                f"concord lab run {self.parts.study} --judges {model}{number}"
            )
        return candidate

    def clusters(self, part: str) -> Ints | None:
        """The scenario of each item as a number, −1 outside the part; None where they are too few to draw."""
        names = {unit.id: unit.scenario for unit in self.parts.units_of(part)}
        codes = {name: code for code, name in enumerate(sorted(set(names.values())))}
        if len(codes) < FEWEST_CLUSTERS or len(codes) == len(names):
            return None
        return np.array([codes[names[u]] if u in names else -1 for u in self.units], dtype=np.int64)

    def resample(self, figures: Sequence[Statistic], part: str, seed: int) -> tuple[Floats, Floats]:
        """Figures of a part and of its resamples; whole scenarios are drawn, where they are enough."""
        items_of_part = np.flatnonzero(self.marked(part))
        arguments: dict[str, Any] = {"subset": items_of_part, "clusters": self.clusters(part), "seed": seed}
        return bootstrap(figures, len(self.units), resamples=self.resamples, **arguments)

    def average(self, values: Floats, part: str, bounded: bool = True) -> Estimate:
        """The mean of values of items on a part, with an interval that takes items for independent."""
        values_of_part = values[self.marked(part) & ~np.isnan(values)][:, None]
        scales = [(0.0, 1.0)] if bounded else None
        return mean_estimates(values_of_part, resamples=self.resamples, seed=0, noun="item", scales=scales)[0]


def closeness(score: Floats | None, scores: CriterionScores, scale: Scale) -> Floats:
    """The agreement of answers with people's, item by item (see the file's head); nan without both."""
    if score is None:
        return np.full(scores.items, np.nan)
    if scale.ordered:
        return np.asarray(1 - np.abs(score - scores.target) / (scale.high - scale.low))
    equal = sums(scores.item, (np.round(score[scores.item]) == scores.score).astype(np.float64), scores.items)
    return np.where(np.isnan(score), np.nan, divide(equal, scores.present))


def read(db: Database, study: str, *, resamples: int = 1000) -> Bench:
    """The people and judges of a divided study. Raises StudyError where it is not divided."""
    parts = divided.read(db, study)
    described = studies.get(db, study)
    criteria = tuple(c for c in described.criteria if not c.scale.kind.of_two)
    excluded_raters = exclusions.raters(db, study)
    rows = frames.rows(db, study, without=excluded_raters, every_judge=True)
    rows = mean_of_runs(rows, [c.name for c in criteria if not c.scale.ordered])
    all_ratings = read_ratings(rows, final_criteria=(), anonymous_people=described.anonymous)
    candidates = {
        str(rater): Candidate(str(model), str(variant))
        for rater, model, variant, kind in zip(
            *(rows[name].tolist() for name in ("rater", "model", "variant", "kind")), strict=True
        )
        if kind == "judge"
    }
    version_of_variant = {version.variant: version for version in rubrics.versions(db)}
    answers: dict[Candidate, dict[str, Floats]] = {}
    for label, judge in sorted(candidates.items(), key=lambda item: item[1]):
        version = version_of_variant.get(judge.variant)
        scope = rubrics.scope(version.name, version.version) if version else parts.benchmark
        judge_scales = {c.name: c.scale_of("judge") for c in ratings.criteria(db, scope)}
        scores_of_judge = {c.name: _on_scale(all_ratings, label, c, judge_scales) for c in criteria}
        answers[judge] = {name: score for name, score in scores_of_judge.items() if score is not None}
    criteria = tuple(c for c in criteria if c.name in all_ratings.criteria)
    costs = {
        part: {Candidate(a.judge, a.variant): a for a in lab.judge_uses(db, parts.conversations(part))}
        for part in divided.PARTS
    }
    units = tuple(int(str(unit)) for unit in all_ratings.units)
    numbers = {
        variant: version.version
        for variant, version in version_of_variant.items()
        if version.name == parts.rubric
    }
    return Bench(parts, criteria, units, all_ratings, answers, costs, numbers, resamples)


def _on_scale(
    table: Ratings, label: str, criterion: Criterion, judge_scales: Mapping[str, Scale]
) -> Floats | None:
    """A judge's answers to a question on people's scale, on which another range is placed end to end; None
    where it was not asked.
    """
    scale = criterion.scale
    name = criterion.name
    score = table[name].judges.get(label) if name in table.criteria else None
    judge_scale = judge_scales.get(name)
    if score is None or np.isnan(score).all():
        return None
    if (
        judge_scale is None
        or not scale.ordered
        or (judge_scale.low, judge_scale.high) == (scale.low, scale.high)
    ):
        return score
    return scale.low + (score - judge_scale.low) / (judge_scale.high - judge_scale.low) * (
        scale.high - scale.low
    )
