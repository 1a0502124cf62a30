"""A public site of a workspace: leaderboards, agreement, conversations, prompts and models as static pages.

The pages need no server and ask nothing of anybody: they open from a disk. Names of annotators are replaced.
What models wrote is text in them, never markup: every template escapes what it is given.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from sqlite_utils import Database

from concord.errors import ConcordError
from concord.estimate import Estimate
from concord.files import file_name, file_names
from concord.rating import Rater
from concord.reports import leaderboards
from concord.reports.agreement_report import AgreementReport, Options, agreement_report, report_of
from concord.reports.headline import headline
from concord.reports.leaderboard_table import leaderboard_table
from concord.reports.names import renamed
from concord.reports.provenance import provenance
from concord.runs.registry import BENCHMARKS
from concord.scores import Line, labels
from concord.statistics.glance import measured
from concord.statistics.ratings import called
from concord.store import configurations, conversations, holdings, ratings, runs, summaries
from concord.store.conversations import Found
from concord.store.holdings import StudyHeld
from concord.studies.studies import StudyRatings
from concord.table import Table, ends, is_text, shown

HERE = Path(__file__).parent
WIDTH = 560
"""Pixels of a chart's axis."""
MARKS = 8
"""Steps of a chart's axis, at most."""


@dataclass(frozen=True)
class Page:
    """A file of the site: its path below the site's folder, and its text."""

    path: str
    text: str


@dataclass(frozen=True)
class Verdicts:
    """What judges gave one turn, or the whole: criterion → judge → its scores; and (judge, criterion, score,
    reason) of each.
    """

    scores: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    reasons: list[tuple[str, str, str, str]] = field(default_factory=list)

    @property
    def judges(self) -> list[str]:
        """Those who gave a score, by name."""
        return sorted({judge for by in self.scores.values() for judge in by})


def pages(
    db: Database, title: str, *, made: date, told: Callable[[str], None] = lambda _: None
) -> Iterator[Page]:
    """Every file of the site, the conversations first; `told` hears what is being made.

    Studies whose people saw the judges' scores are left out. Raises ConcordError where there is no
    conversation.
    """
    found = _every(db)
    if not found:
        raise ConcordError("There are no conversations to show. Import some, or start a run.")
    people = annotators(db)
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.globals |= {
        "site": title,
        "made": made.isoformat(),
        "concord": version("concord"),
        "simulated": any(one.simulated for one in found),
        "cell": shown,
        "ends": ends,
        "is_text": is_text,
        "style": (HERE / "style.css").read_text(encoding="utf-8"),
    }

    def page(path: str, template: str, **given: Any) -> Page:
        root = "../" if "/" in path else ""
        return Page(path, environment.get_template(f"{template}.html").render(root=root, **given))

    told(f"{len(found):,} conversations")
    texts = []
    for one, (what, _) in zip(found, conversations.several(db, [one.id for one in found]), strict=True):
        texts.append(" ".join(message.content for message in what.messages).casefold())
        yield page(
            f"conversation/{one.id}.html",
            "conversation",
            found=one,
            what=what,
            benchmark=_title(one.benchmark),
            **_scores(db, one, people),
        )
    yield Page("search.js", (HERE / "search.js").read_text(encoding="utf-8"))
    yield Page("texts.js", "const TEXTS = " + json.dumps(texts) + ";\n")
    facets = list(dict.fromkeys(name for one in found for name in one.facets))[:6]
    yield page("conversations.html", "conversations", rows=found, facets=facets, titles=_title)
    boards = []
    for path, name, tables in _leaderboards(db, {one.benchmark for one in found}, told):
        boards.append((path, name))
        drawn = chart(tables[0])
        yield page(path, "tables", heading=f"Leaderboard: {name}", sentences=[], tables=tables, chart=drawn)
    studies = []
    for path, held, report in _studies(db, people, told):
        studies.append((path, held, report.summary[:2], forest(headline(report))))
        yield page(path, "study", **_study(db, report))
    yield page("prompts.html", "prompts", prompts=ratings.prompts(db))
    models = [asdict(of) for of in configurations.every(db).values()]
    yield page("models.html", "models", models=models, runs=runs.recent(db, limit=1000))
    yield page("index.html", "index", studies=studies, boards=boards, count=len(found))


def annotators(db: Database) -> dict[str, str]:
    """A number in place of each person's name, in the order in which they came."""
    return {name: f"Annotator {number}" for number, name in enumerate(ratings.people(db), 1)}


