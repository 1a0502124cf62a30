"""Read comparisons: which of two conversations a person or a judge preferred, one a row."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import ConcordError, ImportRefused
from concord.exchange import rows
from concord.exchange.cells import SHOWN, name_in, nfc
from concord.exchange.dialogue import from_cell
from concord.exchange.rows import FileRow
from concord.rating import Comparison, Rater, RaterKind, Verdict
from concord.rubrics import shelf
from concord.runs.registry import SCENARIO, known_or_imported
from concord.store import comparisons, conversations, rubrics
from concord.store.comparisons import OWN, PairQuestion
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
    """One row: which of two was preferred, by whom, and the texts of the two where the row has them."""

    where: str
    sides: tuple[str, str]
    verdict: Verdict
    rater: Rater
    repeat: int
    explanation: str
    scenario: str
    texts: tuple[str, str]
    models: tuple[str, str]
    language: str
    question: PairQuestion = OWN
    strong: bool = False


@dataclass(frozen=True)
class ImportedComparisons:
    """How many comparisons by people and by judges are new, how many were known, and new conversations."""

    people: int
    judges: int
    known: int
    conversations: int


def read(path: Path) -> list[PreferenceRow]:
    """The rows of a file (CSV, JSON Lines, JSON, Parquet). Raises ImportRefused naming all that is wrong."""
    wrong: list[str] = []
    found: list[PreferenceRow] = []
    for row in rows.read(path):
        try:
            found.append(_preference(row))
        except ImportRefused as error:
            wrong.append(str(error))
    if wrong:
        more = [f"… and {len(wrong) - SHOWN} more."] if len(wrong) > SHOWN else []
        head = [f"{path}: {len(wrong)} rows are wrong; nothing was imported."] if len(wrong) > 1 else []
        raise ImportRefused("\n  ".join([*head, *wrong[:SHOWN], *more]))
    if not found:
        raise ImportRefused(f"{path} holds no comparisons. Each row needs {', '.join(REQUIRED)}.")
    return found


def pairs(path: Path) -> list[GivenPair]:
    """The pairs of a file, for a study: columns first and second. Raises ImportRefused."""
    found = []
    for row in rows.read(path):
        if row.fields is None:
            raise ImportRefused(f"{row.where}, {row.wrong}")
        cells = {name.strip().lower(): str(value or "").strip() for name, value in row.fields.items()}
        if missing := [name for name in ("first", "second") if not cells.get(name)]:
            raise ImportRefused(
                f"{row.where}, has no {missing[0]}. Each row names two keys: first and second."
            )
        found.append(GivenPair(row.where, cells["first"], cells["second"]))
    return found


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
                    keys, made = _sides(db, one, benchmark)
                    stored["conversations"] += made
                    stored[one.rater.kind if _saved(db, one, keys) else "known"] += 1
    return ImportedComparisons(stored["human"], stored["judge"], stored["known"], stored["conversations"])


def _check_answers(workspace: Workspace, given: Sequence[PreferenceRow]) -> None:
    """Raises ImportRefused for an answer that a rubric's question, as used here last, does not have."""
    with workspace.read() as db:
        last = {
            v.name: v.version
            for name in {row.question.rubric for row in given} - {""}
            for v in rubrics.versions(db, name)
        }
        asked = {name: shelf.used(db, name, version).rubric.pairs for name, version in last.items()}
    for row in given:
        if row.question.rubric in asked:
            try:
                check_answer(
                    asked[row.question.rubric], row.question.criterion, row.verdict, strong=row.strong
                )
            except ConcordError as error:
                raise ImportRefused(f"{row.where}: {error}") from error


def _saved(db: Database, one: PreferenceRow, keys: tuple[str, str]) -> bool:
    """Store a comparison; whether it is new. Raises ImportRefused for one with another verdict."""
    there = comparisons.verdicts(db, one.rater, *keys, one.question)
    if there.get(one.repeat, one.verdict) != one.verdict:
        raise ImportRefused(
            f"{one.where}: {one.rater.name} compared “{keys[0]}” with “{keys[1]}” already, with another "
            "verdict. Keep one of the two, or give the second a repeat of its own."
        )
    if one.repeat not in there:
        key = "|".join(
            [
                *keys,
                one.rater.name,
                one.rater.variant,
                str(one.repeat),
                "import",
                *filter(None, one.question),
            ]
        )
        about = {"repeat": one.repeat, "strong": one.strong, **one.question._asdict()}
        made = Comparison(key, *keys, one.rater, one.verdict, one.explanation, **about)
        comparisons.save(db, made)
    return one.repeat not in there


