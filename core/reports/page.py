"""A report as one file of HTML: verdict, picture, answers, groups, disagreements, what it rests on.

It asks nothing of any network, is light or dark as its reader's system is, and prints. Every name and text in
it is escaped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
from sqlite_utils import Database

from concord import messages
from concord.reports.agreement_report import AgreementReport
from concord.reports.names import renamed
from concord.reports.pictures import forest, templates
from concord.reports.provenance import provenance, provenance_values, sums
from concord.reports.screen import rated, tables, warning
from concord.reports.sections import REGISTRY, Section
from concord.statistics.confusion import crossed
from concord.statistics.majority import answer_of_people
from concord.statistics.ratings import Contender
from concord.store import conversations, studies
from concord.store.studies import FILE
from concord.table import Table

MOST_ROWS = 200
"""Answers of judges that are listed, the largest differences first."""
PRINTED = 20
"""Of these as many stand there at first, and are printed."""
BEGINNING = ("glance",)
"""The sections that the beginning of a report shows."""
LONGEST = 20_000
"""Characters of a text that is shown."""


def content(
    report: AgreementReport,
    keys: Mapping[int, str],
    texts: Mapping[int, str],
    *,
    criterion: str = "",
    read: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """What the template of a report takes, on one criterion, else on the main one; `keys` and `texts` are
    those of units, `read` and `warnings` those of a table of labels.

    Raises NotFound for an unknown criterion.
    """
    key = criterion or report.main
    study = report.data.study
    missing = [] if study.source == FILE else report.missing
    return {
        "name": study.title or study.name,
        "criterion": report.label(key),
        "sentences": [*report.verdict(key).sentences, rated(report, key)],
        "tables": [*tables(report, key), *_answers(report, key)],
        "sections": _sections(report, key),
        "forest": forest(report.section("glance", key)["glance"]),
        "disagreements": _disagreements(report, key, keys, texts),
        "most": MOST_ROWS,
        "few": PRINTED,
        "glossary": messages.GLOSSARY,
        "asked": [] if study.source == FILE else study.criteria,
        "guidelines": study.guidelines,
        "rests_on": [*read, *map(warning, warnings), *missing, *report.notes],
        "basis": report.agreement.criteria[key].basis if key in report.ordered else "",
        "options": report.options,
    }


def page(
    report: AgreementReport,
    keys: Mapping[int, str],
    texts: Mapping[int, str],
    *,
    date_made: date,
    **arguments: Any,
) -> str:
    """The report as one file; arguments and errors are those of `content`."""
    values = content(report, keys, texts, **arguments)
    environment = templates(date_made, site=values["name"], simulated=bool(report.data.simulated))
    return environment.get_template("report.html").render(alone=True, **values)


def of_study(db: Database, report: AgreementReport, *, date_made: date, criterion: str = "") -> str:
    """The report of a stored study, with the texts of its items; raises NotFound as `page` does."""
    study = report.data.study
    rests_on = [*provenance(db, study.name), sums(provenance_values(db, report))]
    return page(report, *items_of(db, study.name), date_made=date_made, criterion=criterion, read=rests_on)


def items_of(db: Database, study: str) -> tuple[Mapping[int, str], Mapping[int, str]]:
    """The keys and the texts of the units of a stored study."""
    units = studies.units(db, study)
    read = conversations.several(db, [unit["conversation_id"] for unit in units])
    keys = dict[int, str]()
    texts = dict[int, str]()
    for unit, (conversation, _) in zip(units, read, strict=True):
        keys[unit["id"]] = unit["key"] + (f", turn {unit['turn']}" if unit["turn"] is not None else "")
        messages = conversation.messages
        if unit["turn"] is not None:
            turns = (turn for turn in conversation.turns() if turn.number == unit["turn"])
            messages = tuple(m for turn in turns for m in (turn.user, turn.reply) if m)
        texts[unit["id"]] = "\n\n".join(f"{message.role}: {message.content}" for message in messages)
    return keys, texts


def _answers(report: AgreementReport, criterion: str) -> list[Table]:
    """Named answers of judges and people crossed."""
    question = report.criterion(criterion)
    ratings = report.ratings
    if question is None or not question.scale.named:
        return []
    crossings = [crossed(ratings, criterion, judge, question.scale.word) for judge in ratings.judges]
    return [
        replace(table, name=f"crossed_{place}", title=f"{judge} compared with annotators")
        for place, (judge, table) in enumerate(zip(ratings.judges, crossings, strict=True))
    ]


def _sections(report: AgreementReport, criterion: str) -> list[tuple[Section, list[Table]]]:
    """The sections of the report for which the study has data, but those with which it begins."""
    with_tables = []
    for section in REGISTRY:
        if section.name in BEGINNING or not section.in_report:
            continue
        if not report.lacks(section.name, criterion):
            section_tables = report.section(section.name, criterion).values()
            if shown_tables := [renamed(table, report.names) for table in section_tables if table.rows]:
                with_tables.append((section, shown_tables))
    return with_tables


def _score_text(score: float, word: Callable[[float], str]) -> str:
    """A score in the words of its scale; a mean, which is no whole number, with two decimals."""
    return word(score) if score == round(score) and word is not str else f"{score:.2f}".removesuffix(".00")


def _disagreements(
    report: AgreementReport, criterion: str, keys: Mapping[int, str], texts: Mapping[int, str]
) -> list[dict[str, Any]]:
    """The answers of judges that are farthest from people's, the largest differences first."""
    ratings = report.ratings
    question = report.criterion(criterion)
    scores = ratings[criterion]
    word = question.scale.word if question else str
    nominal = bool(question and question.scale.named)
    people = answer_of_people(scores) if nominal else scores.target
    judges = list(scores.judges)
    levels = [ratings.level(criterion, Contender(judge, (judge,), scores.judges[judge])) for judge in judges]
    gaps = np.nan_to_num(np.abs(np.reshape(levels, (len(judges), len(people))) - people))
    gaps = gaps != 0 if nominal else gaps
    largest = np.argsort(-gaps.astype(float), axis=None, kind="stable")[
        : min(MOST_ROWS, np.count_nonzero(gaps))
    ]
    rows = []
    for judge, place in zip(*np.unravel_index(largest, gaps.shape), strict=True):
        unit = ratings.units[place]
        name = judges[judge]
        number = unit if isinstance(unit, int) else -1
        player = report.players.get(unit, "")
        rows.append(
            {
                "item": keys.get(number, str(unit)),
                "judge": name,
                "player": "" if player == "unknown" else player,
                "score": _score_text(float(scores.judges[name][place]), word),
                "people": _score_text(float(people[place]), word),
                "text": texts.get(number, "")[:LONGEST],
            }
        )
    return rows
