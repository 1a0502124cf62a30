"""Question types, one table: the scale, desk, judge's reply, statistics and words of each.

`TYPES` is the only place that knows what tells one type from another. All else asks a `Scale`, which knows
its type, or the entry of the type. A new type is an entry here, and a renderer in pages/desk/widgets.js if
no other fits.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

Name = Literal[
    "likert",
    "yes-no",
    "categories",
    "multi-label",
    "number",
    "slider",
    "passages",
    "correction",
    "pairwise",
    "ranking",
]
Level = Literal["ordinal", "nominal", "interval", "masi"]
"""Levels of measurement; “masi” is that of sets of labels."""
COMPARED: Mapping[Level, str] = {
    "ordinal": "by their order",
    "nominal": "as equal or not",
    "interval": "as numbers",
    "masi": "by the labels they share",
}
"""How the answers of two raters are compared at each level, in words."""
Lead = Literal["spearman", "kappa"]
"""The coefficient of agreement that a report begins with."""
Widget = Literal["options", "several", "number", "slider", "passages", "correction", "ranking"]
"""How a question is drawn at the desk: each has a renderer in pages/desk/widgets.js."""

MOST_POINTS = 1000
"""Whole numbers over a wider range than this are a continuous scale."""
OF_ONE = ("unit", "reason", "required", "counted", "only", "when")
"""The fields that every question about one conversation may have."""
PLACES = "1234567890x"
"""The keys of answers by their places."""
MOST_WORDS = 50_000
"""The most characters of an answer that is made of words: comparing two of them takes half a second."""
MOST_LABELS = 20
"""The most labels of a question with several answers: a set of them is a number with a bit for each."""
NONE = "(none)"
"""No label, as a word: an answer like others, where the question is which of several apply."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A set of answers. `labels` are written out for every value, lowest first.

    A continuous scale names its two ends only, and every score between them is on it. A guessed scale was
    made of scores, not declared. Answers without an order are numbered in the order in which they are shown:
    their numbers say nothing about more or less. Those of a pairwise scale say which of two is better: the
    first above 0, the second below, by far at the ends of a scale with strength. Where several labels may
    apply, their values are 1, 2, 4 …, and an answer is the sum of those that do, 0 where none does. Without a
    `type` it is yes-no if its values are 0 and 1, else likert.
    """

    values: tuple[float, ...]
    labels: tuple[str, ...]
    type: Name = ""  # type: ignore[assignment]  # never empty once it is made
    guessed: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.values) != len(self.labels) or len(self.values) < 2:
            raise ValueError("a scale needs at least two values and one label for each")
        if list(self.values) != sorted(set(self.values)):
            raise ValueError("the values of a scale must rise")
        object.__setattr__(self, "type", self.type or ("yes-no" if self.values == (0, 1) else "likert"))

    @classmethod
    def from_json(cls, text: str) -> "Scale":
        """The scale that `as_json` wrote."""
        values, labels, *rest = json.loads(text)
        return cls(tuple(values), tuple(labels), *rest)

    @property
    def as_json(self) -> str:
        """As a text, for the store."""
        return json.dumps(astuple(self))

    @property
    def kind(self) -> "QuestionType":
        """The entry of its type."""
        return TYPES[self.type]

    @property
    def low(self) -> float:
        """The lowest answer."""
        return 0 if self.sets else self.values[0]

    @property
    def high(self) -> float:
        """The highest answer."""
        return sum(self.values) if self.sets else self.values[-1]

    @property
    def width(self) -> float:
        """How far the ends lie apart."""
        return self.high - self.low

    @property
    def ordered(self) -> bool:
        """Whether its answers have an order, and a mean."""
        return self.kind.ordered

    @property
    def offered(self) -> tuple[float, ...]:
        """Its answers one by one; none where any number between the ends is one."""
        return () if self.kind.continuous else self.values

    @property
    def sets(self) -> bool:
        """Whether an answer is a set of its labels."""
        return self.kind.sets

    @property
    def two(self) -> bool:
        """Whether it has two answers, such as yes and no."""
        return len(self.offered) == 2 and not self.sets

    @property
    def named(self) -> bool:
        """Whether answers are read by name: categories, and one of two answers."""
        return not self.ordered or self.two

    @property
    def lead(self) -> Lead:
        """The coefficient that a report of agreement begins with; of two answers it is kappa."""
        return "kappa" if self.named else self.kind.lead

    def word(self, score: float, *, level: bool = False) -> str:
        """A score as people read it: a category or one of two answers by name, everything else as a number.

        `level` writes the name of a level behind its number (“4 Agree”). A score that is no answer of the
        scale, such as a mean, is a number of at most three decimals. Of several labels each is written.
        """
        if self.sets:
            return "; ".join(self.chosen(score))
        number = f"{round(score, 3):g}"
        label = dict(zip(self.values, self.labels, strict=True)).get(score, number)
        if self.named or label == number:
            return label
        return f"{number} {label}" if level else number

    def chosen(self, score: float) -> list[str]:
        """An answer as other tools write a choice: its word, or each label of a set, NONE of an empty one."""
        if not self.sets or score not in self:
            return [self.word(score, level=True) if not self.sets else f"{score:g}"]
        pairs = zip(self.values, self.labels, strict=True)
        return [label for value, label in pairs if int(score) & int(value)] or [NONE]

    def words(self, scores: Sequence[float]) -> str:
        """Several scores in one line: names with the number of times, the most frequent first; else numbers
        in the order given.
        """
        if not self.named:
            return " ".join(map(self.word, scores))
        counted = Counter(map(self.word, scores)).most_common()
        return ", ".join(f"{word} × {n}" if n > 1 else word for word, n in counted)

    def read(self, text: str) -> float | None:
        """The answer that a text says: a word of the scale in any case, alone or behind its number, else a
        number, which may lie off the scale; None where it is neither. Numbers come first where answers are
        read as numbers. Several labels are a list of JSON, or stand between “;”, “|” or “,”.
        """
        if self.sets:
            return self._read_set(text)
        text = text.strip().casefold()
        words = {label.casefold(): value for value, label in zip(self.values, self.labels, strict=True)}
        words |= {self.word(value, level=True).casefold(): value for value in self.offered}
        number = float(text) if _NUMBER.fullmatch(text) else None
        return words.get(text, number) if self.named or number is None else number

    def _read_set(self, text: str) -> float | None:
        """The answer that names these labels, or its number; None where a label is unknown."""
        if _NUMBER.fullmatch(text.strip()):
            return float(text)
        words = {label.casefold(): value for label, value in zip(self.labels, self.values, strict=True)}
        try:
            names = [text] if text.strip().casefold() in words else _list_of(text)
        except ValueError:
            return None
        labels = {name.strip().casefold() for name in names} - {NONE, ""}
        if not labels <= words.keys():
            return None
        return float(sum(words[label] for label in labels))

    @property
    def legend(self) -> list[str]:
        """Its answers as a reader is told them: each with its name, or the two ends."""
        if not self.offered:
            return [f"any number from {self.low:g} to {self.high:g}"]
        return [
            label if label == f"{value:g}" else f"{value:g} {label}"
            for value, label in zip(self.values, self.labels, strict=True)
        ]

    def apart(self, by: float) -> float:
        """A difference of two answers as a share of the scale; two that have no order differ wholly."""
        return by / self.width if self.ordered else float(by > 0)

    def __contains__(self, score: float) -> bool:
        if self.sets:
            return float(score).is_integer() and 0 <= score <= self.high
        return score in self.offered if self.offered else self.low <= score <= self.high


class Choice(NamedTuple):
    """An answer at the desk: its value, its number or place as shown, its words, the key that gives it.

    `say` are words that the desk translates, `letter` is a second key.
    """

    value: float
    shown: str
    label: str
    key: str
    say: str = ""
    letter: str = ""


Fields = Mapping[str, Any]
"""What a rubric's file says of a question."""


