"""Extra raters: one more annotator for each unit on which its first raters differ by a study's rule."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from sqlite_utils import Database

from concord.rating import criteria_by_name
from concord.store import access, closings, crowds, departures, exclusions, placements, studies
from concord.store.placements import QueueEntry
from concord.store.studies import Study
from concord.studies import matching, sampling
from concord.studies.purposes.adjudicate import Rule


def rule_of(study: Study) -> Rule | None:
    """By how much first raters differ where a unit gets an extra one; None where none does."""
    rule = study.rules.get("extra")
    return Rule(rule.threshold, rule.criterion) if rule else None


def departed_names(
    db: Database, name: str, unavailable: Iterable[str] = (), reinstated: Collection[str] = ()
) -> set[str]:
    """Who gets nothing more: those without a link, named in `unavailable`, who left, or saw a judge's scores,
    and those from a crowd platform who are out of time.
    """
    names = {a.name for a in access.annotators(db, name) if a.revoked} | {*unavailable}
    names |= {*placements.revealed(db, name)} | (departures.departed(db, name) - {*reinstated})
    return names | crowds.returned(db, name)


def barred(db: Database, name: str) -> set[str]:
    """Who becomes no extra rater beside those who are gone: people of a crowd platform, people whom a
    decision excludes from figures, and people who have not passed the training.
    """
    names = {worker.name for worker in crowds.workers(db, name)}
    names.update(exclusions.excluded(db, name))
    for annotator in access.annotators(db):
        if placements.untrained(db, name, annotator.id):
            names.add(annotator.name)
    return names


def extra_entries(db: Database, name: str) -> list[QueueEntry]:
    """The extra items of a study, by unit. Raises NotFound."""
    return sorted(placements.placed(db, name, ["extra"]), key=lambda one: (one.item, one.person))


def disputed(
    db: Database, study: Study, k: int, rule: Rule | None, units: Collection[int] | None = None
) -> list[int]:
    """The units (of these) on which the first raters differ by a rule, once all have given their part."""
    if rule is None:
        return []
    criteria = criteria_by_name(study.criteria)
    disagreements: list[tuple[int, str, float]] = []
    if units is None:
        disagreements = placements.ranges(db, study.name, k)
    else:
        for unit in sorted(set(units)):
            disagreements += placements.ranges(db, study.name, k, unit)
    disputed_units: dict[int, None] = {}
    for unit, criterion, difference in disagreements:
        if rule.names(criteria[criterion], difference):
            disputed_units[unit] = None
    return list(disputed_units)


def give(
    db: Database, name: str, units: Collection[int] | None = None, reinstated: Collection[str] = ()
) -> None:
    """Give these units (None: all) an extra rater where the first ones differ and there is none: one of those
    who have items of the study and of `reinstated`. A closed study gives none.

    It is whoever rates another turn of the unit as an extra, else the least loaded, else one by chance.
    """
    study = studies.get(db, name)
    disputed_units = disputed(db, study, study.overlap, rule_of(study), units)
    if not disputed_units or closings.is_closed(db, name):
        return
    queues = placements.queues(db, name)
    conversations = {unit["id"]: unit["key"] for unit in studies.units(db, name)}
    ineligible = departed_names(db, name, reinstated=reinstated) | barred(db, name)
    items: dict[str, set[int]] = {person: set() for person in reinstated}
    extra: dict[int, str] = {}
    for entry in queues:
        items.setdefault(entry.person, set()).add(entry.item)
        if entry.purpose == "extra":
            extra[entry.item] = entry.person
    unfit = matching.unfit(db, study, items)
    for unit in sorted(set(disputed_units) - extra.keys()):
        conversation = conversations[unit]
        raters_of_turns: set[str] = set()
        for unit_with_extra, person in extra.items():
            if conversations[unit_with_extra] == conversation:
                raters_of_turns.add(person)
        candidates: list[_Candidate] = []
        for person, assigned in items.items():
            if unit in assigned or person in ineligible or person in unfit.get(conversation, ()):
                continue
            chance = sampling.chance_of(study.seed, person, unit)
            candidates.append(_Candidate(person not in raters_of_turns, len(assigned), chance, person))
        if candidates:
            rater = min(candidates).person
            extra[unit] = rater
            placements.assign(db, access.annotator_id(db, rater), [unit], extra=True)
            items[rater].add(unit)


class _Candidate(NamedTuple):
    """An annotator who may become the extra rater of a unit; the least of them does."""

    rates_no_other_turn: bool
    load: int
    chance: int
    person: str


def take_back(db: Database, name: str) -> None:
    """Take the extra items that nobody has begun from desks where the first raters do not differ (any more),
    and from those of people who become no extra rater.
    """
    study = studies.get(db, name)
    disputed_units = disputed(db, study, study.overlap, rule_of(study))
    ineligible = departed_names(db, name) | barred(db, name)
    for one in extra_entries(db, name):
        if one.item not in disputed_units or one.person in ineligible:
            placements.reclaim(db, name, one.rater, [one.item])


def after(db: Database, name: str, rater: int, items: Collection[int]) -> None:
    """Give those of these items on which people differ now an extra rater."""
    give(db, name, items)
