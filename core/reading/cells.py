"""How answers are written in the cells of a column: one pattern for the whole column, read value by value."""

import ast
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from concord.codes import CellPattern
from concord.reading.vocabulary import answers

ENOUGH = 0.8
"""The share of the cells of a column that a pattern must read."""
SAMPLED = 200
"""So many distinct values decide whether a pattern is tried on all."""
LONGEST = 40
"""Characters of an answer in words."""
DECIMAL_COMMA = re.compile(r"([+-]?)(0,\d+|\d+,(?!\d{3}$)\d+)")
"""A number with a decimal comma; 1,000 may be a thousand and is none."""


def one_of_two(cell: Any) -> float | None:
    """1 for a word that passes, 0 for one that fails."""
    word = str(cell).strip().lower().rstrip(".!").replace(" ", "_")
    if word in _set("pass"):
        return 1.0
    return 0.0 if word in _set("fail") else None


GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Grades as Inspect gives them: correct, partially, incorrect, no answer."""


def score_of_word(text: str) -> float | None:
    """The score of a word that stands alone, without others of its column: a grade, or one of two answers."""
    word = text.strip().lower()
    if word.upper() in GRADES:
        return GRADES[word.upper()]
    return one_of_two(word) if word in _set("alone") else None


def is_blank(cell: Any) -> bool:
    """Whether a cell holds no answer: nothing, a word for that, or what is no number."""
    return cell is None or cell != cell or str(cell).strip().lower() in _set("blank") or not str(cell).strip()


def number_of(cell: Any) -> float | None:
    """A finite number, also with a decimal comma; of true and false 1 and 0."""
    if isinstance(cell, bool | np.bool_):
        return float(cell)
    text = str(cell).strip().removesuffix("%").strip()
    text = text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


@lru_cache
def _set(name: str) -> frozenset[str]:
    return frozenset(word for listed in answers(name) for word in (listed, listed.replace(" ", "_")))


_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_OUT_OF = re.compile(
    rf"({_NUMBER})\s*(?:/|out of|of|von|sur|de|из)\s*(\d+(?:[.,]\d+)?)(?:\s*(?:points?|stars?|pts?))?", re.I
)
_LABELLED = re.compile(
    r"(?:(?:the|final|overall|total|my|i|i'd|would|give|an?)\s+){0,4}"
    r"(?:(?:verdict|answer|label|judge?ment|decision|result)\s*(?=is\b|[:=：]|->)|score|rating|grade|level|likert|"
    r"note|nota|punkte|bewertung|urteil|оценка|评分|分数|評価)\s*(?:is|[:=：]|\s|->)\s*(.+)",
    re.I | re.S,
)
_BRACKETS = re.compile(
    r"(?:\[\[(.+?)\]\]|\[(.+?)\]|\((.+?)\)|\*\*(.+?)\*\*|\"(.+?)\"|'(.+?)'|“(.+?)”|«(.+?)»|`(.+?)`|\$?\\boxed\{(.+?)\}\$?|<(?:\w+)>(.+?)</\w+>)\.?",
    re.S,
)
_UNIT = re.compile(
    rf"({_NUMBER})\s*-?\s*(?:stars?|points?|pts?\.?|sterne?|punkte?|étoiles?|estrellas?|estrelas?|звезд\w*|балл\w*|分|星|点|"
    r"★|⭐️?|☆|th|st|nd|rd|[.)])",
    re.I,
)
_SIGNS = re.compile(r"([★⭐🌟●✮])(?:\ufe0f?\1|\ufe0f)*\s*[☆○✩]*")
_CALL = re.compile(r"(?:[a-z_][\w.]*)\(\s*['\"]?(.+?)['\"]?\s*(?:,\s*\w+\s*=.*)?\)", re.I | re.S)
_MEMBER = re.compile(r"<?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.([A-Za-z_]\w*)(?::\s*.+?>)?>?")
_NUMBERED = re.compile(rf"({_NUMBER})\s*(?:[-–—:=.)|]+|\()\s*(\D.*)", re.S)
_NUMBER_LAST = re.compile(rf"([^\d:]+?)\s*[(\[:=]\s*({_NUMBER})\s*[)\]]?", re.S)
_FENCE = re.compile(r"```\w*\s*(.*?)\s*```", re.S)
_REASONED = re.compile(
    r"[*_\"'`\[(]*([^\W\d_]+(?:[ -][^\W\d_]+)?)[*_\"'`\])]*\s*(?:[:;,.!|\n–—]|\s-\s|\()\s*(.+)", re.S
)
_NUMBER_REASONED = re.compile(
    rf"({_NUMBER})(?:\s*/\s*\d+\b\W*|\s*(?:[:;|,\n(]|\s[-–—]\s|\.\s)|\s+(?=because|since|as|weil|car|porque))\s*(\D.*)",
    re.S,
)

Match = tuple[str, str]
"""The answer inside a cell, and what must be alike in all cells of the pattern (“” for nothing)."""


def _out_of(text: str) -> Match | None:
    match = _OUT_OF.fullmatch(text)
    return (match[1], match[2]) if match else None


def _labelled(text: str) -> Match | None:
    match = _LABELLED.fullmatch(text)
    return (match[1].strip(), "") if match else None


def _bracketed(text: str) -> Match | None:
    match = _BRACKETS.fullmatch(text)
    inner = next(filter(None, match.groups()), "") if match else ""
    return (inner.strip(), "") if inner and "," not in inner else None


def _unit(text: str) -> Match | None:
    match = _UNIT.fullmatch(text)
    return (match[1], "") if match else None


def _signs(text: str) -> Match | None:
    plain = text.replace("\ufe0f", "")
    if not _SIGNS.fullmatch(plain):
        return None
    return str(plain.count(plain[0])), ""


def _call(text: str) -> Match | None:
    match = _CALL.fullmatch(text)
    return (match[1], "") if match else None


def _member(text: str) -> Match | None:
    match = _MEMBER.fullmatch(text)
    return (match[1].replace("_", " "), "") if match else None


def _numbered(text: str) -> Match | None:
    match = _NUMBERED.fullmatch(text)
    if match and len(match[2]) <= LONGEST:
        return match[1], ""
    match = _NUMBER_LAST.fullmatch(text)
    return (match[2], "") if match and len(text) <= LONGEST else None


def _reasoned(text: str) -> Match | None:
    match = _NUMBER_REASONED.fullmatch(text)
    if match:
        return match[1], ""
    match = _REASONED.fullmatch(text)
    if not match:
        return None
    two = match[1].lower()
    one = match[1].lower().split()[0]
    word = next((word for word in (two, one) if known_word(word)), "")
    return (word, "") if word else None


def known_word(word: str) -> bool:
    """Whether a word is an answer by itself: one that passes or fails, or a middle."""
    return one_of_two(word) is not None or word.lower() in _set("middle")


def parsed(text: str) -> Any:
    """A JSON value or a literal of Python in a text, also in a fence; None where there is none."""
    fenced = _FENCE.search(text)
    inner = fenced[1] if fenced else text
    if not inner.startswith(("{", "[")):
        begin = inner.find("{")
        end = inner.rfind("}")
        if begin < 0 or end < begin or (not fenced and begin > SAMPLED):
            return None
        inner = inner[begin : end + 1]
    try:
        return json.loads(inner)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(inner) if len(inner) < 10_000 else None
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def field_of(value: Mapping[str, Any]) -> Any:
    """The answer in an object: the first field of a known name, also one object deeper, else the only one."""
    lowered = {str(name).lower(): inner for name, inner in value.items()}
    for name in answers("fields"):
        inner = lowered.get(name)
        if isinstance(inner, Mapping):
            inner = field_of(inner)
        if isinstance(inner, str | int | float) and not (isinstance(inner, str) and len(inner) > LONGEST):
            return inner
    plain = [inner for inner in value.values() if isinstance(inner, int | float)]
    return plain[0] if len(plain) == 1 else None


def failed(value: Mapping[str, Any]) -> bool:
    """Whether an object says that its answer could not be made or read."""
    lowered = {str(name).lower(): inner for name, inner in value.items()}
    return any(
        lowered.get(name) not in (None, False, "", 0, "false", "False", "none", "no")
        for name in answers("failures")
    )


def _object(text: str) -> Match | None:
    value = parsed(text) if "{" in text else None
    if value is None and text[:1] == "(" and text[-1:] == ")":
        value = _literal(text)
    if isinstance(value, list | tuple):
        value = value[0] if len(value) == 1 and isinstance(value[0], Mapping) else _only_number(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value), ""
    inner = field_of(value) if isinstance(value, Mapping) else None
    return None if inner is None else (str(inner), "")


def _literal(text: str) -> Any:
    """A literal of Python; None where a text is none."""
    try:
        return ast.literal_eval(text) if len(text) < SAMPLED else None
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _only_number(values: Sequence[Any]) -> Any:
    """The one number among values; None where there are several, or none."""
    numbers = [value for value in values if isinstance(value, int | float)]
    return numbers[0] if len(numbers) == 1 else None


_SEPARATOR = re.compile(r"\s*[|;,+/&]\s*|\s+and\s+")


def listed(value: Any) -> list[str] | None:
    """The labels of a cell that is a list, or a text that writes one."""
    if isinstance(value, list | tuple | set | frozenset):
        return (
            None if any(isinstance(part, list | dict) for part in value) else [str(p).strip() for p in value]
        )
    text = str(value).strip()
    if text.startswith("[["):
        return None
    if text[:1] in "[({" and text[-1:] in "])}":
        inner = parsed(text) if text[0] == "[" else None
        if isinstance(inner, list):
            return [str(part).strip() for part in inner]
        if ":" in text:
            return None
        text = text[1:-1]
        return [part.strip(" '\"") for part in text.split(",") if part.strip(" '\"")] if text.strip() else []
    return None


def _set_of(text: str) -> Match | None:
    labels = listed(text)
    if labels is None:
        labels = _SEPARATOR.split(text)
    if any(number_of(label) is not None or len(label) > LONGEST for label in labels):
        return None
    return " + ".join(sorted({label.lower() for label in labels if label})) or "(none)", ""


_PATTERNS: Mapping[CellPattern, Callable[[str], Match | None]] = {
    CellPattern.OUT_OF: _out_of,
    CellPattern.UNIT: _unit,
    CellPattern.SIGNS: _signs,
    CellPattern.NUMBERED: _numbered,
    CellPattern.OBJECT: _object,
    CellPattern.BRACKETED: _bracketed,
    CellPattern.CALL: _call,
    CellPattern.MEMBER: _member,
    CellPattern.NAMED: _labelled,
    CellPattern.REASONED: _reasoned,
}
"""Tried in this order on a column whose cells are neither numbers nor known words."""


@dataclass(frozen=True)
class CellReading:
    """The answers inside the distinct cells of a column, in their order, and the patterns they are written
    in.
    """

    cores: tuple[str, ...]
    patterns: tuple[CellPattern, ...] = ()
    example: str = ""

    @property
    def numeric(self) -> bool:
        """Whether every answer that is not blank is a number."""
        answers = [core for core in self.cores if not is_blank(core)]
        return bool(answers) and all(number_of(core) is not None for core in answers)


def read_cells(values: Sequence[Any], counts: Sequence[int]) -> CellReading:
    """The answers in distinct cells, which come so often. A cell that the pattern does not read stays as it
    is.
    """
    texts = [str(value).strip() for value in values]
    patterns: list[CellPattern] = []
    example = ""
    for _ in range(3):
        step = _step(texts, counts, patterns)
        if step is None:
            break
        pattern, cores = step
        example = example or next((t for t, c in zip(texts, cores, strict=True) if t != c), "")
        patterns.append(pattern)
        texts = cores
    return CellReading(tuple(texts), tuple(patterns), example)


def _step(
    texts: Sequence[str], counts: Sequence[int], before: Sequence[CellPattern]
) -> tuple[CellPattern, list[str]] | None:
    """The pattern that reads a column, and what it leaves of each cell; None where cells are plain."""
    weights = [0 if is_blank(text) else n for text, n in zip(texts, counts, strict=True)]
    total = sum(weights)
    plain = sum(
        n
        for text, n in zip(texts, weights, strict=True)
        if n and (number_of(text) is not None or known_word(text))
    )
    if not total or plain >= ENOUGH * total:
        return None
    sample = sorted(range(len(texts)), key=lambda place: -weights[place])[:SAMPLED]
    for pattern, read in _PATTERNS.items():
        if pattern in before and pattern is not CellPattern.BRACKETED:
            continue
        sampled = sum(weights[place] for place in sample)
        if (
            sum(weights[place] for place in sample if weights[place] and _reads(read, texts[place]))
            < ENOUGH * sampled
        ):
            continue
        readings = [read(text) if n else None for text, n in zip(texts, weights, strict=True)]
        readable = sum(
            n
            for one, n, text in zip(readings, weights, texts, strict=True)
            if one or number_of(text) is not None
        )
        if readable < ENOUGH * total:
            continue
        ends = {one[1] for one in readings if one}
        cores = [one[0] if one else text for one, text in zip(readings, texts, strict=True)]
        if pattern is CellPattern.OUT_OF and len(ends) > 1:
            cores = [_ratio(*one) if one else text for one, text in zip(readings, texts, strict=True)]
        return pattern, cores
    return None


def _reads(read: Callable[[str], Match | None], text: str) -> bool:
    return read(text) is not None or number_of(text) is not None


def _ratio(number: str, end: str) -> str:
    part = number_of(number)
    total = number_of(end)
    return repr(part / total) if part is not None and total else number


def are_sets(values: Sequence[Any]) -> bool:
    """Whether distinct cells hold several labels, which come in more than one order or number.

    Either lists, as they are written, or labels of few different words between one and the same sign.
    """
    texts = [str(value).strip() for value in values if not is_blank(value)]
    if any(text.startswith("[{") for text in texts):  # objects, of which one may hold a score
        return False
    lists = [listed(text) for text in texts]
    if texts and all(labels is not None for labels in lists):
        flat = [label for labels in lists for label in labels or ()]
        return bool(flat) and not any(number_of(label) is not None for label in flat)
    parts = [_SEPARATOR.split(text) for text in texts]
    several = [labels for labels in parts if len(labels) > 1]
    if len(several) < 2:
        return False
    different = {label.lower() for labels in parts for label in labels}
    if any(number_of(label) is not None or len(label) > LONGEST for label in different):
        return False
    sets = {frozenset(label.lower() for label in labels) for labels in parts}
    return len(sets) < len({*map(str.lower, texts)}) and len(different) < len(texts) + 2


def as_sets(values: Sequence[Any]) -> CellReading:
    """The sets of labels in distinct cells, each written in one order."""
    sets_of_labels = [_set_of(str(value).strip()) for value in values]
    cores = tuple(one[0] if one else str(value) for one, value in zip(sets_of_labels, values, strict=True))
    return CellReading(cores, (CellPattern.SET,), next(iter(map(str, values)), ""))