def _list_of(text: str) -> list[str]:
    """The texts of a JSON list, or of a list between semicolons or bars, else commas. Raises ValueError."""
    if text.lstrip().startswith("["):
        return [str(entry) for entry in json.loads(text)]
    if ";" in text or "|" in text:
        return re.split("[;|]", text)
    return text.split(",")


def _number(scale: Scale, value: Any) -> float:
    return float(value)


def _of_label(scale: Scale, value: Any) -> float:
    return scale.values[scale.labels.index(value)]


def _whole(scale: Scale) -> Any:
    from pydantic import Field  # takes its time to load

    values = [int(value) for value in scale.values]
    if scale.offered and values != list(range(values[0], values[-1] + 1)):
        return Literal[tuple(values)]
    return Annotated[int, Field(ge=values[0], le=values[-1])]


def _listed(scale: Scale) -> Any:
    one: Any = Literal[scale.labels]
    return list[one]


def _either(labels: Sequence[str]) -> str:
    return " or ".join(f'"{label}"' for label in labels)


def _from_to(scale: Scale) -> str:
    return f"<{scale.low:g} to {scale.high:g}>"


def _levels(scale: Scale) -> list[tuple[str, str]]:
    pairs = [(f"{value:g}", label) for value, label in zip(scale.values, scale.labels, strict=True)]
    return [(value, label if label != value else "") for value, label in pairs]


