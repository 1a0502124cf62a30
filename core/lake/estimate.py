"""What people would say of a whole lake, overall and by group, from a judge's answers and people's sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlite_utils import Database

from concord import messages
from concord.codes import LakeWarning
from concord.configuration import Configuration
from concord.errors import StudyError, check_known
from concord.estimate import Estimate
from concord.lake.counting import MISSING, AnswerCounts, Group, GroupColumn, count
from concord.lake.plan import JudgeFolder, newest
from concord.lake.sample import judged_folders
from concord.rating import Criterion
from concord.statistics.estimation import (
    UNLIKE,
    GroupEstimate,
    SampledItems,
    difference,
    group_estimate,
    simultaneous,
    unlike_mean,
    unlike_shares,
    wanted_items,
)
from concord.statistics.intervals import Ends
from concord.statistics.ratings import Floats
from concord.store import configurations, studies
from concord.store.studies import Study
from concord.studies.studies import StudyRatings, ratings_for_agreement
from concord.table import SCHEMA, Cell, Column, Table
from concord.table import as_values as table_values

MOST_DIFFERENCES = 15
NEXT = 100
"""Further items of people that are shared out over groups."""
FEWEST_TO_CHOOSE = 10
"""Items of people below which no judge is chosen by how well it follows them."""


@dataclass(frozen=True)
class LakeEstimateOptions:
    """What is estimated: by which columns, on which criterion, by which judge; chosen unless named.

    With `any_endpoint` the judge may have been served elsewhere when it was validated.
    """

    columns: tuple[GroupColumn, ...] = ()
    criterion: str = ""
    judge: str = ""
    rubric: str = ""
    any_endpoint: bool = False


class EstimateWarning(NamedTuple):
    """What a reader of an estimate must know: a code, a sentence, and the column it is about, if any."""

    code: LakeWarning
    text: str
    column: str = ""


@dataclass(frozen=True)
class LakeEstimate:
    """The tables of an estimate, its sentences, warnings, and the figures of all and of groups.

    `groups` are those of each column by its name; `pairs` those of two columns together.
    """

    tables: tuple[Table, ...]
    sentences: tuple[str, ...]
    warnings: tuple[EstimateWarning, ...]
    overall: GroupEstimate
    groups: Mapping[str, Mapping[str, GroupEstimate]]
    pairs: Mapping[Group, GroupEstimate]
    criterion: Criterion
    judge: str
    scale: Ends
    differences: Mapping[str, Mapping[tuple[str, str], Estimate]] = field(default_factory=dict)


def as_values(result: LakeEstimate) -> dict[str, Any]:
    """An estimate as plain values, for JSON. `concord schema estimate` describes them."""
    meta = result.tables[0].meta
    return {
        "schema": SCHEMA,
        **{name: meta[name] for name in ("study", "judge", "criterion", "judged")},
        "sentences": [*result.sentences],
        "warnings": [
            {"code": warning.code.value, "column": warning.column or None, "text": warning.text}
            for warning in result.warnings
        ],
        "tables": {table.name: table_values(table) for table in result.tables},
    }


def estimated(db: Database, answers: Path, study: str, options: LakeEstimateOptions) -> LakeEstimate:
    """Estimate a lake by a study's people.

    Raises StudyError where the judge, or what it was asked, is another one than the study's, NotFound for
    unknown names, ConfigError for a folder without answers.
    """
    of_study = studies.get(db, study)
    _, folders = judged_folders(answers, options.rubric or _folder_of(answers, of_study))
    rubric = folders[0].rubric
    kept_hash = of_study.asked_rubric.hash if of_study.asked_rubric else ""
    if kept_hash and kept_hash != rubric.hash:
        raise StudyError(
            f"Annotators of “{study}” and judges of {answers} used different versions of the rubric "
            f"“{rubric.name}”. Judge the files by the study's version, or have annotators rate by this one."
        )
    criterion = _criterion(of_study, rubric.criteria, options.criterion)
    people = _people(db, of_study, criterion)
    if not people:
        raise StudyError(f"No annotator has rated “{criterion.label}” in the study “{study}” yet.")
    target = _of_study(db, study, folders, options.judge)
    counts_by = {
        folder.judge: count(folder.parts, criterion.name, options.columns, {key for key, _ in people})
        for folder in target
    }
    judge = target[0].judge if options.judge else _best(counts_by, people)
    folder = next(folder for folder in target if folder.judge == judge)
    _check_configuration(db, study, folder, options)
    return _estimate(of_study, criterion, folder, counts_by[judge], people, options)


def _of_study(db: Database, study: str, folders: Sequence[JudgeFolder], name: str) -> list[JudgeFolder]:
    """A folder for each judge, or for that of a name: by the study's configuration, else the newest.

    A name of a folder, such as a-b46dbe38, is that folder's. Raises NotFound.
    """
    target = [one for one in folders if name in ("", one.judge, one.path.name)]
    if not target:
        check_known("judge", name, dict.fromkeys(one.judge for one in folders))
    validated = {configuration.hash for _, configuration in _validated(db, study)}
    of_study = [one for one in target if one.configuration and one.configuration.hash in validated]
    return list({one.judge: one for one in (*newest(target), *newest(of_study))}.values())


def _validated(db: Database, study: str) -> list[tuple[str, Configuration]]:
    """The judges of a study's items with their configurations."""
    uses = configurations.of_study_judges(db, study)
    return [(facts["judge"], use.configuration) for facts, use in uses if use.configuration is not None]