def unnamed(of: StudyRatings, people: Mapping[str, str]) -> StudyRatings:
    """A study's ratings with `people` in place of the annotators' names."""
    names = of.column("rater").astype(object)
    human = of.column("kind") == "human"
    names[human] = [people[name] for name in names[human]]
    rows = {str(name): of.column(str(name)) for name in of.rows}
    return replace(of, rows=rows | {"rater": names})


def forest(table: Table) -> dict[str, Any]:
    """A forest plot in pixels: its rows with dot, ends and held-out annotator, and the marks of its axis.

    No rows where no correlation is defined.
    """
    what = measured(table)
    rows = [(str(row["name"]), figure, row.get("person")) for row, figure in _defined(table, what)]
    least = min((figure.low for _, figure, _ in rows if figure.low is not None), default=0.0)
    left = min(0.0, np.floor(least * 5) / 5)
    marks = np.arange(left, 1.01, 0.2).round(1).tolist()
    axis = "Spearman's ρ with the other people" if what == "judge" else "Spearman's ρ with people"
    axis += "; grey bar: a held-out annotator; 95% intervals"
    return _picture(rows, axis, [(mark, f"{mark:.1f}") for mark in marks])


def chart(table: Table, what: str = "") -> dict[str, Any]:
    """A forest plot of a column: `what`, else the last that shows intervals, which is over all others.

    No rows for fewer than two figures.
    """
    among = [
        c for c in table.shown if c.interval != "none" and any(e.interval for e in table.estimates(c.name))
    ]
    column = next((c for c in reversed(among) if what in ("", c.name)), None)
    first = next((c.name for c in table.shown if is_text(table, c)), "")
    found = _defined(table, column.name) if column else []
    if column is None or len(found) < 2:
        return _picture([], "", [])
    ends_ = [end for _, e in found for end in (e.value, e.low, e.high) if end is not None]
    low, high = min(ends_), max(ends_)
    size = 10 ** np.floor(np.log10(max(high - low, 1e-6)))
    step = float(next(s for s in (0.1, 0.2, 0.5, 1, 2) if (high - low) / (s * size) <= MARKS) * size)
    marks = (np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step).round(6).tolist()
    name = replace(column, signed=False)
    alone = len({row.get(first) for row, _ in found}) == len(found)
    rows = [(str(row[first]) if alone else table.label(row), figure, None) for row, figure in found]
    return _picture(rows, f"{column.title}; 95% intervals", [(mark, shown(mark, name)) for mark in marks])


def _defined(table: Table, column: str) -> list[tuple[Mapping[str, Any], Estimate]]:
    """The rows whose figure in a column has a value, with it."""
    cells = ((row, row.get(column)) for row in table.rows)
    return [(row, cell) for row, cell in cells if isinstance(cell, Estimate) and cell.defined]


def _picture(
    rows: Sequence[tuple[str, Estimate, Any]], axis: str, marks: Sequence[tuple[float, str]]
) -> dict[str, Any]:
    """Rows (name, figure, that of a held-out annotator) and marks in pixels from the axis's left end."""
    left, right = (marks[0][0], marks[-1][0]) if marks else (0.0, 1.0)

    def at(value: float | None) -> float | None:
        return None if value is None else round((value - left) / (right - left) * WIDTH, 1)

    return {
        "rows": [
            {"name": name, "dot": at(figure.value), "low": at(figure.low), "high": at(figure.high)}
            | {"person": at(person.value if isinstance(person, Estimate) else None)}
            for name, figure, person in rows
        ],
        "marks": [(at(value), said) for value, said in marks],
        "zero": at(0.0) if left < 0 < right else None,
        "axis": axis,
        "width": WIDTH,
    }


def _title(benchmark: str) -> str:
    known = BENCHMARKS.get(benchmark)
    return known.title if known else benchmark


def _every(db: Database) -> list[Found]:
    """Every conversation, by benchmark, player and key."""
    found = conversations.search(db, limit=conversations.count(db))
    return sorted(found, key=lambda one: (one.benchmark, one.player, one.key))


