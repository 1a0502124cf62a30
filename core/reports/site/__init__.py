"""A public site of a workspace: leaderboards, agreement, conversations, prompts and models as static pages.

The pages need no server and ask nothing of anybody: they open from a disk. Names of annotators are replaced.
What models wrote is text in them, never markup: every template escapes what it is given.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.arrays import Names
from concord.errors import ConcordError
from concord.files import file_name, file_names
from concord.reports import leaderboards
from concord.reports.agreement_report import AgreementReport, Options, agreement_report, report_of
from concord.reports.leaderboard_table import leaderboard_table
from concord.reports.opened import OpenedConversation
from concord.reports.page import content, items_of
from concord.reports.pictures import templates
from concord.reports.provenance import provenance
from concord.reports.rated import gather, own_tables, with_leaderboard
from concord.runs.registry import BENCHMARKS
from concord.store import configurations, conversations, holdings, ratings, runs
from concord.store.conversations import ConversationSummary
from concord.store.holdings import StudyHeld
from concord.studies.studies import StudyRatings
from concord.table import Table

FOLDER = Path(__file__).parent
MARK = "texts.js"
"""The file by which a folder is known to hold a site."""


def pages(db: Database, title: str, *, date_made: date) -> Iterator[tuple[str, str]]:
    """Every file of the site, its path below the site's folder and its text; the conversations first.

    Raises ConcordError where there is no conversation.
    """
    listed = _conversations(db)
    if not listed:
        raise ConcordError("There are no conversations to show. Import some, or start a run.")
    people = annotators(db)
    environment = templates(date_made, site=title, simulated=any(one.simulated for one in listed))

    def page(path: str, template: str, **values: Any) -> tuple[str, str]:
        root = "../" if "/" in path else ""
        return path, environment.get_template(f"{template}.html").render(root=root, **values)

    texts = []
    for one, (conversation, _) in zip(
        listed, conversations.several(db, [one.id for one in listed]), strict=True
    ):
        texts.append(" ".join(message.content for message in conversation.messages).casefold())
        yield page(
            f"conversation/{one.id}.html",
            "conversation",
            found=one,
            what=conversation,
            benchmark=_title(one.benchmark),
            **_scores(db, one, people),
        )
    yield "search.js", (FOLDER / "search.js").read_text(encoding="utf-8")
    yield MARK, "const TEXTS = " + json.dumps(texts) + ";\n"
    facets = list(dict.fromkeys(name for one in listed for name in one.facets))[:6]
    yield page("conversations.html", "conversations", rows=listed, facets=facets, titles=_title)
    boards = []
    for path, name, tables in _leaderboards(db, {one.benchmark for one in listed}):
        boards.append((path, name))
        yield page(path, "tables", heading=f"Leaderboard: {name}", tables=tables)
    studies = []
    for path, study, report in _studies(db, people):
        values = content(report, *items_of(db, study.name))
        studies.append((path, study, report.summary[:2], values["forest"]))
        rests_on = [*values["rests_on"], *provenance(db, study.name)]
        yield page(path, "report", **values | {"alone": False, "rests_on": rests_on})
    yield page("prompts.html", "prompts", prompts=ratings.prompts(db))
    models = [asdict(configuration) for configuration in configurations.every(db).values()]
    yield page("models.html", "models", models=models, runs=runs.recent(db, limit=1000))
    yield page("index.html", "index", studies=studies, boards=boards, count=len(listed))


def annotators(db: Database) -> dict[str, str]:
    """A number in place of each person's name, in the order in which they came."""
    return {name: f"Annotator {number}" for number, name in enumerate(ratings.people(db), 1)}


def unnamed(study_ratings: StudyRatings, people: Mapping[str, str]) -> StudyRatings:
    """A study's ratings with `people` in place of the annotators' names, wherever a sentence takes them from.

    What people did who are not among them is excluded.
    """
    kinds = zip(study_ratings.column("rater").tolist(), study_ratings.column("kind").tolist(), strict=True)
    names = [people[name] if kind == "human" else name for name, kind in kinds]
    rows = {str(name): study_ratings.column(str(name)) for name in study_ratings.rows}
    return replace(
        study_ratings,
        rows=rows | {"rater": Names(range(len(names)), names)},
        assigned_items=tuple(
            replace(i, annotator=people[i.annotator])
            for i in study_ratings.assigned_items
            if i.annotator in people
        ),
        repeated_answers={
            purpose: tuple(p._replace(annotator=people[p.annotator]) for p in pairs if p.annotator in people)
            for purpose, pairs in study_ratings.repeated_answers.items()
        },
        checks=tuple(
            c._replace(annotator=people[c.annotator]) for c in study_ratings.checks if c.annotator in people
        ),
        excluded=tuple(
            one._replace(annotator=people.get(one.annotator, "an annotator"))
            for one in study_ratings.excluded
        ),
    )


def _title(benchmark: str) -> str:
    benchmark_value = BENCHMARKS.get(benchmark)
    return benchmark_value.title if benchmark_value else benchmark


def _conversations(db: Database) -> list[ConversationSummary]:
    """Every conversation, by benchmark, player and key."""
    listed = conversations.search(db, limit=conversations.count(db))
    return sorted(listed, key=lambda one: (one.benchmark, one.player, one.key))


def _scores(db: Database, talk: ConversationSummary, people: Mapping[str, str]) -> dict[str, Any]:
    """The scores of a conversation: means by criterion and rater, and what judges gave each turn, and why."""
    conversation_ratings = OpenedConversation.read(db, talk.id)
    names = {
        rater: people[rater.name] if rater.kind == "human" else name
        for rater, name in conversation_ratings.rater_names.items()
    }
    cells = [
        (conversation_ratings.label(line.criterion), conversation_ratings.cells(line))
        for line in conversation_ratings.lines
    ]
    return {
        "raters": list(
            dict.fromkeys(names[rater] for line in conversation_ratings.lines for rater in line.raters)
        ),
        "lines": [(label, {names[rater]: cell for rater, cell in row.items()}) for label, row in cells],
        "by_turn": conversation_ratings.verdicts(),
        "failed": [(j["judge"], j["failure"]) for j in conversation_ratings.judgements if j["failure"]],
    }


def _leaderboards(db: Database, benchmarks: Collection[str]) -> Iterator[tuple[str, str, Sequence[Table]]]:
    """Path, title and tables of each leaderboard that can be made, one for each language."""
    names = with_leaderboard(db, benchmarks)
    for name, file in file_names(names).items():
        make = own_tables(name)
        languages = conversations.values(db, name)["language"]
        for language in languages:
            filters = {"language": [language]}
            try:
                if make is not None:
                    tables = make(db, filters=filters)
                else:
                    board = leaderboards.leaderboard(gather(db, name, filters))
                    tables = (leaderboard_table(board),)
            except ConcordError:
                continue  # nobody rated these conversations, so there is nothing to rank
            several = len(languages) > 1
            path = f"leaderboard-{file}-{file_name(language)}.html" if several else f"leaderboard-{file}.html"
            yield path, f"{_title(name)}, {language}" if several else _title(name), tables


def _studies(db: Database, people: Mapping[str, str]) -> Iterator[tuple[str, StudyHeld, AgreementReport]]:
    """Path and report of each study that people rated blind, without names."""
    rated_studies = [study for study in holdings.studies(db) if study.rated]
    files = file_names([study.name for study in rated_studies])
    for study in rated_studies:
        report = agreement_report(db, study.name, Options())
        yield (
            f"study-{files[study.name]}.html",
            study,
            report_of(unnamed(report.data, people), report.options, report.feature_columns),
        )