def _folder_of(folder: Path, study: Study) -> str:
    """The folder of the study's rubric, where answers by several rubrics are there."""
    target = study.asked_rubric
    if target is None:
        return ""
    name = f"{target.name}-{target.hash[:8]}"
    return name if (folder / name).is_dir() else ""


def _criterion(study: Study, asked_criteria: Sequence[Criterion], name: str) -> Criterion:
    """The criterion that is estimated: one that people and judges were asked."""
    of_people = {criterion.name for criterion in study.criteria}
    shared = {criterion.name: criterion for criterion in asked_criteria if criterion.name in of_people}
    if not shared:
        raise StudyError(f"Annotators of “{study.name}” and judges have no question in common.")
    if name:
        check_known("criterion", name, shared)
    criterion = shared[name] if name else next(iter(shared.values()))
    if not criterion.scale.ordered or criterion.scale.sets or criterion.scale.kind.content:
        usable = [one.name for one in shared.values() if one.scale.ordered and not one.scale.sets]
        hint = f" Name another one: --criterion {usable[0]}." if usable else ""
        raise StudyError(f"“{criterion.label}” has no mean: its answers have no order.{hint}")
    return criterion


@dataclass(frozen=True)
class _Rated:
    """People's mean of an item, and what the item stands for."""

    score: float
    weight: float
    stratum: int


def _people(db: Database, study: Study, criterion: Criterion) -> dict[tuple[str, int | None], _Rated]:
    """People's mean of each item, by its key in the lake and its turn."""
    value: StudyRatings = ratings_for_agreement(db, study.name, exclude_refused=False)
    selection = (value.column("kind") == "human") & (value.column("criterion") == criterion.name)
    totals: dict[int, list[float]] = {}
    for unit, score in zip(value.column("unit")[selection], value.column("score")[selection], strict=True):
        totals.setdefault(int(unit), []).append(float(score))
    prefix = f"{study.benchmark}/"
    rated = {}
    for unit in studies.units(db, study.name):
        if unit["id"] in totals:
            scores = totals[unit["id"]]
            key = (unit["key"].removeprefix(prefix), unit["turn"] if not criterion.whole else None)
            weight = value.weights.get(unit["id"], 1.0)
            stratum = value.strata.get(unit["id"], 0)
            rated[key] = _Rated(sum(scores) / len(scores), weight, stratum)
    return rated


def _best(counts_by: Mapping[str, AnswerCounts], people: Mapping[tuple[str, int | None], _Rated]) -> str:
    """The judge that follows people best on the items of the sample, by Pearson's r; the first for few."""

    def follows(judge: str) -> float:
        sample = counts_by[judge].sampled
        scores = [(people[key].score, sample[key][0]) for key in people if key in sample]
        if len(scores) < FEWEST_TO_CHOOSE:
            return 0.0
        x, y = np.array(scores).T
        return float(np.corrcoef(x, y)[0, 1]) if np.ptp(x) > 0 and np.ptp(y) > 0 else 0.0

    return max(counts_by, key=follows)


def _check_configuration(db: Database, study: str, folder: JudgeFolder, options: LakeEstimateOptions) -> None:
    """Raise StudyError where the judge of the lake is another one than the study's."""
    current = folder.configuration
    validated = [configuration for judge, configuration in _validated(db, study) if judge == folder.judge]
    if current is None or not validated or any(one.hash == current.hash for one in validated):
        return
    changes = [one.changes(current) for one in validated]
    same_but_place = [
        subject for subject in changes if all(text.startswith("endpoint is") for text in subject)
    ]
    if same_but_place and options.any_endpoint:
        return
    remedy = " If both serve the same model, add --any-endpoint." if same_but_place else ""
    raise StudyError(
        f"“{folder.judge}” judged the files with another configuration than the study's items: "
        f"{'; '.join(changes[0])}. Judge the study's items with the new configuration, or the files with "
        f"the old one.{remedy}"
    )


