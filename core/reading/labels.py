"""Read a table of labels: what people and judges said, as ratings that can be measured or stored.

What a column is is decided from its name, its values and the other columns, and said in a line. Where two
readings would give another answer, the error asks, with the commands to type.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from concord import messages
from concord.arrays import Columns, Keyed, Names
from concord.codes import PLAYERS, ColumnRole, Domain, Layout, RoleReason
from concord.conversation import Conversation, Message, Role
from concord.errors import ImportRefused, not_found
from concord.exchange import incoming, ratings_csv, ratings_study
from concord.exchange.rating_table import NO_CELLS, RaterQuestion, RatingTable
from concord.questions import Scale
from concord.rating import Criterion, Rater, RaterKind
from concord.reading import sources
from concord.reading.cells import are_sets, is_blank
from concord.reading.criterion import CriterionReading, RaterAnswers, known_order, reading_of
from concord.reading.evidence import Sentinel, failed_rows, sentinels_of, zeros_below
from concord.reading.layouts import KIND_BY_TITLE, Profiles, Voice, Voices, voices_of
from concord.reading.names import extends
from concord.reading.options import NO_OPTIONS, TableOptions
from concord.reading.profile import Profile, is_level
from concord.reading.scored import ScoredTable, one_a_pair
from concord.reading.table import SourceTable, count_warning, of_records
from concord.reading.vocabulary import answers, holds, tokens, word_set, words
from concord.scores import labels as rater_labels
from concord.store.studies import FILE, Study
from concord.studies.studies import StudyRatings, study_ratings

OF_FRAMES = {"unit": "item_id", "kind": "rater_type"}
"""Names of columns of Concord's own frames, and those of its files."""
VALUES = 8
"""So many values of a column are named."""
MOST_NAMED = 3
"""So many cells that cannot be read are named."""
LINES = 6
"""So many criteria are described."""
MOST_SETS = 2_000
"""So many different cells of a column tell whether it holds sets of labels."""
MOST_UNRATED = 1_000_000
"""Of items that people did not answer so many are measured: more tell nothing more about a judge."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Treatment(TypedDict, total=False):
    """How ratings that were read become those of agreement: see `concord.exchange.incoming.measured`."""

    exclude_refused: bool
    cluster_by: Sequence[str] | None


@dataclass(frozen=True)
class RatingsFile:
    """Ratings that were read: with `scales` by criterion, conversations by item, and notes of how a table of
    labels was read.
    """

    table: RatingTable
    scales: Mapping[str, Scale]
    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class LabelTable:
    """A table that was read: its ratings, what its columns were taken for, warnings of what was excluded.

    `keys` and `texts` are those of units, in the order of the table; `other_cells` has the cells of units in
    the columns that `TableOptions.other_columns` names.
    """

    data: StudyRatings
    features: Columns
    columns: tuple[str, ...]
    warnings: tuple[str, ...]
    keys: Mapping[int, str]
    texts: Mapping[int, str]
    other_cells: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


def read(
    source: Any, options: TableOptions = NO_OPTIONS, *, people: bool = True, **treatment: Unpack[Treatment]
) -> LabelTable:
    """Read a table from any source that `concord.reading.sources.read` takes.

    `people` says whether people's answers are needed, `treatment` how refusals and clusters are treated.
    Raises ImportRefused for a table without judges' answers, or without people's where these are needed.
    """
    table = without_groups(sources.read(source), options.excluded)
    table.options = options
    needed_kinds: tuple[RaterKind, ...] = ("human", "judge") if people else ("judge",)
    table.needed_kinds = needed_kinds
    columns = _own_columns(table)
    if columns:
        return _measured_own(table, columns, treatment)
    scored = scores_of(voices_of(table))
    return _label_table(scored, treatment)


def without_groups(table: SourceTable, groups: Sequence[tuple[str, str]]) -> SourceTable:
    """A table without the rows that hold a value in a column; “model” and “player” are the column of models.

    Raises NotFound for a column, ImportRefused where no row holds the value, or every row does.
    """
    for name, value in groups:
        players = (c for c in table.columns if c.lower().rpartition(".")[2] in words("players"))
        column = name if name in table.columns or name not in PLAYERS else next(players, name)
        if column not in table.columns:
            raise not_found("column", name, list(table.columns))
        texts = ["" if is_blank(cell) else str(cell).strip() for cell in table.cells(column)]
        rows = [place for place, text in enumerate(texts) if text != value]
        if not rows:
            raise ImportRefused(f"Every row holds “{value}” in {column}: --exclude leaves none.")
        if len(rows) == len(texts):
            values = messages.listed(sorted({*texts} - {""}), VALUES)
            raise ImportRefused(f"No row holds “{value}” in {column}. It has {values}.")
        place_of = table.place
        remaining = of_records(
            table.name,
            [table.records[row] for row in rows],
            lambda row, rows=rows, place_of=place_of: place_of(rows[row]),  # type: ignore[misc]
        )
        warning = f"{len(texts) - len(rows):,} rows with “{value}” in {column} are excluded"
        remaining.form = [*table.form]
        remaining.warnings = [*table.warnings, warning]
        remaining.stated_raters = table.stated_raters
        remaining.pair = table.pair
        table = remaining
    return table


def ratings(path: Path, options: TableOptions = NO_OPTIONS) -> RatingsFile:
    """The ratings of a file by people, judges or both: in Concord's own columns, or in any form that a table
    of labels has.

    Raises ImportRefused naming every line that is wrong, or what the file lacks; NotFound.
    """
    try:
        return _of_own(ratings_csv.read(path), options)
    except ratings_csv.ColumnMissing as error:
        missing_column = error
    try:
        return ratings_of(sources.read(path), options)
    except ImportRefused as error:
        raise ImportRefused(
            f"{missing_column} It cannot be read as a table of labels either: {error}"
        ) from error


def ratings_of(table: SourceTable, options: TableOptions = NO_OPTIONS) -> RatingsFile:
    """The ratings of a table in any form. Raises ImportRefused, NotFound."""
    table.options = options
    if columns := _own_columns(table):
        return _concord_table(table, columns)
    return _file(scores_of(voices_of(table)))


def columns_of(path: Path) -> tuple[str, ...]:
    """The names of a file's columns, where it is a table of labels of any form but Concord's own; else ().

    A column for a reader to choose among needs a name, and a table one at least that may hold answers.
    """
    try:
        table = sources.read(path)
    except ImportRefused:
        return ()
    has_own_form = _own_columns(table)
    profiles = Profiles(table)
    may = [name for name, profile in profiles.items() if profile.may_answer]
    return () if has_own_form or len(may) < 2 else tuple(profiles)


def _own_columns(table: SourceTable) -> dict[str, str]:
    """The columns of a table in Concord's own form by their names in files; {} for another table."""
    columns = {OF_FRAMES.get(column.lower(), column.lower()): column for column in table.columns}
    if not {*ratings_csv.REQUIRED} <= columns.keys():
        return {}
    profile = Profile(table.columns[columns["score"]])
    answer_domain = profile.answers
    numbers = answer_domain.domain is Domain.NUMBERS or (
        answer_domain.domain is not Domain.EMPTY
        and np.isfinite(profile.scores).sum() * 2 > profile.has_answer.sum()
    )
    return columns if numbers else {}


