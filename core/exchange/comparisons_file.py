"""Read comparisons: which of two conversations a person or a judge preferred, one a row."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import ConcordError, ImportRefused
from concord.exchange import rows
from concord.exchange.cells import name_in, nfc, refuse, yes
from concord.exchange.dialogue import from_cell
from concord.exchange.ratings_csv import rater_in
from concord.exchange.rows import FileRow
from concord.rating import Comparison, RaterKind, Verdict
from concord.rubrics import shelf
from concord.runs.registry import SCENARIO, known_or_imported
from concord.store import comparisons, conversations, rubrics
from concord.store.comparisons import PairQuestion
from concord.store.parts import in_parts
from concord.studies.pairings import GivenPair, check_answer
from concord.workspace import Workspace

REQUIRED = ("first", "second", "verdict", "rater_type", "rater")
VERDICTS: Mapping[str, Verdict] = {
    **dict.fromkeys(("a", "first", "1", "model_a"), "A"),
    **dict.fromkeys(("b", "second", "2", "model_b"), "B"),
    **dict.fromkeys(("c", "tie", "neither", "0"), "C"),
}
AT_ONCE = 200


@dataclass(frozen=True)
class PreferenceRow:
    """One row: a comparison of conversations as the file names them, which their texts, if it has them, make.

    `texts` and `models` are those of the first and the second.
    """

    where: str
    comparison: Comparison
    scenario: str
    texts: tuple[str, ...]
    models: tuple[str, ...]
    language: str


@dataclass(frozen=True)
class ImportedComparisons:
    """How many comparisons by people and by judges, and gold labels, are new, how many were known, and new
    conversations.
    """

    people: int
    judges: int
    gold: int
    known: int
    conversations: int


def read(path: Path) -> list[PreferenceRow]:
    """The rows of a file (CSV, JSON Lines, JSON, Parquet). Raises ImportRefused naming all that is wrong."""
    wrong: list[str] = []
    preferences: list[PreferenceRow] = []
    for row in rows.read(path):
        try:
            preferences.append(_preference(row))
        except ImportRefused as error:
            wrong.append(str(error))
    refuse(wrong, f"{path}: {len(wrong):,} rows are wrong; nothing was imported.")
    if not preferences:
        raise ImportRefused(f"{path} holds no comparisons. Each row needs {', '.join(REQUIRED)}.")
    return preferences


def pairs(path: Path) -> list[GivenPair]:
    """The pairs of a file, for a study: columns first and second. Raises ImportRefused."""
    given = []
    for row in rows.read(path):
        cells = {name.strip().lower(): str(value or "").strip() for name, value in row.whole.items()}
        if missing := [name for name in ("first", "second") if not cells.get(name)]:
            raise ImportRefused(
                f"{row.where}, has no {missing[0]}. Each row names two keys: first and second."
            )
        given.append(GivenPair(row.where, cells["first"], cells["second"]))
    return given


def store(workspace: Workspace, path: Path, benchmark: str = "") -> ImportedComparisons:
    """Store a file's comparisons: all, or nothing. Raises ImportRefused.

    `first` and `second` are keys of stored conversations, with or without `benchmark` before them; a row with
    texts makes those that are not stored. A person's comparison that is known with another verdict refuses
    the file, as does a judge's.
    """
    given = read(path)
    benchmark = name_in(str(path), "benchmark", benchmark or path.stem)
    stored = Counter[str]()
    _check_answers(workspace, given)
    with in_parts(workspace.db_path) as part:
        for some in (given[start : start + AT_ONCE] for start in range(0, len(given), AT_ONCE)):
            with part() as db:
                for one in some:
                    keys, new = _sides(db, one, benchmark)
                    stored["conversations"] += new
                    stored[one.comparison.rater.kind if _saved(db, one, keys) else "known"] += 1
    return ImportedComparisons(*(stored[of] for of in (*get_args(RaterKind), "known", "conversations")))


def _check_answers(workspace: Workspace, given: Sequence[PreferenceRow]) -> None:
    """Raises ImportRefused for an answer that a rubric's question, as used here last, does not have."""
    with workspace.read() as db:
        last = {
            v.name: v.version
            for name in {row.comparison.rubric for row in given} - {""}
            for v in rubrics.versions(db, name)
        }
        questions = {name: shelf.used(db, name, version).rubric.pairs for name, version in last.items()}
    for row in given:
        answer = row.comparison
        if answer.rubric in questions:
            try:
                check_answer(questions[answer.rubric], answer.criterion, answer.verdict, strong=answer.strong)
            except ConcordError as error:
                raise ImportRefused(f"{row.where}: {error}") from error


