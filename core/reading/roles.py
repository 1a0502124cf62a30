"""What each column of a table is, from evidence: the words of its name, its values, how they relate to
others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import chain, pairwise
from shlex import quote

import numpy as np

from concord import messages
from concord.codes import ColumnRole, Computation, Domain, RoleReason
from concord.errors import not_found
from concord.rating import RaterKind
from concord.reading.evidence import (
    answers_like,
    compared_from,
    computed_from,
    computed_words,
    rescaled,
    same_scores,
)
from concord.reading.names import NameReading, criteria_of, extends, holds_part, parts, rest_of
from concord.reading.profile import Answers, Profile
from concord.reading.table import SourceTable
from concord.reading.vocabulary import holds, kind_of_words, kinds_by_name, tokens, word_set, words

LISTS = ("texts", "questions", "groups", "criteria", "kinds", "raters", "repeats")
"""Lists of names of columns that hold no answers."""
MOST_NAMED = 8
SETTINGS = frozenset(("temp", "temperature", "seed"))
"""Words of a name that tell a judge's columns apart where a number follows: gpt4_temp0."""
SAME_WORD = 0.7
"""How alike two names are that may be one criterion in other spellings."""
MOSTLY = 0.7
"""The share of a column's numbers in the range of others from which it answers their question."""
MOST_JUDGES = 40
MOST_PEOPLE = 400
MOST_NAMES = 1_000
"""Of so many names the raters are counted."""
COMPARED = 60
"""Of so many columns it is asked which are computed from others, and which have one domain."""


@dataclass(frozen=True)
class RaterColumn:
    """A column of one rater's answers."""

    column: str
    criterion: str
    rater: str
    kind: RaterKind


