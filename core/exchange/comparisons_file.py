"""Read comparisons: which of two conversations a person or a judge preferred, one a row."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sqlite_utils import Database

from concord.errors import ImportRefused
from concord.exchange import rows
from concord.exchange.cells import name_in, nfc, refuse, yes
from concord.exchange.ratings_csv import rater_in
from concord.exchange.rows import FileRow
from concord.exchange.shapes import WON
from concord.rating import Comparison
from concord.runs.registry import known_or_imported
from concord.store import comparisons, conversations
from concord.store.comparisons import PairQuestion
from concord.store.parts import in_parts
from concord.workspace import Workspace

REQUIRED = ("first", "second", "verdict", "rater_type", "rater")
OPTIONAL = (
    "variant",
    "repeat",
    "simulated",
    "strong",
    "scenario",
    "rubric",
    "criterion",
    "explanation",
    "created",
)
AT_ONCE = 200


class PreferenceRow(NamedTuple):
    """Where a row stands, its comparison of conversations as the file names them, and what the row says of
    what both were asked and when the vote was given.
    """

    where: str
    comparison: Comparison
    scenario: str
    created: str


def read(path: Path) -> list[PreferenceRow]:
    """The rows of a file (CSV, JSON Lines, JSON, Parquet). Raises ImportRefused naming all that is wrong."""
    wrong: list[str] = []
    given: list[PreferenceRow] = []
    for row in rows.read(path):
        try:
            given.append(_placed(row))
        except ImportRefused as error:
            wrong.append(str(error))
    refuse(wrong, f"{path}: {len(wrong):,} rows are invalid; nothing was imported.")
    if not given:
        raise ImportRefused(f"{path} holds no comparisons. Each row needs {', '.join(REQUIRED)}.")
    return given


def store(workspace: Workspace, path: Path, benchmark: str = "") -> str:
    """Store a file's comparisons: all, or nothing. Returns what is new, in a sentence. Raises ImportRefused.

    `first` and `second` are keys of stored conversations, with or without `benchmark` before them. A
    comparison that is known with another verdict refuses the file.
    """
    given = read(path)
    benchmark = name_in(str(path), "benchmark", benchmark or path.stem)
    stored = Counter[str]()
    with in_parts(workspace.db_path) as part:
        for some in (given[start : start + AT_ONCE] for start in range(0, len(given), AT_ONCE)):
            with part() as db:
                for one in some:
                    first, second = _sides(db, one, benchmark)
                    new = _saved(db, one, replace(one.comparison, first=first, second=second))
                    stored[one.comparison.rater.kind if new else "known"] += 1
    counts = [f"{stored['human']:,} comparisons by annotators", f"{stored['judge']:,} by judges"]
    counts += [f"{stored['gold']:,} gold labels"] if stored["gold"] else []
    known = f" {stored['known']:,} were stored already." if stored["known"] else ""
    return f"New: {', '.join(counts)}.{known}"


def _saved(db: Database, row: PreferenceRow, this: Comparison) -> bool:
    """Store a comparison; whether it is new. Raises ImportRefused for one with another verdict."""
    question = PairQuestion(this.rubric, this.criterion)
    there = comparisons.verdicts(db, this.rater, this.first, this.second, question)
    if there.get(this.repeat, this.verdict) != this.verdict:
        raise ImportRefused(
            f"{row.where}: {this.rater.name} compared “{this.first}” with “{this.second}” already, with "
            "another verdict. Keep one, or give the second a different repeat number."
        )
    if this.repeat not in there:
        when = {"created": row.created} if row.created else {}
        comparisons.save(db, replace(this, key=import_key(this)), when)
    return this.repeat not in there


def import_key(of: Comparison) -> str:
    """The key of an imported comparison."""
    parts = [of.first, of.second, of.rater.name, of.rater.variant, str(of.repeat), "import"]
    return "|".join([*parts, *filter(None, (of.rubric, of.criterion))])


def _placed(row: FileRow) -> PreferenceRow:
    cells = dict.fromkeys(OPTIONAL, "") | row.cells(REQUIRED)
    for name in (*REQUIRED, "scenario", "rubric", "criterion"):
        name_in(row.where, name, cells[name])
    rater, repeat = rater_in(row.where, cells)
    verdict = WON.get(cells["verdict"].lower())
    if verdict is None:
        raise ImportRefused(f"{row.where}: the verdict is “{cells['verdict']}”; it must be A, B or tie.")
    if cells["first"] == cells["second"]:
        raise ImportRefused(f"{row.where}: “{cells['first']}” is compared with itself.")
    if bool(cells["rubric"]) != bool(cells["criterion"]):
        raise ImportRefused(
            f"{row.where}: a question needs both rubric and criterion. Give both, or neither."
        )
    comparison = Comparison(
        "",
        cells["first"],
        cells["second"],
        rater,
        verdict,
        cells["explanation"],
        repeat=repeat,
        strong=yes(cells["strong"]),
        rubric=nfc(cells["rubric"]),
        criterion=nfc(cells["criterion"]),
    )
    return PreferenceRow(row.where, comparison, cells["scenario"], cells["created"])


def _sides(db: Database, row: PreferenceRow, benchmark: str) -> tuple[str, str]:
    """The keys of the two conversations. Raises ImportRefused unless they are stored, and are of one
    benchmark and one scenario, which the row may name.
    """
    ids: list[int] = []
    for key in (row.comparison.first, row.comparison.second):
        there = filter(None, (conversations.find_id(db, k) for k in (key, f"{benchmark}/{key}")))
        if (number := next(there, None)) is None:
            raise ImportRefused(
                f"{row.where}: “{key}” is not a conversation of this workspace. Import the "
                "conversations first."
            )
        ids.append(number)
    first, second = (conversations.load(db, number) for number in ids)
    names = f"“{first.key}” and “{second.key}”"
    if first.benchmark != second.benchmark:
        raise ImportRefused(
            f"{row.where}: {names} belong to {first.benchmark} and {second.benchmark}. Compare "
            "conversations of one benchmark."
        )
    facet = known_or_imported(first.benchmark).scenario_facet
    scenarios = set()
    for number, conversation in zip(ids, (first, second), strict=True):
        scenarios.add(conversation.facets.get(facet) or row.scenario)
        if facet and row.scenario and not conversation.facets.get(facet):
            conversations.name_facet(db, number, facet, row.scenario)
    if not facet or len(scenarios) > 1 or "" in scenarios:
        raise ImportRefused(
            f"{row.where}: {names} may answer different prompts. Add a column scenario with the prompt of "
            "both."
        )
    return first.key, second.key