def _estimate(
    study: Study,
    criterion: Criterion,
    folder: JudgeFolder,
    counts: AnswerCounts,
    people: Mapping[tuple[str, int | None], _Rated],
    options: LakeEstimateOptions,
) -> LakeEstimate:
    keys = [key for key in people if key in counts.sampled]
    if not keys:
        raise StudyError(
            f"“{folder.judge}” judged none of the {len(people):,} rated items of “{study.name}” in the "
            "files. Draw the study's items from the files: concord sample."
        )
    scale = (float(criterion.scale.low), float(criterion.scale.high))
    weights, strata = _weights(study, people, keys)
    sample = SampledItems(
        np.array([people[key].score for key in keys]),
        np.array([counts.sampled[key][0] for key in keys]),
        weights,
        strata,
    )
    groups_of = [counts.sampled[key][1] for key in keys]
    overall = group_estimate(sample, counts.moments(), scale)
    groups = {
        one.name: {
            value: group_estimate(
                sample.subset(np.array([group[place] == value for group in groups_of])),
                counts.moments({place: value}),
                scale,
            )
            for value in counts.values(place)
        }
        for place, one in enumerate(options.columns)
    }
    pairs: dict[Group, GroupEstimate] = {}
    if len(options.columns) == 2:
        pairs = {
            group: group_estimate(
                sample.subset(np.array([inner == group for inner in groups_of])),
                counts.moments(dict(enumerate(group))),
                scale,
            )
            for group in sorted(counts.scores)
        }
    differences = {name: _differences(values) for name, values in groups.items()}
    result = LakeEstimate(
        (),
        (),
        tuple(_warnings(counts, keys, sample, people, options)),
        overall,
        groups,
        pairs,
        criterion,
        folder.judge,
        scale,
        differences,
    )
    return _with_tables(result, study, counts, sample, len(people) - len(keys), options)


def _weights(
    study: Study, people: Mapping[tuple[str, int | None], _Rated], keys: Sequence[tuple[str, int | None]]
) -> tuple[Floats | None, Any]:
    """The weights of the sample's items and their strata; None where it was drawn at random."""
    if study.sample is None or len(study.sample.strata) < 2:
        return None, None
    return np.array([people[key].weight for key in keys]), np.array([people[key].stratum for key in keys])


def _differences(groups: Mapping[str, GroupEstimate]) -> dict[tuple[str, str], Estimate]:
    """Every two groups, where these are few; else each group from the one before it."""
    names = list(groups)
    pairs = [(b, a) for place, a in enumerate(names) for b in names[place + 1 :]]
    if len(pairs) > MOST_DIFFERENCES:
        pairs = list(zip(names[1:], names[:-1], strict=True))
    return {
        (one, second): difference(groups[one].corrected.value, groups[second].corrected.value)
        for one, second in pairs
    }


def _warnings(
    counts: AnswerCounts,
    keys: Sequence[tuple[str, int | None]],
    sample: SampledItems,
    people: Mapping[tuple[str, int | None], _Rated],
    options: LakeEstimateOptions,
) -> list[EstimateWarning]:
    """In what the lake is unlike the sample."""
    warnings: list[EstimateWarning] = []

    def warn(code: LakeWarning, text: str, column: str = "") -> None:
        warnings.append(EstimateWarning(code, text, column))

    distance = unlike_mean(sample.judge, sample.weights, counts.moments())
    if distance > UNLIKE:
        warn(LakeWarning.UNLIKE_SCORES, messages.lake_unlike("the judge's scores", distance))
    lengths = np.array([counts.sampled[key][2] for key in keys], dtype=np.float64)
    distance = unlike_mean(lengths, sample.weights, counts.length())
    if distance > UNLIKE:
        warn(LakeWarning.UNLIKE_LENGTHS, messages.lake_unlike("the length of replies", distance))
    for place, one in enumerate(options.columns):
        values = [counts.sampled[key][1][place] for key in keys]
        value, distance = unlike_shares(values, sample.weights, counts.values(place))
        if distance > UNLIKE:
            text = messages.lake_unlike(f"the share of {one.name} {value}", distance)
            warn(LakeWarning.UNLIKE_GROUPS, text, one.name)
        if MISSING in counts.values(place):
            text = messages.lake_no_value(one.name, counts.values(place)[MISSING])
            warn(LakeWarning.NO_VALUE, text, one.name)
    if len(counts.configurations) > 1:
        text = messages.lake_several_configurations(len(counts.configurations))
        warn(LakeWarning.SEVERAL_CONFIGURATIONS, text)
    if len(models := [model for model in counts.models if model]) > 1:
        warn(LakeWarning.SEVERAL_MODELS, messages.lake_several_models(models))
    return warnings