def _concord_table(table: SourceTable, columns: Mapping[str, str]) -> RatingsFile:
    """A table in Concord's own form, with turns, repeats and texts; a row without a score is missing."""
    lists = [table.cells(column) for column in columns.values()]
    scores = table.cells(columns["score"])

    def numbered() -> Iterator[tuple[int, list[str]]]:
        yield 1, [*columns]
        for row, cells in enumerate(zip(*lists, strict=True)):
            if not is_blank(scores[row]):
                yield int(table.place(row).rpartition(" ")[2]), [_text(cell) for cell in cells]

    file = ratings_csv.read_records(numbered(), table.name)
    if lacking := table.size - len(file):
        have = "row has no score and is taken" if lacking == 1 else "rows have no score and are taken"
        table.warnings.append(f"{lacking} {have} as missing")
    lines = ["form: Concord's own, a rating a row"]
    for title, kind in KIND_BY_TITLE.items():
        if names := sorted({rater.name for rater in file.raters if rater.kind == kind}):
            lines.append(f"{title}: {', '.join(names)}")
    ratings_file = _of_own(file, table.options)
    return replace(ratings_file, notes=(*lines, *table.warnings))


def _of_own(table: RatingTable, options: TableOptions) -> RatingsFile:
    """Ratings in Concord's own form. Raises ImportRefused for options that say again whose they are, or
    what passes.
    """
    options_of_kinds = {"--human": options.people, "--judge": options.judges, "--gold": options.gold}
    if repeated_options := [option for option, raters in options_of_kinds.items() if raters]:
        raise ImportRefused(
            f"{table.file} has the source of each rating in its column rater_type. Remove "
            f"{', '.join(repeated_options)}."
        )
    if options.passing is not None:
        raise ImportRefused(
            f"{table.file} has final scores, which --pass-from cannot change. Write 1 for pass and 0 for "
            "fail."
        )
    return RatingsFile(table, options.scales)


def _text(cell: Any) -> str:
    """A cell as a file has it, nothing for what is missing."""
    if cell is None or cell != cell:
        return ""
    return str(int(cell)) if isinstance(cell, bool | np.bool_) else str(cell)


def _measured_own(table: SourceTable, columns: Mapping[str, str], treatment: Treatment) -> LabelTable:
    """The ratings of a table in Concord's own form, as they would be were they stored."""
    file = _concord_table(table, columns)
    study = Path(table.name).stem
    study_import = ratings_study.incoming(None, file.table, study, scales=file.scales)
    data, features = incoming.unstored_ratings(study_import, **treatment)
    units, _ = study_import.ratings.units(study_import.study.per_turn)
    rated = {n: study_import.conversations[key] for n, (key, _) in enumerate(units, 1)}
    return LabelTable(
        data,
        features,
        tuple(line for line in file.notes if line not in table.warnings),
        tuple(table.warnings),
        {unit: one.key.removeprefix(f"{study}/") for unit, one in rated.items()},
        {unit: "\n\n".join(message.content for message in one.messages) for unit, one in rated.items()},
    )


