"""Pre-registration: what a study fixes before people rate it, as one text with a hash.

The text is JSON with sorted keys and no spaces. Whoever has it, or its SHA-256, can tell later whether
sample, guidelines, questions, judges and plan are still the same.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlite_utils import Database

from concord.errors import NotAllowed, NotFound, StudyError, check_known, not_found
from concord.files import VERSION, first_problem
from concord.rating import Rater
from concord.scores import FINAL, labels
from concord.store import configurations, conversations, ratings, registrations
from concord.store import studies as stored
from concord.store.actor import actor
from concord.store.registrations import Registration
from concord.studies.purposes.extra import rule_of

SCHEMA = 1
OF_PAIRS = ("alpha", "kappa")
"""Statistics of planned tests on pairs: of a judge with people's vote."""
LONGEST = 20_000
"""Characters of a plan."""
SHORT = 40
"""Characters of a value that is shown whole."""
SHOWN = 3
"""Names that a difference lists; more are counted."""
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
    criteria = [*content["criteria"]] + ([] if pairs else [FINAL])
    for test in plan.test:
        check_known("criterion", test.criterion, criteria)
        if pairs and test.statistic not in OF_PAIRS:
            raise StudyError(f"A test on pairs names its statistic: {' or '.join(OF_PAIRS)}.")
    compared = [Rater(judge, "judge", by) for judge, by, _ in content["judged_by"]] if pairs else []
    raters = [*ratings.judges(db), *compared]
    names = {*models, *labels(raters).values()}
    versions = {called for one in raters for called in (one.name, f"{one.name} {one.variant}")}
    for judge in [*judges, *(judge for test in plan.test for judge in test.judges)]:
        if judge not in names | versions:
            refusal = not_found("judge", judge, names)
            raise NotFound(f"{refusal} A judge that has not rated yet is named as in models.toml.")
    there = registrations.answers(db, name)
    if there and not late:
        raise NotAllowed(
            f"People have given {there} answers in “{name}” already, so this is no pre-registration. "
            "`concord study register NAME --late` keeps one that says so."
        )
    content["plan"] = plan.model_dump(mode="json")
    content["judges"] = {judge: prompts_of(content["judged_by"], judge) for judge in judges}
    return registrations.add(db, name, canonical(content))


def changed(before: Registration, after: Registration) -> str:
    """What judges and plan of a registration differ in from the one before it, in one sentence."""
    parts = [(part, difference(before.content[part], after.content[part])) for part in ("judges", "plan")]
    differ = "; ".join(f"{part}: {words}" for part, words in parts if words)
    of = f"the registration of {before.registered[:10]} by {before.by}"
    return f"Unlike {of}: {differ}." if differ else f"Judges and plan are those of {of}."


def canonical(content: Any) -> str:
    """JSON with sorted keys and no spaces: equal contents are equal texts."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def content_of(db: Database, name: str) -> dict[str, Any]:
    """What of a study (of pairs, too) can be fixed, as plain values. Raises NotFound.

    `units` names each unit, `texts` has the SHA-256 of each conversation's messages, `judged_by` judge,
    version and hash of each prompt that was answered.
    """
    study, units = stored.get(db, name), stored.units(db, name)
    rule, origins = rule_of(study), configurations.origins(db, name)
    judged_by = [[origin[of] for of in ("judge", "variant", "prompt")] for origin in origins]
    ids = {unit[of] for unit in units for of in ("conversation_id", "other_id") if unit[of]}
    content = {
        "schema": SCHEMA,
        "concord": VERSION,
        "study": name,
        "title": study.title,
        "sample": {"seed": study.seed, "overlap": study.overlap, "per turn": study.per_turn}
        | {"extra raters": rule.words(study.criteria) if rule else "none"}
        | {"drawn": study.meta.get("drawn", {})},
        "units": sorted(f"{u['key']} turn {u['turn']}" if u["turn"] else u["key"] for u in units),
        "guidelines": study.guidelines,
        "rubric": study.meta.get("rubric", {}),
        "criteria": {criterion.name: asdict(criterion) for criterion in study.criteria},
        "judged_by": registrations.prompts(db, name) if study.pairs else judged_by,
        "texts": {
            conversation.key: _hashed([[m.role, m.content] for m in conversation.messages])
            for conversation, _ in conversations.several(db, sorted(ids))
        },
        "ratings": {
            "people": registrations.answers(db, name),
            "judges": registrations.judged(db, name),
        },
    }
    plain: dict[str, Any] = json.loads(canonical(content))
    return plain


def prompts_of(judged_by: Sequence[Sequence[str]], name: str) -> list[str]:
    """The hashes of the prompts that a judge has answered, named with or without the version."""
    mine = {prompt for judge, variant, prompt in judged_by if name in (judge, f"{judge} {variant}")}
    return sorted(mine)


def difference(was: Any, now: Any) -> str:
    """How a part of a document differs from what it was, in words; “” where it is the same.

    Of names, and of values by name: what was removed, added and changed. What a value by name has besides
    what it had, as a later version of Concord may write it, is no difference.
    """
    if not isinstance(was, dict | list):
        return "" if was == now else brief(now)
    before, after = (dict.fromkeys(of) if isinstance(of, list) else of for of in (was, now))
    ways = {
        "removed": [name for name in before if name not in after],
        "added": [name for name in after if name not in before],
        "changed": [_change(name, old, after[name]) for name, old in before.items() if name in after],
    }
    named = {way: [name for name in names if name] for way, names in ways.items()}
    return "; ".join(f"{len(names)} {way}: {_some(names)}" for way, names in named.items() if names)


def _change(name: str, old: Any, new: Any) -> str:
    """What changed of a value by name; “” where it is the same."""
    if isinstance(old, dict) and isinstance(new, dict):
        fields = [field for field, value in old.items() if new.get(field) != value]
        return f"{name} ({', '.join(fields)})" if fields else ""
    if old == new:
        return ""
    return f"{name} {brief(old)} → {brief(new)}" if _is_short(old) and _is_short(new) else name


def brief(value: Any) -> str:
    """A part of a document in few words: a long text by its SHA-256, names by the first ones."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return _some([f"{name} {brief(of)}" if _is_short(of) else name for name, of in value.items()])
    if isinstance(value, list):
        return _some(value)
    if value is None or value == "":
        return "none"
    return str(value) if _is_short(value) else f"SHA-256 {_digest(value)[:12]}…"


def _is_short(value: Any) -> bool:
    return not isinstance(value, dict | list) and len(str(value)) <= SHORT


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more or "none"


def _hashed(content: Any) -> str:
    return _digest(canonical(content))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