def _places(scale: Scale) -> list[Choice]:
    """The keys count places, which are shown in place of the answers' numbers."""
    answers = enumerate(zip(scale.values, scale.labels, strict=True))
    return [Choice(value, f"{n + 1}", label, PLACES[n : n + 1]) for n, (value, label) in answers]


def _digits(scale: Scale) -> list[Choice]:
    """The key is the value itself where every value is one from 0 to 10, else it counts places. 0 gives a 10
    on a scale without a 0, x on one with it.
    """
    choices = [choice._replace(shown=f"{choice.value:g}") for choice in _places(scale)]
    if not all(value in range(11) for value in scale.values):
        return choices
    ten = "x" if 0 in scale.values else "0"
    return [choice._replace(key=ten if choice.value == 10 else choice.shown) for choice in choices]


SIDES = (
    (2, "A by far", "A is better by far", Choice(2, "3", "", "3", "A by far")),
    (1, "A", "A is better", Choice(1, "1", "", "1", "A is better", "a")),
    (0, "tie", "neither is better", Choice(0, "0", "", "0", "A tie")),
    (-1, "B", "B is better", Choice(-1, "2", "", "2", "B is better", "b")),
    (-2, "B by far", "B is better by far", Choice(-2, "4", "", "4", "B by far")),
)
"""The answers to which of two is better: value, a judge's answer, what it means, the answer at the desk."""
LETTERS = "ABCDEFGH"
"""What the conversations of a ranking are called, in the order shown; there are no more of them."""


def ranks_of(text: str, n: int, *, ties: bool = True) -> tuple[int, ...]:
    """The rank of each of `n` replies by an order of letters, such as “B > A = C”: 1 the best, and after two
    that share a rank one is excluded. Raises ValueError where a letter is missing, or there twice.
    """
    places = [
        [letter.strip().upper() for letter in place.split("=")]
        for place in re.split("[>,]", text.strip(" []"))
    ]
    order = [letter for place in places for letter in place]
    if sorted(order) != list(LETTERS[:n]):
        raise ValueError(f"“{text[:80]}” must name each of {', '.join(LETTERS[:n])} once, the best first")
    if not ties and len(places) < n:
        raise ValueError(f"“{text[:80]}” has a tie, which this question does not allow")
    above = dict[str, int]()
    for place in places:
        above |= dict.fromkeys(place, 1 + len(above))
    return tuple(above[letter] for letter in LETTERS[:n])


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?")
_RANGE = re.compile(r"\s*(-?\d{1,9})\s*(?:\.\.|-)\s*(-?\d{1,9})\s*")
_VALUE = re.compile(r"\s*(-?\d{1,9})\s*")


def _likert(fields: Fields) -> Scale:
    """Whole numbers, with words for some or all of them."""
    if isinstance(fields["scale"], list):
        values = tuple(fields["scale"])
        if len(values) < 2 or list(values) != sorted(set(values)):
            raise ValueError("a scale needs at least two values, which rise, such as [0, 1, 2, 4]")
    else:
        low, high = _range(fields["scale"])
        if high - low >= MOST_POINTS:
            raise ValueError(f'a scale of {high - low + 1:,} points is a number: write type = "number"')
        values = tuple(range(low, high + 1))
    return Scale(values, _labels(values, fields["anchors"]))