def scores_of(voices: Voices) -> ScoredTable:
    """The scores in the voices of a table.

    Raises ImportRefused for answers whose meaning is unsure, and for somebody who answers an item twice,
    otherwise each time.
    """
    table = voices.table
    readings: dict[str, CriterionReading] = {}
    unread: list[tuple[int, str, str]] = []
    blocks: list[tuple[Ints, int, Floats, Ints]] = []
    profiles = _with_levels(voices)
    sampled_rows = _drawn_rows(voices, profiles)
    for name in dict.fromkeys(voice.criterion for voice in voices.voices):
        voices_of_criterion = [
            (place, voice) for place, voice in enumerate(voices.voices) if voice.criterion == name
        ]
        declared = _declared(table.options, name)
        raters = [_answer_counts(voice, profiles[voice.column]) for _, voice in voices_of_criterion]
        _refuse_strangers(table, [voice for _, voice in voices_of_criterion], profiles, declared)
        reading = reading_of(_answers_by_rater(raters), declared, table.options, name)
        if reading.problem:
            raise table.refusal(reading.problem, *reading.option)
        readings[name] = reading
        for place, voice in voices_of_criterion:
            profile = profiles[voice.column]
            rows = _rows_of(voice, sampled_rows, table.size)
            score, missed = _voice_scores(voice, profile, reading, rows)
            unread += [(row, voice.rater, str(profile.column.cell(row))) for row in missed[: MOST_NAMED + 1]]
            unread += [(-1, "", "")] * max(0, len(missed) - MOST_NAMED - 1)
            present = np.isfinite(score) & (voices.items.of_row[rows] >= 0)
            blocks.append((rows[present], place, score[present], voices.items.of_row[rows[present]]))
    _warn_unread(table, unread)
    scored = one_a_pair(replace(_scored_table(voices, readings, blocks), sampled=sampled_rows is not None))
    _refuse_without(scored, unread)
    if not table.options.missing:
        _ask_missing(scored, profiles)
    return scored


def _drawn_rows(voices: Voices, profiles: Mapping[str, Profile]) -> Ints | None:
    """The rows of all items that people answered, and of so many others as are measured; None for every
    row.
    """
    items = voices.items
    if len(items) <= MOST_UNRATED:
        return None
    in_sample = np.zeros(len(items), dtype=bool)
    for voice in voices.voices:
        if voice.kind != "judge":
            rows = np.flatnonzero(profiles[voice.column].has_answer)
            rows = rows if voice.rows is None else np.intersect1d(rows, voice.rows)
            of_row = items.of_row[rows]
            in_sample[of_row[of_row >= 0]] = True
    unrated = np.flatnonzero(~in_sample)
    if len(unrated) <= MOST_UNRATED:
        return None
    in_sample[np.random.default_rng(0).choice(unrated, MOST_UNRATED, replace=False)] = True
    voices.table.warnings.append(
        f"{MOST_UNRATED:,} random items of the {len(unrated):,} without annotators' answers are used"
    )
    return np.flatnonzero(in_sample[items.of_row] & (items.of_row >= 0))


def _rows_of(voice: Voice, sampled_rows: Ints | None, size: int) -> Ints:
    """The rows of a voice that are measured."""
    if sampled_rows is None:
        return voice.rows if voice.rows is not None else np.arange(size, dtype=np.int64)
    return sampled_rows if voice.rows is None else np.intersect1d(voice.rows, sampled_rows)


def _declared(options: TableOptions, name: str) -> Scale | None:
    """The scale that options declare for a criterion, in any case."""
    by_name = {key.casefold(): scale for key, scale in options.scales.items()}
    return by_name.get(name.casefold(), by_name.get(""))


def _with_levels(voices: Voices) -> Mapping[str, Profile]:
    """The profiles in which a word for nothing is an answer where people and judges give it among others."""
    by_criterion: dict[str, set[str]] = {}
    for voice in voices.voices:
        by_criterion.setdefault(voice.criterion, set()).add(voice.column)
    profiles = dict(voices.profiles)
    for columns in by_criterion.values():
        profiles_of_criterion = [profiles[column] for column in columns if not profiles[column].column.long]
        levels = frozenset(
            word for word in answers("blank_or_level") if is_level(profiles_of_criterion, word)
        )
        sets = _hold_sets(profiles_of_criterion)
        for profile in profiles_of_criterion if levels or sets else ():
            profiles[profile.name] = replace(profile, levels=levels, sets=sets)
    return profiles


def _hold_sets(profiles: Sequence[Profile]) -> bool:
    """Whether the columns of a criterion together hold labels in more than one order."""
    if any(profile.column.is_numeric for profile in profiles):
        return False
    texts = [value for profile in profiles for value in profile.column.coded[1][:MOST_SETS]]
    return any(profile.is_set for profile in profiles) or are_sets([*dict.fromkeys(map(str, texts))])


def _answer_counts(voice: Voice, profile: Profile) -> RaterAnswers:
    """How often a voice gives each answer."""
    numbers = profile.column.numbers
    if numbers is not None:
        finite_numbers = numbers if voice.rows is None else numbers[voice.rows]
        return RaterAnswers(voice.kind, voice.rater, Counter(), finite_numbers[np.isfinite(finite_numbers)])
    counts = profile.counts
    if voice.rows is not None:
        codes = profile.codes[voice.rows]
        counts = np.bincount(codes[codes >= 0], minlength=len(profile.cores))
    by_core: Counter[str] = Counter()
    for core, n in zip(profile.cores, counts.tolist(), strict=True):
        if core and n:
            by_core[core] += n
    return RaterAnswers(voice.kind, voice.rater, by_core, None, profile.column.ordered)


