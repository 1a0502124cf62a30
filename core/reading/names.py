"""The parts of columns' names: which part says the rater, and which the criterion.

A criterion is whatever part of the names comes with a person's and with a judge's part alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from concord.rating import RaterKind
from concord.reading.vocabulary import holds, tokens, word_set

_PART = re.compile(r"[^\s_.\-/:|,()\[\]]+")
_RANGE = re.compile(r"[(\[]\s*\d+\s*(?:-|–|—|to|\.\.)\s*\d+\s*[)\]]|[(\[]\s*(?:out of|/)\s*\d+\s*[)\]]", re.I)
"""The range of a scale behind a name: Human Score (1-5)."""
_HUMP = re.compile(r"(?<=[a-zà-ÿ0-9])(?=[A-Z][a-z])|(?<=[a-zà-ÿ])(?=[A-Z])")
_VERSION = re.compile(r"v?\d[\w]*", re.I)


@dataclass(frozen=True)
class NamePart:
    """A part of a name, and where it stands in it."""

    text: str
    begin: int
    end: int

    @property
    def key(self) -> str:
        """The part in lower case, by which parts are equal."""
        return self.text.lower()


@lru_cache(2**16)
def parts(name: str) -> tuple[NamePart, ...]:
    """The parts of a name between signs and humps: q1_human, q1Human and “q1 human” have two."""
    name_parts = []
    name = _RANGE.sub(lambda match: " " * len(match[0]), name)
    for match in _PART.finditer(name):
        begin = match.start()
        for text in _HUMP.split(match[0]):
            name_parts.append(NamePart(text, begin, begin + len(text)))
            begin += len(text)
    return tuple(name_parts)


def _of_rater(name: Sequence[NamePart]) -> list[bool]:
    """Which parts say whose answers they are, with numbers and versions beside them."""
    kinds = ("people", "judges", "maybe_people", "maybe_judges")
    surely_or_known = word_set(kinds[0]) | word_set(kinds[1])
    sure = word_set("sure_people") | word_set("sure_judges")
    maybe = word_set(kinds[2]) | word_set(kinds[3])
    says = [holds(tokens(part.text), sure) for part in name]
    if not any(says):
        says = [holds(tokens(part.text), surely_or_known) for part in name]
    if not any(says):
        says = [holds(tokens(part.text), maybe) for part in name]
    suffixes = word_set("of_models")
    for place, part in enumerate(name):
        if not says[place] and place and says[place - 1]:
            says[place] = bool(_VERSION.fullmatch(part.text)) or part.key in suffixes
    return says


def rest_of(name: str) -> list[NamePart]:
    """The parts of a name that say neither a rater nor what every column of answers is called."""
    all_parts = parts(name)
    says = _of_rater(all_parts)
    plain = word_set("plain")
    return [
        part
        for part, of_rater in zip(all_parts, says, strict=True)
        if not of_rater and not {*tokens(part.text)} <= plain
    ]


Rest = tuple[str, ...]


def _run(short: Rest, long: Rest) -> bool:
    """Whether parts stand in others, one after another."""
    return any(long[start : start + len(short)] == short for start in range(len(long) - len(short) + 1))


@dataclass(frozen=True)
class NameReading:
    """What a column's name says: its criterion (“” for the only one) and its rater."""

    criterion: str
    rater: str


def criteria_of(
    kinds: Mapping[str, RaterKind | None], criteria: Iterable[str] = ()
) -> dict[str, NameReading]:
    """The criterion and the rater of each column by its name.

    `kinds` says whose columns are, `criteria` names criteria as a user states them, in any case.
    """
    stated_keys = [tuple(part.key for part in parts(name)) for name in criteria]
    rests: dict[str, Sequence[NamePart]] = {}
    for name in kinds:
        name_parts = parts(name)
        keys = tuple(part.key for part in name_parts)
        run = next((one for one in stated_keys if one and _run(one, keys)), None)
        if run:
            start = next(start for start in range(len(keys)) if keys[start : start + len(run)] == run)
            rests[name] = name_parts[start : start + len(run)]
        else:
            rests[name] = rest_of(name)
    of_kind: dict[str, set[Rest]] = {"human": set(), "judge": set()}
    for name, kind in kinds.items():
        if kind in of_kind:
            of_kind[str(kind)].add(tuple(part.key for part in rests[name]))
    all_rests = {rest for rests_of in of_kind.values() for rest in rests_of if rest}
    shared = [
        rest
        for rest in all_rests
        if all(any(_run(rest, compared_rest) for compared_rest in rests_of) for rests_of in of_kind.values())
    ]
    if not shared and not stated_keys:
        plain = _plain_criteria(kinds)
        if plain:
            return plain
    readings = {}
    for name in kinds:
        rest = tuple(part.key for part in rests[name])
        criterion_keys = max((one for one in shared if _run(one, rest)), key=len, default=())
        start = next(
            (
                start
                for start in range(len(rest))
                if rest[start : start + len(criterion_keys)] == criterion_keys
            ),
            0,
        )
        readings[name] = _name_reading(name, rests[name][start : start + len(criterion_keys)])
    return readings


def _plain_criteria(kinds: Mapping[str, RaterKind | None]) -> dict[str, NameReading]:
    """Criteria that are called by plain words, where one rater has several: human_score, human_label."""
    rest_parts: dict[str, list[NamePart]] = {}
    for name in kinds:
        all_parts = parts(name)
        rest_parts[name] = [
            part for part, says in zip(all_parts, _of_rater(all_parts), strict=True) if not says
        ]
    by_rest: dict[Rest, set[RaterKind | None]] = {}
    for name, kind in kinds.items():
        by_rest.setdefault(tuple(part.key for part in rest_parts[name]), set()).add(kind)
    shared = {rest for rest, kinds_of_rest in by_rest.items() if rest and {"human", "judge"} <= kinds_of_rest}
    if len(shared) < 2:
        return {}
    return {
        name: _name_reading(
            name, rest_parts[name] if tuple(part.key for part in rest_parts[name]) in shared else []
        )
        for name in kinds
    }


def _name_reading(name: str, criterion: Sequence[NamePart]) -> NameReading:
    """The criterion and what is left of a name, which is the rater's."""
    if not criterion:
        return NameReading("", name)
    before = name[: criterion[0].begin]
    after = name[criterion[-1].end :]
    sides = [side.strip(" _.-/:|,()[]") for side in (before, after)]
    joint = " " if " " in name else "_"
    return NameReading("_".join(part.text for part in criterion), joint.join(filter(None, sides)))


def holds_part(column: str, rater: str) -> bool:
    """Whether a rater is named by some parts of a column's name, in any case."""
    run, column_keys = (tuple(part.key for part in parts(text)) for text in (rater, column))
    return bool(run) and _run(run, column_keys)


def extends(column: str, shorter_name: str) -> bool:
    """Whether a name is that of another column with more to it: gpt4_cost beside gpt4."""
    longer = parts(column)
    shorter = parts(shorter_name)
    if not len(longer) > len(shorter) > 0:
        return False
    return _run(tuple(part.key for part in shorter), tuple(part.key for part in longer))
