"""The words that names of columns and cells hold: data/columns.toml and data/answers.toml."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache

from concord.files import SHIPPED, read_toml
from concord.rating import RaterKind

_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Signs of languages that write no spaces between words."""


_SCRIPTS = re.compile(
    r"(?<=[A-Za-z\d])(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])"
    r"|(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])(?=[A-Za-z\d])"
)
"""Where Latin letters and other scripts meet."""


@cache
def words(name: str) -> tuple[str, ...]:
    """A list of words of data/columns.toml, in its order."""
    return tuple(str(read_toml(SHIPPED / "data" / "columns.toml")[name]).split())


@cache
def word_set(name: str) -> frozenset[str]:
    """A list of words of data/columns.toml, in lower case."""
    return frozenset(word.lower() for word in words(name))


@cache
def answers(name: str) -> tuple[str, ...]:
    """A list of words of data/answers.toml that cells hold."""
    listed = read_toml(SHIPPED / "data" / "answers.toml")[name]
    return tuple(listed.split()) if isinstance(listed, str) else tuple(map(str, listed))


@cache
def orders() -> tuple[tuple[str, ...], ...]:
    """The orders of words, each from the least word."""
    return tuple(tuple(word.strip() for word in line.split("<")) for line in answers("ordered"))


@cache
def sentinels() -> frozenset[float]:
    """Numbers that stand for a missing answer in many tools."""
    return frozenset(float(number) for number in answers("sentinels"))


def tokens(name: str) -> list[str]:
    """The words and numbers of a column's or a rater's name, in lower case."""
    return [word.lower() for word in _WORD.findall(_SCRIPTS.sub(" ", name))]


def holds(name: Collection[str], listed: frozenset[str]) -> bool:
    """Whether one of a name's words is in a list; of unspaced languages, whether a word holds one of it."""
    if not listed.isdisjoint(name):
        return True
    unspaced = [word for word in name if _UNSPACED.search(word)]
    return any(part in word for word in unspaced for part in listed if _UNSPACED.search(part))


def kind_of_words(name: Sequence[str]) -> RaterKind | None:
    """Whose answers these words say, for sure; None where they do not say, or say both."""
    people, judges = (holds(name, word_set(f"sure_{group}")) for group in ("people", "judges"))
    if people == judges:
        if people:
            return None
        people, judges = (holds(name, word_set(group)) for group in ("people", "judges"))
        if people and judges:  # annotator_gpt4 is a model that annotates
            people = False
    if people:
        return "human"
    return "judge" if judges else None


@lru_cache(2**16)
def _kind_of_name(name: str) -> RaterKind | None:
    return kind_of_words(tokens(name))


def kinds_by_name(names: Iterable[str]) -> dict[str, RaterKind | None]:
    """Whose answers columns hold by their names; None where a name does not say, or says both.

    Words that only may be people's count where no name says so for sure, and judges' likewise.
    """
    kinds = {name: _kind_of_name(name) for name in names}
    kinds_found = {*kinds.values()}
    if {"human", "judge"} <= kinds_found:
        return kinds
    for name in kinds:
        name_words = tokens(name)
        people, judges = (holds(name_words, word_set(f"maybe_{group}")) for group in ("people", "judges"))
        if people and judges:  # predicted_label is a judge's: label says little
            people = bool({*name_words} & word_set("maybe_people") - {"label", "labels"})
        kind: RaterKind = "human" if people else "judge"
        if kinds[name] is None and people != judges and kind not in kinds_found:
            kinds[name] = kind
    return kinds


def column_in_list(columns: Iterable[str], listed: str) -> str:
    """The first name of a list of data/columns.toml, in any case, that a column has; else “”."""
    by_name = {column.strip().lower().rpartition("metadata.")[2]: column for column in reversed([*columns])}
    return next((by_name[name.lower()] for name in words(listed) if name.lower() in by_name), "")
