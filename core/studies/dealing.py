"""Who rates what of a study: the deal, its balance before it is made, extra raters where people differ."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING, Any

from sqlite_utils import Database

from concord.codes import AuditAct
from concord.errors import NotAllowed, NotFound, StudyError, check_known
from concord.rating import criteria_by_name
from concord.store import access, audit, closings, crowds, departures, frames, placements, studies
from concord.store.studies import Study, StudyRule
from concord.studies import annotation_flow, matching, sampling
from concord.studies.purposes import extra as extra_raters
from concord.studies.purposes import repeat
from concord.studies.purposes.adjudicate import Rule, refuse_too_wide

if TYPE_CHECKING:
    from concord.store.desk import Refusal

STATES = ("closed", "begun", "free")
"""Of a conversation on a desk: a unit is done or skipped, something was done about one, nothing was."""
States = dict[str, dict[str, str]]
"""Each person's conversations in their order: key → one of `STATES`."""


@dataclass(frozen=True)
class Deal:
    """What a deal does, or would do: who has which items once it is made.

    `units` are the units of each conversation, by key. `first` are the conversations everybody has without
    extra items; `new` and `back` what they get and give back for that. `disputed` are the units on which the
    first raters differ by the rule.
    """

    study: Study
    overlap: int
    """Raters of each conversation; 0: all people."""
    rule: Rule | None
    units: Mapping[str, Sequence[int]]
    people: Sequence[str]
    first: Mapping[str, Sequence[str]]
    new: Mapping[str, Sequence[str]]
    back: Mapping[str, Collection[str]]
    count_as_first: bool
    disputed: Collection[int]
    waiting: int
    """How many of these have no extra rater yet, because nobody who may rate them is free."""
    lacking: int
    """How many conversations have fewer raters than they should."""

    @cached_property
    def shared(self) -> dict[tuple[str, str], int]:
        """How many conversations every two of the people share, extra items left aside."""
        sets = {person: set(self.first.get(person, ())) for person in self.people}
        shared: dict[tuple[str, str], int] = {}
        for a, b in combinations(self.people, 2):
            shared[a, b] = len(sets[a] & sets[b])
        return shared

    def units_of(self, keys: Iterable[str]) -> list[int]:
        """The units of these conversations, in their order."""
        units: list[int] = []
        for key in keys:
            units.extend(self.units[key])
        return units

    @property
    def raters_per_item(self) -> int:
        """How many raters each conversation should have."""
        return self.overlap or len(self.people)

    @property
    def balance(self) -> str:
        """The balance in sentences."""
        items = [len(self.first.get(person, ())) for person in self.people]
        sentences = [f"Items of an annotator: {_between(items)}."]
        if self.shared:
            counts = [*self.shared.values()]
            sentences.append(f"Items that two annotators share: {_between(counts)}.")
            if max(counts) - min(counts) <= 1:
                sentences[-1] = f"Items that two annotators share: {_between(counts)} (as even as possible)."
        if self.lacking:
            sentences.append(f"{self.lacking} items have fewer raters than {self.raters_per_item}.")
        if self.rule:
            rule = self.rule.words(self.study.criteria)
            sentence = f"{len(self.disputed)} items have {rule}; each gets one extra rater"
            if self.waiting:
                sentence += f" ({self.waiting} of them wait until one is free)"
            sentences.append(f"{sentence}.")
        return " ".join(sentences)


def _between(counts: Sequence[int]) -> str:
    low = min(counts, default=0)
    high = max(counts, default=0)
    if low == high:
        return f"{low}"
    return f"{low} to {high}"


def deal_study(
    db: Database,
    name: str,
    annotators: Sequence[str] = (),
    *,
    overlap: int | None = None,
    repeats: float | None = None,
    extra: Rule | None = None,
    match: str | None = None,
) -> dict[str, int]:
    """Deal a study's units as `plan` says; returns everybody's number of items.

    The share `repeats` of each annotator's items, at most half, comes again (None: as before); these and gold
    items are mixed into the queues, and not among the numbers returned. Raises StudyError and NotFound.
    """
    if repeats is not None and not 0 <= repeats <= repeat.MOST_SHARE:
        raise StudyError(
            f"The share of repeat items must be from 0 to {repeat.MOST_SHARE:g}, not {repeats:g}."
        )
    if repeats and studies.get(db, name).ranks:
        raise StudyError("Rankings have no repeat items. Remove --repeats.")
    crowds.expire(db, name)
    deal = plan(db, name, annotators, overlap=overlap, extra=extra, match=match)
    if match is not None and match != studies.get(db, name).match:
        studies.set_match(db, name, match)
    if repeats is not None:
        studies.set_repeats(db, name, repeats)
    if extra is not None:
        rule = None
        if deal.rule:
            rule = StudyRule(extra.least, extra.criterion)
        studies.set_rule(db, name, "extra", rule)
    follow(db, deal, annotators)
    for person in annotators or [""]:
        audit.record(db, AuditAct.DEAL, name, person, audit.facts(overlap=overlap))
    return access.items_of(db, name)