def _yes_no(fields: Fields) -> Scale:
    return Scale((0, 1), _labels((0, 1), fields["anchors"], ("No", "Yes")))


def _categories(fields: Fields) -> Scale:
    names = fields["categories"]
    if len(names) < 2:
        raise ValueError("a question needs at least two categories")
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"the category “{twice}” is listed twice. Remove one")
    return categories(names)


def _several(fields: Fields) -> Scale:
    """Labels of which any number may apply."""
    names = _categories(fields).labels
    if len(names) > MOST_LABELS:
        raise ValueError(f"more than {MOST_LABELS} labels are too many. Use two questions")
    if odd := next((name for name in names if re.search(r"[;|]", name) or name == NONE), ""):
        raise ValueError(f"the label “{odd}” contains a separator of labels. Rename it")
    return labels(names)


def _checks(scale: Scale) -> list[Choice]:
    """The keys count labels; 0 says that none applies."""
    return [*_places(scale)[:9], *(c._replace(key="") for c in _places(scale)[9:]), NOTHING_APPLIES]


NOTHING_APPLIES = Choice(0, "0", "", "0", "None of these")


def _no_notes(fields: Fields) -> list[str]:
    return []


def _explained(fields: Fields) -> list[str]:
    """The anchors of a range as lines of the statement: a continuous scale has no answers to name."""
    levels = _anchors(fields["anchors"], *_range(fields["scale"]))
    return [f"{a}: {text}" if a == b else f"{a} to {b}: {text}" for a, b, text in levels]


def _slider(fields: Fields) -> Scale:
    """Whole numbers of which the two ends have words."""
    low, high = _range(fields["scale"])
    values = tuple(range(low, high + 1))
    if len(values) > len(PLACES):
        raise ValueError(f'a slider has at most {len(PLACES)} points. Write type = "number" for more')
    labels = _labels(values, fields["anchors"])
    if [value for value, label in zip(values, labels, strict=True) if label != f"{value}"] != [low, high]:
        raise ValueError(f'a slider has a word at each end. Write anchors = {{ {low} = "…", {high} = "…" }}')
    return Scale(values, labels, "slider")


def _ends(scale: Scale) -> list[tuple[str, str]]:
    return [_levels(scale)[0], _levels(scale)[-1]]


def _range(scale: Any) -> tuple[int, int]:
    ends = _RANGE.fullmatch(scale) if isinstance(scale, str) else None
    if not ends:
        raise ValueError(
            f'the scale “{scale}” is invalid. Write it as "1..5"; other answers have a type instead of a '
            f"scale: {', '.join(TYPES)}"
        )
    low = int(ends[1])
    high = int(ends[2])
    if low == high:
        raise ValueError("a scale needs at least two values")
    if low > high:
        raise ValueError(f'the scale must rise. Write "{high}..{low}"')
    return low, high


def _anchors(anchors: Mapping[str, str], low: int, high: int) -> list[tuple[int, int, str]]:
    """The anchors of a scale by the values they are for, which do not overlap, lowest first."""
    levels: list[tuple[int, int, str]] = []
    for key, text in anchors.items():
        if value := _VALUE.fullmatch(key):
            first = last = int(value[1])
        elif values := _RANGE.fullmatch(key):
            first = int(values[1])
            last = int(values[2])
        else:
            raise ValueError(f'the anchor “{key}” is invalid. Write 3 or "2..4"')
        if first > last or first < low or last > high:
            raise ValueError(f"the anchor “{key}” is outside the scale {low} to {high}")
        levels.append((first, last, text))
    levels.sort()
    for (_, end, _), (begin, last, _) in pairwise(levels):
        if begin <= end:
            key = f"{begin}..{last}" if last > begin else f"{begin}"
            raise ValueError(
                f"two anchors overlap at {begin}. Give “{key}” or the one before it another range"
            )
    return levels


