"""What a study registered before people rated it beside what it is now, with its planned tests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from concord.errors import ConcordError
from concord.estimate import Estimate, undefined
from concord.reports.coefficient import said_of, with_people
from concord.reports.evidence import Evidence
from concord.store import registrations
from concord.table import Cell, Column, Table

if TYPE_CHECKING:
    from sqlite_utils import Database

    from concord.store.registrations import Registration
    from concord.studies.comparisons import Compared
    from concord.studies.registration import PlannedTest

SAME, DIFFERS, UNSAID = "same", "differs", "not registered"
REACHED, MISSED, UNKNOWN = "reached", "not reached", "not known"
COLUMNS = (
    Column("item"),
    Column("registered"),
    Column("now"),
    Column("figure", interval="ends", n=True),
    Column("result"),
)
SHOWN = 3
"""Names of units that a row lists; more are counted."""

Row = Mapping[str, Cell]


def registered(evidence: Evidence) -> Table:
    """A row each for sample, texts, guidelines, questions, judges and plan; without rows where there is none.

    A planned test is reached where the lower end of its 95% interval is, as for `concord gate`.
    """
    made, now = evidence.of.registered, evidence.of.present
    rows: list[Row] = []
    if made:
        was, measured = made.content, evidence.ratings.judges
        rows += [*_sample(was, now), *_asked(was, now)]
        rows += [*_judges(measured, evidence.of.models_of_judges, was, now), *_plan(evidence, was)]
    return _table(made, rows)


def registered_pairs(db: Database, found: Compared | None, name: str) -> Table:
    """The same of a study of pairs, with what `found` says of its question; None where nobody compared.

    A planned test is on a judge, or on the vote of all, beside people's vote.
    """
    from concord.studies.registration import PlannedTest, content_of  # loads pydantic

    made = registrations.binding(registrations.every(db, name))
    rows: list[Row] = []
    if made:
        was, now = made.content, content_of(db, name)
        judges = {judge for judge, _, _ in now["judged_by"]}
        rows += [
            *_sample(was, now),
            *_asked(was, now),
            *_judges(judges, {}, was, now),
            *_texts_of(was["plan"]),
        ]
        if wanted := was["plan"]["annotators"]:
            people = found.people if found else 0
            rows.append(_row("annotators", str(wanted), str(people), people == wanted))
        for test in map(PlannedTest.model_validate, was["plan"]["test"]):
            if found is None or test.criterion == found.question.criterion:
                rows += _tested_pairs(test, found)
    return _table(made, rows)


def _tested_pairs(test: PlannedTest, found: Compared | None) -> Iterator[Row]:
    from concord.studies.comparisons import ALL_JUDGES, PEOPLE  # loads pandas and the benchmarks

    matches = {match.a: match for match in found.matches if match.b == PEOPLE} if found else {}
    both = ALL_JUDGES if ALL_JUDGES in matches else next(iter(matches), ALL_JUDGES)
    for judge in test.judges or (both,):
        match = matches.get(judge)
        figure: Estimate = getattr(match, test.statistic) if match else undefined("not compared")
        yield _result(test, f"{test.criterion}: {test.statistic}", judge, figure)


def _table(made: Registration | None, rows: Sequence[Row]) -> Table:
    notes: list[str] = []
    if made:
        was = made.content
        notes = [f"{made.told}."]
        if made.late:
            notes.append("A late registration does not show that the plan was made without sight of answers.")
        if judged := was["ratings"]["judges"]:
            notes.append(f"Judges had given {judged} ratings of these conversations before it.")
    else:
        notes = ["The study was not registered."]
    return Table("registration", "Registered and now", COLUMNS, tuple(rows), notes=tuple(notes))


def _row(item: str, was: str, now: str, same: bool) -> Row:
    return {"item": item, "registered": was, "now": now, "result": SAME if same else DIFFERS}


def _sample(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Row]:
    before, after = ({(key, turn) for key, turn in one["units"]} for one in (was, now))
    gone, new = _units(before - after, "removed"), _units(after - before, "added")
    what = [f"{len(after)} units", *filter(None, [gone, new])]
    yield _row("sample", f"{len(before)} units", "; ".join(what), before == after)
    changed = [key for key, text in was["texts"].items() if now["texts"].get(key, text) != text]
    yield _row("texts", f"{len(was['texts'])} conversations", _some(changed, "changed"), not changed)
    for part in ("seed", "overlap", "per_turn", "extra raters"):
        if part in was["sample"]:  # earlier versions of Concord registered no rule of extra raters
            old, new_ = was["sample"][part], now["sample"][part]
            yield _row(part.replace("_", " "), _said(old), _said(new_), old == new_)


def _asked(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Row]:
    old, new = was["guidelines"], now["guidelines"]
    yield _row("guidelines", _text(old), _text(new), old == new)
    if was["rubric"] or now["rubric"]:
        yield _row("rubric", _rubric(was), _rubric(now), was["rubric"] == now["rubric"])
    before, after = ({c["name"]: c for c in one["criteria"]} for one in (was, now))
    for name, asked in before.items():
        found = after.get(name)
        # A field that later versions of Concord have besides is no difference.
        other = [field for field in asked if found is not None and found.get(field) != asked[field]]
        there = "not asked" if found is None else f"other {', '.join(other)}" if other else "asked"
        yield _row(f"criterion {name}", "asked", there, found is not None and not other)
    yield from (_row(f"criterion {name}", "not asked", "asked", False) for name in after.keys() - before)


def _judges(
    judges: Iterable[str], models: Mapping[str, str], was: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[Row]:
    from concord.studies.registration import prompts_of  # loads pydantic

    named = was["judges"]
    measured = set(judges)
    if not named:
        yield {"item": "judges", "registered": "none named", "now": _list(measured), "result": UNSAID}
        return
    for judge, prompts in named.items():
        mine = {one for one in measured if judge in (one, models.get(one))}
        there = prompts_of(now["judged_by"], judge)
        other = bool(prompts and there and prompts != there)
        said = "another prompt" if other else "measured" if mine else "not measured"
        yield _row(f"judge {judge}", "named", said, bool(mine) and not other)
        measured -= mine
    yield from (_row(f"judge {judge}", "not named", "measured", False) for judge in sorted(measured))


def _plan(evidence: Evidence, was: Mapping[str, Any]) -> Iterator[Row]:
    from concord.studies.registration import PlannedTest  # loads pydantic

    plan = was["plan"]
    yield from _texts_of(plan)
    if wanted := plan["annotators"]:
        of = evidence.of
        people = len(set(of.column("rater")[of.column("kind") == "human"].tolist()))
        yield _row("annotators", str(wanted), str(people), people == wanted)
    made = evidence.of.registered
    for decision in evidence.of.excluded:
        if made and decision.decided > made.registered:
            how = "counted all the same" if evidence.of.with_excluded else "left out"
            now = f"{decision.annotator}: {decision.reason}"
            yield {"item": "exclusion", "registered": "", "now": now, "result": how}
    if not plan["test"]:
        yield {"item": "tests", "registered": "none", "now": "", "result": UNSAID}
    for test in plan["test"]:
        yield _tested(evidence, PlannedTest.model_validate(test))


def _texts_of(plan: Mapping[str, Any]) -> Iterator[Row]:
    for told in ("question", "exclusion", "stopping", "notes"):
        if plan[told]:
            yield {"item": told, "registered": plan[told], "now": "", "result": ""}


def _tested(evidence: Evidence, test: PlannedTest) -> Row:
    members = test.judges or evidence.primary_panel
    figure: Estimate = undefined("no judge rated it")
    about = test.criterion
    try:
        if members:
            figure = with_people(evidence, test.criterion, members, [test.statistic])[test.statistic]
        about = f"{evidence.label(test.criterion)}: {said_of(evidence, test.criterion, test.statistic)}"
    except ConcordError as error:
        figure = undefined(str(error))
    return _result(test, about, " + ".join(members) or "no judge", figure)


def _result(test: PlannedTest, about: str, who: str, figure: Estimate) -> Row:
    low = figure.low
    result = UNKNOWN if low is None else REACHED if low >= test.least else MISSED
    return {
        **{"item": "test", "registered": f"{about}, at least {test.least:g}", "now": who},
        **{"figure": figure, "result": result},
    }


def _units(units: Iterable[tuple[str, int]], what: str) -> str:
    return _some([f"{key} turn {turn}" if turn else key for key, turn in sorted(units)], what, none="")


def _some(names: list[str], what: str, none: str = "none changed") -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{len(names)} {what}: {', '.join(names[:SHOWN])}{more}" if names else none


def _text(text: str) -> str:
    return f"SHA-256 {hashlib.sha256(text.encode()).hexdigest()[:12]}…" if text else "none"


def _rubric(of: Mapping[str, Any]) -> str:
    return f"{of['rubric']['name']} version {of['rubric']['version']}" if of["rubric"] else "none"


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _said(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
