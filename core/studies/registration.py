"""Pre-registration: what a study fixes before people rate it, as one JSON text with a hash."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError
from sqlite_utils import Database

from concord.errors import NotAllowed, NotFound, StudyError, check_known, not_found
from concord.files import first_problem
from concord.scores import FINAL
from concord.store import conversations, registrations
from concord.store import studies as stored
from concord.store.actor import actor
from concord.store.registrations import Registration, canonical, digest
from concord.studies.purposes.extra import rule_of

OF_PAIRS = ("alpha", "kappa")
"""Statistics of planned tests on pairs: of a judge with people's vote."""
LONGEST = 20_000
"""Characters of a plan."""
Text = Annotated[str, Field(max_length=5_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class PlannedTest(BaseModel, extra="forbid", frozen=True):
    """One test of a plan: judges (none: the panel of all) agree with people on a criterion at least so well.

    The lower end of the 95% interval counts, as for `concord gate`.
    """

    criterion: Name = FINAL
    statistic: Literal["spearman", "kendall", "pearson", "alpha", "weighted-kappa", "kappa"] = "spearman"
    least: Annotated[float, Field(ge=-1, le=1)]
    judges: tuple[Name, ...] = ()


class Plan(BaseModel, extra="forbid", frozen=True):
    """An analysis plan. Texts are the researcher's own and are compared with nothing."""

    question: Text = ""
    annotators: Annotated[int | None, Field(ge=1, le=10_000)] = None
    exclusion: Text = ""
    stopping: Text = ""
    notes: Text = ""
    test: tuple[PlannedTest, ...] = ()


EXAMPLE = """question = "Can the panel of judges stand for people?"
annotators = 3
exclusion = "Whoever hits fewer than 70% of the gold items is left out."
stopping = "Every item has three raters."

[[test]]
criterion = "final"
statistic = "spearman"
least = 0.6
"""


def read_plan(text: str, where: str = "The plan") -> Plan:
    """The plan of a TOML text. Raises StudyError."""
    if len(text) > LONGEST:  # tomllib takes memory with the square of a key's parts
        raise StudyError(f"{where} is longer than {LONGEST:,} characters.")
    try:
        return Plan.model_validate(tomllib.loads(text))
    except ValidationError as error:
        raise StudyError(f"{where}: {first_problem(error)}. docs/annotation.md has an example.") from error
    except (ValueError, RecursionError) as error:
        raise StudyError(f"{where} is not valid TOML: {error}.") from error


def register(
    db: Database,
    name: str,
    plan: Plan,
    *,
    judges: Sequence[str] = (),
    late: bool = False,
    models: Sequence[str] = (),
) -> Registration:
    """Fix a study as it is now, with its plan and, if named, its judges: `models`, or who has rated.

    Once people have answered, it is refused unless `late`, and then says how many answers there were. An
    earlier registration stays. Raises NotFound, StudyError, and NotAllowed where it comes too late.
    """
    content = content_of(db, name)
    if not actor():
        raise StudyError("A registration needs the name of who registers the study.")
    pairs = stored.get(db, name).pairs
    for test in plan.test:
        check_known("criterion", test.criterion, [*content["criteria"], *([] if pairs else [FINAL])])
        if pairs and test.statistic not in OF_PAIRS:
            raise StudyError(f"A test on pairs names its statistic: {' or '.join(OF_PAIRS)}.")
    known = {*models, *registrations.judges(db)}
    for judge in [*judges, *(judge for test in plan.test for judge in test.judges)]:
        if judge not in known:
            refusal = not_found("judge", judge, known)
            raise NotFound(f"{refusal} A judge that has not rated yet is named as in models.toml.")
    answers = registrations.answers(db, name)
    if answers and not late:
        raise NotAllowed(
            f"People have given {answers} answers in “{name}” already, so this is no pre-registration. "
            "`concord study register NAME --late` keeps one that says so."
        )
    planned = {"plan": plan.model_dump(mode="json"), "judges": sorted(judges) or None}
    sight = {"ratings by judges": registrations.judged(db, name)}
    return registrations.add(db, name, canonical(content | planned | sight))


def content_of(db: Database, name: str) -> dict[str, Any]:
    """What of a study (of pairs, too) can be fixed, as plain values; texts by SHA-256. Raises NotFound."""
    study, units = stored.get(db, name), stored.units(db, name)
    rule = rule_of(study)
    ids = {unit[of] for unit in units for of in ("conversation_id", "other_id") if unit[of]}
    content = {
        "study": name,
        "units": sorted(f"{u['key']} turn {u['turn']}" if u["turn"] else u["key"] for u in units),
        "texts": {
            conversation.key: digest(canonical([[m.role, m.content] for m in conversation.messages]))
            for conversation, _ in conversations.several(db, sorted(ids))
        },
        "sample": {
            **{"seed": study.seed, "overlap": study.overlap, "per turn": study.per_turn},
            "extra raters": rule.words(study.criteria) if rule else "none",
            "drawn": study.meta.get("drawn", {}),
        },
        "guidelines": study.guidelines,
        "rubric": study.meta.get("rubric", {}),
        "criteria": {criterion.name: asdict(criterion) for criterion in study.criteria},
    }
    plain: dict[str, Any] = json.loads(canonical(content))
    return plain