def _labels(
    values: Sequence[float], anchors: Mapping[str, str], usual: Sequence[str] = ()
) -> tuple[str, ...]:
    """The words of each value: its anchor, else the usual ones, else its number."""
    labels = dict(zip(values, usual or [f"{value:g}" for value in values], strict=True))
    for a, b, text in _anchors(anchors, int(values[0]), int(values[-1])):
        meant = [value for value in values if a <= value <= b]
        if not meant:
            raise ValueError(f"the anchor “{a}” is outside the scale")
        labels |= dict.fromkeys(meant, text)
    return tuple(labels.values())


LIKERT_5 = Scale((1, 2, 3, 4, 5), ("Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree"))
YES_NO = Scale((0, 1), ("No", "Yes"))


# -- answers that are words of a reply: passages that were marked, and the reply as it should be
#
# Marked passages are kept as “12-30 45-50 of 200”: characters from 12 up to 30 and from 45 up to 50, of 200.

_KEPT = re.compile(r"((?:\d{1,9}-\d{1,9} )*)of (\d{1,9})")
_MARKED = re.compile(r"(?:\d{1,9}-\d{1,9}(?: |$))*(?:of \d{1,9})?")


def passages(kept: str) -> tuple[list[tuple[int, int]], int]:
    """Passages as they are kept, and the length of their text. Raises ValueError for another form."""
    form = _KEPT.fullmatch(kept)
    if form is None:
        raise ValueError(f"“{kept[:80]}” is not a list of passages such as “12-30 45-50 of 200”")
    return [(int(a), int(b)) for a, b in (each.split("-") for each in form[1].split())], int(form[2])


def marked(given: str, text: str) -> str:
    """The passages “12-30 45-50” of a text as they are kept: in order, those that meet made one.

    Raises ValueError where there is no such passage.
    """
    if not _MARKED.fullmatch(given):
        raise ValueError(f"“{given[:80]}” is not a list of passages such as “12-30 45-50”")
    parts = given.partition("of")[0].split()
    return _as_kept([(int(a), int(b)) for a, b in (part.split("-") for part in parts)], text)


def quoted(quotes: Sequence[str], text: str) -> str:
    """Passages by their words, each where they stand first, or next if they are quoted again. White space may
    differ. Raises ValueError for words that are not in the text.
    """
    places: list[tuple[int, int]] = []
    for quote in quotes:
        words = [re.escape(word) for word in quote.split()]
        matches = [m.span() for m in re.finditer(r"\s+".join(words), text)] if words else []
        if not matches:
            raise ValueError(f"“{quote[:80]}” is not in the reply. Quote its words exactly")
        places.append(next((place for place in matches if place not in places), matches[0]))
    return _as_kept(places, text)


def _as_kept(places: Sequence[tuple[int, int]], text: str) -> str:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(places):
        if not begin < end <= len(text):
            raise ValueError(f"the reply of {len(text)} characters has no passage {begin}-{end}")
        if merged and begin <= merged[-1][1]:
            begin = merged[-1][0]
            end = max(end, merged.pop()[1])
        merged.append((begin, end))
    return "".join(f"{begin}-{end} " for begin, end in merged) + f"of {len(text)}"


def marked_share(kept: str, text: str = "") -> float:
    """The share of the text's characters that is marked; 0 of an empty text."""
    places, length = passages(kept)
    return sum(end - begin for begin, end in places) / length if length else 0.0


def in_common(one: str, other: str) -> tuple[float, float, float, float]:
    """Of two people's passages in one text the characters that both marked, that each marked, and the text's.

    Raises ValueError where they are of texts of different lengths.
    """
    (first, length) = passages(one)
    (second, of) = passages(other)
    if length != of:
        raise ValueError("the passages are of different texts")
    both = sum(max(0, min(b, d) - max(a, c)) for a, b in first for c, d in second)
    return both, sum(b - a for a, b in first), sum(b - a for a, b in second), length


