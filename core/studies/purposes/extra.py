"""Extra raters: one more annotator for each unit on which its first raters differ by a study's rule."""

from collections.abc import Collection, Iterable, Sequence

from sqlite_utils import Database

from concord.store import access, acts, crowds, placements, studies
from concord.store.placements import Placed
from concord.store.studies import Study
from concord.studies import sampling
from concord.studies.purposes.adjudicate import Rule


def rule_of(study: Study) -> Rule | None:
    """By how much first raters differ where a unit gets an extra one; None where none does."""
    kept = study.meta.get("extra")
    return Rule(**kept) if kept else None


def gone(db: Database, name: str, without: Iterable[str] = (), named: Collection[str] = ()) -> set[str]:
    """Who gets nothing more: those without a link, named in `without`, who left, or saw a judge's scores, and
    those from a crowd platform who are out of time.
    """
    names = {a.name for a in access.annotators(db, name) if a.revoked} | {*without}
    names |= {*placements.revealed(db, name)} | (acts.left(db, name) - {*named})
    return names | crowds.returned(db, name)


def barred(db: Database, name: str) -> set[str]:
    """Who becomes no extra rater beside those who are gone: people of a crowd platform, people whom a
    decision leaves out of the figures, and people who have not passed the training.
    """
    people = (a for a in access.annotators(db) if placements.untrained(db, name, a.id))
    crowd = {worker.name for worker in crowds.workers(db, name)}
    return crowd | {*acts.excluded(db, name)} | {a.name for a in people}


def dealt(db: Database, name: str) -> list[Placed]:
    """The extra items of a study, by unit. Raises NotFound."""
    return sorted(placements.placed(db, name, ["extra"]), key=lambda one: (one.item, one.person))


def differing(db: Database, study: Study, k: int, rule: Rule, unit: int | None = None) -> list[int]:
    """The units (or this one) on which the first raters differ by a rule, once all have given their part."""
    criteria = {c.name: c for c in study.criteria}
    ranges = placements.ranges(db, study.name, k, unit)
    return list(dict.fromkeys(r.unit for r in ranges if rule.names(criteria[r.criterion], r.apart)))


def _chosen(study: Study, unit: int, able: Sequence[tuple[str, int, bool]]) -> str | None:
    """Who becomes an extra rater of a unit, of (name, items in all, has another turn of it as an extra).

    Whoever rates another turn of it, else the least loaded, else by chance.
    """
    ranked = sorted((not same, items, sampling.chance_of(study.seed, p, unit), p) for p, items, same in able)
    return ranked[0][-1] if ranked else None


def waiting(db: Database, name: str) -> list[int]:
    """The units on which the first raters differ, and which have no extra rater yet. Raises NotFound."""
    study = studies.get(db, name)
    if (rule := rule_of(study)) is None:
        return []
    served = {one.item for one in dealt(db, name)}
    return [unit for unit in differing(db, study, study.overlap, rule) if unit not in served]


def waiting_words(count: int) -> str:
    """How many units wait, in words; “” for none."""
    if not count:
        return ""
    items = "1 item waits" if count == 1 else f"{count} items wait"
    return (
        f"{items} for an extra rater: everybody who may rate is one of its raters already, in training, left "
        "out, or gone. Whoever passes, is admitted, taken in again, or dealt to next gets it."
    )


def give(
    db: Database, name: str, units: Iterable[int] | None = None, also: Collection[str] = ()
) -> dict[int, str]:
    """Give these units (None: all) an extra rater where the first ones differ and there is none.

    Returns unit → person, one of those who have items of the study and of `also`. A closed study gives none.
    """
    study = studies.get(db, name)
    rule = rule_of(study)
    if rule is None or acts.is_closed(db, name):
        return {}
    if units is None:
        disputed = differing(db, study, study.overlap, rule)
    else:
        disputed = [unit for unit in {*units} if differing(db, study, study.overlap, rule, unit)]
    if not disputed:
        return {}
    queues = placements.queues(db, name)
    conversations = {unit["id"]: unit["key"] for unit in studies.units(db, name)}
    out = gone(db, name, named=also) | barred(db, name)
    items: dict[str, set[int]] = {person: set() for person in also}
    for one in queues:
        items.setdefault(one.person, set()).add(one.item)
    extra = {one.item: one.person for one in queues if one.purpose == "extra"}
    given: dict[int, str] = {}
    for unit in sorted({*disputed} - extra.keys()):
        there = extra | given
        same = {person for of, person in there.items() if conversations[of] == conversations[unit]}
        able = [
            (person, len(mine), person in same)
            for person, mine in items.items()
            if unit not in mine and person not in out
        ]
        if (chosen := _chosen(study, unit, able)) is not None:
            placements.assign(db, access.annotator_id(db, chosen), [unit], extra=True)
            items[chosen].add(unit)
            given[unit] = chosen
    return given


def take_back(db: Database, name: str) -> None:
    """Take the extra items that nobody has begun from desks where the first raters do not differ (any more),
    and from those of people who become no extra rater.
    """
    study = studies.get(db, name)
    rule = rule_of(study)
    disputed = differing(db, study, study.overlap, rule) if rule else []
    out = gone(db, name) | barred(db, name)
    for one in dealt(db, name):
        if one.item not in disputed or one.person in out:
            placements.reclaim(db, name, one.rater, [one.item])


def after(db: Database, name: str, rater: int, items: Collection[int]) -> None:
    """Give those of these items on which people differ now an extra rater."""
    give(db, name, items)