def _scores(db: Database, found: Found, people: Mapping[str, str]) -> dict[str, Any]:
    """The scores of a conversation: means by criterion and rater, and what judges gave each turn, and why."""
    criteria = {c.name: c for c in ratings.criteria_of(db, found.id)}
    asked = {name: criterion.label for name, criterion in criteria.items()}
    lines = summaries.scorecard(db, found.id)
    called = _called(rater for line in lines for rater in line.raters) if lines else {}
    every = ratings.of_conversation(db, found.id)
    given = [r for r in every if r.rater.kind == "judge"]
    called |= _called(r.rater for r in given)
    called |= {rater: people[rater.name] for rater in called if rater.kind == "human"}
    by_turn: dict[int, Verdicts] = {}
    place = {name: at for at, name in enumerate(asked)}
    for r in sorted(given, key=lambda r: place.get(r.criterion, len(place))):
        label, judge = asked.get(r.criterion, r.criterion), called[r.rater]
        of = criteria.get(r.criterion)
        word = of.scale_of("judge").word(r.score) if of else f"{r.score:g}"
        verdicts = by_turn.setdefault(r.turn or 0, Verdicts())
        verdicts.scores.setdefault(label, {}).setdefault(judge, []).append(word)
        if r.explanation:
            verdicts.reasons.append((judge, label, word, r.explanation))

    def cell(line: Line, rater: Rater, mean: float) -> str:
        of = criteria.get(line.criterion)
        if of is None or not of.scale.nominal:
            return f"{mean:.2f}"
        return of.scale.words([r.score for r in every if (r.rater, r.criterion) == (rater, of.name)])

    failed = [(j["judge"], j["failure"]) for j in ratings.judgements_of(db, found.id) if j["failure"]]
    return {
        "raters": list(dict.fromkeys(called[rater] for line in lines for rater in line.raters)),
        "lines": [
            (
                asked.get(line.criterion, line.criterion),
                {called[rater]: cell(line, rater, mean) for rater, mean in line.raters.items()},
            )
            for line in lines
        ],
        "by_turn": by_turn,
        "failed": failed,
    }


def _called(raters: Any) -> dict[Rater, str]:
    return labels(raters, mark_simulated=True)


def _leaderboards(
    db: Database, benchmarks: Collection[str], told: Callable[[str], None]
) -> Iterator[tuple[str, str, Sequence[Table]]]:
    """Path, title and tables of each leaderboard that can be made, one for each language."""
    names = leaderboards.with_leaderboard(db, benchmarks)
    for name, file in file_names(names).items():
        told(f"leaderboard of {_title(name)}")
        make = leaderboards.own_tables(name)
        languages = conversations.values(db, name)["language"]
        for language in languages:
            where = {"language": [language]}
            try:
                if make is not None:
                    tables = make(db, where=where)
                else:
                    board = leaderboards.leaderboard(leaderboards.gather(db, name, where))
                    tables = (leaderboard_table(board),)
            except ConcordError:
                continue  # nobody rated these conversations, so there is nothing to rank
            several = len(languages) > 1
            path = f"leaderboard-{file}-{file_name(language)}.html" if several else f"leaderboard-{file}.html"
            yield path, f"{_title(name)}, {language}" if several else _title(name), tables


def _studies(
    db: Database, people: Mapping[str, str], told: Callable[[str], None]
) -> Iterator[tuple[str, StudyHeld, AgreementReport]]:
    """Path and report of each study that people rated blind, without names."""
    held = [study for study in holdings.studies(db) if study.rated and study.blind]
    files = file_names([study.name for study in held])
    for study in held:
        told(f"agreement in “{study.title}”")
        named = agreement_report(db, study.name, Options())
        yield (
            f"study-{files[study.name]}.html",
            study,
            report_of(unnamed(named.of, people), named.options, named.given_features),
        )


def _study(db: Database, report: AgreementReport) -> dict[str, Any]:
    of = report.of.study
    main = report.main
    tables = [*report.overview, *report.section("judges", main).values()]
    players = report.section("players", main).get("players")
    of_panel = (
        [row for row in players.rows if row["rater"] == called(report.primary_panel)] if players else []
    )
    return {
        "study": of,
        "sentences": [*report.summary, *report.missing],
        "forest": forest(report.section("glance", main)["glance"]),
        "by_player": chart(replace(players, columns=players.columns[1:], rows=tuple(of_panel)), "bias")
        if players
        else _picture([], "", []),
        "panel": report.names.get(called(report.primary_panel), ""),
        "tables": [renamed(table, report.names) for table in tables if table.rows],
        "provenance": [*report.notes, *provenance(db, of.name)],
        "basis": report.agreement.criteria[main].basis,
    }