def edit_distance(one: str, other: str) -> float:
    """The edit distance of two texts (Levenshtein 1966) as a share of the longer one; 0 of two empty ones.

    A column of the table of distances is two numbers whose bits say where it rises and falls by one
    (Myers 1999; Hyyrö 2003): two texts of 50,000 characters take half a second. What they begin and end with
    alike adds nothing to it.
    """
    if not one or not other or one == other:
        return 0.0 if one == other else 1.0
    longer = max(len(one), len(other))
    begin = _alike(one, other)
    one = one[begin:]
    other = other[begin:]
    end = _alike(one[::-1], other[::-1])
    one = one[: len(one) - end]
    other = other[: len(other) - end]
    if not one or not other:
        return max(len(one), len(other)) / longer
    places: dict[str, int] = {}
    for place, sign in enumerate(one):
        places[sign] = places.get(sign, 0) | 1 << place
    every = (1 << len(one)) - 1
    last = 1 << len(one) - 1
    rises = every
    falls = 0
    distance = len(one)
    for sign in other:
        equal = places.get(sign, 0)
        kept = equal | falls
        along = (((equal & rises) + rises) ^ rises) | equal
        up = falls | (every & ~(along | rises))
        down = rises & along
        distance += bool(up & last) - bool(down & last)
        up = (up << 1 | 1) & every
        down = down << 1 & every
        rises = down | (every & ~(kept | up))
        falls = up & kept
    return distance / longer


