"""Read comparisons: which of two conversations a person or a judge preferred, one a row."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sqlite_utils import Database

from concord.errors import ImportRefused
from concord.exchange import rows
from concord.exchange.cells import name_in, nfc, refuse, yes
from concord.exchange.file_row import FileRow
from concord.exchange.ratings_csv import rater_in
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

    location: str
    comparison: Comparison
    scenario: str
    created: str


def read(path: Path) -> list[PreferenceRow]:
    """The rows of a file (CSV, JSON Lines, JSON, Parquet). Raises ImportRefused naming all that is wrong."""
    wrong: list[str] = []
    preferences: list[PreferenceRow] = []
    for row in rows.read(path):
        try:
            preferences.append(_preference(row))
        except ImportRefused as error:
            wrong.append(str(error))
    refuse(wrong, f"{path}: {len(wrong):,} rows are invalid; nothing was imported.")
    if not preferences:
        raise ImportRefused(f"{path} holds no comparisons. Each row needs {', '.join(REQUIRED)}.")
    return preferences


def store(workspace: Workspace, path: Path, benchmark: str = "") -> str:
    """Store a file's comparisons: all, or nothing. Returns what is new, in a sentence. Raises ImportRefused.

    `first` and `second` are keys of stored conversations, with or without `benchmark` before them. A
    comparison that is known with another verdict refuses the file.
    """
    preferences = read(path)
    benchmark = name_in(str(path), "benchmark", benchmark or path.stem)
    counts = Counter[str]()
    with in_parts(workspace.db_path) as part:
        for batch in (preferences[start : start + AT_ONCE] for start in range(0, len(preferences), AT_ONCE)):
            with part() as db:
                for one in batch:
                    first, second = _sides(db, one, benchmark)
                    new = _saved(db, one, replace(one.comparison, first=first, second=second))
                    counts[one.comparison.rater.kind if new else "known"] += 1
    parts = [f"{counts['human']:,} comparisons by annotators", f"{counts['judge']:,} by judges"]
    parts += [f"{counts['gold']:,} gold labels"] if counts["gold"] else []
    duplicates = f" {counts['known']:,} were stored already." if counts["known"] else ""
    return f"New: {', '.join(parts)}.{duplicates}"


def _saved(db: Database, row: PreferenceRow, comparison: Comparison) -> bool:
    """Store a comparison; whether it is new. Raises ImportRefused for one with another verdict."""
    question = PairQuestion(comparison.rubric, comparison.criterion)
    stored_verdicts = comparisons.verdicts(
        db, comparison.rater, comparison.first, comparison.second, question
    )
    if stored_verdicts.get(comparison.repeat, comparison.verdict) != comparison.verdict:
        raise ImportRefused(
            f"{row.location}: {comparison.rater.name} compared “{comparison.first}” with "
            f"“{comparison.second}” already, with "
            "another verdict. Keep one, or give the second a different repeat number."
        )
    if comparison.repeat not in stored_verdicts:
        moment = {"created": row.created} if row.created else {}
        comparisons.save(db, replace(comparison, key=import_key(comparison)), moment)
    return comparison.repeat not in stored_verdicts


def import_key(comparison: Comparison) -> str:
    """The key of an imported comparison."""
    parts = [
        comparison.first,
        comparison.second,
        comparison.rater.name,
        comparison.rater.variant,
        str(comparison.repeat),
        "import",
    ]
    return "|".join([*parts, *filter(None, (comparison.rubric, comparison.criterion))])


def _preference(row: FileRow) -> PreferenceRow:
    cells = dict.fromkeys(OPTIONAL, "") | row.cells(REQUIRED)
    for name in (*REQUIRED, "scenario", "rubric", "criterion"):
        name_in(row.location, name, cells[name])
    rater, repeat = rater_in(row.location, cells)
    verdict = WON.get(cells["verdict"].lower())
    if verdict is None:
        raise ImportRefused(f"{row.location}: the verdict is “{cells['verdict']}”; it must be A, B or tie.")
    if cells["first"] == cells["second"]:
        raise ImportRefused(f"{row.location}: “{cells['first']}” is compared with itself.")
    if bool(cells["rubric"]) != bool(cells["criterion"]):
        raise ImportRefused(
            f"{row.location}: a question needs both rubric and criterion. Give both, or neither."
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
    return PreferenceRow(row.location, comparison, cells["scenario"], cells["created"])


def _sides(db: Database, row: PreferenceRow, benchmark: str) -> tuple[str, str]:
    """The keys of the two conversations. Raises ImportRefused unless they are stored, and are of one
    benchmark and one scenario, which the row may name.
    """
    ids: list[int] = []
    for key in (row.comparison.first, row.comparison.second):
        ids_found = filter(None, (conversations.find_id(db, k) for k in (key, f"{benchmark}/{key}")))
        if (number := next(ids_found, None)) is None:
            raise ImportRefused(
                f"{row.location}: “{key}” is not a conversation of this workspace. Import the "
                "conversations first."
            )
        ids.append(number)
    first, second = (conversations.load(db, number) for number in ids)
    names = f"“{first.key}” and “{second.key}”"
    if first.benchmark != second.benchmark:
        raise ImportRefused(
            f"{row.location}: {names} belong to {first.benchmark} and {second.benchmark}. Compare "
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
            f"{row.location}: {names} may answer different prompts. Add a column scenario with the prompt of "
            "both."
        )
    return first.key, second.key
