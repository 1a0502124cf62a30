"""Conversations, ratings and comparisons as Parquet, CSV or JSON Lines, and a study as a dataset folder.

The folder is one that Hugging Face's `datasets` loads, with a card: questions, annotators' instructions,
agreement and provenance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from io import BytesIO, TextIOWrapper
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from sqlite_utils import Database

from concord.errors import StudyError
from concord.exchange.dialogue import as_list
from concord.files import write_csv
from concord.rating import Criterion
from concord.reports import bundle
from concord.reports.agreement_report import Options, agreement_report
from concord.reports.datasheet import datasheet, unnamed
from concord.runs.registry import known_or_imported
from concord.store import comparisons, conversations, ratings, studies
from concord.store.conversations import Filter
from concord.studies.comments import comment_rows
from concord.table import markdown_text

if TYPE_CHECKING:
    import pyarrow as pa

Form = Literal["csv", "jsonl", "parquet"]
FORMS: tuple[Form, ...] = ("csv", "jsonl", "parquet")
AT_ONCE = 1000
"""Rows of a Parquet file that are encoded at once."""
TEXT, WHOLE, FIGURE, TRUTH, MESSAGES = "text", "whole", "figure", "truth", "messages"


@dataclass(frozen=True)
class ExportTable:
    """A table of an export: the kind of each column by its name."""

    name: str
    kinds: Mapping[str, str]


CONVERSATIONS = ExportTable(
    "conversations",
    dict.fromkeys(("key", "benchmark", "player", "language"), TEXT)
    | {"simulated": TRUTH, "messages": MESSAGES}
    | dict.fromkeys(("facets", "context"), TEXT),
)
RATINGS = ExportTable(
    "ratings",
    {"item_id": TEXT, "turn": WHOLE, "criterion": TEXT, "rater_type": TEXT, "rater": TEXT, "variant": TEXT}
    | {
        "simulated": TRUTH,
        "repeat": WHOLE,
        "score": FIGURE,
        "explanation": TEXT,
        "comment": TEXT,
        "created": TEXT,
    }
    | {"model": TEXT, "language": TEXT, "study": TEXT},
)
COMMENTS = ExportTable(
    "comments",
    dict.fromkeys(("kind", "item_id"), TEXT)
    | {"turn": WHOLE}
    | dict.fromkeys(("rater", "state", "skipped_because", "comment", "spans"), TEXT),
)
APART = ExportTable(
    "apart",
    dict.fromkeys(("kind", "item_id"), TEXT)
    | {"turn": WHOLE, "criterion": TEXT, "rater": TEXT, "score": FIGURE, "explanation": TEXT, "created": TEXT}
    | dict.fromkeys(("blind", "shown", "gold"), FIGURE),
)
COMPARISONS = ExportTable(
    "comparisons",
    dict.fromkeys(("first", "second", "verdict", "rater_type", "rater", "variant"), TEXT)
    | {"simulated": TRUTH, "repeat": WHOLE}
    | dict.fromkeys(("explanation", "created", "scenario", "benchmark"), TEXT)
    | dict.fromkeys(("model_first", "model_second", "rubric", "criterion"), TEXT)
    | {"strong": TRUTH},
)


def conversation_rows(db: Database, study: str = "", benchmark: str = "") -> Iterator[dict[str, Any]]:
    """Conversations of a study, of a benchmark, or all; facets and context as JSON."""
    found = conversations.table(db, Filter(benchmark=benchmark, study=study))
    for conversation, simulated in conversations.several(db, found.id.tolist()):
        yield {
            **{name: getattr(conversation, name) for name in ("key", "benchmark", "player", "language")},
            "simulated": simulated,
            "messages": [
                {"role": m["role"], "content": m["content"]} for m in as_list(conversation.messages)
            ],
            "facets": json.dumps(dict(conversation.facets), ensure_ascii=False),
            "context": json.dumps(dict(conversation.context), ensure_ascii=False, default=str),
        }


def comparison_rows(db: Database, benchmark: str = "") -> Iterator[dict[str, Any]]:
    """The comparisons of a benchmark, or all, with the scenario where the benchmark has one."""
    for name in [benchmark] if benchmark else comparisons.compared_benchmarks(db):
        yield from comparisons.exported(db, name, known_or_imported(name).scenario_facet)


def write(out: BinaryIO, columns: ExportTable, rows: Iterable[Mapping[str, Any]], form: Form) -> int:
    """Write rows in a form; returns how many. In CSV messages are JSON."""
    if form == "parquet":
        return _parquet(out, columns, rows)
    text = TextIOWrapper(out, encoding="utf-8", newline="")
    if form == "csv":
        count = write_csv(text, _cells(columns, rows)) - 1
    else:
        count = 0
        for row in rows:
            text.write(json.dumps({name: row[name] for name in columns.kinds}, ensure_ascii=False) + "\n")
            count += 1
    text.detach()
    return count


def _cells(columns: ExportTable, rows: Iterable[Mapping[str, Any]]) -> Iterator[Sequence[Any]]:
    yield tuple(columns.kinds)
    for row in rows:
        yield [
            json.dumps(row[name], ensure_ascii=False) if kind == MESSAGES else row[name]
            for name, kind in columns.kinds.items()
        ]


def _parquet(out: BinaryIO, columns: ExportTable, rows: Iterable[Mapping[str, Any]]) -> int:
    import pyarrow as pa
    from pyarrow import parquet

    kinds: dict[str, pa.DataType] = {
        TEXT: pa.string(),
        WHOLE: pa.int64(),
        FIGURE: pa.float64(),
        TRUTH: pa.bool_(),
        MESSAGES: pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())])),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.kinds.items()])
    count, left = 0, iter(rows)
    with parquet.ParquetWriter(out, schema) as writer:
        while some := list(islice(left, AT_ONCE)):
            kept = [
                {n: bool(row[n]) if kind == TRUTH else row[n] for n, kind in columns.kinds.items()}
                for row in some
            ]
            writer.write_table(pa.Table.from_pylist(kept, schema))
            count += len(some)
    return count


def folder(db: Database, study: str, *, made: date, with_names: bool = False) -> dict[str, bytes]:
    """The files of a study's dataset folder by name: the card and a Parquet file for each table with rows.

    Annotators are numbered unless `with_names`. Raises NotFound for an unknown study.
    """
    found = studies.get(db, study)
    numbers: dict[str, str] = {}

    def named(row: Mapping[str, Any]) -> dict[str, Any]:
        if with_names or row["rater_type"] != "human":
            return dict(row)
        return {**row, "rater": numbers.setdefault(row["rater"], f"annotator {len(numbers) + 1}")}

    benchmarks = conversations.benchmarks_of(db, [u["key"] for u in studies.units(db, study)])
    keys = {u["key"] for u in studies.units(db, study)}
    compared = (row for name in benchmarks for row in comparison_rows(db, name))
    tables = (
        (CONVERSATIONS, conversation_rows(db, study)),
        (RATINGS, map(named, sorted(ratings.exported(db, study), key=lambda row: str(row["rater"])))),
        (COMMENTS, map(named, comment_rows(db, study))),
        (COMPARISONS, (named(row) for row in compared if {row["first"], row["second"]} <= keys)),
    )
    files: dict[str, bytes] = {}
    counts: dict[str, int] = {}
    for columns, rows in tables:
        out = BytesIO()
        counts[columns.name] = _parquet(out, columns, rows)
        if counts[columns.name]:
            files[f"data/{columns.name}.parquet"] = out.getvalue()
    languages = sorted({row["language"] for row in conversation_rows(db, study)})
    if found.guidelines:
        files["guidelines.md"] = found.guidelines.encode()
    return {"README.md": _card(db, found, counts, languages, made).encode(), **files}


def _card(
    db: Database, study: studies.Study, counts: Mapping[str, int], languages: Sequence[str], made: date
) -> str:
    """The dataset card: metadata for the hub, then what a reader needs to know."""
    title = study.title or study.name
    lines = ["---", f"pretty_name: {json.dumps(title, ensure_ascii=False)}", "language:"]
    lines += [f"- {json.dumps(language)}" for language in languages]
    lines += ["tags:", "- llm-as-a-judge", "- human-evaluation", "configs:"]
    for name, count in counts.items():
        lines += [f"- config_name: {name}", f"  data_files: data/{name}.parquet"] if count else []
    held = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    lines += ["---", "", f"# {markdown_text(title)}", "", f"{held}.", "", "## Questions", ""]
    for criterion in study.criteria:
        lines += _question(criterion)
    unit = "each reply" if study.per_turn else "the whole conversation"
    lines += ["", f"What is rated: {unit}.", "", "## Annotators' instructions", ""]
    lines += [study.guidelines or "None were written.", "", "## Agreement", ""]
    try:
        report = agreement_report(db, study.name, Options())
    except StudyError as error:
        return "\n".join([*lines, markdown_text(str(error)), "", _below(datasheet(db, study.name, None))])
    said = bundle.about(db, report, made=made)
    told = (unnamed(db, study.name, sentence) for sentence in (*said["summary"], *said["missing"]))
    lines += [f"- {markdown_text(sentence)}" for sentence in told]
    lines += ["", "## Provenance", ""]
    lines += [f"- {markdown_text(sentence)}" for sentence in said["provenance"]]
    lines += [f"- {bundle.origin(judge)}" for judge in said["judges"]]
    if said["simulated"]:
        mocks = unnamed(db, study.name, ", ".join(said["simulated"]))
        lines += [f"- Mock models, neither people nor language models: {markdown_text(mocks)}."]
    lines += [
        f"- {said['units']} units, SHA-256 {said['sample_sha256']}; {said['ratings']} ratings, SHA-256 "
        f"{said['ratings_sha256']}.",
        f"- Concord {said['concord']}, {said['made']}.",
        "",
        _below(datasheet(db, study.name, report)),
    ]
    return "\n".join([*lines, ""])


def _below(sheet: str) -> str:
    """A datasheet one level of headings lower."""
    return re.sub(r"^#", "##", sheet, flags=re.MULTILINE)


def _question(criterion: Criterion) -> list[str]:
    scale = criterion.scale
    if scale.continuous:
        answers = f"any number from {scale.low:g} to {scale.high:g}"
    else:
        answers = "; ".join(
            label if label == f"{value:g}" else f"{value:g} {label}"
            for value, label in zip(scale.values, scale.labels, strict=True)
        )
    about = f"**{markdown_text(criterion.label)}** (`{criterion.name}`): {markdown_text(criterion.statement)}"
    return [f"- {about} Answers: {markdown_text(answers)}."]
