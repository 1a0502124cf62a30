"""Extra raters: one more annotator for each unit on which its first raters differ by a study's rule."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlite_utils import Database

from concord.store import access, acts, crowds, exclusions, extras, informed, placements, studies
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
    names |= {*informed.revealed(db, name)} | (acts.left(db, name) - {*named})
    return names | crowds.returned(db, name)


def barred(db: Database, name: str) -> set[str]:
    """Who becomes no extra rater beside those who are gone: people of a crowd platform, people whom a
    decision leaves out of the figures, and people who have not passed the training.
    """
    people = (a for a in access.annotators(db) if placements.untrained(db, name, a.id))
    crowd = {worker.name for worker in crowds.workers(db, name)}
    return crowd | {*exclusions.excluded(db, name)} | {a.name for a in people}


def differing(db: Database, study: Study, k: int, rule: Rule, unit: int | None = None) -> list[int]:
    """The units (or this one) on which the first raters differ by a rule, once all have given their part."""
    criteria = {c.name: c for c in study.criteria}
    ranges = extras.ranges(db, study.name, k, unit)
    return list(dict.fromkeys(r.unit for r in ranges if rule.names(criteria[r.criterion], r.apart)))


def one_more(
    study: Study,
    named: Sequence[int],
    units: Mapping[str, Sequence[int]],
    people: Sequence[str],
    first: Mapping[str, Sequence[str]],
    kept: Sequence[Placed],
) -> tuple[list[tuple[int, str]], int]:
    """Who rates each of these units as an extra rater, where nobody does; and for how many nobody is left."""
    key_of = {unit: key for key, ids in units.items() for unit in ids}
    have = {person: set(first.get(person, ())) for person in people}
    items = Counter({person: sum(len(units[key]) for key in have[person]) for person in people})
    items.update(one.person for one in kept)
    given: list[tuple[int, str]] = []
    there = [(one.item, one.person) for one in kept]
    waiting = 0
    for unit in named:
        if any(unit == served for served, _ in there):
            continue
        key = key_of[unit]
        same = {person for of, person in [*there, *given] if key_of[of] == key}
        able = [(person, items[person], person in same) for person in people if key not in have[person]]
        chosen = _chosen(study, unit, able)
        if chosen is None:
            waiting += 1
        else:
            given.append((unit, chosen))
            items[chosen] += 1
    return given, waiting


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
    served = {one.item for one in extras.dealt(db, name)}
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


def give(db: Database, name: str, units: Iterable[int]) -> dict[int, str]:
    """Give these units an extra rater where the first ones differ and there is none; returns unit → person.

    A closed study gives none.
    """
    study = studies.get(db, name)
    rule = rule_of(study)
    if rule is None or acts.is_closed(db, name):
        return {}
    given: dict[int, str] = {}
    none: set[str] | None = None
    for unit in dict.fromkeys(units):
        if extras.has(db, unit) or not differing(db, study, study.overlap, rule, unit):
            continue
        none = gone(db, name) | barred(db, name) if none is None else none
        able = [one for one in extras.others(db, name, unit) if one[0] not in none]
        if (chosen := _chosen(study, unit, able)) is not None:
            placements.assign(db, access.annotator_id(db, chosen), [unit], extra=True)
            given[unit] = chosen
    return given


def after(db: Database, name: str, rater: int, items: Collection[int]) -> None:
    """Give those of these items on which people differ now an extra rater."""
    give(db, name, items)


def settle(db: Database, name: str) -> dict[int, str]:
    """Give every unit that waits an extra rater, as `give` does: after anything that makes a person available
    (a training passed, an admission, a decision taken back, a study opened again).
    """
    return give(db, name, waiting(db, name))
