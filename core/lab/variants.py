"""Variants of a rubric: versions made from another one, each kept with its parent, its author and a note."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np
from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import ConfigError, StudyError
from concord.lab.measuring import OVERALL, Bench, Candidate
from concord.lab.parts import DEVELOP, Parts
from concord.rating import Criterion
from concord.rubrics import rubric_store, templates, writing
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import Rubric, lines_of
from concord.rubrics.rubric_store import Numbered
from concord.store import audit, conversations, lab, rubrics, studies
from concord.store.actor import actor
from concord.table import Cell, Column, Table
from concord.workspace import Workspace

Body = Mapping[str, Any]
LONGEST = 6000
"""Characters of an example."""


def current(workspace: Workspace, parts: Parts, version: int = 0) -> Numbered:
    """A version of the rubric: by its number, else what its file says now.

    Raises NotFound, and StudyError for a rubric that asks none of the study's questions.
    """
    rubric_version = rubric_store.find(workspace, parts.rubric, version)
    with workspace.read() as db:
        criteria_of_study = {c.name for c in studies.get(db, parts.study).criteria}
    if not criteria_of_study & {c.name for c in rubric_version.rubric.criteria}:
        raise StudyError(
            f"The rubric “{parts.rubric}” asks {', '.join(c.name for c in rubric_version.rubric.criteria)}; "
            f"annotators of “{parts.study}” answered {', '.join(sorted(criteria_of_study))}. Give the "
            "questions the study's names."
        )
    return rubric_version


def fitting(workspace: Workspace, criteria: Sequence[Criterion]) -> list[str]:
    """The rubrics that ask some of these questions, those that ask just them first."""
    names = {criterion.name for criterion in criteria}
    criteria_of_rubric: dict[str, set[str]] = {}
    for name in rubric_store.names(workspace):
        with suppress(ConfigError):
            criteria_of_rubric[name] = {
                criterion.name for criterion in rubric_store.find(workspace, name).rubric.criteria
            }
    return sorted(
        (name for name in criteria_of_rubric if criteria_of_rubric[name] & names),
        key=lambda name: criteria_of_rubric[name] != names,
    )


def keep(
    db: Database, parts: Parts, body: Body, *, parent: Numbered | None, note: str, author: str = ""
) -> Numbered:
    """Keep a version of the rubric, unless there is one that says the same; `author` is who wrote it.

    Raises ConfigError for content that is no rubric.
    """
    name = parts.rubric
    rubric = rubric_of(name, body, f"The variant of {name}")
    version = rubrics.number(db, name, rubric.hash)
    numbered = Numbered(rubric, version)
    if numbered.variant not in lab.origins(db, parts.study):
        numbered.publish(db)
        source = parent.variant if parent else ""
        lab.keep_variant(db, parts.study, numbered.variant, source, author or actor(), note)
    return numbered


def keep_current(workspace: Workspace, parts: Parts, version: int = 0) -> Numbered:
    """What `current` finds, kept: it can be the parent of others, and is judged by its number."""
    rubric_version = current(workspace, parts, version)
    with workspace.write() as db:
        return keep(db, parts, rubric_version.rubric.body, parent=None, note="its file")


def changed(
    rubric: Rubric,
    *,
    instructions: str | None = None,
    reasons: str | None = None,
    examples: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """The content of a rubric with other instructions, reasons or examples; None leaves what it has."""
    body = deepcopy(dict(rubric.body))
    judge: dict[str, Any] = dict(body.get("judge", {}))
    settings = {"instructions": instructions, "reasons": reasons}
    judge |= {name: value for name, value in settings.items() if value is not None}
    if examples is not None:
        judge["examples"] = list(examples)
        if examples and "examples" not in judge.get("system", ""):
            judge["system"] = judge.get("system", templates.SYSTEM).rstrip("\n") + templates.EXAMPLES
    body["judge"] = judge
    return body


def pick_examples(
    db: Database, bench: Bench, rubric: Rubric, count: int, judge: Candidate | None = None
) -> list[dict[str, Any]]:
    """Examples of *develop* for a judge: conversations with people's answers, balanced over the levels given.

    Levels (the median of people's answers to the first criterion with an order, else its most frequent one)
    take turns; within a level the item comes first on which people agree most and, where a `judge` is named,
    it agreed least with them. At most one of each scenario, so that one that is hidden beside its own
    scenario leaves the others. Raises StudyError for a rubric about single replies.
    """
    if rubric.per_turn:
        raise StudyError("Examples are whole conversations; this rubric asks about single replies.")
    lead = next((c for c in bench.criteria if c.scale.ordered), bench.criteria[0])
    scores = bench.people[lead.name]
    agreement = bench.agreement(judge) if judge else np.zeros(len(bench.units))
    place = {unit: index for index, unit in enumerate(bench.units)}
    levels: defaultdict[float, list[tuple[float, str]]] = defaultdict(list)
    unit_of_key = {unit.key: unit for unit in bench.parts.units_of(DEVELOP)}
    for unit in unit_of_key.values():
        scores_of_unit = scores.score[scores.item == place[unit.id]]
        if len(scores_of_unit):
            distance = float(np.nan_to_num(agreement[place[unit.id]], nan=1.0))
            levels[float(np.median(scores_of_unit))].append(
                (float(scores_of_unit.std()) + distance, unit.key)
            )
    queues = [sorted(items) for _, items in sorted(levels.items())]
    examples: list[dict[str, Any]] = []
    scenarios: set[str] = set()
    while len(examples) < count and any(queues):
        for queue in queues:
            fresh = next((entry for entry in queue if unit_of_key[entry[1]].scenario not in scenarios), None)
            queue[:] = [entry for entry in queue if entry != fresh] if fresh else []
            if fresh and len(examples) < count:
                unit = unit_of_key[fresh[1]]
                scenarios.add(unit.scenario)
                examples.append(_example(db, bench, unit.conversation, place[unit.id]))
    return examples


def _example(db: Database, bench: Bench, conversation: int, item: int) -> dict[str, Any]:
    loaded = conversations.load(db, conversation)
    text = "\n\n".join(f"Turn {m.turn}, {m.role}: {m.text}" for m in lines_of(loaded, ()))
    answers = []
    for criterion in bench.criteria:
        scores = bench.people[criterion.name]
        scores_of_item = scores.score[scores.item == item]
        if len(scores_of_item):
            values, times = np.unique(scores_of_item, return_counts=True)
            typical = (
                float(np.median(scores_of_item)) if criterion.scale.ordered else float(values[times.argmax()])
            )
            options = criterion.scale.offered
            nearest = min(options, key=lambda v: abs(v - typical)) if options else round(typical)
            answers.append(f"{criterion.name} = {criterion.scale.word(nearest, level=True)}")
    facets = {name: loaded.facets[name] for name in bench.parts.facets if name in loaded.facets}
    cut = text if len(text) <= LONGEST else text[:LONGEST] + " …"
    return {"key": loaded.key, "apart": facets, "text": cut, "answers": "; ".join(answers)}


def table(db: Database, bench: Bench) -> Table:
    """Every version of the study's rubric, with its parent, author and note, and each judge's agreement on
    *develop* and *select*; those of the test part are in its reports alone.
    """
    origins = lab.origins(db, bench.parts.study)
    rows: list[dict[str, Cell]] = []
    judged: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in bench.answers:
        judged[candidate.variant].append(candidate)
    known_variants = [version.variant for version in rubrics.versions(db, bench.parts.rubric)]
    for variant in dict.fromkeys([*judged, *known_variants]):
        origin = origins.get(variant)
        parent, author, note = origin[:3] if origin else ("", "", "")
        for candidate in judged.get(variant, [Candidate("", variant)]):
            row: dict[str, Cell] = {"version": variant, "judge": candidate.model}
            for part in ("develop", "select") if candidate.model else ():
                row[part] = bench.mean(candidate, part)
            rows.append({**row, "parent": parent, "by": author, "note": note})
    columns = (
        *map(Column, ("version", "judge")),
        Column("develop", digits=3),
        Column("select", digits=3),
        *map(Column, ("parent", "by", "note")),
    )
    caption = f"Mean agreement with annotators, {OVERALL}."
    return Table("lab-variants", f"Versions of {bench.parts.rubric}", columns, tuple(rows), caption)


def adopt(db: Database, workspace: Workspace, parts: Parts, version: int) -> None:
    """Make the rubric's file say what a version says; what it said before is a version too."""
    before = rubric_store.find(workspace, parts.rubric)
    keep(db, parts, before.rubric.body, parent=None, note="its file")
    rubric_version = rubric_store.used(db, parts.rubric, version)
    (rubric_store.folder(workspace) / f"{parts.rubric}.toml").write_text(
        writing.toml(rubric_version.rubric.body), encoding="utf-8"
    )
    audit.record(db, AuditAct.VERSION_ADOPTED, parts.study, detail=rubric_version.variant)