def _answers_by_rater(raters: Sequence[RaterAnswers]) -> list[RaterAnswers]:
    """The answers of each rater in all runs."""
    by_rater: dict[tuple[RaterKind, str], RaterAnswers] = {}
    for one in raters:
        before = by_rater.get((one.kind, one.rater))
        if before is None:
            by_rater[one.kind, one.rater] = one
            continue
        numbers = [answers_of.numbers for answers_of in (before, one) if answers_of.numbers is not None]
        by_rater[one.kind, one.rater] = replace(
            before, counts=before.counts + one.counts, numbers=np.concatenate(numbers) if numbers else None
        )
    return [*by_rater.values()]


def _refuse_strangers(
    table: SourceTable, voices: Sequence[Voice], profiles: Mapping[str, Profile], declared: Scale | None
) -> None:
    """Raise ImportRefused for a column that shares no answer with any other on its criterion. Columns of one
    answer are excluded.
    """
    options = table.options
    if declared or options.passing is not None or options.order or options.categories:
        return
    columns = [*dict.fromkeys(voice.column for voice in voices)]
    several = [c for c in columns if profiles[c].column.long or len({*profiles[c].cores} - {""}) > 1]
    for column in several:
        compared = [compared_column for compared_column in several if compared_column != column]
        answer_domain = profiles[column].answers
        if not compared or any(
            _compatible(answer_domain, profiles[compared_column].answers) for compared_column in compared
        ):
            continue
        _refuse_levels(table, profiles[column], profiles[compared[0]])
        one, compared_column = (f"{c} ({profiles[c].examples})" for c in (column, compared[0]))
        raise table.refusal(
            f"{one} and {compared_column} have no answer in common. Give columns that answer the same "
            "question, with "
            "--human and --judge."
        )


def _refuse_levels(table: SourceTable, one: Profile, two: Profile) -> None:
    """Raise ImportRefused with the scale to type where one column has words in a known order, the other
    numbers.
    """
    in_words, in_numbers = (one, two) if one.answers.domain is Domain.WORDS else (two, one)
    if in_words.answers.domain is not Domain.WORDS or in_numbers.answers.domain is not Domain.NUMBERS:
        return
    order = known_order([*dict.fromkeys(core.lower() for core in in_words.cores if core)])
    low = in_numbers.answers.low
    high = in_numbers.answers.high
    first = 0 if low == 0 else 1
    if not order or low < first or high > first + len(order) - 1:
        return
    scale = ",".join(f"{rank}:{word}" for rank, word in enumerate(order, first))
    raise table.refusal(
        f"{in_words.name} answers in words ({in_words.examples}), {in_numbers.name} in numbers from "
        f"{low:g} to "
        f"{high:g}. Say which number each word is, such as:",
        "--scale",
        f'"{scale}"',
    )


def _compatible(one: Any, second: Any) -> bool:
    """Whether two domains may be read together: words in common, or numbers and what passes or fails."""
    numeric_domains = {Domain.NUMBERS, Domain.TWO}
    if {one.domain, second.domain} <= numeric_domains:
        return True
    if {one.domain, second.domain} <= {Domain.WORDS, Domain.TWO}:
        return bool(one.words & second.words)
    return False


def _voice_scores(
    voice: Voice, profile: Profile, reading: CriterionReading, rows: Ints
) -> tuple[Floats, list[int]]:
    """The scores of a voice's rows, and the rows whose answers cannot be read."""
    score = reading.of_rater.get(voice.rater, reading.score)
    numbers = profile.column.numbers
    if numbers is not None:
        row_numbers = numbers[rows]
        if reading.numeric:
            return row_numbers, []
        distinct, inverse = np.unique(row_numbers, return_inverse=True)
        values = [score(repr(one)) if np.isfinite(one) else None for one in distinct.tolist()]
        return np.array([np.nan if v is None else v for v in values])[inverse], []
    values = [score(core) if core else None for core in profile.cores]
    array_of = np.array([np.nan if value is None else value for value in values] + [np.nan])
    scores = array_of[profile.codes[rows]]
    wrong = np.array(
        [bool(core) and value is None for core, value in zip(profile.cores, values, strict=True)] + [False]
    )
    missed = rows[wrong[profile.codes[rows]]] if wrong.any() else rows[:0]
    return scores, missed.tolist()


def _warn_unread(table: SourceTable, unread: Sequence[tuple[int, str, str]]) -> None:
    if unread:
        examples = sorted(one for one in unread if one[0] >= 0)
        places = [f"{table.place(row)}, {rater}: “{cell[:40]}”" for row, rater, cell in examples]
        places += [""] * (len(unread) - len(places))
        one = "cell cannot be read and counts"
        several = "cells cannot be read and count"
        table.warnings.append(count_warning(f"{one} as missing", f"{several} as missing", places))