DIFFERENCE = (
    Column("difference"),
    Column("value", "as annotators would rate", interval="ends", signed=True),
)
COLUMNS = (
    Column("judged", "judged", digits=0),
    Column("failed", "failed", percent=True, digits=1),
    Column("judge_mean", "judge alone"),
    Column("corrected", "as annotators would rate", interval="ends", n=True),
    Column("closeness", "closeness", interval="ends"),
    Column("worth", "without judges", digits=0),
    Column("weight", file_only=True),
)


def _row(value: GroupEstimate, judged: int, failed: int) -> dict[str, Cell]:
    corrected = value.corrected
    items = judged + failed
    return {
        "judged": judged,
        "failed": failed / items if items else 0.0,
        "judge_mean": corrected.judges,
        "corrected": corrected.value,
        "closeness": value.closeness,
        "worth": corrected.worth,
        "weight": corrected.weight,
    }


def _cells(value: GroupEstimate, counts: AnswerCounts, group: Mapping[int, str]) -> dict[str, Cell]:
    """The cells of a group."""
    return _row(value, counts.of_group(group).total(), counts.failed_in(group))


def _with_tables(
    result: LakeEstimate,
    study: Study,
    counts: AnswerCounts,
    sample: SampledItems,
    missing: int,
    options: LakeEstimateOptions,
) -> LakeEstimate:
    """The estimate with its tables and sentences."""
    label = result.criterion.label
    two = result.scale == (0.0, 1.0)
    figure = messages.lake_figure(label, two=two)
    notes = messages.lake_assumptions(
        study.name, len(sample.people), weighted=sample.weights is not None, judge=result.judge
    )
    meta = {
        "study": study.name,
        "judge": result.judge,
        "criterion": result.criterion.name,
        "judged": counts.replies,
    }
    tables = [
        Table(
            "lake-overall",
            f"{figure}: all",
            (Column("group"), *COLUMNS),
            ({"group": "all", **_row(result.overall, counts.replies, counts.failed)},),
            notes=notes,
            meta=meta,
        )
    ]
    for place, one in enumerate(options.columns):
        rows = [
            {"group": value, **_cells(group, counts, {place: value})}
            for value, group in result.groups[one.name].items()
        ]
        columns = (Column("group", one.name), *COLUMNS)
        tables.append(Table(f"lake-by-{one.column}", f"{figure}, by {one.name}", columns, tuple(rows)))
    if result.pairs:
        first, second = options.columns
        rows = [
            {"first": group[0], "second": group[1], **_cells(one, counts, dict(enumerate(group)))}
            for group, one in result.pairs.items()
        ]
        by_name = (Column("first", first.name), Column("second", second.name))
        title = f"{figure}, by {first.name} and {second.name}"
        tables.append(Table("lake-by-both", title, (*by_name, *COLUMNS), tuple(rows)))
    for name, differences in result.differences.items():
        rows = [
            {"difference": f"{one} − {other_group}", "value": value}
            for (one, other_group), value in differences.items()
        ]
        if rows:
            tables.append(
                Table(
                    f"lake-differences-{name.partition(' ')[0]}",
                    f"Differences by {name}",
                    DIFFERENCE,
                    tuple(rows),
                    notes=(messages.lake_each_alone(len(rows), simultaneous(len(rows))),),
                )
            )
    tables += _next_table(result, counts, options)
    sentences = [
        messages.lake_answer(
            figure, result.overall.corrected.value, result.overall.corrected.judges, result.judge
        )
    ]
    if counts.failed:
        sentences.append(messages.lake_failed(counts.failed, counts.replies, counts.refusals))
    if missing:
        sentences.append(messages.lake_lost(missing))
    return LakeEstimate(
        tuple(tables),
        tuple(sentences),
        result.warnings,
        result.overall,
        result.groups,
        result.pairs,
        result.criterion,
        result.judge,
        result.scale,
        result.differences,
    )


def _next_table(result: LakeEstimate, counts: AnswerCounts, options: LakeEstimateOptions) -> list[Table]:
    """Where annotators are needed next, by each column: their items cover some groups least."""
    tables = []
    for place, one in enumerate(options.columns):
        groups = {value: group.corrected.value for value, group in result.groups[one.name].items()}
        sizes = counts.values(place)
        total = sum(sizes.values())
        target = wanted_items(groups, {value: size / total for value, size in sizes.items()}, NEXT)
        rows: list[dict[str, Cell]] = [
            {"group": value, "rated": groups[value].n or 0, "next": next_, "corrected": groups[value]}
            for value, next_ in sorted(target.items(), key=lambda pair: -pair[1])
        ]
        tables.append(
            Table(
                f"lake-next-{one.column}",
                f"Where annotators are needed next, by {one.name}",
                (
                    Column("group", one.name),
                    Column("rated", "rated by annotators", digits=0),
                    Column("next", f"of the next {NEXT}", digits=0),
                    Column("corrected", "as annotators would rate", interval="ends"),
                ),
                tuple(rows),
            )
        )
    return tables