@dataclass
class Roles:
    """The raters among the columns, and why others are none."""

    raters: list[RaterColumn] = field(default_factory=list)
    other_columns: dict[str, tuple[ColumnRole, RoleReason]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    sure: bool = True
    """Whether every rater is one by its own name or an option, not by a name that only may say so."""


def about_by_name(name: str) -> bool:
    """Whether a name says that its column is about an answer, a rater or an item."""
    name_words = [word for word in tokens(name) if not word.isdigit()]
    listed = word_set("about")
    if not name_words:
        return False
    kinds = word_set("people") | word_set("judges")
    rest = [word for word in name_words if not holds([word], kinds) and word not in word_set("plain")]
    if not rest:
        rest = name_words[1:] if len(name_words) > 1 and name_words[-1] not in word_set("plain") else []
        return bool(rest) and rest[-1] in listed and rest[-1] not in kinds
    return rest[-1] in listed or rest[0] in listed


def computed_by_name(name: str) -> bool:
    """Whether a name says that its column is computed from others."""
    return not word_set("computed").isdisjoint(tokens(name))


def soft(name: str, listed: str) -> bool:
    """Whether all words of a name that are about an answer are of a list."""
    words_about = [word for word in tokens(name) if word in word_set("about")]
    return bool(words_about) and {*words_about} <= word_set(listed)


@dataclass
class WideRoles:
    """Decides what the columns of a table with a column a rater are."""

    table: SourceTable
    profiles: Mapping[str, Profile]
    other_columns: Collection[str]
    """Columns that are something else: ids, groups, the criterion of a row."""
    judge_name: str = ""
    """The column that names the judge of each row."""

    def decide(self) -> Roles:
        """The roles. Raises ImportRefused with the command to type where it is not known whose columns
        are.
        """
        self.roles = Roles()
        stated_kinds = self._kinds_stated()
        candidates = [name for name in self.profiles if self._candidate(name, stated_kinds)]
        kinds = self._kinds(candidates, stated_kinds)
        candidates, kinds = self._with_soft(candidates, kinds, stated_kinds)
        kinds = self._with_members(self._with_gold(kinds, stated_kinds))
        rater_kinds = {name: kind for name, kind in kinds.items() if kind}
        self._refuse_many(rater_kinds)
        self._remove_derived(rater_kinds, stated_kinds)
        readings = criteria_of(rater_kinds, self.table.options.criteria)
        self._refuse_criteria(rater_kinds, readings)
        if not stated_kinds and not any(one.criterion for one in readings.values()):
            self._ask_criteria(rater_kinds)
        for criterion in dict.fromkeys(one.criterion for one in readings.values()):
            group = [name for name in rater_kinds if readings[name].criterion == criterion]
            has_both = {rater_kinds[name] for name in group} >= {"human", "judge"}
            if not has_both and self._paired(rater_kinds, readings):
                self.roles.other_columns |= dict.fromkeys(group, (ColumnRole.OTHER, RoleReason.UNNAMED))
                continue
            group = self._independent(group, rater_kinds, stated_kinds)
            group = self._same_question(group, rater_kinds, stated_kinds)
            self._refuse_sides(group, rater_kinds, stated_kinds)
            self.roles.raters += [
                RaterColumn(name, criterion, readings[name].rater, rater_kinds[name]) for name in group
            ]
        kinds_found = {rater.kind for rater in self.roles.raters}
        unsure = self._unsure(candidates, kinds, stated_kinds)
        self._ask(kinds_found, unsure, stated_kinds)
        self._plain_names()
        return self.roles

    def _kinds_stated(self) -> dict[str, RaterKind]:
        """The columns that options name, with their kinds; a part of names stands for all that have it."""
        options = self.table.options
        stated_kinds: dict[str, RaterKind] = {}
        by_kind: tuple[tuple[RaterKind, tuple[str, ...]], ...]
        by_kind = (("human", options.people), ("judge", options.judges), ("gold", options.gold))
        if self.table.pair and not options.raters:
            return {self.table.pair[0]: "human", self.table.pair[1]: "judge"}
        for kind, names in by_kind:
            for name in names:
                columns = column_of(name, self.profiles)
                if not columns:
                    raise not_found("column", name, self.profiles)
                stated_kinds |= dict.fromkeys(columns, kind)
        return stated_kinds

    def _candidate(self, name: str, stated_columns: Collection[str]) -> bool:
        """Whether a column may hold answers; if not, why is noted."""
        if name in stated_columns:
            return True
        if name in self.other_columns:
            return False
        profile = self.profiles[name]
        listed = {word.lower() for names in LISTS for word in words(names)}
        reason: RoleReason | None = None
        if name.lower() in listed and not self._answers_itself(name):
            reason = RoleReason.NAMED
        elif about_by_name(name) and not self._rated_by_name(name):
            reason = RoleReason.NAME_ABOUT
        elif profile.answers.domain is Domain.EMPTY:
            if kinds_by_name([name])[name] is None:
                reason = RoleReason.EMPTY
        elif profile.answers.domain is Domain.TEXT:
            reason = RoleReason.TEXT_VALUES
        elif not profile.may_answer:
            kind = kinds_by_name([name])[name]
            index = profile.answers.domain is Domain.NUMBERS
            if index and not (kind and self._near(name, kind)):
                reason = RoleReason.LIKE_INDEX
            elif not index and (kind is None or self._doubtful(name, kind)):
                reason = RoleReason.TEXT_VALUES
        if reason:
            self.roles.other_columns[name] = (
                ColumnRole.ABOUT if reason is RoleReason.NAME_ABOUT else ColumnRole.OTHER,
                reason,
            )
        return reason is None

    def _doubtful(self, name: str, kind: RaterKind) -> bool:
        """Whether a name only may be a rater's, such as reference_answer, and another column's is as well."""
        if kind_of_words(tokens(name)):
            return False
        kinds = kinds_by_name([*self.profiles])
        return any(
            rater == kind and title != name and self.profiles[title].may_answer and not about_by_name(title)
            for title, rater in kinds.items()
        )

    def _answers_itself(self, name: str) -> bool:
        """Whether a column called as raters are, such as reviewer, holds answers that the other kind
        gives.
        """
        kind = kinds_by_name([name])[name]
        if kind is None or name.lower() not in {word.lower() for word in words("raters")}:
            return False
        answers = self.profiles[name].answers
        for second_name, profile in self.profiles.items():
            second_kind = kinds_by_name([second_name])[second_name]
            if (
                second_name != name
                and second_kind
                and second_kind != kind
                and not about_by_name(second_name)
                and answers.alike(profile.answers)
            ):
                return True
        return False

    def _near(self, name: str, kind: RaterKind) -> bool:
        """Whether a column whose numbers are all different has the range of one of the other kind of
        rater.
        """
        for second_name, profile in self.profiles.items():
            second_kind = kinds_by_name([second_name])[second_name]
            number = profile.answers.domain is Domain.NUMBERS
            if (
                number
                and second_name != name
                and second_kind
                and second_kind != kind
                and profile.answers.alike(self.profiles[name].answers)
            ):
                return True
        return False

    def _rated_by_name(self, name: str) -> bool:
        """Whether a column about an answer by its name is one of a rater's versions: gpt4_prompt1."""
        if not soft(name, "of_a_rater") or kinds_by_name([name])[name] != "judge":
            return False
        numbers = [right.isdigit() for word, right in pairwise([*tokens(name), ""]) if word in SETTINGS]
        if not all(numbers) or not self.profiles[name].varies:
            return False
        human_profiles = [
            profile
            for second_name, profile in self.profiles.items()
            if second_name != name
            and kinds_by_name([second_name])[second_name] == "human"
            and not about_by_name(second_name)
        ]
        return any(profile.answers.alike(self.profiles[name].answers) for profile in human_profiles)

    def _kinds(
        self, candidates: Sequence[str], stated_kinds: Mapping[str, RaterKind]
    ) -> dict[str, RaterKind | None]:
        """Whose answers candidates hold: as options say, then as their names do."""
        kinds = self._that_answer(kinds_by_name(candidates))
        for kind in ("human", "judge", "gold"):
            if kind in stated_kinds.values():
                kinds = {name: None if by_name == kind else by_name for name, by_name in kinds.items()}
        return {**kinds, **stated_kinds}

    def _that_answer(self, kinds: Mapping[str, RaterKind | None]) -> dict[str, RaterKind | None]:
        """The kinds without those of names that only may be raters', such as source_model, where the column
        shares no answer with one that is another kind's for sure.
        """
        sure = {name: kind for name in kinds if (kind := kind_of_words(tokens(name)))}
        answering: dict[str, RaterKind | None] = {}
        for name, kind in kinds.items():
            sure_of_another_kind = [
                second_name for second_name, second_kind in sure.items() if second_kind != kind
            ]
            domain = self.profiles[name].answers
            compared = (
                kind is not None
                and sure_of_another_kind
                and (name not in sure or self._better(name, kinds, sure_of_another_kind))
            )
            strange = compared and not any(
                self._comparable(domain, self.profiles[o].answers) for o in sure_of_another_kind
            )
            answering[name] = None if strange else kind
        return answering

    def _better(self, name: str, kinds: Mapping[str, RaterKind | None], sure_columns: Sequence[str]) -> bool:
        """Whether a column that is called judge_model may only name the judge: another one, of unknown
        meaning,
        shares the answers of the other kind.
        """
        unknown = [self.profiles[one].answers for one, kind in kinds.items() if kind is None and one != name]
        words_only = self.profiles[name].answers.domain is Domain.WORDS
        return words_only and any(
            one.shares(self.profiles[o].answers) for one in unknown for o in sure_columns
        )

    def _comparable(self, one: Answers, second: Answers) -> bool:
        """Whether columns share answers, or one has words that pass or fail and the other numbers."""
        return one.shares(second) or {one.domain, second.domain} == {Domain.NUMBERS, Domain.TWO}

    def _paired(self, rater_kinds: Mapping[str, RaterKind], readings: Mapping[str, NameReading]) -> bool:
        """Whether some criterion is answered by people and by judges."""
        by_criterion: dict[str, set[str]] = {}
        for name, one in readings.items():
            by_criterion.setdefault(one.criterion, set()).add(rater_kinds[name])
        return any({"human", "judge"} <= kinds for kinds in by_criterion.values())

    def _with_soft(
        self,
        candidates: list[str],
        kinds: dict[str, RaterKind | None],
        stated_kinds: Mapping[str, RaterKind],
    ) -> tuple[list[str], dict[str, RaterKind | None]]:
        """With columns that are about an answer by their name, where nothing else is a rater's.

        expert_confidence and llm_confidence are answers where there are no others of people and judges.
        """
        kinds_with_answers = {
            kind for name, kind in kinds.items() if kind and self.profiles[name].has_answer.any()
        }
        if {"human", "judge"} <= kinds_with_answers or stated_kinds:
            return candidates, kinds
        soft_columns = [
            name
            for name, (role, _) in self.roles.other_columns.items()
            if role is ColumnRole.ABOUT and self.profiles[name].may_answer and soft(name, "about_or_answer")
        ]
        soft_kinds = {name: kind for name, kind in kinds_by_name(soft_columns).items() if kind}
        rests = {
            kind: {
                tuple(word for word in tokens(name) if word in word_set("about"))
                for name in soft_kinds
                if soft_kinds[name] == kind
            }
            for kind in ("human", "judge")
        }
        shared = rests["human"] & rests["judge"]
        shared_columns = {
            name for name in soft_kinds if tuple(w for w in tokens(name) if w in word_set("about")) in shared
        }
        if not shared_columns:
            return candidates, kinds
        for name in shared_columns:
            del self.roles.other_columns[name]
        return [*candidates, *(name for name in soft_kinds if name in shared_columns)], {
            **kinds,
            **{name: soft_kinds[name] for name in soft_kinds if name in shared_columns},
        }

    def _with_gold(
        self, kinds: Mapping[str, RaterKind | None], stated_kinds: Mapping[str, RaterKind]
    ) -> dict[str, RaterKind | None]:
        """The kinds with gold labels told from people by their names. Where nobody else is a person, they
        stand for one.

        A name that may be something else, such as “reference”, says it only where others give its answers.
        """
        raters = [self.profiles[name].answers for name in kinds if kinds[name]]
        gold: dict[str, RaterKind | None] = {}
        for name, kind in kinds.items():
            if name in stated_kinds and kind != "gold":
                continue
            is_gold_name = kind == "gold" or (kind != "judge" and holds(tokens(name), word_set("gold")))
            domain = self.profiles[name].answers
            compared = [answers for answers in raters if answers is not domain]
            if is_gold_name and (kind or any(domain.shares(answers) for answers in compared)):
                gold[name] = "gold"
        if any(kind == "human" and name not in gold for name, kind in kinds.items()):
            return {**kinds, **gold}
        return {name: "human" if kind == "gold" else kind for name, kind in kinds.items()}

    def _with_members(self, kinds: dict[str, RaterKind | None]) -> dict[str, RaterKind | None]:
        """The kinds with columns of unknown names from which a mean of annotators or judges is computed."""
        unknown = [
            self.profiles[name] for name, kind in kinds.items() if kind is None and not computed_by_name(name)
        ]
        if not 1 < len(unknown) <= COMPARED:
            return kinds
        for name, kind in [*kinds.items()]:
            if kind and computed_by_name(name):
                computation = computed_from(self.profiles[name], unknown, ends=False)
                members = computation[1] if computation else ()
                kinds |= dict.fromkeys(members, kind)
        return kinds

    def _refuse_criteria(
        self, rater_kinds: Mapping[str, RaterKind], readings: Mapping[str, NameReading]
    ) -> None:
        """Refuse a stated criterion that no name of a column has."""
        for criterion in self.table.options.criteria:
            keys = tuple(part.key for part in parts(criterion))
            own_keys = {tuple(part.key for part in parts(one.criterion)) for one in readings.values()}
            if rater_kinds and any(own_one for own_one in own_keys) and keys not in own_keys:
                names = sorted({one.criterion for one in readings.values() if one.criterion})
                raise not_found("criterion", criterion, names)

    def _ask_criteria(self, rater_kinds: Mapping[str, RaterKind]) -> None:
        """Ask where annotators and judges spell several criteria differently: they must not be pooled."""
        columns: dict[str, dict[str, list[str]]] = {"human": {}, "judge": {}}
        for name, kind in rater_kinds.items():
            rest = "_".join(part.text for part in rest_of(name))
            if kind in columns and rest and self.profiles[name].may_answer:
                columns[kind].setdefault(rest, []).append(name)
        human, judge = columns.values()
        if min(len(human), len(judge)) < 2 or len(human) * len(judge) > COMPARED * MOST_JUDGES:
            return
        likeness = {
            (one, two): SequenceMatcher(None, one.lower(), two.lower()).ratio()
            for one in human
            for two in judge
        }
        (one, two), best = max(likeness.items(), key=lambda pair: pair[1])
        if not SAME_WORD <= best < 1:
            return
        people = human[one]
        judges = judge[two]
        raise self.table.refusal(
            messages.CRITERIA_SPELLED.format(
                people=messages.listed([*chain(*human.values())]),
                judges=messages.listed([*chain(*judge.values())]),
            ),
            f"--human {quote(','.join(people))} --judge {quote(','.join(judges))}",
        )

    def _refuse_many(self, rater_kinds: Mapping[str, RaterKind]) -> None:
        """Refuse more judges or people than columns can stand for."""
        for kind, plural, limit in (("judge", "judges", MOST_JUDGES), ("human", "annotators", MOST_PEOPLE)):
            names = [name for name, rater_kind in rater_kinds.items() if rater_kind == kind]
            readings = criteria_of({name: rater_kinds[name] for name in names[:MOST_NAMES]})
            if len({one.rater for one in readings.values()}) > limit:
                raise self.table.refusal(
                    f"{len(names):,} columns are read as {plural}, for example {names[0]} and {names[1]}; at "
                    f"most {limit} are compared. Should they be rows? If not, choose some.",
                    "--judge" if kind == "judge" else "--human",
                    quote(",".join(names[:2])),
                )

    def _same_question(
        self, group: list[str], rater_kinds: Mapping[str, RaterKind], stated_columns: Collection[str]
    ) -> list[str]:
        """The columns that answer what the others of their criterion answer; the rest is about them."""
        anchors = self._anchors(group, rater_kinds, stated_columns)
        if not anchors:
            return group
        columns = []
        for name in group:
            domain = self.profiles[name].answers
            if name in stated_columns or name in anchors or domain.domain is Domain.EMPTY:
                columns.append(name)
                continue
            alike = any(domain.alike(self.profiles[anchor].answers) for anchor in anchors)
            alike = alike or self._mostly_within(name, anchors) or self._of_like_range(name, group, anchors)
            numbers = domain.domain is Domain.NUMBERS
            other_scale = numbers and any(self.profiles[a].answers.domain is Domain.NUMBERS for a in anchors)
            base = next((one for one in group if one != name and extends(name, one)), "")
            sibling = any(rater_kinds[one] == rater_kinds[name] and one in anchors for one in group)
            if (
                alike
                or (not sibling)
                or (
                    other_scale
                    and not base
                    and rater_kinds[name] == "judge"
                    and not self._shares_rater_words(name, anchors)
                )
            ):
                columns.append(name)
            else:
                self.roles.other_columns[name] = (ColumnRole.ABOUT, RoleReason.OTHER_VALUES)
        return columns

    def _of_like_range(self, name: str, group: Sequence[str], anchors: Collection[str]) -> bool:
        """Whether the numbers of an annotator have the range of an anchor's, in other steps: one gives
        halves, another none.
        """
        if any(extends(name, column) for column in group if column != name):
            return False
        return any(
            self.profiles[name].answers.like_range(self.profiles[anchor].answers) for anchor in anchors
        )

    def _mostly_within(self, name: str, anchors: Collection[str]) -> bool:
        """Whether most numbers of a column lie in the range of an anchor: the others may mean no answer."""
        scores = self.profiles[name].scores
        scores = scores[np.isfinite(scores)]
        ranges = [
            self.profiles[one].answers
            for one in anchors
            if self.profiles[one].answers.domain is Domain.NUMBERS
        ]
        same_step = [
            answers
            for answers in ranges
            if answers.whole_numbers == self.profiles[name].answers.whole_numbers
        ]
        return len(scores) > 0 and any(
            np.mean((scores >= answers.low) & (scores <= answers.high)) >= MOSTLY for answers in same_step
        )

    def _shares_rater_words(self, name: str, anchors: Collection[str]) -> bool:
        """Whether a name has the rater's words of an anchor and other ones: annotator_age,
        annotator_score.
        """
        rater_words = {
            word for word in tokens(name) if holds([word], word_set("people") | word_set("judges"))
        }
        return any(rater_words & {*tokens(anchor)} for anchor in anchors)

    def _anchors(
        self, group: Sequence[str], rater_kinds: Mapping[str, RaterKind], stated_columns: Collection[str]
    ) -> tuple[str, ...]:
        """A person's and a judge's column that answer alike, those with the plainest names first."""

        def plain(name: str) -> tuple[bool, bool, int]:
            return name not in stated_columns, computed_by_name(name), len(parts(name))

        people, judges = (
            sorted((name for name in group if rater_kinds[name] in kinds), key=plain)
            for kinds in (("human", "gold"), ("judge",))
        )
        pairs = sorted(
            ((a, b) for a in people for b in judges), key=lambda pair: (plain(pair[0]), plain(pair[1]))
        )
        for test in ("alike", "shares"):
            for a, b in pairs:
                if getattr(self.profiles[a].answers, test)(self.profiles[b].answers):
                    return a, b
        if pairs:
            return pairs[0]
        return tuple((people or judges)[:1])

    def _independent(
        self, group: list[str], rater_kinds: Mapping[str, RaterKind], stated_columns: Collection[str]
    ) -> list[str]:
        """The columns that are not computed from others of their criterion."""
        independent = [*group]
        by_name = [name for name in group if computed_by_name(name) and name not in stated_columns]
        for name in by_name:
            rest = [
                one
                for one in independent
                if one != name and rater_kinds[one] == rater_kinds[name] and one not in by_name
            ]
            if any(self.profiles[one].has_answer.any() for one in rest):
                independent.remove(name)
                computation = computed_from(self.profiles[name], [self.profiles[one] for one in rest])
                self._excluded(name, computation or (_named_computation(name), tuple(rest)))
        for name in [name for name in independent if name not in stated_columns][:COMPARED]:
            same_kind = [one for one in independent if rater_kinds[one] == rater_kinds[name] and one != name]
            for sources in (same_kind, [one for one in independent if one != name]):
                profiles_of_sources = [self.profiles[one] for one in sources]
                computation = computed_from(
                    self.profiles[name], profiles_of_sources, ends=sources is same_kind
                )
                if computation is None and (
                    word_columns := computed_words(self.profiles[name], profiles_of_sources)
                ):
                    computation = (Computation.MAJORITY, word_columns)
                compares = not word_set("of_equality").isdisjoint(tokens(name))
                if (
                    computation is None
                    and compares
                    and (pair := compared_from(self.profiles[name], profiles_of_sources))
                ):
                    computation = (Computation.EQUALITY, pair)
                if computation is not None:
                    independent.remove(name)
                    self._excluded(name, computation)
                    break
        return independent

    def _remove_derived(self, kinds: dict[str, RaterKind], chosen_columns: Collection[str]) -> None:
        """Remove columns that hold a rater's answers on another scale, or a mean of them over criteria."""
        if len(kinds) > COMPARED or self.table.options.criteria:
            return
        readings = criteria_of(kinds)
        if len({reading.criterion for reading in readings.values()}) < 2:
            return
        for name in sorted(kinds, key=lambda name: (not computed_by_name(name), -len(parts(name)))):
            siblings = [
                sibling
                for sibling, kind in kinds.items()
                if readings[sibling].criterion != readings[name].criterion
                and kind == kinds[name]
                and _same_rater(readings[sibling].rater, readings[name].rater)
            ]
            if name in chosen_columns or not siblings:
                continue
            if computed_by_name(name) and len(siblings) > 1:
                profiles = [self.profiles[sibling] for sibling in siblings]
                computation = computed_from(self.profiles[name], profiles)
                computation = computation or (_named_computation(name), tuple(siblings))
            else:
                base = next(
                    (one for one in siblings if rescaled(self.profiles[name], self.profiles[one])), ""
                )
                computation = (Computation.SCALE, (base,))
                if not base:
                    continue
            del kinds[name]
            self._excluded(name, computation)

    def _excluded(self, name: str, computation: tuple[Computation, Sequence[str]]) -> None:
        self.roles.other_columns[name] = (ColumnRole.COMPUTED, RoleReason.EQUALS_COMPUTED)
        self.roles.warnings.append(messages.computed(name, *computation))

    def _refuse_sides(
        self, group: Sequence[str], rater_kinds: Mapping[str, RaterKind], stated_columns: Collection[str]
    ) -> None:
        """Refuse names that differ in case or spaces alone, unless options name them."""
        folded: dict[str, str] = {}
        for name in group:
            key = " ".join(name.casefold().split())
            if (first_name := folded.setdefault(key, name)) != name and not {name, first_name} <= {
                *stated_columns
            }:
                option = "--judge" if rater_kinds[name] == "judge" else "--human"
                raise self.table.refusal(
                    f"the columns “{first_name}” and “{name}” differ only in case or spaces. Choose the one "
                    "with answers, or both for two raters.",
                    option,
                    quote(f"{first_name},{name}"),
                )

    def _unsure(
        self,
        candidates: Sequence[str],
        kinds: Mapping[str, RaterKind | None],
        stated_columns: Collection[str],
    ) -> list[str]:
        """The columns of unknown meaning that may be raters'."""
        rater_columns = {rater.column for rater in self.roles.raters}
        unsure = [
            name
            for name in candidates
            if kinds.get(name) is None
            and name not in rater_columns
            and name not in self.roles.other_columns
            and not computed_by_name(name)
            and self.profiles[name].may_answer
        ]
        vary = [name for name in unsure if self.profiles[name].varies]
        unsure = vary or unsure
        raters = [self.profiles[rater.column] for rater in self.roles.raters]
        rater_answers = [rater.answers for rater in raters]
        if rater_answers:
            if all(rater.kind != "judge" for rater in self.roles.raters):
                unsure = self._likeliest(unsure, raters)
            unsure = [name for name in unsure if not self._names_group(name)] or unsure
            shared = [
                name
                for name in unsure
                if any(self.profiles[name].answers.shares(one) for one in rater_answers)
            ]
            alike = [name for name in unsure if self.profiles[name].answers.domain is rater_answers[0].domain]
            return shared or ([] if len(rater_answers) > 1 else alike or unsure)
        return self._largest(unsure)

    def _likeliest(self, names: Sequence[str], raters: Sequence[Profile]) -> list[str]:
        """The columns that may be a judge's, those first that answer as people do or share a part of their
        names.
        """
        keys = {part.key for rater in raters for part in rest_of(rater.name)} - word_set("computed")
        return sorted(
            names,
            key=lambda name: (
                not any(answers_like(self.profiles[name], one) for one in raters),
                keys.isdisjoint(part.key for part in parts(name)),
            ),
        )

    def _names_group(self, name: str) -> bool:
        """Whether a column names a model or a group: it is called so, and its cells are words."""
        listed = word_set("groups") | word_set("of_two") | {"id", "name", "slug", "key"}
        return self.profiles[name].answers.domain is Domain.WORDS and {*tokens(name)} <= listed

    def _largest(self, names: Sequence[str]) -> list[str]:
        """The most columns with one domain; all where none has another's."""
        best: list[str] = []
        for name in names[:COMPARED]:
            alike = [one for one in names if self.profiles[one].answers.alike(self.profiles[name].answers)]
            if len(alike) > len(best):
                best = alike
        return best if len(best) > 1 else [*names]

    def _ask(
        self, kinds_found: set[RaterKind], unsure: Sequence[str], stated_kinds: Mapping[str, RaterKind]
    ) -> None:
        """Ask where a kind of rater is not known, or a column may be one more rater."""
        table = self.table
        needed_found = kinds_found & {"human", "judge"}
        people = [rater.column for rater in self.roles.raters if rater.kind in ("human", "gold")]
        judges = [rater.column for rater in self.roles.raters if rater.kind == "judge"]
        options = table.options
        has_options = options.people or options.judges
        if (
            needed_found
            and needed_found.issuperset(table.needed_kinds)
            and (table.needed_kinds or has_options or not unsure)
        ):
            self._ask_more(unsure, people, judges, stated_kinds)
            return
        if not people and judges and self._only_names(judges, unsure):
            raise table.refusal(messages.ONLY_JUDGES.format(column=judges[0]))
        lacking = "annotators" if not people else "judges"
        if not unsure:
            raise table.refusal(self._nothing_left(lacking, "--human" if not people else "--judge"))
        if len(unsure) == 1 and not people and not judges:
            raise table.refusal(
                f"only {unsure[0]} could hold answers. Annotators and judges need one column each, or a "
                "column with the rater of every row (--rater)."
            )
        annotator_candidates, judge_candidates = (unsure, []) if judges else _two_sides(unsure)
        if people:
            judge_candidates = unsure[:1]
        if not people and not judges and not table.stated_raters:
            self._ask_whose(unsure, annotator_candidates, judge_candidates)
        raise table.refusal(
            f"which columns are {lacking}? Candidates: {', '.join(unsure[:MOST_NAMED])}.",
            *(() if people else ("--human", quote(",".join(annotator_candidates)))),
            *(("--judge", quote(",".join(judge_candidates))) if judge_candidates else ()),
        )

    def _only_names(self, judges: Sequence[str], unsure: Sequence[str]) -> bool:
        """Whether columns that are called after judges hold words that no column of answers has: they name
        judges.
        """
        judge_names = [self.profiles[name].answers for name in judges]
        answers = [self.profiles[name].answers for name in unsure]
        return all(
            one.domain is Domain.WORDS and not any(one.shares(answer) for answer in answers)
            for one in judge_names
        )

    def _ask_whose(self, unsure: Sequence[str], people: Sequence[str], judges: Sequence[str]) -> None:
        """Ask whether columns of unknown names are raters, or criteria that one rater answered."""
        if len(unsure) > MOST_JUDGES:
            raise self.table.refusal(
                f"{len(unsure):,} columns may hold answers, such as {unsure[0]} and {unsure[1]}. Should "
                f"they be "
                "rows? Else name some of annotators and of judges.",
                f"--human {quote(unsure[0])} --judge {quote(unsure[1])}",
            )
        if self.judge_name:
            raise self.table.refusal(messages.ONLY_JUDGES.format(column=self.judge_name))
        names = messages.listed(unsure)
        criteria = sum(not word_set("of_criteria").isdisjoint(tokens(name)) for name in unsure)
        if criteria * 2 > len(unsure):
            file = quote(self.table.name)
            question = messages.CRITERIA_OF_ONE.format(columns=names, file=file)
            raise self.table.refusal(question, "--labels", "LABELS.csv")
        raters = f"--human {quote(','.join(people))} --judge {quote(','.join(judges))}"
        raise self.table.refusal(
            messages.RATERS_OR_CRITERIA.format(columns=names, raters=raters), "--labels", "LABELS.csv"
        )

    def _nothing_left(self, lacking: str, option: str) -> str:
        """That no column is left, with those that were excluded and why."""
        columns = ", ".join([*self.profiles][:12]) or "no columns"
        kinds_of_names = kinds_by_name([*self.roles.other_columns])
        rater_kind = "human" if option == "--human" else "judge"
        excluded = [
            (name, reason)
            for name, (_, reason) in self.roles.other_columns.items()
            if reason in messages.REASONS
            and reason is not RoleReason.EMPTY
            and (kinds_of_names.get(name) == rater_kind or reason is RoleReason.TEXT_VALUES)
            and not self._never(name)
        ]
        answers = [self.profiles[rater.column].answers for rater in self.roles.raters]
        alike = [
            (name, reason)
            for name, (_, reason) in self.roles.other_columns.items()
            if reason is RoleReason.NAME_ABOUT
            and kinds_of_names.get(name) is None
            and any(self.profiles[name].answers.alike(answer) for answer in answers)
        ]
        excluded = [*(one for one in excluded if one[1] is not RoleReason.TEXT_VALUES), *alike, *excluded]
        message = f"no columns are recognised as {lacking}, and no other column could be. Columns: {columns}."
        if excluded:
            return f"{message} {messages.not_rater(*excluded[0], option)}."
        return f"{message} Add a column with answers of {lacking}."

    def _never(self, name: str) -> bool:
        """Whether a column is an id, an index, a hash, an address or a time, which no advice names."""
        reason = self.roles.other_columns.get(name, (ColumnRole.OTHER, RoleReason.UNNAMED))[1]
        return reason is RoleReason.LIKE_INDEX or name.lower() in {n.lower() for n in words("ids")}

    def _ask_more(
        self,
        unsure: Sequence[str],
        people: Sequence[str],
        judges: Sequence[str],
        stated_kinds: Mapping[str, RaterKind],
    ) -> None:
        """Ask whether a column that answers as raters do is one more of them: another verdict hangs on it."""
        if stated_kinds or not people or not judges:
            return
        raters = [self.profiles[rater.column] for rater in self.roles.raters]
        likely_raters = [
            name
            for name in unsure
            if not any(same_scores(self.profiles[name], rater) for rater in raters)
            and (
                self.table.stated_raters or any(answers_like(self.profiles[name], rater) for rater in raters)
            )
        ]
        if not likely_raters:
            return
        without_them = f"--human {quote(','.join(people))} --judge {quote(','.join(judges))}"
        with_them = f"--human {quote(','.join([*people, *likely_raters]))} --judge {quote(','.join(judges))}"
        are = f"{messages.listed(likely_raters)} {'answers' if len(likely_raters) == 1 else 'answer'}"
        raise self.table.refusal(
            f"{are} as {people[0]} and {judges[0]} do: does "
            f"{'it' if len(likely_raters) == 1 else 'each'} hold "
            f"another rater's answers? If not, add: {without_them}. If so, add:",
            with_them,
        )

    def _plain_names(self) -> None:
        """Call raters of several criteria alike: human_score of one criterion and human of another are
        one.
        """
        raters = self.roles.raters
        if not any(rater.criterion for rater in raters):
            return
        shorter = {rater.column: _without_plain(rater.rater) for rater in raters}
        names_by_criterion = {(rater.criterion, shorter[rater.column]) for rater in raters}
        if len(names_by_criterion) < len(raters):
            shorter = {rater.column: rater.rater for rater in raters}
        self.roles.raters = [
            RaterColumn(rater.column, rater.criterion, shorter[rater.column] or rater.kind, rater.kind)
            for rater in raters
        ]


def _without_plain(rater: str) -> str:
    plain = word_set("plain")
    telling_parts = [part.text for part in parts(rater) if not {*tokens(part.text)} <= plain]
    all_parts = parts(rater)
    if len(telling_parts) == len(all_parts) or not telling_parts:
        return rater
    return (" " if " " in rater else "_").join(telling_parts)


def _two_sides(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Names that may be annotators' and judges': those of one letter and of another, such as h1, h2 and m1,
    else all but the last one and that.
    """
    stems = {name: name.rstrip("0123456789").lower() for name in names}
    first, *rest = [*dict.fromkeys(stems.values())] or [""]
    if len(rest) == 1:
        sides = [[name for name in names if stems[name] == stem] for stem in (first, *rest)]
        return sides[0], sides[1]
    return names[:-1] or names, names[-1:]


def _same_rater(first: str, second: str) -> bool:
    """Whether two raters of several criteria are one, but for plain words in their names."""
    return _without_plain(first).lower() == _without_plain(second).lower()


def _named_computation(name: str) -> Computation:
    by_word = {
        "median": Computation.MEDIAN,
        "sum": Computation.SUM,
        "total": Computation.SUM,
        "min": Computation.MINIMUM,
        "minimum": Computation.MINIMUM,
        "max": Computation.MAXIMUM,
        "maximum": Computation.MAXIMUM,
        "majority": Computation.MAJORITY,
        "vote": Computation.MAJORITY,
        "mode": Computation.MAJORITY,
        "consensus": Computation.MAJORITY,
    }
    return next((by_word[word] for word in tokens(name) if word in by_word), Computation.MEAN)


def column_of(name: str, columns: Collection[str]) -> list[str]:
    """The columns that a user means: one of this name, in any case, else all that have it as a part."""
    if name in columns:
        return [name]
    folded = " ".join(name.casefold().split())
    alike = [column for column in columns if " ".join(column.casefold().split()) == folded]
    return alike or [column for column in columns if holds_part(column, name)]