def _preference(row: FileRow) -> PreferenceRow:
    if row.fields is None:
        raise ImportRefused(f"{row.where}, {row.wrong}")
    cells = {
        name.strip().lower(): ""
        if value is None
        else value
        if isinstance(value, list)
        else str(value).strip()
        for name, value in row.fields.items()
    }
    if missing := [name for name in REQUIRED if not cells.get(name)]:
        raise ImportRefused(f"{row.where}, has no {missing[0]}. Each row needs {', '.join(REQUIRED)}.")
    beside = ("variant", "scenario", "language", "rubric", "criterion")
    told = {name: str(cells.get(name, "")) for name in (*REQUIRED, *beside)}
    for name, text in told.items():
        name_in(row.where, name, text)
    kind = told["rater_type"].lower()
    if kind not in ("human", "judge"):
        raise ImportRefused(f"{row.where}: rater_type is “{kind}”; it must be human or judge.")
    verdict = VERDICTS.get(told["verdict"].lower())
    if verdict is None:
        raise ImportRefused(f"{row.where}: the verdict is “{told['verdict']}”; it must be A, B or tie.")
    if told["first"] == told["second"]:
        raise ImportRefused(f"{row.where}: “{told['first']}” is compared with itself.")
    which: RaterKind = "human" if kind == "human" else "judge"
    repeat = str(cells.get("repeat") or "0").removesuffix(".0")
    if not repeat.isdecimal() or len(repeat) > 6:
        raise ImportRefused(f"{row.where}: the repeat “{repeat[:40]}” is not a whole number from 0.")
    if bool(told["rubric"]) != bool(told["criterion"]):
        raise ImportRefused(
            f"{row.where}: rubric and criterion name a question together. Give both, or none."
        )
    simulated = _yes(cells.get("simulated"))
    rater = Rater(nfc(told["rater"]), which, nfc(told["variant"]) if which == "judge" else "", simulated)
    texts = tuple(
        said if isinstance(said := cells.get(f"text_{side}", ""), str) else json.dumps(said)
        for side in ("first", "second")
    )
    models = tuple(str(cells.get(f"model_{side}") or "unknown") for side in ("first", "second"))
    return PreferenceRow(
        row.where,
        (told["first"], told["second"]),
        verdict,
        rater,
        int(repeat),
        str(cells.get("explanation", "")),
        told["scenario"],
        (texts[0], texts[1]),
        (models[0], models[1]),
        told["language"] or "en",
        PairQuestion(nfc(told["rubric"]), nfc(told["criterion"])),
        _yes(cells.get("strong")),
    )


def _yes(cell: object) -> bool:
    return str(cell).lower() in ("1", "true", "yes")


def _sides(db: Database, one: PreferenceRow, benchmark: str) -> tuple[tuple[str, str], int]:
    """The keys of a row's two conversations, stored where the row has their texts, and how many are new."""
    keys: list[str] = []
    made = 0
    for key, text, model in zip(one.sides, one.texts, one.models, strict=True):
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
            made += 1
        keys.append(there)
    _one_scenario(db, one, keys)
    return (keys[0], keys[1]), made


def _one_scenario(db: Database, one: PreferenceRow, keys: Sequence[str]) -> None:
    """Raises ImportRefused unless the two are of one benchmark and one scenario, which the row may name."""
    first, second = (conversations.load(db, key) for key in keys)
    if first.benchmark != second.benchmark:
        raise ImportRefused(
            f"{one.where}: “{keys[0]}” and “{keys[1]}” belong to {first.benchmark} and {second.benchmark}. "
            "Compare conversations of one name."
        )
    facet = known_or_imported(first.benchmark).scenario_facet
    told = [conversation.facets.get(facet, "") for conversation in (first, second)]
    for place, key in enumerate(keys):
        if facet and not told[place] and one.scenario:
            number = conversations.find_id(db, key)
            assert number is not None, "it is stored"
            conversations.name_facet(db, number, facet, one.scenario)
            told[place] = one.scenario
    if not facet or not told[0] or told[0] != told[1]:
        raise ImportRefused(
            f"{one.where}: “{keys[0]}” and “{keys[1]}” are not known to answer the same. Add a column "
            "scenario that names what both were asked."
        )
