"""Read a rubric from TOML. A mistake is one sentence that names the file, the place and the remedy."""

import math
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
from concord.questions import Name, Scale, question
from concord.rating import Criterion, Dependence, Reason
from concord.rubrics import templates
from concord.rubrics.rubric import TURN, Example, JudgePart, Reasons, Rubric, SystemPrompt, UnitKind

MOST_CRITERIA = 50
MOST_EXAMPLES = 50

_REASONS: Mapping[str, Reason] = {"none": "", "optional": "optional", "required": "required"}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")

Text = Annotated[str, Field(min_length=1, max_length=20_000)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Bounds(_Part):
    below: Annotated[float, Field(allow_inf_nan=False)] | None = None
    above: Annotated[float, Field(allow_inf_nan=False)] | None = None


_One = bool | int | float | str
_Answers = list[_One] | _Bounds


class _Criterion(_Part):
    name: str
    statement: Text
    title: Annotated[str, Field(max_length=NAME)] = ""
    guideline: Annotated[str, Field(max_length=20_000)] = ""
    examples: dict[str, Text] = {}
    unit: Literal["", "conversation"] = ""
    type: Name = "likert"
    scale: str | list[int] = ""
    anchors: dict[str, Text] = {}
    categories: list[Annotated[str, Field(min_length=1, max_length=NAME)]] = []
    reason: Literal["none", "optional", "required"] | _Answers = "none"
    required: bool = True
    ties: bool = True
    strength: bool = False
    counted: bool | None = None
    only: dict[str, str | list[str]] = {}
    when: dict[str, _One | _Answers] = {}


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
    system_prompt: SystemPrompt = "none"
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
            raise ConfigError(
                f"{place}: a name has small letters, digits and “_”, for example answers_question."
            )
        if criterion.name in names[: number - 1] or criterion.name == "final":
            raise ConfigError(f"{place}: the name is in use. Choose another one.")
    every = [_criterion(c, f"{where}: criterion “{c.name}”", file.unit) for c in file.criteria]
    every = _dependent(file.criteria, every, where)
    criteria = _counted(file.criteria, every)
    if criteria and all(c.whole for c in criteria):
        raise ConfigError(
            f"{where}: every question is about the conversation; a question about replies is "
            'missing. Write unit = "conversation" once, above the questions.'
        )
    pairs = tuple(c for c in every if c.scale.kind.of_two)
    ranks = any(c.scale.kind.ranks for c in pairs)
    if ranks and not all(c.scale.kind.ranks for c in pairs):
        raise ConfigError(
            f"{where}: it has both ranking and pairwise questions, which one study cannot show. Write two "
            "rubrics."
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
        explained={
            entry.name: text
            for entry, criterion in zip(file.criteria, every, strict=True)
            if (text := _explained(entry, criterion.scale, f"{where}: criterion “{entry.name}”"))
        },
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
        system_prompt=file.system_prompt,
    )


def _mistake(error: ValidationError, body: Mapping[str, Any]) -> str:
    """A mistake in a file as a sentence, of several the first."""
    mistakes = error.errors()
    # A field that is written wrong is mostly the one that is missing.
    first = max(mistakes, key=lambda mistake: mistake["type"] == "extra_forbidden")
    *way, last = first["loc"]
    place = _place(way, body)
    if first["type"] == "extra_forbidden":
        kind: type[_Part] = _File
        if "_Bounds" in way:
            kind = _Bounds
        elif way[:1] == ["criteria"]:
            kind = _Criterion
        elif way[:1] == ["judge"]:
            kind = _Judge
        return place + str(not_found("field", str(last), kind.model_fields))
    if first["type"] == "missing":
        return f"{place}“{last}” is missing. Add it."
    if "when" in way or last == "when":
        example = 'when = { verdict = ["fail"] }, or when = { score = { below = 3 } }'
        return f"{place}“when” names questions before this one and their answers: {example}."
    if "reason" in way or last == "reason":
        values = '"none", "optional", "required", or the answers that need one, such as { below = 3 }'
        return f"{place}“reason” is {values}."
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
        raise ConfigError(
            f"{where}: only has no value of “{empty}”, so the question is never asked. Name one."
        )
    explain = None
    if not isinstance(entry.reason, str):
        explain = _condition(entry.reason, scale, f"{where}: reason")
    reason: Reason = "optional" if explain or not isinstance(entry.reason, str) else _REASONS[entry.reason]
    return Criterion(
        entry.name,
        "\n".join([entry.statement, *notes]),
        scale,
        entry.title,
        counted=not scale.kind.of_two and not scale.kind.content,
        conditional=bool(only or entry.when) or not entry.required,
        reason=reason,
        required=entry.required,
        only=only,
        whole=bool(entry.unit) and unit != "conversation",
        explain=explain,
    )


def _explained(entry: _Criterion, scale: Scale, where: str) -> str:
    """What annotators are told of a question, in Markdown: its guideline, and examples of single answers."""
    lines = []
    for answer, example in entry.examples.items():
        value = scale.read(answer)
        if value is None or value not in scale:
            raise ConfigError(f"{where}: examples: “{answer}” is no answer. Name some of: {_offered(scale)}.")
        lines.append(f"- **{scale.word(value, level=True)}**: {example.strip()}")
    return "\n\n".join(filter(None, (entry.guideline.strip(), "\n".join(lines))))


def _dependent(entries: Sequence[_Criterion], every: Sequence[Criterion], where: str) -> list[Criterion]:
    """The questions with the answers on which they depend. Raises ConfigError."""
    places = {entry.name: place for place, entry in enumerate(entries)}
    waits = {entry.name: [name for name in entry.when if name in places] for entry in entries}
    questions = []
    for place, (entry, criterion) in enumerate(zip(entries, every, strict=True)):
        here = f"{where}: criterion “{entry.name}”: when"
        conditions = {}
        for name, answers in entry.when.items():
            if name not in places:
                raise ConfigError(f"{here}: {not_found('question', name, places)}")
            other = every[places[name]]
            if circle := _circle(name, entry.name, waits):
                ways = ", ".join(f"“{a}” depends on “{b}”" for a, b in pairwise((entry.name, *circle)))
                raise ConfigError(f"{here}: {ways}, so it is never asked. Remove one of them.")
            if places[name] > place:
                raise ConfigError(f"{here}: “{name}” is asked later. Put its [[criteria]] above this one.")
            if other.scale.kind.content or other.scale.kind.of_two:
                raise ConfigError(
                    f"{here}: an answer to “{name}” ({other.scale.type}) is no value of a scale. Depend on a "
                    "question with answers to choose from, or on a number."
                )
            if other.whole != criterion.whole:
                about = "the conversation as a whole, this one about a reply"
                if criterion.whole:
                    about = "a reply, this one about the conversation as a whole"
                raise ConfigError(f"{here}: “{name}” is about {about}. Both must be about the same.")
            conditions[name] = _condition(answers, other.scale, f"{here}: {name}")
        if conditions and entry.counted:
            raise ConfigError(
                f"{here}: a question that is asked only on some items cannot be part of a mean. Remove "
                "counted = true."
            )
        questions.append(replace(criterion, when=conditions))
    return questions


def _circle(name: str, end: str, waits: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The questions from one to another that each depend on the next; none where no way leads there."""
    ways: dict[str, tuple[str, ...]] = {name: (name,)}
    waiting = [name]
    while waiting:
        here = waiting.pop()
        if here == end:
            return ways[here]
        for each in waits[here]:
            if each not in ways:
                ways[each] = (*ways[here], each)
                waiting.append(each)
    return ()


def _condition(answers: _One | _Answers, scale: Scale, where: str) -> Dependence:
    """Answers of a scale as a file names them: one, several, or bounds. Raises ConfigError."""
    if isinstance(answers, _Bounds):
        bounds = Dependence((), answers.below, answers.above)
        if bounds == Dependence():
            raise ConfigError(
                f'{where}: it names no answer. Write ["…"], {{ below = 3 }} or {{ above = 3 }}.'
            )
        if not scale.ordered:
            raise ConfigError(f"{where}: its answers have no order. Name some: {_offered(scale)}.")
        answers_there = scale.offered or _between(scale, bounds)
        every = f"answer from {scale.low:g} to {scale.high:g} is {bounds.words(scale)}"
        if not any(bounds.holds(scale, value) for value in answers_there):
            raise ConfigError(f"{where}: no {every}.")
        if all(bounds.holds(scale, value) for value in answers_there):
            raise ConfigError(f"{where}: every {every}. Remove it.")
        return bounds
    given = answers if isinstance(answers, list) else [answers]
    if not given:
        raise ConfigError(f"{where}: it names no answer. Name some: {_offered(scale)}.")
    values = []
    for answer in given:
        value = _value(answer, scale)
        if value is None:
            raise ConfigError(f"{where}: “{answer}” is no answer. Name some of: {_offered(scale)}.")
        values.append(value)
    if scale.offered and not scale.sets and {*values} == {*scale.offered}:
        raise ConfigError(f"{where}: every answer is listed, so it is always asked. Remove it.")
    return Dependence(tuple(dict.fromkeys(values)))


def _between(scale: Scale, bounds: Dependence) -> list[float]:
    """Numbers of a range that tell whether some, or all, lie within the bounds."""
    beside = (
        *(() if bounds.below is None else (math.ceil(bounds.below) - 1,)),
        *(() if bounds.above is None else (math.floor(bounds.above) + 1,)),
    )
    return [value for value in (scale.low, scale.high, *beside) if scale.low <= value <= scale.high]


def _value(answer: _One, scale: Scale) -> float | None:
    """An answer of a scale, by its word or its number; None for what is none."""
    if isinstance(answer, bool):
        return float(answer) if scale.ordered and scale.values == (0, 1) else None
    if not isinstance(answer, str):
        return float(answer) if answer in scale and not scale.sets else None
    value = scale.read(answer)
    return value if value is not None and value in scale else None


def _offered(scale: Scale) -> str:
    """The answers of a scale, for an error."""
    if not scale.offered:
        return f"a number from {scale.low:g} to {scale.high:g}"
    words = [f"“{scale.word(value)}”" for value in scale.offered[:20]]
    return ", ".join(words + (["“(none)”"] if scale.sets else []))


def _counted(entries: Sequence[_Criterion], every: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """The criteria of one conversation with those that enter final: unless told, those on the scale of the
    first one that can.

    A mean over several scales, or of categories, means nothing; one over replies and their conversation has
    no unit.
    """
    able = (c for c in every if c.scale.ordered and c.counted and not c.whole and not c.when)
    first = next((c.scale.values for c in able), None)
    return tuple(
        replace(
            criterion,
            counted=criterion.scale.ordered
            and criterion.counted
            and not criterion.whole
            and not criterion.when
            and (criterion.scale.values == first if entry.counted is None else entry.counted),
        )
        for entry, criterion in zip(entries, every, strict=True)
        if not criterion.scale.kind.of_two
    )
