"""Read a rubric from TOML. A mistake is one sentence that names the file, the place and the remedy."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord.errors import ConfigError, not_found
from concord.files import read_toml
from concord.files.limits import NAME
from concord.llm.templates import mistake
from concord.questions import Name, question
from concord.rating import Criterion, Reason
from concord.rubrics import templates
from concord.rubrics.rubric import TURN, Example, JudgePart, Reasons, Rubric, UnitKind

MOST_CRITERIA = 50
MOST_EXAMPLES = 50

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")

Text = Annotated[str, Field(min_length=1, max_length=20_000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Criterion(_Part):
    name: str
    statement: Text
    title: Annotated[str, Field(max_length=NAME)] = ""
    guideline: Annotated[str, Field(max_length=20_000)] = ""
    unit: Literal["", "conversation"] = ""
    type: Name = "likert"
    scale: str | list[int] = ""
    anchors: dict[str, Text] = {}
    categories: list[Annotated[str, Field(min_length=1, max_length=NAME)]] = []
    reason: Literal["none", "optional", "required"] = "none"
    required: bool = True
    ties: bool = True
    strength: bool = False
    counted: bool | None = None
    only: dict[str, str | list[str]] = {}


class _Example(_Part):
    key: Annotated[str, Field(max_length=1000)]
    apart: dict[str, str] = {}
    text: Text
    answers: Text


class _Judge(_Part):
    instructions: Annotated[str, Field(max_length=50_000)] = ""
    guidelines: bool = True
    reasons: Reasons = "before"
    show: list[str] = []
    system: Annotated[str, Field(min_length=1)] = templates.SYSTEM
    user: Annotated[str, Field(min_length=1)] = templates.USER
    pair_system: Annotated[str, Field(min_length=1)] = templates.PAIR_SYSTEM
    pair_user: Annotated[str, Field(min_length=1)] = templates.PAIR_USER
    params: dict[str, Any] = {"temperature": 0.0}
    template: Annotated[str, Field(max_length=NAME)] = ""
    examples: Annotated[list[_Example], Field(max_length=MOST_EXAMPLES)] = []


class _File(_Part):
    title: Annotated[str, Field(max_length=NAME)] = ""
    unit: UnitKind = "conversation"
    marked: str = TURN
    language: Annotated[str, Field(max_length=NAME)] = "en"
    guidelines: Annotated[str, Field(max_length=100_000)] = ""
    show: list[str] | None = None
    judge: _Judge = _Judge()
    criteria: Annotated[list[_Criterion], Field(min_length=1, max_length=MOST_CRITERIA)]


def read(path: Path) -> Rubric:
    """The rubric of a file, which is named after it. Raises ConfigError."""
    return rubric_of(path.stem, read_toml(path), str(path))


def rubric_of(name: str, content: Mapping[str, Any], where: str, *, ships: bool = False) -> Rubric:
    """The rubric of a file's content; `where` names the file in errors. Raises ConfigError.

    One that `ships` with a benchmark names the benchmark's template, which others may not.
    """
    try:
        file = _File.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_mistake(error, content)}") from error
    names = [c.name for c in file.criteria]
    for number, criterion in enumerate(file.criteria, 1):
        place = f"{where}: criterion {number} (“{criterion.name}”)"
        if not _NAME.fullmatch(criterion.name):
            raise ConfigError(f"{place}: a name is small letters, digits and “_”, such as answers_question.")
        if criterion.name in names[: number - 1] or criterion.name == "final":
            raise ConfigError(f"{place}: the name is taken. Give it another one.")
    every = [_criterion(c, f"{where}: criterion “{c.name}”", file.unit) for c in file.criteria]
    criteria = _counted(file.criteria, every)
    if criteria and all(c.whole for c in criteria):
        raise ConfigError(
            f"{where}: every question is about the conversation, none about replies. Write unit = "
            '"conversation" once, above the questions.'
        )
    pairs = tuple(c for c in every if c.scale.kind.of_two)
    ranks = any(c.scale.kind.ranks for c in pairs)
    if ranks and not all(c.scale.kind.ranks for c in pairs):
        raise ConfigError(
            f"{where}: it asks for an order of several and for the better of two, which one study cannot "
            "show. Write two rubrics."
        )
    judge = file.judge
    if judge.template and not ships:
        raise ConfigError(
            f"{where}: [judge] template names a template of a benchmark. Remove it: Concord's own is used, "
            "or what you write in [judge] system and user."
        )
    of_pairs = {"pair_system": judge.pair_system, "pair_user": judge.pair_user}
    if ranks:
        of_pairs = {part: templates.OF_GROUPS.get(text, text) for part, text in of_pairs.items()}
    texts = {} if judge.template else {"system": judge.system, "user": judge.user} | of_pairs
    for part, text in texts.items():
        known = templates.VARIABLES + (templates.OF_PAIRS if part in of_pairs else ())
        if wrong := mistake(text, known):
            raise ConfigError(f"{where}: [judge] {part}: {wrong}")
    # What a later release of Concord may tell a judge otherwise is kept; other defaults are not.
    body = file.model_dump(exclude_defaults=True)
    kept = (*(("system", "user") if criteria else ()), *(of_pairs if pairs else ()))
    body["judge"] = body.get("judge", {}) | {part: texts[part] for part in kept if part in texts}
    return Rubric(
        name=name,
        title=file.title or name.replace("_", " ").replace("-", " ").capitalize(),
        unit=file.unit,
        marked=file.marked,
        language=file.language,
        guidelines=file.guidelines,
        explained={c.name: c.guideline for c in file.criteria if c.guideline},
        show=None if file.show is None else tuple(file.show),
        criteria=criteria,
        judge=JudgePart(
            judge.system,
            judge.user,
            judge.instructions,
            judge.reasons,
            tuple(judge.show),
            judge.params,
            judge.template,
            **of_pairs,
            guidelines=judge.guidelines,
            examples=tuple(Example(**vars(example)) for example in judge.examples),
        ),
        body=body,
        pairs=pairs,
    )


def _mistake(error: ValidationError, body: Mapping[str, Any]) -> str:
    """A mistake in a file as a sentence, of several the first."""
    mistakes = error.errors()
    # A field that is written wrong is mostly the one that is missing.
    first = next((each for each in mistakes if each["type"] == "extra_forbidden"), mistakes[0])
    *way, last = first["loc"]
    place = _place(way, body)
    if first["type"] == "extra_forbidden":
        tables: Mapping[str, type[_Part]] = {"criteria": _Criterion, "judge": _Judge}
        kind = tables.get(str(way[0]) if way else "", _File)
        return place + str(not_found("field", str(last), kind.model_fields))
    if first["type"] == "missing":
        return f"{place}“{last}” is missing. Add it."
    sentence = first["msg"].removeprefix("Value error, ")
    field = ".".join(map(str, first["loc"][2 if way[:1] == ["criteria"] else 0 :]))
    return f"{place}“{field}”: {sentence[:1].lower()}{sentence[1:]}."


def _place(way: Sequence[Any], body: Mapping[str, Any]) -> str:
    if len(way) > 1 and way[0] == "criteria":
        entry = body["criteria"][way[1]]
        name = entry.get("name") if isinstance(entry, dict) else None
        return f"criterion {way[1] + 1}{f' (“{name}”)' if name else ''}: "
    return "[judge]: " if way[:1] == ["judge"] else ""


def _criterion(entry: _Criterion, where: str, unit: UnitKind) -> Criterion:
    """A question; one about two conversations has nothing to say of a single one."""
    try:
        scale, notes = question(entry.type, dict(entry), entry.model_fields_set)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}.") from error
    if scale.kind.content and (entry.unit or unit == "conversation"):
        raise ConfigError(
            f'{where}: it is about the words of one reply. Write unit = "each-reply" or "last-reply" for '
            "the rubric, and no unit here."
        )
    only = {name: (v,) if isinstance(v, str) else tuple(v) for name, v in entry.only.items()}
    if empty := next((name for name, values in only.items() if not values), ""):
        raise ConfigError(f"{where}: only has no value of “{empty}”, so that nobody is asked. Name one.")
    reason: Reason = "" if entry.reason == "none" else entry.reason
    return Criterion(
        entry.name,
        "\n".join([entry.statement, *notes]),
        scale,
        entry.title,
        counted=not scale.kind.of_two and not scale.kind.content,
        conditional=bool(only) or not entry.required,
        reason=reason,
        required=entry.required,
        only=only,
        whole=bool(entry.unit) and unit != "conversation",
    )


def _counted(entries: Sequence[_Criterion], every: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """The criteria of one conversation with those that enter final: unless told, those on the scale of the
    first one that can.

    A mean over several scales, or of categories, means nothing; one over replies and their conversation has
    no unit.
    """
    first = next((c.scale.values for c in every if c.scale.ordered and c.counted and not c.whole), None)
    return tuple(
        replace(
            criterion,
            counted=criterion.scale.ordered
            and criterion.counted
            and not criterion.whole
            and (criterion.scale.values == first if entry.counted is None else entry.counted),
        )
        for entry, criterion in zip(entries, every, strict=True)
        if not criterion.scale.kind.of_two
    )
