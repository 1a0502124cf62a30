"""Read a rubric from TOML. A mistake is one sentence that names the file, the place and the remedy."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from concord.errors import ConfigError, not_found
from concord.files import read_toml
from concord.files.limits import NAME
from concord.llm.templates import mistake
from concord.rating import YES_NO, Criterion, Reason, Scale, categories, preferences
from concord.rubrics import templates
from concord.rubrics.questions import Name
from concord.rubrics.rubric import TURN, JudgePart, Reasons, Rubric, UnitKind

LONGEST = 1_000
"""Points of a Likert scale; a longer one is a number."""
MOST_CRITERIA = 50

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_RANGE = re.compile(r"\s*(-?\d{1,9})\s*(?:\.\.|-)\s*(-?\d{1,9})\s*")
_VALUE = re.compile(r"\s*(-?\d{1,9})\s*")

Text = Annotated[str, Field(min_length=1, max_length=20_000)]


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Criterion(_Told):
    name: str
    statement: Text
    title: Annotated[str, Field(max_length=NAME)] = ""
    guideline: Annotated[str, Field(max_length=20_000)] = ""
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


class _Judge(_Told):
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


class _File(_Told):
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


def rubric_of(name: str, told: Mapping[str, Any], where: str, *, ships: bool = False) -> Rubric:
    """The rubric of a file's content; `where` names the file in errors. Raises ConfigError.

    One that `ships` with a benchmark names the benchmark's template, which others may not.
    """
    try:
        file = _File.model_validate(told)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_mistake(error, told)}") from error
    names = [c.name for c in file.criteria]
    for number, criterion in enumerate(file.criteria, 1):
        place = f"{where}: criterion {number} (“{criterion.name}”)"
        if not _NAME.fullmatch(criterion.name):
            raise ConfigError(f"{place}: a name is small letters, digits and “_”, such as answers_question.")
        if criterion.name in names[: number - 1] or criterion.name == "final":
            raise ConfigError(f"{place}: the name is taken. Give it another one.")
    alone = [c for c in file.criteria if c.type != "pairwise"]
    asked = _counted(alone, [_criterion(c, f"{where}: criterion “{c.name}”") for c in alone])
    pairs = tuple(
        _pairwise(c, f"{where}: criterion “{c.name}”") for c in file.criteria if c.type == "pairwise"
    )
    judge = file.judge
    if judge.template and not ships:
        raise ConfigError(
            f"{where}: [judge] template names a template of a benchmark. Remove it: Concord's own is used, "
            "or what you write in [judge] system and user."
        )
    of_pairs = {"pair_system": judge.pair_system, "pair_user": judge.pair_user}
    texts = {} if judge.template else {"system": judge.system, "user": judge.user} | of_pairs
    for part, text in texts.items():
        known = templates.VARIABLES + (templates.OF_PAIRS if part in of_pairs else ())
        if wrong := mistake(text, known):
            raise ConfigError(f"{where}: [judge] {part}: {wrong}")
    # What a later release of Concord may tell a judge otherwise is kept; other defaults are not.
    body = file.model_dump(exclude_defaults=True)
    kept = (*(("system", "user") if alone else ()), *(of_pairs if pairs else ()))
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
        criteria=asked,
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
        ),
        body=body,
        pairs=pairs,
    )


def _mistake(error: ValidationError, told: Mapping[str, Any]) -> str:
    """A mistake in a file as a sentence, of several the first."""
    found = error.errors()
    # A field that is written wrong is mostly the one that is missing.
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
    *way, last = first["loc"]
    place = _place(way, told)
    if first["type"] == "extra_forbidden":
        tables: Mapping[str, type[_Told]] = {"criteria": _Criterion, "judge": _Judge}
        kind = tables.get(str(way[0]) if way else "", _File)
        return place + str(not_found("field", str(last), kind.model_fields))
    if first["type"] == "missing":
        return f"{place}“{last}” is missing. Add it."
    said = first["msg"].removeprefix("Value error, ")
    field = ".".join(map(str, first["loc"][2 if way[:1] == ["criteria"] else 0 :]))
    return f"{place}“{field}”: {said[:1].lower()}{said[1:]}."


def _place(way: Sequence[Any], told: Mapping[str, Any]) -> str:
    if len(way) > 1 and way[0] == "criteria":
        entry = told["criteria"][way[1]]
        name = entry.get("name") if isinstance(entry, dict) else None
        return f"criterion {way[1] + 1}{f' (“{name}”)' if name else ''}: "
    return "[judge]: " if way[:1] == ["judge"] else ""


_NOT_OF_PAIRS = ("scale", "anchors", "categories", "reason", "required", "counted", "only")


def _pairwise(told: _Criterion, where: str) -> Criterion:
    """A question about two conversations."""
    if wrong := [name for name in _NOT_OF_PAIRS if name in told.model_fields_set]:
        raise ConfigError(
            f"{where}: a pairwise question has no {wrong[0]}. Remove it; ties and strength say which answers "
            "there are."
        )
    scale = preferences(ties=told.ties, strength=told.strength)
    return Criterion(told.name, told.statement, scale, told.title, counted=False)


def _criterion(told: _Criterion, where: str) -> Criterion:
    if of_pairs := [name for name in ("ties", "strength") if name in told.model_fields_set]:
        raise ConfigError(f'{where}: {of_pairs[0]} belongs to type = "pairwise".')
    if told.categories and told.type not in ("categories", "likert"):
        raise ConfigError(f'{where}: categories belong to type = "categories".')
    statement = told.statement
    if told.type == "yes-no":
        if told.scale:
            raise ConfigError(f"{where}: a yes-no question has no scale. Remove it.")
        scale = Scale(
            YES_NO.values, _labels(YES_NO.values, told.anchors, where, dict(enumerate(YES_NO.labels)))
        )
    elif told.categories or told.type == "categories":
        scale = _categories(told, where)
    elif told.type == "number":
        low, high = _range(told.scale or "0..100", where)
        scale = Scale((low, high), (str(low), str(high)), continuous=True)
        levels = _anchors(told.anchors, low, high, where)
        statement = "\n".join(
            [statement, *(f"{a}: {text}" if a == b else f"{a} to {b}: {text}" for a, b, text in levels)]
        )
    else:
        values = _values(told.scale or "1..5", where)
        scale = Scale(values, _labels(values, told.anchors, where))
    only = {name: (v,) if isinstance(v, str) else tuple(v) for name, v in told.only.items()}
    reason: Reason = "" if told.reason == "none" else told.reason
    return Criterion(
        told.name,
        statement,
        scale,
        told.title,
        conditional=bool(only) or not told.required,
        reason=reason,
        required=told.required,
        only=only,
    )


def _counted(told: Sequence[_Criterion], asked: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """The criteria with those that enter final: unless told, those on the scale of the first one that can.

    A mean over several scales, or of categories, means nothing.
    """
    first = next((c.scale for c in asked if not c.scale.nominal), None)
    return tuple(
        replace(
            criterion,
            counted=not criterion.scale.nominal
            and (
                first is not None and criterion.scale.values == first.values
                if entry.counted is None
                else entry.counted
            ),
        )
        for entry, criterion in zip(told, asked, strict=True)
    )


def _categories(told: _Criterion, where: str) -> Scale:
    if told.scale or told.anchors:
        raise ConfigError(f"{where}: categories have no scale and no anchors. Name them in categories.")
    if len(told.categories) < 2:
        raise ConfigError(f"{where}: one category leaves nothing to choose. Name at least two in categories.")
    if twice := next((c for c in told.categories if told.categories.count(c) > 1), ""):
        raise ConfigError(f"{where}: the category “{twice}” is named twice. Remove one.")
    return categories(told.categories)


def _values(scale: str | list[int], where: str) -> tuple[int, ...]:
    """The values of a Likert scale."""
    if isinstance(scale, list):
        values = tuple(scale)
        if len(values) < 2 or list(values) != sorted(set(values)):
            raise ConfigError(
                f"{where}: a scale needs at least two values, which rise, such as [0, 1, 2, 4]."
            )
        return values
    low, high = _range(scale, where)
    if high - low >= LONGEST:
        raise ConfigError(
            f'{where}: a scale of {high - low + 1:,} points is a number: write type = "number".'
        )
    return tuple(range(low, high + 1))


def _range(scale: str | list[int], where: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(scale) if isinstance(scale, str) else None
    if not found:
        raise ConfigError(f'{where}: the scale “{scale}” is not understood. Write it as "1..5".')
    low, high = int(found[1]), int(found[2])
    if low == high:
        raise ConfigError(f"{where}: a scale of one value leaves nothing to choose. Write at least two.")
    if low > high:
        raise ConfigError(f'{where}: the scale must rise. Write "{high}..{low}".')
    return low, high


def _anchors(anchors: Mapping[str, str], low: int, high: int, where: str) -> list[tuple[int, int, str]]:
    """The anchors of a scale by the values they are for, which do not overlap, lowest first."""
    found: list[tuple[int, int, str]] = []
    for key, text in anchors.items():
        one, several = _VALUE.fullmatch(key), _RANGE.fullmatch(key)
        if not one and not several:
            raise ConfigError(f'{where}: the anchor “{key}” is not understood. Write 3 or "2..4".')
        a, b = (
            (int(one[1]), int(one[1])) if one else (int(several[1]), int(several[2])) if several else (0, 0)
        )
        if a > b or a < low or b > high:
            raise ConfigError(f"{where}: the anchor “{key}” lies off the scale {low} to {high}.")
        found.append((a, b, text))
    found.sort()
    for (_, end, _), (begin, last, _) in pairwise(found):
        if begin <= end:
            raise ConfigError(
                f"{where}: two anchors overlap at {begin}. Give “{begin}"
                + (f"..{last}" if last > begin else "")
                + "” or the one before it another range."
            )
    return found


def _labels(
    values: Sequence[float], anchors: Mapping[str, str], where: str, plain: Mapping[int, str] = {}
) -> tuple[str, ...]:
    """The words of each value: its anchor, else its number."""
    words = _anchors(anchors, int(values[0]), int(values[-1]), where)
    labels = {value: plain.get(int(value), f"{value:g}") for value in values}
    for a, b, text in words:
        meant = [value for value in values if a <= value <= b]
        if not meant:
            raise ConfigError(f"{where}: the anchor “{a}” is for none of the values of the scale.")
        labels |= dict.fromkeys(meant, text)
    return tuple(labels.values())