def follow(
    db: Database,
    deal: Deal,
    annotators: Sequence[str] = (),
    unavailable: Sequence[str] = (),
) -> None:
    """Carry out a plan that was made for these people, and lay what belongs beside the rated items."""
    name = deal.study.name
    for person in departures.departed(db, name) & {*annotators}:
        departures.come_back(db, name, person, "named in an assignment")
    if deal.count_as_first:
        placements.count_as_first(db, name)
    for person, keys in deal.back.items():
        placements.reclaim(db, name, access.annotator_id(db, person), deal.units_of(keys))
    for person, keys in deal.new.items():
        placements.assign(db, access.annotator_id(db, person), deal.units_of(keys))
    studies.set_overlap(db, name, deal.overlap)
    annotation_flow.deal(db, name, unavailable=unavailable, reinstated=annotators)


def plan(
    db: Database,
    name: str,
    annotators: Sequence[str] = (),
    *,
    overlap: int | None = None,
    unavailable: Sequence[str] = (),
    extra: Rule | None = None,
    match: str | None = None,
) -> Deal:
    """What dealing a study's units to these annotators, beside those it has, would do; stores nothing.

    Every unit gets `overlap` raters (0: everybody; None: as before), pairs of annotators share as equally
    many units as can be, and everybody has about equally many units of each player and facet, each player's
    spread evenly over their order. All turns of a conversation go to the same people one after another. What
    somebody has begun stays theirs. Newcomers get what is too much at the end of others' queues, and
    everybody what those named in `unavailable` or with a revoked link have not begun.

    `extra` gives one more rater to each unit whose first raters differ by a rule (None: as before; a range of
    0: to none). A greater overlap makes the extra ratings there are like all others. `match` names a facet of
    conversations, or “language”: a conversation goes only to annotators among whose labels is its value
    (None: as before; “”: to all). Raises StudyError and NotFound.
    """
    study = studies.get(db, name)
    refuse_undealable(study)
    if closings.is_closed(db, name):
        raise NotAllowed(f"The study “{name}” is closed. `concord study reopen {name}` opens it again.")
    departed = extra_raters.departed_names(db, name, unavailable, annotators)
    _refuse_annotators(db, name, annotators, departed)
    k = study.overlap if overlap is None else overlap
    units = _units(db, name)
    # More raters of everything than before: the extra ratings there are become like all others.
    count_as_first = k == 0 or 0 < study.overlap < k
    extras = [] if count_as_first else extra_raters.extra_entries(db, name)
    desks = _desks(db, name, units, extras)
    # Who came by a link for a crowd platform has a share of fixed size.
    fixed = {worker.name for worker in crowds.workers(db, name)} - departed
    people = _sharing(db, desks, annotators, departed | fixed, fixed)
    rule = extra_raters.rule_of(study) if extra is None else extra
    if extra is not None or overlap is not None:
        rule = _possible(study, rule, k, len(people))
    if extra is not None and rule is not None:
        refuse_too_wide(study, rule)

    back = _returned(desks, _share(study, k, len(units), len(people)), departed, fixed)
    raters_of = _raters(desks, back, departed)
    new = sampling.deal(
        list(units),
        people,
        k,
        seed=study.seed,
        answered_by=raters_of,
        barred=_barred(units, extras, matching.unfit(db, study, people, match)),
        kinds=_kinds(db, name),
    )
    disputed = extra_raters.disputed(db, study, k, rule)
    return Deal(
        study=study,
        overlap=k,
        rule=rule,
        units=units,
        people=people,
        first=_first(desks, people, back, new),
        new=new,
        back=back,
        count_as_first=count_as_first,
        disputed=disputed,
        waiting=len(set(disputed).difference(entry.item for entry in extras)),
        lacking=_lacking(units, raters_of, new, k or len(people)),
    )


