"""Pre-registration: what a study fixes before people rate it, as one text with a hash.

The text is JSON with sorted keys and no spaces. Whoever has it, or its SHA-256, can tell later whether
sample, guidelines, questions, judges and plan are still the same.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlite_utils import Database

from concord.errors import NotAllowed, NotFound, StudyError, not_found
from concord.files import first_problem
from concord.rating import Rater
from concord.rubrics.shelf import used
from concord.scores import FINAL, labels
from concord.store import configurations, conversations, pairings, ratings, registrations
from concord.store import studies as stored
from concord.store.registrations import Registration
from concord.studies.extra_raters import rule_of

SCHEMA = 1
OF_PAIRS = ("alpha", "kappa")
"""Statistics of planned tests on pairs: of a judge with people's vote."""
LONGEST = 20_000
"""Characters of a plan."""
Text = Annotated[str, Field(max_length=5_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlannedTest(_Told):
    """One test of a plan: judges (none: the panel of all) agree with people on a criterion at least so well.

    The lower end of the 95% interval counts, as for `concord gate`.
    """

    criterion: Name = FINAL
    statistic: Literal["spearman", "kendall", "pearson", "alpha", "weighted-kappa", "kappa"] = "spearman"
    least: Annotated[float, Field(ge=-1, le=1)]
    judges: tuple[Name, ...] = ()


class Plan(_Told):
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
    by: str,
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
    if not by.strip():
        raise StudyError("A registration needs the name of who registers the study.")
    pairs = registrations.of_pairs(db, name)
    asked = [criterion["name"] for criterion in content["criteria"]] + ([] if pairs else [FINAL])
    for test in plan.test:
        if test.criterion not in asked:
            raise not_found("criterion", test.criterion, asked)
        if pairs and test.statistic not in OF_PAIRS:
            raise StudyError(f"A test on pairs names its statistic: {' or '.join(OF_PAIRS)}.")
    compared = [Rater(judge, "judge", by) for judge, by, _ in content["judged_by"]] if pairs else []
    raters = [*ratings.judges(db), *compared]
    known = {*models, *labels(raters).values()}
    versions = {called for one in raters for called in (one.name, f"{one.name} {one.variant}")}
    for judge in [*judges, *(judge for test in plan.test for judge in test.judges)]:
        if judge not in known | versions:
            refusal = not_found("judge", judge, known)
            raise NotFound(f"{refusal} A judge that has not rated yet is named as in models.toml.")
    there = registrations.answers(db, name)
    if there and not late:
        raise NotAllowed(
            f"People have given {there} answers in “{name}” already, so this is no pre-registration. "
            "`concord study register NAME --late` keeps one that says so."
        )
    content["plan"] = plan.model_dump(mode="json")
    content["judges"] = {judge: prompts_of(content["judged_by"], judge) for judge in judges}
    return registrations.add(db, name, canonical(content), by)


def changed(before: Registration, made: Registration) -> str:
    """What judges and plan of a registration differ in from the one before it, in one sentence."""
    was, now = before.content, made.content
    said = [
        f"{what}: {', '.join(one['judges']) or 'none'}"
        for what, one in (("judges before", was), ("now", now))
        if was["judges"].keys() != now["judges"].keys()
    ]
    parts = [part for part, told in now["plan"].items() if was["plan"].get(part) != told]
    said += [f"other in the plan: {', '.join(parts)}"] if parts else []
    of = f"the registration of {before.registered[:10]} by {before.by}"
    return f"Unlike {of}: {'; '.join(said)}." if said else f"Judges and plan are those of {of}."


def canonical(content: Any) -> str:
    """JSON with sorted keys and no spaces: equal contents are equal texts."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def content_of(db: Database, name: str) -> dict[str, Any]:
    """What of a study (of pairs, too) can be fixed, as plain values. Raises NotFound.

    `units` has key and turn of each unit, `texts` the SHA-256 of each conversation's messages, `judged_by`
    judge, version and hash of each prompt that was answered.
    """
    if registrations.of_pairs(db, name):
        return _content_of_pairs(db, name)
    study, units = stored.get(db, name), stored.units(db, name)
    texts = _texts(db, {unit["conversation_id"] for unit in units})
    origins = configurations.origins(db, name)
    said = {
        "schema": SCHEMA,
        "concord": version("concord"),
        "study": study.name,
        "title": study.title,
        "sample": {"seed": study.seed, "overlap": study.overlap, "per_turn": study.per_turn}
        | {"extra raters": rule.told(study.criteria) if (rule := rule_of(study)) else "none"}
        | {"drawn": study.meta.get("drawn", {})},
        "units": sorted([unit["key"], unit["turn"] or 0] for unit in units),
        "texts": texts,
        "guidelines": study.guidelines,
        "rubric": study.meta.get("rubric", {}),
        "criteria": [asdict(criterion) for criterion in study.criteria],
        "judged_by": [[origin["judge"], origin["variant"], origin["prompt"]] for origin in origins],
        "ratings": {
            "people": registrations.answers(db, name),
            "judges": registrations.judged(db, name),
        },
    }
    plain: dict[str, Any] = json.loads(canonical(said))
    return plain


def _content_of_pairs(db: Database, name: str) -> dict[str, Any]:
    """The same of a study of pairs; a unit is named by its two conversations."""
    study, pairs = pairings.study(db, name), pairings.pairs(db, name)
    said = {
        "schema": SCHEMA,
        "concord": version("concord"),
        "study": study.name,
        "title": study.title,
        "sample": {"seed": study.seed, "drawn": {"source": study.source}},
        "units": sorted([" | ".join(sorted((one, other))), 0] for _, _, one, _, other in pairs),
        "texts": _texts(db, {number for _, first, _, second, _ in pairs for number in (first, second)}),
        "guidelines": study.guidelines,
        "rubric": {"name": study.rubric, "version": study.version},
        "criteria": [asdict(question) for question in used(db, study.rubric, study.version).rubric.pairs],
        "judged_by": registrations.prompts(db, name),
        "ratings": {
            "people": registrations.answers(db, name),
            "judges": registrations.judged(db, name),
        },
    }
    plain: dict[str, Any] = json.loads(canonical(said))
    return plain


def _texts(db: Database, ids: Collection[int]) -> dict[str, str]:
    """The SHA-256 of each conversation's messages, by key."""
    return {
        conversation.key: _hashed([[m.role, m.content] for m in conversation.messages])
        for conversation, _ in conversations.several(db, [*ids])
    }


def prompts_of(judged_by: Sequence[Sequence[str]], name: str) -> list[str]:
    """The hashes of the prompts that a judge has answered, named with or without the version."""
    mine = {prompt for judge, variant, prompt in judged_by if name in (judge, f"{judge} {variant}")}
    return sorted(mine)


def _hashed(content: Any) -> str:
    return hashlib.sha256(canonical(content).encode()).hexdigest()