def _alike(one: str, other: str) -> int:
    """With how many characters two texts begin alike."""
    differing = (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def corrected(given: str, text: str) -> str:
    """A correction as it is kept; the text itself where nothing is given. Raises ValueError for one that is
    too long.
    """
    if len(given.strip()) > MOST_WORDS:
        raise ValueError(f"a correction has at most {MOST_WORDS:,} characters, this one {len(given):,}")
    return given.strip() or text


def share_changed(kept: str, text: str) -> float:
    """The edit distance of a correction from its text as a share of the longer one. White space around them,
    and how the ends of lines are written, do not count: fields change both.
    """
    return edit_distance(_plain_ends(kept), _plain_ends(text))


def _plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def texts_in_common(one: str, other: str) -> tuple[float, float, float, float]:
    """How alike two texts are, as `in_common` says it: 1 less their distance, of 1 and 1."""
    return 1 - edit_distance(one, other), 1.0, 1.0, 1.0


@dataclass(frozen=True)
class Content:
    """What an answer holds beside its number, which is made of it and of the reply: it is kept where others
    have a reason.

    - `kept`: what the desk sends as it is kept, `read`: a judge's answer likewise, both with the reply;
    - `score`: the number; `common`: what two answers to one item have in common, of what each of them holds,
      and of the whole; `units`: whether that counts characters. All raise ValueError for what is no answer.
    """

    kept: Callable[[str, str], str]
    read: Callable[[Any, str], str]
    score: Callable[[str, str], float]
    common: Callable[[str, str], tuple[float, float, float, float]]
    units: bool


@dataclass(frozen=True)
class QuestionType:
    """One type of question. What is not told of a type is as of likert.

    - `words`: what an answer is, such as “one step of a scale”;
    - `level`: the level of measurement, by which Krippendorff's alpha is computed;
    - `lead`: the coefficient that a report of its agreement begins with;
    - `scale`: the scale of a question with these fields, which are all that it may have of its own;
    - `usual`: the scale where a rubric names none, `notes` what a statement is completed by, `begins` what a
      new question has beside its name and its statement;
    - `ordered`: whether answers have an order and a mean, `continuous`: whether every number is one;
    - `of_two`: whether it is asked of two conversations, `sets`: whether an answer is a set of labels;
    - `ranks`: whether it is asked of every two of a group of conversations at once, which are put in order;
    - `content`: what an answer holds beside a number; such a question is about single replies, and has
      neither a reason nor a known answer;
    - `widget` and `options`: how the desk asks it, and which answers have a key there;
    - `reply`, `example`, `beside`: the type of a judge's answer, how the form of the reply writes it, and the
      answers that are written beside it (value, words); `score` reads an answer.
    """

    words: str
    level: Level = "ordinal"
    lead: Lead = "spearman"
    fields: tuple[str, ...] = ("scale", "anchors")
    usual: str = ""
    scale: Callable[[Fields], Scale] = _likert
    notes: Callable[[Fields], list[str]] = _no_notes
    begins: Mapping[str, Any] = field(default_factory=dict)
    ordered: bool = True
    continuous: bool = False
    of_two: bool = False
    ranks: bool = False
    sets: bool = False
    content: Content | None = None
    widget: Widget = "options"
    options: Callable[[Scale], list[Choice]] = _digits
    reply: Callable[[Scale], Any] = _whole
    example: Callable[[Scale], str] = _from_to
    answer_labels: Callable[[Scale], list[tuple[str, str]]] = _levels
    score: Callable[[Scale, Any], float] = _number


TYPES: Mapping[Name, QuestionType] = {
    # Whole numbers, with words for some or all of them.
    "likert": QuestionType("one step of a scale", usual="1..5"),
    "yes-no": QuestionType(
        "yes or no",
        level="nominal",
        lead="kappa",
        fields=("anchors",),
        scale=_yes_no,
        reply=lambda scale: bool,
        example=lambda scale: "true or false",
        answer_labels=lambda scale: (
            [*zip(("false", "true"), scale.labels, strict=True)] if scale.labels != YES_NO.labels else []
        ),
    ),
    # One of several answers without an order.
    "categories": QuestionType(
        "one of several answers",
        level="nominal",
        lead="kappa",
        fields=("categories",),
        begins={"categories": ["one answer", "another"]},
        scale=_categories,
        ordered=False,
        options=_places,
        reply=lambda scale: Literal[scale.labels],
        example=lambda scale: _either(scale.labels),
        answer_labels=lambda scale: [(label, "") for label in scale.labels],
        score=_of_label,
    ),
    # Any of several labels, or none.
    "multi-label": QuestionType(
        "any of several labels",
        level="masi",
        lead="kappa",
        fields=("categories",),
        begins={"categories": ["one label", "another"]},
        scale=_several,
        ordered=False,
        sets=True,
        widget="several",
        options=_checks,
        reply=_listed,
        example=lambda scale: f"[every one that applies of {', '.join(map(json.dumps, scale.labels))}]",
        answer_labels=lambda scale: [(label, "") for label in scale.labels],
        score=lambda scale, chosen: float(sum({_of_label(scale, label) for label in chosen})),
    ),
    # A whole number in a wide range, which is typed.
    "number": QuestionType(
        "a number that is typed",
        level="interval",
        usual="0..100",
        scale=lambda fields: between(*_range(fields["scale"])),
        notes=_explained,
        continuous=True,
        widget="number",
        options=lambda scale: [],
        answer_labels=lambda scale: [],
    ),
    # A whole number from one word to another, which is pushed.
    "slider": QuestionType(
        "a point between two words",
        level="interval",
        usual="0..10",
        begins={"anchors": {"0": "not at all", "10": "wholly"}},
        scale=_slider,
        widget="slider",
        answer_labels=_ends,
    ),
    # What of a reply is wrong: the share of its characters that is marked, and the passages.
    "passages": QuestionType(
        "passages marked in a reply",
        level="interval",
        fields=(),
        scale=lambda fields: Scale((0, 1), ("nothing", "everything"), "passages"),
        continuous=True,
        content=Content(marked, quoted, marked_share, in_common, units=True),
        widget="passages",
        options=lambda scale: [Choice(0, "0", "", "0", "Nothing to mark")],
        reply=lambda scale: list[str],
        example=lambda scale: '["<words of the reply, exactly>", …], or [] where there is nothing to mark',
        answer_labels=lambda scale: [],
    ),
    # The reply as it should be: how far that is from the reply, and its text.
    "correction": QuestionType(
        "a corrected reply",
        level="interval",
        fields=(),
        scale=lambda fields: Scale((0, 1), ("as it is", "all anew"), "correction"),
        continuous=True,
        content=Content(
            corrected,
            corrected,
            share_changed,
            texts_in_common,
            units=False,
        ),
        widget="correction",
        options=lambda scale: [Choice(0, "0", "", "0", "Leave it as it is")],
        reply=lambda scale: str,
        example=lambda scale: '"<the reply as it should be; the same text where nothing is to be changed>"',
        answer_labels=lambda scale: [],
    ),
    # Which of two conversations, or of two last replies, is better.
    "pairwise": QuestionType(
        "which of two conversations is better",
        level="nominal",
        lead="kappa",
        fields=("ties", "strength"),
        scale=lambda fields: preferences(ties=fields["ties"], strength=fields["strength"]),
        ordered=False,
        of_two=True,
        options=lambda scale: [option for value, _, _, option in SIDES if value in scale],
        reply=lambda scale: Literal[scale.labels[::-1]],
        example=lambda scale: _either(scale.labels[::-1]),
        answer_labels=lambda scale: [(label, words) for value, label, words, _ in SIDES if value in scale],
        score=_of_label,
    ),
    # The order of two to eight conversations, or last replies: which is better of every two of them.
    "ranking": QuestionType(
        "the order of several conversations",
        level="nominal",
        lead="kappa",
        fields=("ties",),
        scale=lambda fields: replace(preferences(ties=fields["ties"]), type="ranking"),
        ordered=False,
        of_two=True,
        ranks=True,
        widget="ranking",
        options=lambda scale: [option for value, _, _, option in SIDES if value in scale],
        reply=lambda scale: str,
        example=lambda scale: (
            '"<the letters of all, the best first, such as B > A > C'
            + ("; of two that are equally good with =, such as B > A = C" if 0 in scale else "")
            + '>"'
        ),
        answer_labels=lambda scale: [],
    ),
}


def points(low: int, high: int) -> Scale:
    """A scale of whole numbers without words, such as 1 to 10."""
    values = tuple(range(low, high + 1))
    return Scale(values, tuple(map(str, values)))


def between(low: float, high: float, *, guessed: bool = False) -> Scale:
    """Every number between two."""
    return Scale((low, high), (f"{low:g}", f"{high:g}"), "number", guessed)


def categories(names: Sequence[str]) -> Scale:
    """A scale of categories, numbered from 0 in this order."""
    return Scale(tuple(range(len(names))), tuple(names), "categories")


def labels(names: Sequence[str]) -> Scale:
    """A scale of labels any number of which may apply, numbered 1, 2, 4 … in this order."""
    return Scale(tuple(2**place for place in range(len(names))), tuple(names), "multi-label")


def preferences(*, ties: bool = True, strength: bool = False) -> Scale:
    """The answers to which of two is better, as judges write them."""
    answers = [
        (value, label) for value, label, _, _ in SIDES[::-1] if abs(value) < 2 + strength if value or ties
    ]
    values, labels = zip(*answers, strict=True)
    return Scale(values, labels, "pairwise")


def scale_of(text: str) -> Scale:
    """The scale that a text declares: “1..5”, “1-5”, “1:bad,2:fair,3:good”, or “late|rude|wrong” where any
    number of labels may apply. Raises ValueError.
    """
    if "|" in text:
        return _several({"categories": [label.strip() for label in text.split("|")]})
    wholes = _RANGE.fullmatch(text)
    if wholes:
        low = int(wholes[1])
        high = int(wholes[2])
        return between(low, high) if high - low > MOST_POINTS else points(low, high)
    pairs = [answer.partition(":") for answer in text.split(",")]
    values = tuple(float(value) for value, _, _ in pairs)
    if not all(map(math.isfinite, values)):
        raise ValueError("a scale has finite values")
    return Scale(values, tuple(label.strip() or value.strip() for value, _, label in pairs))


def meant(type: Name, fields: Fields) -> Name:
    """The type of a question that is said to be of `type`: one of categories need not say so."""
    return "categories" if fields.get("categories") and type == "likert" else type


def question(type: Name, fields: Fields, given: Collection[str]) -> tuple[Scale, list[str]]:
    """The scale of a question of a rubric, and the lines that complete its statement.

    `fields` are its values, of which the rubric gives some (`given`). Raises ValueError: the end of a
    sentence without its full stop.
    """
    name = meant(type, fields)
    known = {each: kind.fields + (() if kind.of_two else OF_ONE) for each, kind in TYPES.items()}
    known |= {each: ("required", "only", "when") for each, kind in TYPES.items() if kind.content}
    for wrong in fields:
        types = [f'"{each}"' for each, fields in known.items() if wrong in fields]
        if wrong in given and types and wrong not in known[name]:
            raise ValueError(
                f"a {name} question has no {wrong}. Remove it, or write type = {' or '.join(types)}"
            )
    kind = TYPES[name]
    completed = {**fields, "scale": fields["scale"] or kind.usual}
    return kind.scale(completed), kind.notes(completed)