def _scored_table(
    voices: Voices,
    readings: Mapping[str, CriterionReading],
    blocks: Sequence[tuple[Ints, int, Floats, Ints]],
) -> ScoredTable:
    """The ratings of all voices, each item once. Raises ImportRefused for two answers to one item."""
    rows = []
    items = []
    scores = []
    places = []
    for row, place, score, item in blocks:
        if len(item) > 1 and voices.voices[place].rows is not None:
            order = np.argsort(item, kind="stable")
            repeats = np.flatnonzero(np.diff(item[order]) == 0) + 1
            contradictions = repeats[score[order][repeats] != score[order][repeats - 1]]
            if len(contradictions):
                _refuse_twice(voices, place, row[order], item[order], score[order], int(contradictions[0]))
            keep = np.ones(len(item), dtype=bool)
            keep[order[repeats]] = False
            row = row[keep]
            item = item[keep]
            score = score[keep]
        rows.append(row)
        items.append(item)
        scores.append(score)
        places.append(np.full(len(item), place, dtype=np.int64))
    empty = np.empty(0, dtype=np.int64)
    return ScoredTable(
        voices,
        readings,
        np.concatenate([empty, *items]),
        np.concatenate([empty, *places]),
        np.concatenate([np.empty(0), *scores]),
        np.concatenate([empty, *rows]),
    )


def _refuse_twice(voices: Voices, place: int, rows: Ints, items: Ints, scores: Floats, position: int) -> None:
    voice = voices.voices[place]
    table = voices.table
    name = voices.items.name(int(items[position]))
    hint = ""
    if voice.kind == "judge":
        hint = " If these are runs of one judge, give their column with --run."
    raise table.refusal(
        f"{voice.rater} answers “{name}” twice: {scores[position - 1]:g} and {scores[position]:g}. Keep "
        f"one.{hint}"
    )


def _refuse_without(scored: ScoredTable, unread: Sequence[tuple[int, str, str]]) -> None:
    """Raise ImportRefused if no rater of a kind has a readable answer."""
    voices = scored.voices
    table = scored.voices.table
    kinds_with_answers = {voices.voices[place].kind for place in np.unique(scored.voice).tolist()}
    gold = "gold" in kinds_with_answers and not any(voice.kind == "human" for voice in voices.voices)
    if gold:
        kinds_with_answers.add("human")
    for kind, role in (("human", "an annotator"), ("judge", "a judge")):
        names = dict.fromkeys(voice.rater for voice in voices.voices if voice.kind == kind)
        unread_cells = [
            f"{table.place(row)}, {rater}: “{cell[:40]}”" for row, rater, cell in unread if row >= 0
        ]
        # A column that nobody has filled yet is no mistake where only judges are looked for.
        missing = kind in table.needed_kinds or (names and (unread_cells or not table.needed_kinds))
        if kind not in kinds_with_answers and missing:
            examples = f"; {'; '.join(unread_cells[:2])}" if unread_cells else ": all cells are empty"
            raise table.refusal(f"no answer of {role} is readable in {', '.join(names)}{examples}.")


def _ask_missing(scored: ScoredTable, profiles: Mapping[str, Profile]) -> None:
    """Ask about numbers of one rater that may stand for no answer; warn of answers beside a failure."""
    voices = scored.voices
    table = scored.voices.table
    for name, reading in scored.readings.items():
        if not reading.numeric:
            continue
        by_rater: dict[tuple[str, RaterKind], Floats] = {}
        columns: dict[tuple[str, RaterKind], set[str]] = {}
        for place, voice in enumerate(voices.voices):
            if voice.criterion == name:
                rater_scores = scored.score[scored.voice == place]
                before = by_rater.get((voice.rater, voice.kind), np.empty(0))
                by_rater[voice.rater, voice.kind] = np.concatenate([before, rater_scores])
                columns.setdefault((voice.rater, voice.kind), set()).add(voice.column)
        if len(by_rater) > 200:
            continue
        for rater, rater_scores in by_rater.items():
            rest_scores = [scores for compared_rater, scores in by_rater.items() if compared_rater != rater]
            for sentinel in sentinels_of(rater[0], rater_scores, rest_scores):
                raise _sentinel_question(table, sentinel)
            if zeros := zeros_below(rater_scores, rest_scores):
                table.warnings.append(messages.zeros(rater[0], zeros, len(rater_scores)))
            if len(columns[rater]) == 1:
                [column] = columns[rater]
                _ask_failed(table, profiles, rater[0], column, rest_scores, voices)


def _ask_failed(
    table: SourceTable,
    profiles: Mapping[str, Profile],
    rater: str,
    column: str,
    rest_scores: Sequence[Floats],
    voices: Voices,
) -> None:
    """Ask about one value that a rater gives wherever a column about it says that it failed."""
    rest = np.concatenate([np.empty(0), *rest_scores])
    for flag, (role, reason) in voices.column_roles.items():
        names_failure = holds(tokens(flag), word_set("failure_flags"))
        if role is not ColumnRole.ABOUT or reason is not RoleReason.NAME_ABOUT or not names_failure:
            continue
        if profiles[flag].column.long:
            continue
        if not extends(flag, column) and len({v.rater for v in voices.voices if v.kind == "judge"}) > 1:
            continue
        if not extends(flag, column) and rater not in {v.rater for v in voices.voices if v.kind == "judge"}:
            continue
        bad = failed_rows(profiles[flag])
        scores = profiles[column].scores
        failed_scores = scores[bad & np.isfinite(scores)]
        ok = scores[~bad & np.isfinite(scores)]
        if not len(failed_scores) or not len(ok):
            continue
        values = np.unique(failed_scores)
        total = len(failed_scores) + len(ok)
        if len(values) == 1 and (values[0] == 0 or not np.isin(values[0], ok)) and len(rest):
            value = float(values[0])
            outside = value < rest.min() or value > rest.max() or not np.isin(value, ok)
            if outside or len(failed_scores) > 1:
                raise _sentinel_question(
                    table,
                    Sentinel(
                        rater, value, len(failed_scores), total, float(rest.min()), float(rest.max()), flag
                    ),
                )
        warning = messages.failed_beside(rater, flag, len(failed_scores), total)
        if warning not in table.warnings:
            table.warnings.append(warning)


