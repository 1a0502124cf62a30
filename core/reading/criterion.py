"""What the answers on one criterion mean: their scale, and the score of each distinct answer.

Answers are decided for a criterion as a whole, from how often each rater gives each of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from concord.questions import Scale, between, categories
from concord.rating import RaterKind
from concord.reading.cells import ENOUGH, GRADES, number_of, one_of_two
from concord.reading.options import NO_OPTIONS, TableOptions
from concord.reading.profile import MOST_WORDS
from concord.reading.vocabulary import answers, orders
from concord.statistics.position import side_of
from concord.studies.scales import shared_scale

PASS_FAIL = Scale((0, 1), ("fail", "pass"))
STRAY = 2
"""A word that people and judges both give so often is an answer, not a cell that cannot be read."""

_NEGATION = re.compile(r"^(?:not|non|no|un|in|im|ir|il|dis)[ _-]?")
_LETTERS = re.compile(r"[^a-zà-ÿ]+")

Score = Callable[[str], float | None]


@dataclass(frozen=True)
class RaterAnswers:
    """How often one rater gives each answer. `numbers` are those of a column of too many to count."""

    kind: RaterKind
    rater: str
    counts: Counter[str]
    numbers: np.ndarray[tuple[int], np.dtype[np.float64]] | None = None
    ordered: tuple[str, ...] = ()


@dataclass(frozen=True)
class CriterionReading:
    """How the answers on one criterion are read: their scale, the score of an answer (None: it has none), and
    both in words.

    Where that is unsure `problem` says why, and `option` what to type. `hint` is what else may be said.
    """

    scale: Scale
    score: Score
    description: str = ""
    problem: str = ""
    option: tuple[str, ...] = ()
    hint: str = ""
    of_rater: Mapping[str, Score] = field(default_factory=dict)
    """The scores of raters whose answers are read otherwise."""

    @property
    def numeric(self) -> bool:
        """Whether scores are the numbers in the cells."""
        return self.score is number_of


def reading_of(
    raters: Sequence[RaterAnswers], declared: Scale | None, options: TableOptions = NO_OPTIONS, name: str = ""
) -> CriterionReading:
    """How the answers of people and judges on one criterion are read, as they share them.

    A declared scale, order or set of categories stands. From `options.passing` on a number passes.
    """
    people = sum((one.counts for one in raters if one.kind == "human"), Counter())
    answer_counts = sum((one.counts for one in raters), Counter())
    if not answer_counts and all(one.numbers is None for one in raters):
        return CriterionReading(PASS_FAIL, one_of_two, "no answer")
    if declared is not None:
        numbers = [n for one in raters for n in _numbers_of(one)]
        if any(n % 1 for n in numbers) and not declared.sets:
            declared = between(declared.low, declared.high)
        described = f"from {declared.low:g} to {declared.high:g}, as declared"
        return CriterionReading(declared, partial(_scale_score, declared), described)
    if options.order:
        return _ordered(options.order, "as declared")
    if options.categories:
        return _named_categories(options.categories, answer_counts)
    if (order := next((one.ordered for one in raters if one.ordered), ())) and {
        word.lower() for word in answer_counts
    } <= {word.lower() for word in order}:
        return _ordered(order, "an ordered categorical")
    if {*answer_counts} <= GRADES.keys() and {*answer_counts} & {"C", "I"}:
        scale = between(0, 1) if "P" in answer_counts else Scale((0, 1), ("incorrect", "correct"))
        return CriterionReading(
            scale, partial(_grade, GRADES), "grades of Inspect: C is correct, I incorrect"
        )
    if options.passing is not None:
        return _passing(raters, people, answer_counts, options.passing)
    if (question := _words_beside_numbers(raters)) is not None:
        return question
    if any(one.numbers is not None for one in raters):
        return _numbers(raters)
    numeric = _share(answer_counts, number_of)
    beyond = any(number_of(word) not in (None, 0, 1) for word in answer_counts)
    if (
        numeric >= ENOUGH
        and (beyond or numeric == 1)
        and not {number_of(word) for word in answer_counts} - {None} <= {0, 1}
    ):
        return _numbers(raters)
    if (pairs := _preferences(answer_counts, raters)) is not None:
        return pairs
    if (negated := _negated(answer_counts, raters)) is not None:
        return negated
    middles = _middles(answer_counts, raters)
    if not middles and _share(answer_counts, one_of_two) >= ENOUGH:
        scale = _two_answers(people, answer_counts)
        return CriterionReading(scale, one_of_two, _two_words(scale))
    if numeric >= ENOUGH or (answer_counts and all(number_of(word) is not None for word in answer_counts)):
        return _numbers(raters)
    return _categories(answer_counts, middles, raters, name)


def _negated(answer_counts: Mapping[str, int], raters: Sequence[RaterAnswers]) -> CriterionReading | None:
    """Two answers of which one negates the other, such as toxic and not toxic; None for others."""
    words_left = _without_failures({word.lower(): n for word, n in answer_counts.items()}, raters)
    if len(words_left) != 2 or all(one_of_two(word) is not None for word in words_left):
        return None
    for positive, negative in (tuple(words_left), tuple(words_left)[::-1]):
        bare = _NEGATION.sub("", negative, count=1)
        if bare != negative and _LETTERS.sub("", bare) == _LETTERS.sub("", positive):
            scale = Scale((0, 1), (negative, positive))
            return CriterionReading(
                scale, partial(_lowered, {_plain(negative): 0.0, _plain(positive): 1.0}), _two_words(scale)
            )
    return None


def _without_failures(answer_counts: Mapping[str, int], raters: Sequence[RaterAnswers]) -> dict[str, int]:
    """The words that are answers: not those that say that no answer could be made or read, of judges
    alone.
    """
    by_people = {word.lower() for one in raters if one.kind != "judge" for word in one.counts}
    return {
        word: n
        for word, n in answer_counts.items()
        if word.lower() in by_people
        or {*_LETTERS.sub(" ", word.lower()).split()}.isdisjoint(answers("failure_words"))
    }


def _numbers_of(one: RaterAnswers) -> list[float]:
    if one.numbers is not None:
        return [*one.numbers[:1000].tolist()]
    return [number for word in one.counts if (number := number_of(word)) is not None]


def _share(words: Mapping[str, int], read: Score) -> float:
    """The share of answers that are read so."""
    total = sum(words.values())
    return sum(n for word, n in words.items() if read(word) is not None) / total if total else 0.0


def _middles(answer_counts: Mapping[str, int], raters: Sequence[RaterAnswers]) -> set[str]:
    """The words beside two answers that are answers of their own: a known middle, or one that people and
    judges both give.
    """
    lowered = Counter[str]()
    for word, n in answer_counts.items():
        lowered[word.lower().rstrip(".!")] += n
    two = {word: one_of_two(word) for word in lowered}
    passes = {word for word, score in two.items() if score == 1}
    fails = {word for word, score in two.items() if score == 0}
    middles = {word for word in lowered if word in answers("middle")}
    maybe = {word for word in passes if word in answers("may_be_middle")}
    if maybe and passes - maybe and fails:
        middles |= maybe
    if not passes and not fails:
        return middles
    for word in {word for word, score in two.items() if score is None} - middles:
        kinds = Counter(
            one.kind
            for one in raters
            if sum(n for text, n in one.counts.items() if text.lower().rstrip(".!") == word) >= STRAY
        )
        if kinds["human"] and kinds["judge"] and number_of(word) is None:
            middles.add(word)
    return middles


def _passing(
    raters: Sequence[RaterAnswers], people: Counter[str], answer_counts: Counter[str], passing: float
) -> CriterionReading:
    """Two answers, of which numbers from `passing` on are the one that passes."""
    if any(number_of(word) not in (None, 0, 1) for word in people):
        people, answer_counts = (
            Counter({word: n for word, n in words.items() if number_of(word) is None})
            for words in (people, answer_counts)
        )
    scale = _two_answers(people, answer_counts)
    beyond = {
        one.rater
        for one in raters
        if one.numbers is not None or any(number_of(word) not in (None, 0, 1) for word in one.counts)
    }
    return CriterionReading(
        scale,
        partial(_passing_score, passing),
        f"{_two_words(scale)}; numbers from {passing:g} pass",
        of_rater=dict.fromkeys(beyond, partial(_passing_score, passing, words_01=False)),
    )


def _words_beside_numbers(raters: Sequence[RaterAnswers]) -> CriterionReading | None:
    """The question from which number on an answer passes, where some answer in words and others in
    numbers.
    """
    for group, kind, opposite in (("annotators", "human", "judge"), ("judges", "judge", "human")):
        odd = _in_numbers(raters, opposite)
        words: Counter[str] = sum((one.counts for one in raters if one.kind == kind), Counter())
        total = sum(words.values()) + sum(
            len(o.numbers) for o in raters if o.kind == kind and o.numbers is not None
        )
        # 0 and 1 are words of people, and numbers of judges.
        readable = sum(
            n
            for word, n in words.items()
            if one_of_two(word) is not None and (kind == "human" or number_of(word) is None)
        )
        if any(number_of(word) not in (None, 0, 1) for word in words):
            continue
        if odd and total and readable >= ENOUGH * total:
            if kind == "human" and _zero_one_of(words) and odd[3]:
                continue
            rater, low, high, _ = odd
            problem = f"{group} give one of two answers, {rater} numbers from {low:g} to {high:g}. Say from "
            problem += "which number on an answer passes."
            option = ("--pass-from", f"{(low + high) / 2:.2g}")
            return CriterionReading(PASS_FAIL, one_of_two, problem=problem, option=option)
    return None


def _zero_one_of(words: Mapping[str, int]) -> bool:
    return all(number_of(word) in (0, 1) for word in words)


def _in_numbers(
    raters: Sequence[RaterAnswers], kind: RaterKind | str
) -> tuple[str, float, float, bool] | None:
    """The first rater of a kind with numbers other than 0 and 1, with the least and the greatest, and whether
    they are whole numbers of which most are 0 or 1, as those of a count are.
    """
    for one in raters:
        if one.kind != kind:
            continue
        if one.numbers is not None:
            return one.rater, float(np.nanmin(one.numbers)), float(np.nanmax(one.numbers)), False
        numbers = {word: number for word in one.counts if (number := number_of(word)) is not None}
        n = sum(one.counts[word] for word in numbers)
        if n >= ENOUGH * sum(one.counts.values()) and n and not {*numbers.values()} <= {0.0, 1.0}:
            values = [*numbers.values()]
            ones = sum(one.counts[word] for word, number in numbers.items() if number in (0, 1))
            count = not any(value % 1 for value in values) and ones > 0.6 * n
            return one.rater, min(values), max(values), count
    return None


def _two_answers(people: Mapping[str, int], answer_counts: Mapping[str, int]) -> Scale:
    """The scale of two answers in the words that people use most, else anybody.

    Where nobody gives one of the answers, its word is the one beside the other's in the lists of words.
    """
    words_of_scores: dict[float, str] = {}
    for words in (answer_counts, people):
        for word, _ in sorted(words.items(), key=lambda one: (len(one[0]) > 1, one[1])):
            if (score := one_of_two(word)) is not None:
                words_of_scores[score] = word.lower().rstrip(".!").removesuffix(".0")
    lists = {0.0: answers("fail"), 1.0: answers("pass")}
    for score, listed in lists.items():
        if score not in words_of_scores:
            opposite_words = lists[1 - score]
            words_of_scores[score] = listed[
                opposite_words.index(words_of_scores[1 - score]) if 1 - score in words_of_scores else 0
            ]
    return Scale((0, 1), (words_of_scores[0.0], words_of_scores[1.0]))


def _two_words(scale: Scale) -> str:
    """Two answers in words, the one that passes first."""
    return f"{scale.labels[1]} or {scale.labels[0]}"


def _numbers(raters: Sequence[RaterAnswers]) -> CriterionReading:
    people: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = [np.empty(0)]
    judges: dict[str, list[np.ndarray[tuple[int], np.dtype[np.float64]]]] = {}
    for one in raters:
        values = one.numbers
        if values is None:
            pairs = [(number, n) for word, n in one.counts.items() if (number := number_of(word)) is not None]
            values = np.repeat([v for v, _ in pairs], [n for _, n in pairs]) if pairs else np.empty(0)
        values = values[np.isfinite(values)]
        if one.kind == "judge":
            judges.setdefault(one.rater, []).append(values)
        else:
            people.append(values)
    arrays = {judge: np.concatenate(values) for judge, values in judges.items()}
    shared = shared_scale(np.concatenate(people), arrays, None)
    scale = shared.scale
    assert scale is not None, "a criterion has numbers"
    kind_of_number = "whole numbers" if scale.offered else "numbers"
    described = f"{kind_of_number} from {scale.low:g} to {scale.high:g} (guessed; --scale declares it)"
    return CriterionReading(scale, number_of, "; ".join([described, *shared.incomparable.values()]))


def _ordered(order: Sequence[str], note: str) -> CriterionReading:
    """A scale of words in their order, numbered from 1."""
    place = {_plain(word): float(rank) for rank, word in enumerate(order, 1)}
    scale = Scale(tuple(range(1, len(order) + 1)), tuple(order), "likert")
    return CriterionReading(scale, partial(_lowered, place), f"{' < '.join(order)}, {note}")


def _named_categories(names: Sequence[str], answer_counts: Mapping[str, int]) -> CriterionReading:
    """Categories by the names that options give; answers beyond them cannot be read."""
    place = {name.lower(): float(rank) for rank, name in enumerate(names)}
    numbers = {number_of(name): float(rank) for rank, name in enumerate(names) if number_of(name) is not None}

    def score(word: str) -> float | None:
        return place.get(word.lower(), numbers.get(number_of(word)))

    return CriterionReading(categories([*names]), score, f"categories {', '.join(names)}, as declared")


def _categories(
    answer_counts: Mapping[str, int], middles: set[str], raters: Sequence[RaterAnswers], name: str
) -> CriterionReading:
    """Categories, in a known order of words where they have one, else by name."""
    by_word: dict[str, str] = {}
    for word in _without_failures(answer_counts, raters):
        by_word.setdefault(_plain(word), word)
    if len(by_word) > MOST_WORDS or len(by_word) < 2:
        return CriterionReading(PASS_FAIL, one_of_two, problem=_no_categories(by_word, raters))
    order = known_order([*by_word]) or (_around(by_word, middles) if middles else ())
    words = [*order] if order else sorted(by_word)
    names = [by_word[word] for word in words]
    place = {word: float(rank) for rank, word in enumerate(words)}
    hint = ""
    if order:
        numbered = ",".join(f"{rank}:{word}" for rank, word in enumerate(names, 1))
        prefix = f"{name}=" if name else ""
        hint = f'if they have an order, --scale "{prefix}{numbered}"'
    elif len(names) > 2 and any(number_of(word) is not None for word in words):
        hint = f'if they have an order, --order "{"<".join(names)}"'
    described = f"categories {', '.join(names)}"
    return CriterionReading(
        categories(names), partial(_lowered, place), f"{described} ({hint})" if hint else described, hint=hint
    )


def _preferences(answer_counts: Mapping[str, int], raters: Sequence[RaterAnswers]) -> CriterionReading | None:
    """Answers that choose one of two, or neither, by side; those with a strength count as the preference
    alone.

    None where other answers are among them that are no stray cells.
    """
    by_word = {_plain(word): word for word in answer_counts}
    shares = {word: side_of(word) for word in by_word}
    if {word for word, share in shares.items() if share is None} == {"c"} and len(shares) == 3:
        shares["c"] = 0.5
    sides_told = {word: share for word, share in shares.items() if share is not None}
    if not {0.0, 1.0} <= {*sides_told.values()} or all(number_of(word) is not None for word in sides_told):
        return None
    total = sum(answer_counts.values())
    if sum(n for word, n in answer_counts.items() if _plain(word) in sides_told) < ENOUGH * total:
        return None
    if any(_given_often(word, raters) for word in by_word if word not in sides_told):
        return None
    names = {
        side: min((by_word[w] for w in sides_told if sides_told[w] == side), key=len)
        for side in {*sides_told.values()}
    }
    several = len(sides_told) > len(names)
    letters = {1.0: "A", 0.0: "B", 0.5: "tie"}
    labels = [letters[side] if several else names[side] for side in (1.0, 0.0, 0.5) if side in names]
    place = {side: float(n) for n, side in enumerate(side for side in (1.0, 0.0, 0.5) if side in names)}
    described = f"preferences {', '.join(labels)}" + (", without their strength" if several else "")
    score = partial(_lowered, {word: place[share] for word, share in sides_told.items()})
    return CriterionReading(categories(labels), score, described)


def _given_often(word: str, raters: Sequence[RaterAnswers]) -> bool:
    """Whether people and judges both give a word often enough to be an answer."""
    kinds = Counter(
        "judge" if one.kind == "judge" else "human"
        for one in raters
        if sum(n for text, n in one.counts.items() if _plain(text) == word) >= STRAY
    )
    return bool(kinds["human"] and kinds["judge"])


def known_order(words: Sequence[str]) -> tuple[str, ...]:
    """The words in the first known order that has them all, from the least; () where none has."""
    lowered = {word.lower() for word in words}
    for order in orders():
        if lowered <= {*order}:
            if all(len(word) <= 2 for word in lowered) and len(lowered) < 3:
                continue
            return tuple(word for word in order if word in lowered)
    return ()


def _around(by_word: Mapping[str, str], middles: set[str]) -> tuple[str, ...]:
    """Words that fail, those in the middle, words that pass; () where there are others."""
    clean = {word: word.rstrip(".!") for word in by_word}
    fails = [word for word in by_word if one_of_two(word) == 0 and clean[word] not in middles]
    passes = [word for word in by_word if one_of_two(word) == 1 and clean[word] not in middles]
    between_them = [word for word in by_word if clean[word] in middles]
    if len(fails) != 1 or len(passes) != 1 or len(fails + passes + between_them) < len(by_word):
        return ()
    return (*fails, *between_them, *passes)


def _no_categories(by_word: Mapping[str, str], raters: Sequence[RaterAnswers]) -> str:
    if len(by_word) < 2:
        example = "a single word"
        return (
            f"its answers are {example}: neither pass/fail nor numbers. Choose other columns with "
            "--human and "
            "--judge, or write the answers as numbers."
        )
    widest = max(raters, key=lambda one: len(one.counts))
    return (
        f"{len(widest.counts):,} different words in {widest.rater}; at most {MOST_WORDS} can be categories. "
        "Choose other columns with --human and --judge, merge answers with the same meaning, or write "
        "answers as numbers."
    )


def _plain(word: str) -> str:
    """A word as answers are compared: in lower case, with spaces for underscores."""
    return word.strip().lower().replace("_", " ")


def _scale_score(scale: Scale, word: str) -> float | None:
    number = number_of(word)
    return scale.read(word) if number is None else number


def _passing_score(passing: float, word: str, words_01: bool = True) -> float | None:
    """Whether an answer passes; 0 and 1 are words of a rater who gives no other numbers."""
    number = number_of(word)
    return one_of_two(word) if number is None or (words_01 and number in (0, 1)) else float(number >= passing)


def _grade(place: Mapping[str, float], word: str) -> float | None:
    return place.get(word.strip())


def _lowered(place: Mapping[str, float], word: str) -> float | None:
    return place.get(_plain(word))