def _share(study: Study, overlap: int, units: int, people: int) -> int:
    """The most conversations of one annotator, where everybody has equally many; 0 where fewer raters than
    before are asked for, so that all that is free is dealt again.
    """
    fewer_raters = overlap > 0 and not 0 < study.overlap <= overlap
    if fewer_raters:
        return 0
    return ceil(units * (overlap or people) / max(1, people))


def _lacking(
    units: Iterable[str],
    raters_of: Mapping[str, Collection[str]],
    new: Mapping[str, Sequence[str]],
    raters: int,
) -> int:
    """How many conversations have fewer raters than they should once the new ones are dealt."""
    count: Counter[str] = Counter()
    for key, names in raters_of.items():
        count[key] += len(names)
    for keys in new.values():
        count.update(keys)
    lacking = 0
    for key in units:
        if count[key] < raters:
            lacking += 1
    return lacking


def _refuse_annotators(db: Database, name: str, annotators: Sequence[str], departed: Collection[str]) -> None:
    """Raise StudyError for the first annotator whose answers would not be blind, or who has departed."""
    unblinded = placements.revealed(db, name)
    for person in annotators:
        if person in unblinded:
            raise StudyError(
                f"“{person}” has seen other annotators' answers or a judge's scores, so new answers would "
                "not be blind."
            )
    for person in annotators:
        if person in departed:
            raise StudyError(
                f"The link of “{person}” was withdrawn. Invite them again, or assign the items to others."
            )


def _units(db: Database, name: str) -> dict[str, list[int]]:
    """The units of each conversation of a study, by its key."""
    units: dict[str, list[int]] = {}
    for unit in studies.units(db, name):
        units.setdefault(unit["key"], []).append(unit["id"])
    return units


def _keys(units: Mapping[str, Sequence[int]]) -> dict[int, str]:
    """The conversation of each unit, by its key."""
    key_of: dict[int, str] = {}
    for key, ids in units.items():
        key_of.update(dict.fromkeys(ids, key))
    return key_of


def _sharing(
    db: Database,
    desks: States,
    annotators: Sequence[str],
    absent: Collection[str],
    fixed: Collection[str],
) -> list[str]:
    """Who shares the units: those who have a desk and are not absent, then newcomers; none of a fixed share.

    Raises NotFound for a person who was not invited.
    """
    staying = [person for person in desks if person not in absent]
    people: list[str] = []
    for person in dict.fromkeys([*staying, *annotators]):
        if person in fixed:
            continue
        people.append(person)
        try:
            access.annotator_id(db, person)
        except NotFound as error:
            raise NotFound(f"{error} Invite new annotators first: concord people invite NAME.") from None
    return people


def _barred(
    units: Mapping[str, Sequence[int]],
    extras: Iterable[placements.QueueEntry],
    unfit: Mapping[str, Collection[str]],
) -> dict[str, set[str]]:
    """Who may not get a conversation: its extra raters, and those whose labels do not match it."""
    key_of = _keys(units)
    barred: dict[str, set[str]] = {}
    for entry in extras:
        barred.setdefault(key_of[entry.item], set()).add(entry.person)
    for key, persons in unfit.items():
        barred.setdefault(key, set()).update(persons)
    return barred


def _returned(
    desks: States, share: int, departed: Collection[str], fixed: Collection[str]
) -> dict[str, list[str]]:
    """What everybody gives back: what is free above their share, from the end; the departed all of it."""
    back: dict[str, list[str]] = {}
    for person, states in desks.items():
        free = [key for key, state in states.items() if state == "free"]
        if person in fixed:
            excess = 0
        elif person in departed:
            excess = len(states)
        else:
            excess = max(0, len(states) - share)
        back[person] = free[max(0, len(free) - excess) :]
    return back


def _raters(
    desks: States, back: Mapping[str, Sequence[str]], departed: Collection[str]
) -> dict[str, set[str]]:
    """The raters that each conversation has without what is given back.

    Annotators who have left fill a place with what they finished; what they broke off is for others to rate.
    """
    raters: dict[str, set[str]] = {}
    for person, states in desks.items():
        for key in states.keys() - set(back[person]):
            if person not in departed or states[key] == "closed":
                raters.setdefault(key, set()).add(person)
    return raters