def _sentinel_question(table: SourceTable, one: Sentinel) -> ImportRefused:
    return table.refusal(
        messages.sentinel(one.rater, one.value, one.count, one.total, one.low, one.high, one.flag)
    )


def _lines(scored: ScoredTable) -> tuple[str, ...]:
    """What the columns of a table were taken for, a line each."""
    voices = scored.voices
    table = scored.voices.table
    lines = dict(voices.lines)
    for title, kind in KIND_BY_TITLE.items():
        if raters := dict.fromkeys(voice.rater for voice in voices.voices if voice.kind == kind):
            lines[title] = messages.listed([*raters], 40)
    if len(scored.readings) > 1:
        lines["criteria"] = ", ".join(scored.names.values())
    if voices.groups:
        lines["group"] = ", ".join(voices.groups)
    text, question = _text_columns(voices)
    if text:
        lines["text"] = ", ".join(filter(None, (question, text)))
    described = {*voices.used_columns, *voices.groups, text, question}
    ignored = [column for column in table.columns if column and column not in described]
    columns_about_answers = [
        c for c in ignored if c in voices.column_roles and voices.column_roles[c][1] is RoleReason.NAME_ABOUT
    ]
    if ignored:
        lines["ignored"] = messages.listed(ignored)
    if columns_about_answers:
        lines["about answers"] = messages.listed(columns_about_answers)
    for criterion, heading in [*scored.names.items()][:LINES]:
        lines[heading] = scored.readings[criterion].description
    pattern_lines = _patterns(voices)
    return (*(f"{title}: {description}" for title, description in lines.items()), *table.form, *pattern_lines)


def _patterns(voices: Voices) -> list[str]:
    """How answers are written in cells, a line for each pattern."""
    by_pattern: dict[tuple[str, str], list[str]] = {}
    for column in dict.fromkeys(voice.column for voice in voices.voices):
        profile = voices.profiles[column]
        for pattern in profile.patterns[:1]:
            pattern_name = messages.PATTERNS.get(pattern, pattern)
            by_pattern.setdefault((pattern_name, ""), []).append(column)
    lines = []
    for (pattern_name, _), columns in by_pattern.items():
        example = " ".join(voices.profiles[columns[0]].reading.example.split())[:30]
        suffix = f", such as “{example}”" if example else ""
        lines.append(f"cells of {messages.listed(columns, 4)}: {pattern_name}{suffix}")
    return lines


def _text_columns(voices: Voices) -> tuple[str, str]:
    """The columns of the text that is rated and of the question before it; “” without one."""
    table = voices.table
    text = table.options.text or table.listed_column("texts")
    question = table.listed_column("questions")
    return ("" if text in voices.used_columns else text), (
        "" if question in voices.used_columns else question
    )


@dataclass(frozen=True, eq=False)
class _Rated:
    """The items that have ratings, as units numbered from 1 in the order of the table."""

    scored: ScoredTable

    def __post_init__(self) -> None:
        items = self.scored.voices.items
        is_rated = np.zeros(len(items), dtype=bool)
        is_rated[self.scored.item] = True
        numbers = np.flatnonzero(is_rated)
        order = np.argsort(items.first[numbers], kind="stable") if len(numbers) else numbers
        object.__setattr__(self, "items", numbers[order])
        unit = np.zeros(len(items), dtype=np.int64)
        unit[self.items] = np.arange(1, len(numbers) + 1)
        object.__setattr__(self, "unit_of", unit)
        object.__setattr__(self, "rows", items.first[self.items])

    items: Ints = field(init=False)
    unit_of: Ints = field(init=False)
    rows: Ints = field(init=False)

    def __len__(self) -> int:
        return len(self.items)

    def cells(self, column: str) -> Names:
        """The text of each unit in a column; “” where it has none."""
        codes, values = self.scored.voices.table.columns[column].coded
        texts = ["" if is_blank(value) else str(value).strip() for value in values]
        return Names(np.where(codes < 0, len(texts), codes)[self.rows], [*texts, ""])


class _Texts(Mapping[int, str]):
    """A text of each unit, made when it is asked for."""

    def __init__(self, size: int, text: Any) -> None:
        self._size = size
        self._text = text

    def __getitem__(self, unit: int) -> str:
        if not 1 <= unit <= self._size:
            raise KeyError(unit)
        return str(self._text(unit))

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, self._size + 1))

    def __len__(self) -> int:
        return self._size


