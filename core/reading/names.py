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
    found = []
    name = _RANGE.sub(lambda match: " " * len(match[0]), name)
    for match in _PART.finditer(name):
        begin = match.start()
        for text in _HUMP.split(match[0]):
            found.append(NamePart(text, begin, begin + len(text)))
            begin += len(text)
    return tuple(found)


def _of_rater(name: Sequence[NamePart]) -> list[bool]:
    """Which parts say whose answers they are, with numbers and versions beside them."""
    kinds = ("people", "judges", "maybe_people", "maybe_judges")
    known = word_set(kinds[0]) | word_set(kinds[1])
    sure = word_set("sure_people") | word_set("sure_judges")
    maybe = word_set(kinds[2]) | word_set(kinds[3])
    says = [holds(tokens(part.text), sure) for part in name]
    if not any(says):
        says = [holds(tokens(part.text), known) for part in name]
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
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))


@dataclass(frozen=True)
class NameReading:
    """What a column's name says: its criterion (“” for the only one) and its rater."""

    criterion: str
    rater: str


def criteria_of(kinds: Mapping[str, RaterKind | None], stated: Iterable[str] = ()) -> dict[str, NameReading]:
    """The criterion and the rater of each column by its name.

    `kinds` says whose columns are, `stated` names criteria as a user states them, in any case.
    """
    wanted = [tuple(part.key for part in parts(name)) for name in stated]
    rests: dict[str, Sequence[NamePart]] = {}
    for name in kinds:
        whole = parts(name)
        keys = tuple(part.key for part in whole)
        run = next((one for one in wanted if one and _run(one, keys)), None)
        if run:
            at = next(at for at in range(len(keys)) if keys[at : at + len(run)] == run)
            rests[name] = whole[at : at + len(run)]
        else:
            rests[name] = rest_of(name)
    of_kind: dict[str, set[Rest]] = {"human": set(), "judge": set()}
    for name, kind in kinds.items():
        if kind in of_kind:
            of_kind[str(kind)].add(tuple(part.key for part in rests[name]))
    every = {rest for rests_of in of_kind.values() for rest in rests_of if rest}
    shared = [
        rest
        for rest in every
        if all(any(_run(rest, other) for other in rests_of) for rests_of in of_kind.values())
    ]
    if not shared and not wanted:
        plain = _plain_criteria(kinds)
        if plain:
            return plain
    asked = {}
    for name in kinds:
        rest = tuple(part.key for part in rests[name])
        own = max((one for one in shared if _run(one, rest)), key=len, default=())
        at = next((at for at in range(len(rest)) if rest[at : at + len(own)] == own), 0)
        asked[name] = _asked(name, rests[name][at : at + len(own)])
    return asked


def _plain_criteria(kinds: Mapping[str, RaterKind | None]) -> dict[str, NameReading]:
    """Criteria that are called by plain words, where one rater has several: human_score, human_label."""
    own: dict[str, list[NamePart]] = {}
    for name in kinds:
        all_parts = parts(name)
        own[name] = [part for part, says in zip(all_parts, _of_rater(all_parts), strict=True) if not says]
    by_rest: dict[Rest, set[RaterKind | None]] = {}
    for name, kind in kinds.items():
        by_rest.setdefault(tuple(part.key for part in own[name]), set()).add(kind)
    shared = {rest for rest, of in by_rest.items() if rest and {"human", "judge"} <= of}
    if len(shared) < 2:
        return {}
    return {
        name: _asked(name, own[name] if tuple(part.key for part in own[name]) in shared else [])
        for name in kinds
    }


def _asked(name: str, criterion: Sequence[NamePart]) -> NameReading:
    """The criterion and what is left of a name, which is the rater's."""
    if not criterion:
        return NameReading("", name)
    before, after = name[: criterion[0].begin], name[criterion[-1].end :]
    sides = [side.strip(" _.-/:|,()[]") for side in (before, after)]
    joint = " " if " " in name else "_"
    return NameReading("_".join(part.text for part in criterion), joint.join(filter(None, sides)))


def holds_part(column: str, rater: str) -> bool:
    """Whether a rater is named by some parts of a column's name, in any case."""
    run, whole = (tuple(part.key for part in parts(text)) for text in (rater, column))
    return bool(run) and _run(run, whole)


def extends(column: str, other: str) -> bool:
    """Whether a name is that of another column with more to it: gpt4_cost beside gpt4."""
    longer, shorter = parts(column), parts(other)
    if not len(longer) > len(shorter) > 0:
        return False
    return _run(tuple(part.key for part in shorter), tuple(part.key for part in longer))
