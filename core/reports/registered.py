"""What a study registered before people rated it beside what it is now, with its planned tests.

A registration is a document; what differs is the difference between it and the document made of the study
now (`concord.studies.registration.difference`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
PARTS = ("units", "texts", "sample", "guidelines", "rubric", "criteria", "judges", "annotators")
"""What of the two documents is compared."""
COLUMNS = (
    Column("item"),
    Column("registered"),
    Column("now"),
    Column("figure", interval="ends", n=True),
    Column("result"),
)

Row = Mapping[str, Cell]


def registered(evidence: Evidence) -> Table:
    """A row each for units, texts, guidelines, questions, judges and plan; none where nothing is registered.

    A planned test is reached where the lower end of its 95% interval is, as for `concord gate`.
    """
    of = evidence.of
    if of.registered is None:
        return _table(None, [])
    judges = {judge: of.models_of_judges.get(judge, judge) for judge in evidence.ratings.judges}
    people = len(set(of.column("rater")[of.column("kind") == "human"].tolist()))
    rows = [*_differences(of.registered, of.present, judges, people), *_exclusions(evidence, of.registered)]
    return _table(of.registered, [*rows, *(_tested(evidence, test) for test in _tests(of.registered))])


def registered_pairs(db: Database, compared: Compared | None, name: str) -> Table:
    """The same of a study of pairs, with the figures of its question; None where nobody compared.

    A planned test is on a judge, or on the vote of all, beside people's vote.
    """
    from concord.studies.registration import content_of  # loads pydantic

    made = registrations.binding(registrations.every(db, name))
    if made is None:
        return _table(None, [])
    now = content_of(db, name)
    judges = {judge: judge for judge, _, _ in now["judged_by"]}
    rows = [*_differences(made, now, judges, compared.people if compared else 0)]
    for test in _tests(made):
        if compared is None or test.criterion == compared.question.criterion:
            rows += _tested_pairs(test, compared)
    return _table(made, rows)


def _differences(
    made: Registration, now: Mapping[str, Any], judges: Mapping[str, str], people: int
) -> Iterator[Row]:
    """A row a part of the documents, then what the plan says in words."""
    from concord.studies.registration import brief, difference  # loads pydantic

    plan = made.content["plan"]
    was = {**made.content, "annotators": plan["annotators"]}
    present = {**now, "annotators": people, "judges": _judges(was["judges"], now["judged_by"], judges)}
    for part in PARTS:
        if was[part] is None or was[part] == present[part] == {}:
            continue
        row = {"item": part, "registered": brief(was[part]), "now": brief(present[part]), "result": SAME}
        if part == "judges" and not was[part]:
            row |= {"registered": "none named", "result": UNSAID}
        elif differs := difference(was[part], present[part]):
            row |= {"now": differs, "result": DIFFERS}
        yield row
    for part in ("question", "exclusion", "stopping", "notes"):
        if plan[part]:
            yield {"item": part, "registered": plan[part], "now": "", "result": ""}
    if not plan["test"]:
        yield {"item": "tests", "registered": "none", "now": "", "result": UNSAID}


def _judges(
    named: Mapping[str, list[str]], judged_by: Sequence[Sequence[str]], measured: Mapping[str, str]
) -> dict[str, list[str]]:
    """The judges that are measured, by the names registered, with their prompts; as registered where either
    is not known. `measured` has the model of each judge.
    """
    from concord.studies.registration import prompts_of  # loads pydantic

    called = {
        judge: next((name for name in named if name in (judge, model)), judge)
        for judge, model in measured.items()
    }
    prompts = {name: prompts_of(judged_by, name) for name in sorted({*called.values()})}
    return {
        name: there if there and named.get(name, there) else named.get(name, [])
        for name, there in prompts.items()
    }


def _exclusions(evidence: Evidence, made: Registration) -> Iterator[Row]:
    for decision in evidence.of.excluded:
        if decision.decided > made.registered:
            how = "counted all the same" if evidence.of.with_excluded else "left out"
            now = f"{decision.annotator}: {decision.reason}"
            yield {"item": "exclusion", "registered": "", "now": now, "result": how}


def _tests(made: Registration) -> list[PlannedTest]:
    from concord.studies.registration import PlannedTest  # loads pydantic

    return [PlannedTest.model_validate(test) for test in made.content["plan"]["test"]]


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


def _tested_pairs(test: PlannedTest, compared: Compared | None) -> Iterator[Row]:
    from concord.studies.comparisons import ALL_JUDGES, PEOPLE  # loads pandas and the benchmarks

    matches = {match.a: match for match in compared.matches if match.b == PEOPLE} if compared else {}
    both = ALL_JUDGES if ALL_JUDGES in matches else next(iter(matches), ALL_JUDGES)
    for judge in test.judges or (both,):
        match = matches.get(judge)
        figure: Estimate = getattr(match, test.statistic) if match else undefined("not compared")
        yield _result(test, f"{test.criterion}: {test.statistic}", judge, figure)


def _result(test: PlannedTest, about: str, who: str, figure: Estimate) -> Row:
    low = figure.low
    result = UNKNOWN if low is None else REACHED if low >= test.least else MISSED
    return {
        **{"item": "test", "registered": f"{about}, at least {test.least:g}", "now": who},
        **{"figure": figure, "result": result},
    }


def _table(made: Registration | None, rows: Sequence[Row]) -> Table:
    notes = [f"{made.line}." if made else "The study was not registered."]
    if made and made.late:
        notes.append("A late registration does not show that the plan was made without sight of answers.")
    if made and (judged := made.content["ratings"]["judges"]):
        notes.append(f"Judges had given {judged} ratings of these conversations before it.")
    return Table("registration", "Registered and now", COLUMNS, tuple(rows), notes=tuple(notes))