def _label_table(scored: ScoredTable, treatment: Treatment) -> LabelTable:
    """The ratings of a table as those of agreement, by column."""
    voices = scored.voices
    table = scored.voices.table
    rated = _Rated(scored)
    criteria = _study_criteria(scored)
    study = Study(Path(table.name).stem, criteria, source=FILE)
    raters = [Rater(voice.rater, voice.kind) for voice in voices.voices]
    names_of_raters = rater_labels(raters)
    unit = rated.unit_of[scored.item]
    n = len(unit)
    player = next((c for c in voices.groups if c.lower().rpartition(".")[2] in words("players")), "")
    facets = {
        column: Keyed(cells.codes, cells.values)
        for column in sorted(voices.groups)
        if column != player
        for cells in (rated.cells(column),)
    }
    players = rated.cells(player) if player else Names(np.zeros(len(rated), dtype=np.int32), ["unknown"])
    players = Names(players.codes, [name or "unknown" for name in players.values])
    names = scored.names
    by_voice: dict[str, list[str]] = {
        "criterion": [names[voice.criterion] for voice in voices.voices],
        "rater": [names_of_raters[rater] for rater in raters],
        "model": [rater.name if rater.kind == "judge" else "" for rater in raters],
        "variant": [""] * len(raters),
        "kind": [str(rater.kind) for rater in raters],
    }
    rows: Columns = {
        "unit": unit,
        "conversation_id": unit,
        "turn": np.full(n, np.nan),
        "player": players[unit - 1],
        **{name: _by_voice(values, scored.voice) for name, values in by_voice.items()},
        "simulated": np.zeros(n, dtype=bool),
        "repeat": np.array([voice.repeat for voice in voices.voices], dtype=np.int64)[scored.voice],
        "total": scored.score,
        "n": np.ones(n, dtype=np.int64),
        "score": scored.score,
    }
    order = rated.unit_of[voices.items.by_name(rated.items)]
    cluster_by = treatment.get("cluster_by")
    if "cluster_by" not in treatment:
        cluster_by = ("scenario",) if "scenario" in facets else ()
    places = (
        [(int(u), study.name, voices.items.name(int(rated.items[u - 1])), -1) for u in order.tolist()]
        if cluster_by
        else []
    )
    data = study_ratings(study, rows, places, facets, {}, cluster_by=cluster_by, order=order)
    data = replace(data, orders=_order_rows(scored, rated, by_voice))
    _warn_empty(scored)
    text, question = _text_columns(voices)

    text_columns = [table.columns[column] for column in (question, text) if column]
    items = voices.items
    rows_of_units = rated.rows
    numbers = rated.items

    def whole_text(unit: int) -> str:
        row = int(rows_of_units[unit - 1])
        cells = [column.cell(row) for column in text_columns]
        return "\n\n".join(str(cell) for cell in cells if not is_blank(cell))

    return LabelTable(
        data,
        _features(rated, text, question),
        _lines(scored),
        tuple(table.warnings),
        _Texts(len(rated), lambda unit: items.name(int(numbers[unit - 1]))),
        _Texts(len(rated), whole_text),
        {
            column: dict(enumerate(map(str, rated.cells(column).tolist()), 1))
            for column in table.options.other_columns
        },
    )


def _warn_empty(scored: ScoredTable) -> None:
    """Count the rows of a table with a column a rater in which no rater has an answer."""
    voices = scored.voices
    table = scored.voices.table
    if voices.layout is not Layout.WIDE:
        return
    has_answer = np.zeros(table.size, dtype=bool)
    has_answer[scored.row] = True
    if scored.sampled or scored.orders or any(voice.rows is not None for voice in voices.voices):
        for voice in voices.voices:
            has_answer |= voices.profiles[voice.column].has_answer
    if empty := int((~has_answer).sum()):
        table.warnings.append(f"{empty:,} {'row has' if empty == 1 else 'rows have'} no answer")


def _order_rows(scored: ScoredTable, rated: _Rated, by_voice: Mapping[str, Sequence[str]]) -> Columns:
    """The answers of judges to pairs whose order is known; no columns without any."""
    judged = [block for block in scored.orders if scored.voices.voices[block.voice].kind == "judge"]
    if not judged:
        return {}
    voice = np.repeat([block.voice for block in judged], [len(block.item) for block in judged])
    straight = np.repeat([block.straight for block in judged], [len(block.item) for block in judged])
    return {
        "unit": rated.unit_of[np.concatenate([block.item for block in judged])],
        "criterion": _by_voice(by_voice["criterion"], voice),
        "rater": _by_voice(by_voice["rater"], voice),
        "straight": straight,
        "score": np.concatenate([block.score for block in judged]),
    }


def _by_voice(values: Sequence[str], voice: Ints) -> Names:
    distinct = [*dict.fromkeys(values)]
    place = {value: number for number, value in enumerate(distinct)}
    return Names(np.array([place[value] for value in values], dtype=np.int32)[voice], distinct)


