"""What a study registered before people rated it beside what it is now, with its planned tests.

A registration is a document; what is reported is its difference from the document that the study gives now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from concord.errors import ConcordError
from concord.estimate import Estimate, undefined
from concord.reports.coefficient import coefficient_words, with_people
from concord.reports.evidence import Evidence
from concord.store import registrations
from concord.table import Cell, Column, Table

if TYPE_CHECKING:
    from sqlite_utils import Database

    from concord.store.registrations import Registration
    from concord.studies.comparisons import Compared

SAME, DIFFERS, UNSAID = "same", "differs", "not registered"
REACHED, MISSED, UNKNOWN = "reached", "not reached", "not known"
BEFORE = "ratings by judges before registration"
"""The row that says whether the plan can have been made in sight of scores."""
SHOWN = 3
"""Names that a row lists; more are counted."""
COLUMNS = (
    Column("item"),
    Column("registered"),
    Column("now"),
    Column("figure", interval="ends", n=True),
    Column("result"),
)
Row = Mapping[str, Cell]


def registered(evidence: Evidence) -> Table:
    """A row for each field of the documents, of the plan, and each planned test; none without a registration.

    A planned test is reached where the lower end of its 95% interval is, as for `concord gate`.
    """
    of = evidence.of
    people = len(set(of.column("rater")[of.column("kind") == "human"].tolist()))
    models = {judge: of.models_of_judges.get(judge, judge) for judge in evidence.ratings.judges}

    def tested(test: Mapping[str, Any]) -> Iterator[Row]:
        members, statistic = tuple(test["judges"]) or evidence.primary_panel, test["statistic"]
        about = f"{test['criterion']}: {statistic}"
        figure: Estimate = undefined("no judge rated it")
        try:
            if members:
                figure = with_people(evidence, test["criterion"], members, [statistic])[statistic]
            words = coefficient_words(evidence, test["criterion"], statistic)
            about = f"{evidence.label(test['criterion'])}: {words}"
        except ConcordError as error:
            figure = undefined(str(error))
        yield _result(test, about, " + ".join(members) or "no judge", figure)

    return _table(of.registered, of.present, models, people, tested)


def registered_pairs(db: Database, compared: Compared | None, name: str) -> Table:
    """The same of a study of pairs; `compared` has the figures of its question, None where nobody compared.

    A planned test is on each of its judges, or on the vote of all, beside people's vote.
    """
    from concord.studies.comparisons import ALL_JUDGES, PEOPLE  # loads pandas and the benchmarks
    from concord.studies.registration import content_of  # loads pydantic

    matches = {match.a: match for match in compared.matches if match.b == PEOPLE} if compared else {}
    judges = {match: match for match in matches if match != ALL_JUDGES}
    vote = ALL_JUDGES if ALL_JUDGES in matches else next(iter(matches), ALL_JUDGES)

    def tested(test: Mapping[str, Any]) -> Iterator[Row]:
        if compared and test["criterion"] != compared.question.criterion:
            return
        for judge in test["judges"] or (vote,):
            match = matches.get(judge)
            figure: Estimate = getattr(match, test["statistic"]) if match else undefined("not compared")
            yield _result(test, f"{test['criterion']}: {test['statistic']}", judge, figure)

    last = registrations.binding(registrations.every(db, name))
    return _table(last, content_of(db, name), judges, compared.people if compared else 0, tested)


def _table(
    last: Registration | None,
    now: Mapping[str, Any],
    models: Mapping[str, str],
    people: int,
    tested: Callable[[Mapping[str, Any]], Iterator[Row]],
) -> Table:
    """Registered and now; `models` names the model of each judge that is measured."""
    notes, rows = ["The study was not registered."], list[Row]()
    if last:
        plan = last.content["plan"]
        before = last.content | {"annotators": plan["annotators"]}
        named = before["judges"] or ()
        judges = sorted({judge if judge in named else model for judge, model in models.items()})
        present = {**now, "judges": judges, "annotators": people}
        rows = [_row(field, before.get(field), value) for field, value in present.items() if field != "study"]
        texts = {field: text for field, text in plan.items() if isinstance(text, str) and text}
        rows += [
            {"item": field, "registered": text, "now": "", "result": ""} for field, text in texts.items()
        ]
        if (judged := before.get("ratings by judges")) is not None:
            rows.append({"item": BEFORE, "registered": f"{judged:,}", "now": "", "result": ""})
        rows += [row for test in plan["test"] for row in tested(test)]
        notes = [f"{last.line}."]
        if last.late:
            notes.append("A late registration does not show that the plan was made without sight of answers.")
    return Table("registration", "Registered and now", COLUMNS, tuple(rows), notes=tuple(notes))


def _row(field: str, was: Any, now: Any) -> Row:
    """A field of the two documents: what was removed, added and changed by name, or the value."""
    result = UNSAID if was is None else SAME if was == now else DIFFERS
    words = _brief(now)
    if result == DIFFERS and isinstance(was, dict | list):
        before, after = (dict.fromkeys(of) if isinstance(of, list) else of for of in (was, now))
        ways = {
            "removed": [name for name in before if name not in after],
            "added": [name for name in after if name not in before],
            "changed": [name for name, value in before.items() if name in after and after[name] != value],
        }
        words = "; ".join(f"{len(names)} {way}: {_brief(names)}" for way, names in ways.items() if names)
    return {"item": field, "registered": _brief(was), "now": words, "result": result}


def _brief(value: Any) -> str:
    """A field in few words; of names the first ones."""
    if isinstance(value, dict | list):
        more = f" and {len(value) - SHOWN} more" if len(value) > SHOWN else ""
        return ", ".join([*value][:SHOWN]) + more or "none"
    return "none" if value in (None, "") else shorten(str(value), 60, placeholder=" …")


def _result(test: Mapping[str, Any], about: str, who: str, figure: Estimate) -> Row:
    low = figure.low
    result = UNKNOWN if low is None else REACHED if low >= test["least"] else MISSED
    planned = f"{about}, at least {test['least']:g}"
    return {"item": "test", "registered": planned, "now": who, "figure": figure, "result": result}