def _first(
    desks: States,
    people: Sequence[str],
    back: Mapping[str, Sequence[str]],
    new: Mapping[str, Sequence[str]],
) -> dict[str, list[str]]:
    """Everybody's conversations after the deal: those that stay, then the new ones."""
    first: dict[str, list[str]] = {}
    for person in dict.fromkeys([*desks, *people]):
        returned = set(back.get(person, ()))
        staying = [key for key in desks.get(person, ()) if key not in returned]
        first[person] = [*staying, *new.get(person, ())]
    return first


def _possible(study: Study, rule: Rule | None, k: int, people: int) -> Rule | None:
    """The rule, where it can be followed; None for a range of 0. Raises StudyError with the nearest deal."""
    if rule is None or rule.least == 0:
        return None
    if rule.least < 0:
        raise StudyError("The least difference must be 0 or more; 0 turns extra raters off.")
    if rule.criterion:
        check_known("criterion", rule.criterion, criteria_by_name(study.criteria))
    if not people:
        return rule
    if people < 3:
        raise StudyError(
            f"An extra rater for disagreements needs three annotators; there are {people}. Use --overlap "
            f"{people} without extra raters."
        )
    if k == 1:
        raise StudyError("To find differences, each item needs two raters. Use --overlap 2.")
    if not 0 < k < people:
        raise StudyError(
            f"With {k or people} raters per unit, all {people} annotators are used, so none is left for an "
            f"extra rating. Use --overlap {people - 1}."
        )
    return rule


def reported(
    db: Database, name: str, rater: int, client: str, events: Iterable[Any]
) -> tuple[int, "list[Refusal]"]:
    """Apply what a browser reports of a study's items, and do what follows in the same transaction."""
    from concord.store import desk  # loads pydantic

    listed = list(events)
    result = desk.apply(db, rater, client, listed)
    ends = ("submit", "skip", "answer") if studies.get(db, name).pairs else ("submit", "skip")
    numbers: set[int] = set()
    for event in listed:
        if event.get("do") in ends:
            numbers.add(event["item"])
    if numbers:
        annotation_flow.after(db, name, rater, placements.items_of(db, numbers))
    return result


def _kinds(db: Database, name: str) -> dict[str, list[str]]:
    """What the deal is even over: each conversation's values of what varies (player, facets)."""
    units = studies.units(db, name)
    facets = frames.facet_values(db, name)
    variables = {"player": {unit["id"]: unit["player"] for unit in units}}
    for facet in frames.varied(facets):
        variables[facet] = facets[facet]
    varied = [values for values in variables.values() if len(set(values.values())) > 1]
    kinds: dict[str, list[str]] = {}
    for unit in units:
        kinds[unit["key"]] = [values.get(unit["id"], "") for values in varied]
    return kinds


def refuse_undealable(study: Study) -> None:
    """Raise StudyError for a study that no desk can show."""
    if study.anonymous:
        raise StudyError(
            f"The annotators of “{study.name}” have no names, so new answers could not be distinguished "
            "from theirs. Draw a new study from the same conversations with `concord study draw`."
        )
    if study.rubric:
        return
    for criterion in study.criteria:
        if not criterion.scale.offered:
            raise StudyError(
                f"“{criterion.name}” of “{study.name}” has only a range, so the desk cannot show its "
                f"answers. Import the study with --scale {criterion.name}=1-5, or draw a new one."
            )


def _desks(
    db: Database,
    name: str,
    units: Mapping[str, Sequence[int]],
    extras: Iterable[placements.QueueEntry],
) -> States:
    """What everybody has, without extra items."""
    key_of = _keys(units)
    extra_places = {(entry.item, entry.person) for entry in extras}
    desks: States = {}
    for entry in placements.queues(db, name):
        conversations_of_desk = desks.setdefault(entry.person, {})
        if (entry.item, entry.person) in extra_places:
            continue
        key = key_of[entry.item]
        # A conversation is closed if one of its turns is, begun if one is.
        states = (_state(entry), conversations_of_desk.get(key, "free"))
        conversations_of_desk[key] = min(states, key=STATES.index)
    return desks


def _state(entry: placements.QueueEntry) -> str:
    if entry.closed:
        return "closed"
    if entry.begun:
        return "begun"
    return "free"