def _study_criteria(scored: ScoredTable) -> tuple[Criterion, ...]:
    """The criteria with their scales. Those of unequal ends are in no final.

    Raises ImportRefused for a person's answer off a declared scale, NotFound for a scale of no criterion.
    """
    voices = scored.voices
    names = scored.names
    declared = {name.casefold() for name in voices.table.options.scales if name}
    if unknown := declared - {name.casefold() for name in (*names, *names.values())}:
        raise ImportRefused(
            f"{voices.table.name} has no ratings on “{min(unknown)}”. Its criteria: "
            f"{', '.join(names.values())}."
        )
    scales = {name: reading.scale for name, reading in scored.readings.items()}
    alike = len({(scale.low, scale.high) for scale in scales.values()}) == 1
    for name, scale in scales.items():
        if scale.guessed or scale.named:
            continue
        for place, voice in enumerate(voices.voices):
            if voice.criterion != name or voice.kind != "human":
                continue
            positions = np.flatnonzero(scored.voice == place)
            outside = [score for score in np.unique(scored.score[positions]).tolist() if score not in scale]
            if outside:
                row = int(scored.row[positions[scored.score[positions] == outside[0]][0]])
                raise ImportRefused(
                    f"{voices.table.name}, {voices.table.place(row)}: the score {outside[0]:g} is not on the "
                    "scale of "
                    f"“{names[name]}” ({scale.low:g} to {scale.high:g}). Correct it, or the scale."
                )
    return tuple(Criterion(names[name], names[name], scale, counted=alike) for name, scale in scales.items())


def _features(rated: _Rated, text: str, question: str) -> Columns:
    """What `concord.store.frames.feature_rows` has of stored units; nobody was assigned these."""
    n = len(rated)
    lengths = _lengths(rated, text) if text else np.full(n, np.nan)
    return {
        "unit": np.arange(1, n + 1, dtype=np.int64),
        "reply_chars": lengths,
        "turns": np.isfinite(lengths).astype(np.float64),
        "turn": np.full(n, np.nan),
        "place": np.full(n, np.nan),
        "language": Names(np.zeros(n, dtype=np.int32), ["en"]),
    }


def _lengths(rated: _Rated, column: str) -> Floats:
    """The characters of each unit's text; nan where it has none."""
    cells = rated.scored.voices.table.columns[column]
    if hasattr(cells.cells, "dictionary_encode"):
        import pyarrow as pa
        import pyarrow.compute as pc

        lengths = pc.utf8_length(cells.cells.cast(pa.string())).cast(pa.float64()).to_numpy()
        return np.where(lengths == 0, np.nan, lengths)[rated.rows]
    listed = [cells.cell(row) for row in rated.rows.tolist()]
    return np.array([np.nan if is_blank(cell) else float(len(str(cell))) for cell in listed])


class _Places(Sequence[str]):
    """Where each rating stands."""

    def __init__(self, table: SourceTable, rows: Ints) -> None:
        self._table = table
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return _Places(self._table, self._rows[position])
        return f"{self._table.name}, {self._table.place(int(self._rows[position]))}"


class _Conversations(Mapping[str, Conversation]):
    """The conversation of each item that has ratings, made when it is asked for: memory holds none."""

    def __init__(self, rated: _Rated) -> None:
        self._rated = rated
        self._found = rated.scored.voices
        items = self._found.items
        self._units = {items.name(item): n for n, item in enumerate(rated.items.tolist())}
        self._text, self._question = _text_columns(self._found)
        groups = self._found.groups
        self._player = next((c for c in groups if c.lower().rpartition(".")[2] in words("players")), "")

    def __getitem__(self, key: str) -> Conversation:
        row = int(self._rated.rows[self._units[key]])
        columns = self._found.table.columns

        def cell(column: str) -> Any:
            return columns[column].cell(row) if column else None

        texts: dict[Role, Any] = {"user": cell(self._question), "assistant": cell(self._text)}
        facets = [column for column in self._found.groups if column != self._player]
        return Conversation(
            "",
            key,
            str(cell(self._player) or "unknown"),
            tuple(Message(role, str(content)) for role, content in texts.items() if not is_blank(content)),
            facets={c: str(cell(c)).strip() for c in facets if not is_blank(cell(c))},
        )

    def __contains__(self, key: object) -> bool:
        return key in self._units

    def __iter__(self) -> Iterator[str]:
        return iter(self._units)

    def __len__(self) -> int:
        return len(self._units)


def _file(scored: ScoredTable) -> RatingsFile:
    """The ratings of a table as those of a file that is imported."""
    voices = scored.voices
    table = scored.voices.table
    rated = _Rated(scored)
    names = scored.names
    questions = [
        RaterQuestion(names[voice.criterion], Rater(voice.rater, voice.kind), None, voice.repeat)
        for voice in voices.voices
    ]
    distinct = [*dict.fromkeys(questions)]
    place = {one: number for number, one in enumerate(distinct)}
    of_voice = np.array([place[one] for one in questions], dtype=np.int32)
    order = np.lexsort((scored.voice, scored.row))
    item = (rated.unit_of[scored.item] - 1)[order].astype(np.int32)
    conversations = _Conversations(rated)
    ratings_table = RatingTable(
        table.name,
        [*conversations],
        distinct,
        array("i", item.tobytes()),
        array("i", of_voice[scored.voice][order].astype(np.int32).tobytes()),
        array("d", scored.score[order].astype(np.float64).tobytes()),
        _Places(table, scored.row[order]),
        [NO_CELLS] * len(order),
    )
    _warn_empty(scored)
    scales = {names[name]: reading.scale for name, reading in scored.readings.items()}
    return RatingsFile(ratings_table, scales, conversations, (*_lines(scored), *table.warnings))
