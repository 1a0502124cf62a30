"""Conversations, ratings and comparisons as Parquet, CSV or JSON Lines, and a study as a dataset folder.

The folder is one that Hugging Face's `datasets` loads, with a card: questions, annotators' instructions and
provenance. What the ratings say of agreement is in the study's report.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from io import BytesIO, TextIOWrapper
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from sqlite_utils import Database

from concord.configuration import Use
from concord.conversation import Message
from concord.files import extras, write_csv
from concord.reports.provenance import provenance
from concord.runs.registry import known_or_imported
from concord.store import comparisons, configurations, conversations, progress, ratings, studies
from concord.store.conversations import Filter
from concord.table import markdown_text

if TYPE_CHECKING:
    import pyarrow as pa

Form = Literal["csv", "jsonl", "parquet"]
FORMS: tuple[Form, ...] = ("csv", "jsonl", "parquet")
AT_ONCE = 1000
"""Rows of a Parquet file that are encoded at once."""
TEXT = "text"
INTEGER = "whole"
FIGURE = "figure"
TRUTH = "truth"
MESSAGES = "messages"
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("turn", "repeat"), INTEGER),
    **dict.fromkeys(("score", "blind", "shown", "gold"), FIGURE),
    **dict.fromkeys(("simulated", "strong"), TRUTH),
    "messages": MESSAGES,
}
"""What the columns of this name hold in every table; all others are texts."""


Row = Mapping[str, Any]
Kinds = Mapping[str, str]
"""The columns of a table, each with what it holds."""


def _columns(names: str) -> Kinds:
    return {name: KINDS.get(name, TEXT) for name in names.split()}


CONVERSATIONS = _columns("key benchmark player language simulated messages facets context")
RATINGS = _columns(
    "item_id turn criterion rater_type rater variant simulated repeat score explanation comment created "
    "model language study"
)
COMMENTS = _columns("kind item_id turn rater state skipped_because comment")
OTHER_ANSWERS = _columns("kind item_id turn criterion rater score explanation created blind shown gold judge")
COMPARISONS = _columns(
    "first second verdict rater_type rater variant simulated repeat explanation created scenario benchmark "
    "model_first model_second rubric criterion strong"
)


def conversation_rows(db: Database, study: str = "", benchmark: str = "") -> Iterator[Row]:
    """Conversations of a study, of a benchmark, or all; facets and context as JSON."""
    rows = conversations.table(db, Filter(benchmark=benchmark, study=study))
    for conversation, simulated in conversations.several(db, rows.id.tolist()):
        yield {
            **{name: getattr(conversation, name) for name in ("key", "benchmark", "player", "language")},
            "simulated": simulated,
            "messages": _message_rows(conversation.messages),
            "facets": json.dumps(dict(conversation.facets), ensure_ascii=False),
            "context": json.dumps(dict(conversation.context), ensure_ascii=False, default=str),
        }


def _message_rows(messages: Iterable[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def rating_rows(db: Database, study: str = "", *, with_excluded: bool = False) -> tuple[Kinds, Iterator[Row]]:
    """The columns of the ratings that count, of a study or all, and their rows as `ratings_csv.read` takes
    them: also what files said about them, and the configurations of judges in words.
    """
    columns = {name: kind for name, kind in RATINGS.items() if not study or name != "study"}
    columns |= {name: TEXT for name in ("configuration", *ratings.told_beside(db)) if name not in columns}

    def rows() -> Iterator[Row]:
        by_id = configurations.every(db)
        for row in ratings.exported(db, study, with_excluded=with_excluded):
            if row["rater_type"] == "judge":
                reported = configurations.read(row["reported"] or "[]")
                row["configuration"] = str(Use(by_id.get(row["configuration_id"]), reported))
            yield dict.fromkeys(columns) | row | json.loads(row.pop("meta") or "{}")

    return columns, rows()


def comment_rows(db: Database, study: str, *, with_excluded: bool = False) -> Iterator[Row]:
    """What annotators of a study said of items, and why they skipped some. Raises NotFound."""
    for one in progress.remarks(db, study, with_excluded=with_excluded):
        skipped = one.reason if one.state == "skipped" else ""
        row = {"kind": one.kind, "item_id": one.key, "turn": one.turn, "rater": one.annotator}
        row |= {"rater_type": "human", "state": one.state, "skipped_because": skipped}
        yield row | {"comment": one.flag}


def comparison_rows(db: Database, benchmark: str = "") -> Iterator[Row]:
    """The comparisons of a benchmark, or all, with the scenario where the benchmark has one."""
    for name in [benchmark] if benchmark else comparisons.compared_benchmarks(db):
        yield from comparisons.exported(db, name, known_or_imported(name).scenario_facet)


def write(file: BinaryIO, columns: Kinds, rows: Iterable[Row], form: Form) -> int:
    """Write rows in a form; returns how many. In CSV messages are JSON."""
    if form == "parquet":
        return _parquet(file, columns, rows)
    text = TextIOWrapper(file, encoding="utf-8", newline="")
    if form == "csv":
        count = write_csv(text, chain([tuple(columns)], (_cells(columns, row) for row in rows))) - 1
    else:
        count = 0
        for row in rows:
            text.write(json.dumps({name: row[name] for name in columns}, ensure_ascii=False) + "\n")
            count += 1
    text.detach()
    return count


def _cells(columns: Kinds, row: Row) -> Sequence[Any]:
    values = ((row[name], kind) for name, kind in columns.items())
    return [json.dumps(v, ensure_ascii=False) if kind == MESSAGES else v for v, kind in values]


def _parquet(file: BinaryIO, columns: Kinds, rows: Iterable[Row]) -> int:
    extras.require("pyarrow", purpose="Writing Parquet")
    import pyarrow as pa
    from pyarrow import parquet

    kinds: dict[str, pa.DataType] = {
        TEXT: pa.string(),
        INTEGER: pa.int64(),
        FIGURE: pa.float64(),
        TRUTH: pa.bool_(),
        MESSAGES: pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())])),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    truths = [name for name, kind in columns.items() if kind == TRUTH]
    count = 0
    left = iter(rows)
    with parquet.ParquetWriter(file, schema) as writer:
        while batch := [{**row, **{n: bool(row[n]) for n in truths}} for row in islice(left, AT_ONCE)]:
            writer.write_table(pa.Table.from_pylist(batch, schema))
            count += len(batch)
    return count


def folder(db: Database, study: str, *, date_made: date, with_names: bool = False) -> dict[str, bytes]:
    """The files of a study's dataset folder by name: the card and a Parquet file for each table with rows.

    Annotators are numbered unless `with_names`. Raises NotFound for an unknown study.
    """
    of_study = studies.get(db, study)
    numbers = {name: f"annotator {n}" for n, (name, _) in enumerate(studies.raters(db, study), 1)}

    def pseudonymous(row: Row) -> Row:
        if with_names or row["rater_type"] != "human":
            return row
        return {**row, "rater": numbers.setdefault(row["rater"], f"annotator {len(numbers) + 1}")}

    keys = set(conversations.table(db, Filter(study=study)).key)
    by_rater = sorted(ratings.exported(db, study), key=lambda row: str(row["rater"]))
    compared = (row for name in conversations.benchmarks_of(db, [*keys]) for row in comparison_rows(db, name))
    among_them = (row for row in compared if {row["first"], row["second"]} <= keys)
    tables: dict[str, tuple[Kinds, Iterable[Row]]] = {
        "conversations": (CONVERSATIONS, conversation_rows(db, study)),
        "ratings": (RATINGS, map(pseudonymous, by_rater)),
        "comments": (COMMENTS, map(pseudonymous, comment_rows(db, study))),
        "comparisons": (COMPARISONS, map(pseudonymous, among_them)),
    }
    files: dict[str, bytes] = {}
    counts: dict[str, int] = {}
    for name, (columns, rows) in tables.items():
        buffer = BytesIO()
        if count := _parquet(buffer, columns, rows):
            files[f"data/{name}.parquet"] = buffer.getvalue()
            counts[name] = count
    languages = sorted({row["language"] for row in conversation_rows(db, study)})
    if of_study.guidelines:
        files["guidelines.md"] = of_study.guidelines.encode()
    return {"README.md": _card(db, of_study, counts, languages, date_made).encode(), **files}


def _card(
    db: Database, study: studies.Study, counts: Mapping[str, int], languages: Sequence[str], date_made: date
) -> str:
    """The dataset card: metadata for the hub, then what was asked, of whom, about whose replies."""
    title = study.title or study.name
    lines = ["---", f"pretty_name: {json.dumps(title, ensure_ascii=False)}", "language:"]
    lines += [f"- {json.dumps(language)}" for language in languages]
    lines += ["tags:", "- llm-as-a-judge", "- human-evaluation", "configs:"]
    for name in counts:
        lines += [f"- config_name: {name}", f"  data_files: data/{name}.parquet"]
    sizes = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    lines += ["---", "", f"# {markdown_text(title)}", "", f"{sizes}. Made {date_made}.", ""]
    lines += ["## Annotators' instructions", "", study.guidelines or "None were written."]
    raters = studies.raters(db, study.name)
    mocks = sum(simulated for _, simulated in raters)
    people = f"{len(raters) - mocks} annotators and {mocks} simulated annotators rated."
    questions = [
        f"{c.label} ({c.name}): {c.statement} Answers: {'; '.join(c.scale.legend)}." for c in study.criteria
    ]
    for heading, facts in (
        ("Questions", questions),
        ("Annotators", ["The annotators have no names." if study.anonymous else people]),
        ("Provenance", provenance(db, study.name)),
    ):
        lines += ["", f"## {heading}", "", *(f"- {markdown_text(fact)}" for fact in facts)]
    return "\n".join([*lines, ""])