def _saved(db: Database, one: PreferenceRow, keys: tuple[str, str]) -> bool:
    """Store a comparison; whether it is new. Raises ImportRefused for one with another verdict."""
    this = replace(one.comparison, first=keys[0], second=keys[1])
    question = PairQuestion(this.rubric, this.criterion)
    there = comparisons.verdicts(db, this.rater, *keys, question)
    if there.get(this.repeat, this.verdict) != this.verdict:
        raise ImportRefused(
            f"{one.where}: {this.rater.name} compared “{keys[0]}” with “{keys[1]}” already, with another "
            "verdict. Keep one of the two, or give the second a repeat of its own."
        )
    if this.repeat not in there:
        comparisons.save(db, replace(this, key=import_key(this)))
    return this.repeat not in there


def import_key(of: Comparison) -> str:
    """The key of an imported comparison."""
    parts = [of.first, of.second, of.rater.name, of.rater.variant, str(of.repeat), "import"]
    return "|".join([*parts, *filter(None, (of.rubric, of.criterion))])


def _preference(row: FileRow) -> PreferenceRow:
    cells = {
        name.strip().lower(): ""
        if value is None
        else value
        if isinstance(value, list)
        else str(value).strip()
        for name, value in row.whole.items()
    }
    if missing := [name for name in REQUIRED if not cells.get(name)]:
        raise ImportRefused(f"{row.where}, has no {missing[0]}. Each row needs {', '.join(REQUIRED)}.")
    beside = ("variant", "scenario", "language", "rubric", "criterion")
    names = {name: str(cells.get(name, "")) for name in (*REQUIRED, *beside)}
    for name, text in names.items():
        name_in(row.where, name, text)
    about = {name: str(cells.get(name) or "") for name in ("simulated", "repeat")}
    rater, repeat = rater_in(row.where, names | about)
    verdict = VERDICTS.get(names["verdict"].lower())
    if verdict is None:
        raise ImportRefused(f"{row.where}: the verdict is “{names['verdict']}”; it must be A, B or tie.")
    if names["first"] == names["second"]:
        raise ImportRefused(f"{row.where}: “{names['first']}” is compared with itself.")
    if bool(names["rubric"]) != bool(names["criterion"]):
        raise ImportRefused(
            f"{row.where}: rubric and criterion name a question together. Give both, or none."
        )
    texts = (cells.get(f"text_{side}", "") for side in ("first", "second"))
    return PreferenceRow(
        row.where,
        Comparison(
            "",
            names["first"],
            names["second"],
            rater,
            verdict,
            str(cells.get("explanation", "")),
            repeat=repeat,
            strong=yes(cells.get("strong")),
            rubric=nfc(names["rubric"]),
            criterion=nfc(names["criterion"]),
        ),
        names["scenario"],
        tuple(text if isinstance(text, str) else json.dumps(text) for text in texts),
        tuple(str(cells.get(f"model_{side}") or "unknown") for side in ("first", "second")),
        names["language"] or "en",
    )


def _sides(db: Database, one: PreferenceRow, benchmark: str) -> tuple[tuple[str, str], int]:
    """The keys of a row's two conversations, stored where the row has their texts, and how many are new."""
    keys: list[str] = []
    new = 0
    for key, text, model in zip(
        (one.comparison.first, one.comparison.second), one.texts, one.models, strict=True
    ):
        there = next((k for k in (key, f"{benchmark}/{key}") if conversations.find_id(db, k)), None)
        if there is None:
            if not text:
                raise ImportRefused(
                    f"{one.where}: “{key}” is no conversation of this workspace. Import the conversations "
                    "first, or give text_first and text_second."
                )
            there = f"{benchmark}/{key}"
            facets = {SCENARIO: one.scenario} if one.scenario else {}
            messages = from_cell(text, one.where)
            conversations.save(
                db, Conversation(benchmark, there, nfc(model), messages, one.language, facets=facets)
            )
            new += 1
        keys.append(there)
    _one_scenario(db, one, keys)
    return (keys[0], keys[1]), new


def _one_scenario(db: Database, one: PreferenceRow, keys: Sequence[str]) -> None:
    """Raises ImportRefused unless the two are of one benchmark and one scenario, which the row may name."""
    first, second = (conversations.load(db, key) for key in keys)
    if first.benchmark != second.benchmark:
        raise ImportRefused(
            f"{one.where}: “{keys[0]}” and “{keys[1]}” belong to {first.benchmark} and {second.benchmark}. "
            "Compare conversations of one name."
        )
    facet = known_or_imported(first.benchmark).scenario_facet
    scenarios = [conversation.facets.get(facet, "") for conversation in (first, second)]
    for place, key in enumerate(keys):
        if facet and not scenarios[place] and one.scenario:
            number = conversations.find_id(db, key)
            assert number is not None, "it is stored"
            conversations.name_facet(db, number, facet, one.scenario)
            scenarios[place] = one.scenario
    if not facet or not scenarios[0] or scenarios[0] != scenarios[1]:
        raise ImportRefused(
            f"{one.where}: “{keys[0]}” and “{keys[1]}” are not known to answer the same. Add a column "
            "scenario that names what both were asked."
        )
