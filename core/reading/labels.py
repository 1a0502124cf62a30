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
from concord.exchange.given import NOTHING, RaterAsked, RatingTable
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
from concord.reading.table import SourceTable, counted, of_records
from concord.reading.vocabulary import answers, holds, tokens, word_set, words
from concord.scores import labels as rater_labels
from concord.store.studies import FILE, Study
from concord.studies.studies import StudyRatings, study_ratings

OF_FRAMES = {"unit": "item_id", "kind": "rater_type"}
"""Names of columns of Concord's own frames, and those of its files."""
VALUES = 8
"""So many values of a column are named."""
SHOWN = 3
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

    `keys` and `texts` are those of units, in the order of the table; `beside` has the cells of units in the
    columns that `TableOptions.beside` names.
    """

    data: StudyRatings
    features: Columns
    columns: tuple[str, ...]
    warnings: tuple[str, ...]
    keys: Mapping[int, str]
    texts: Mapping[int, str]
    other_cells: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


def read(
    source: Any, options: TableOptions = NO_OPTIONS, *, people: bool = True, **how: Unpack[Treatment]
) -> LabelTable:
    """Read a table from any source that `concord.reading.sources.read` takes.

    `people` says whether people's answers are needed, `how` how refusals and clusters are treated. Raises
    ImportRefused for a table without judges' answers, or without people's where these are needed.
    """
    table = without_groups(sources.read(source), options.excluded)
    table.options = options
    needed: tuple[RaterKind, ...] = ("human", "judge") if people else ("judge",)
    table.needed = needed
    own = _own_columns(table)
    if own:
        return _measured_own(table, own, how)
    scored = scores_of(voices_of(table))
    return _measured(scored, how)


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
        remaining.form, remaining.warnings = [*table.form], [*table.warnings, warning]
        remaining.stated_raters, remaining.pair = table.stated_raters, table.pair
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
        own = error
    try:
        return ratings_of(sources.read(path), options)
    except ImportRefused as error:
        raise ImportRefused(f"{own} It cannot be read as a table of labels either: {error}") from error


def ratings_of(table: SourceTable, options: TableOptions = NO_OPTIONS) -> RatingsFile:
    """The ratings of a table in any form. Raises ImportRefused, NotFound."""
    table.options = options
    if columns := _own_columns(table):
        return _own(table, columns)
    return _file(scores_of(voices_of(table)))


def columns_of(path: Path) -> tuple[str, ...]:
    """The names of a file's columns, where it is a table of labels of any form but Concord's own; else ().

    A column for a reader to choose among needs a name, and a table one at least that may hold answers.
    """
    try:
        table = sources.read(path)
    except ImportRefused:
        return ()
    own = _own_columns(table)
    profiles = Profiles(table)
    may = [name for name, profile in profiles.items() if profile.may_answer]
    return () if own or len(may) < 2 else tuple(profiles)


def _own_columns(table: SourceTable) -> dict[str, str]:
    """The columns of a table in Concord's own form by their names in files; {} for another table."""
    own = {OF_FRAMES.get(column.lower(), column.lower()): column for column in table.columns}
    if not {*ratings_csv.REQUIRED} <= own.keys():
        return {}
    profile = Profile(table.columns[own["score"]])
    given = profile.given
    numbers = given.domain is Domain.NUMBERS or (
        given.domain is not Domain.EMPTY and np.isfinite(profile.scores).sum() * 2 > profile.answered.sum()
    )
    return own if numbers else {}


def _own(table: SourceTable, own: Mapping[str, str]) -> RatingsFile:
    """A table in Concord's own form, with turns, repeats and texts; a row without a score is missing."""
    lists = [table.cells(column) for column in own.values()]
    scores = table.cells(own["score"])

    def numbered() -> Iterator[tuple[int, list[str]]]:
        yield 1, [*own]
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
    whole = _of_own(file, table.options)
    return replace(whole, notes=(*lines, *table.warnings))


def _of_own(given: RatingTable, options: TableOptions) -> RatingsFile:
    """Ratings in Concord's own form. Raises ImportRefused for options that say again whose they are, or
    what passes.
    """
    stated = {"--human": options.people, "--judge": options.judges, "--gold": options.gold}
    if again := [option for option, raters in stated.items() if raters]:
        raise ImportRefused(
            f"{given.file} has the source of each rating in its column rater_type. Remove {', '.join(again)}."
        )
    if options.passing is not None:
        raise ImportRefused(
            f"{given.file} has final scores, which --pass-from cannot change. Write 1 for pass and 0 for "
            "fail."
        )
    return RatingsFile(given, options.scales)


def _text(cell: Any) -> str:
    """A cell as a file has it, nothing for what is missing."""
    if cell is None or cell != cell:
        return ""
    return str(int(cell)) if isinstance(cell, bool | np.bool_) else str(cell)


def _measured_own(table: SourceTable, own: Mapping[str, str], how: Treatment) -> LabelTable:
    """The ratings of a table in Concord's own form, as they would be were they stored."""
    file = _own(table, own)
    study = Path(table.name).stem
    brought = ratings_study.incoming(None, file.table, study, scales=file.scales)
    of, features = incoming.measured(brought, **how)
    units, _ = brought.given.units(brought.study.per_turn)
    rated = {n: brought.conversations[key] for n, (key, _) in enumerate(units, 1)}
    return LabelTable(
        of,
        features,
        tuple(line for line in file.notes if line not in table.warnings),
        tuple(table.warnings),
        {unit: one.key.removeprefix(f"{study}/") for unit, one in rated.items()},
        {unit: "\n\n".join(message.content for message in one.messages) for unit, one in rated.items()},
    )


def scores_of(found: Voices) -> ScoredTable:
    """The scores in the voices of a table.

    Raises ImportRefused for answers whose meaning is unsure, and for somebody who answers an item twice,
    otherwise each time.
    """
    table = found.table
    readings: dict[str, CriterionReading] = {}
    unread: list[tuple[int, str, str]] = []
    blocks: list[tuple[Ints, int, Floats, Ints]] = []
    profiles = _with_levels(found)
    drawn = _drawn_rows(found, profiles)
    for name in dict.fromkeys(voice.criterion for voice in found.voices):
        own = [(place, voice) for place, voice in enumerate(found.voices) if voice.criterion == name]
        declared = _declared(table.options, name)
        raters = [_counted(voice, profiles[voice.column]) for _, voice in own]
        _refuse_strangers(table, [voice for _, voice in own], profiles, declared)
        reading = reading_of(_together(raters), declared, table.options, name)
        if reading.problem:
            raise table.refusal(reading.problem, *reading.option)
        readings[name] = reading
        for place, voice in own:
            profile = profiles[voice.column]
            rows = _rows_of(voice, drawn, table.size)
            score, missed = _voice_scores(voice, profile, reading, rows)
            unread += [(row, voice.rater, str(profile.column.cell(row))) for row in missed[: SHOWN + 1]]
            unread += [(-1, "", "")] * max(0, len(missed) - SHOWN - 1)
            there = np.isfinite(score) & (found.items.of_row[rows] >= 0)
            blocks.append((rows[there], place, score[there], found.items.of_row[rows[there]]))
    _warn_unread(table, unread)
    scored = one_a_pair(replace(_joined(found, readings, blocks), drawn=drawn is not None))
    _refuse_without(scored, unread)
    if not table.options.missing:
        _ask_missing(scored, profiles)
    return scored


def _drawn_rows(found: Voices, profiles: Mapping[str, Profile]) -> Ints | None:
    """The rows of all items that people answered, and of so many others as are measured; None for every
    row.
    """
    items = found.items
    if len(items) <= MOST_UNRATED:
        return None
    answered = np.zeros(len(items), dtype=bool)
    for voice in found.voices:
        if voice.kind != "judge":
            rows = np.flatnonzero(profiles[voice.column].answered)
            rows = rows if voice.rows is None else np.intersect1d(rows, voice.rows)
            of_row = items.of_row[rows]
            answered[of_row[of_row >= 0]] = True
    others = np.flatnonzero(~answered)
    if len(others) <= MOST_UNRATED:
        return None
    answered[np.random.default_rng(0).choice(others, MOST_UNRATED, replace=False)] = True
    found.table.warnings.append(
        f"{MOST_UNRATED:,} random items of the {len(others):,} without annotators' answers are used"
    )
    return np.flatnonzero(answered[items.of_row] & (items.of_row >= 0))


def _rows_of(voice: Voice, drawn: Ints | None, size: int) -> Ints:
    """The rows of a voice that are measured."""
    if drawn is None:
        return voice.rows if voice.rows is not None else np.arange(size, dtype=np.int64)
    return drawn if voice.rows is None else np.intersect1d(voice.rows, drawn)


def _declared(options: TableOptions, name: str) -> Scale | None:
    """The scale that options declare for a criterion, in any case."""
    by_name = {key.casefold(): scale for key, scale in options.scales.items()}
    return by_name.get(name.casefold(), by_name.get(""))


def _with_levels(found: Voices) -> Mapping[str, Profile]:
    """The profiles in which a word for nothing is an answer where people and judges give it among others."""
    by_criterion: dict[str, set[str]] = {}
    for voice in found.voices:
        by_criterion.setdefault(voice.criterion, set()).add(voice.column)
    profiles = dict(found.profiles)
    for columns in by_criterion.values():
        own = [profiles[column] for column in columns if not profiles[column].column.long]
        levels = frozenset(word for word in answers("blank_or_level") if is_level(own, word))
        sets = _hold_sets(own)
        for profile in own if levels or sets else ():
            profiles[profile.name] = replace(profile, levels=levels, sets=sets)
    return profiles


def _hold_sets(profiles: Sequence[Profile]) -> bool:
    """Whether the columns of a criterion together hold labels in more than one order."""
    if any(profile.column.is_numeric for profile in profiles):
        return False
    texts = [value for profile in profiles for value in profile.column.coded[1][:MOST_SETS]]
    return any(profile.is_set for profile in profiles) or are_sets([*dict.fromkeys(map(str, texts))])


def _counted(voice: Voice, profile: Profile) -> RaterAnswers:
    """How often a voice gives each answer."""
    numbers = profile.column.numbers
    if numbers is not None:
        own = numbers if voice.rows is None else numbers[voice.rows]
        return RaterAnswers(voice.kind, voice.rater, Counter(), own[np.isfinite(own)])
    counts = profile.counts
    if voice.rows is not None:
        codes = profile.codes[voice.rows]
        counts = np.bincount(codes[codes >= 0], minlength=len(profile.cores))
    by_core: Counter[str] = Counter()
    for core, n in zip(profile.cores, counts.tolist(), strict=True):
        if core and n:
            by_core[core] += n
    return RaterAnswers(voice.kind, voice.rater, by_core, None, profile.column.ordered)


def _together(raters: Sequence[RaterAnswers]) -> list[RaterAnswers]:
    """The answers of each rater in all runs."""
    by_rater: dict[tuple[RaterKind, str], RaterAnswers] = {}
    for one in raters:
        before = by_rater.get((one.kind, one.rater))
        if before is None:
            by_rater[one.kind, one.rater] = one
            continue
        numbers = [of.numbers for of in (before, one) if of.numbers is not None]
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
        others = [other for other in several if other != column]
        own = profiles[column].given
        if not others or any(_compatible(own, profiles[other].given) for other in others):
            continue
        _refuse_levels(table, profiles[column], profiles[others[0]])
        one, other = (f"{c} ({profiles[c].examples})" for c in (column, others[0]))
        raise table.refusal(
            f"{one} and {other} have no answer in common. Give columns that answer the same question, with "
            "--human and --judge."
        )


def _refuse_levels(table: SourceTable, one: Profile, two: Profile) -> None:
    """Raise ImportRefused with the scale to type where one column has words in a known order, the other
    numbers.
    """
    in_words, in_numbers = (one, two) if one.given.domain is Domain.WORDS else (two, one)
    if in_words.given.domain is not Domain.WORDS or in_numbers.given.domain is not Domain.NUMBERS:
        return
    order = known_order([*dict.fromkeys(core.lower() for core in in_words.cores if core)])
    low, high = in_numbers.given.low, in_numbers.given.high
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


def _compatible(one: Any, other: Any) -> bool:
    """Whether two domains may be read together: words in common, or numbers and what passes or fails."""
    measured = {Domain.NUMBERS, Domain.TWO}
    if {one.domain, other.domain} <= measured:
        return True
    if {one.domain, other.domain} <= {Domain.WORDS, Domain.TWO}:
        return bool(one.words & other.words)
    return False


def _voice_scores(
    voice: Voice, profile: Profile, reading: CriterionReading, rows: Ints
) -> tuple[Floats, list[int]]:
    """The scores of a voice's rows, and the rows whose answers cannot be read."""
    score = reading.of_rater.get(voice.rater, reading.score)
    numbers = profile.column.numbers
    if numbers is not None:
        own = numbers[rows]
        if reading.numeric:
            return own, []
        distinct, inverse = np.unique(own, return_inverse=True)
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
        shown = sorted(one for one in unread if one[0] >= 0)
        which = [f"{table.place(row)}, {rater}: “{cell[:40]}”" for row, rater, cell in shown]
        which += [""] * (len(unread) - len(which))
        one, several = "cell cannot be read and counts", "cells cannot be read and count"
        table.warnings.append(counted(f"{one} as missing", f"{several} as missing", which))


def _joined(
    found: Voices,
    readings: Mapping[str, CriterionReading],
    blocks: Sequence[tuple[Ints, int, Floats, Ints]],
) -> ScoredTable:
    """The ratings of all voices, each item once. Raises ImportRefused for two answers to one item."""
    rows, items, scores, places = [], [], [], []
    for row, place, score, item in blocks:
        if len(item) > 1 and found.voices[place].rows is not None:
            order = np.argsort(item, kind="stable")
            again = np.flatnonzero(np.diff(item[order]) == 0) + 1
            other = again[score[order][again] != score[order][again - 1]]
            if len(other):
                _refuse_twice(found, place, row[order], item[order], score[order], int(other[0]))
            keep = np.ones(len(item), dtype=bool)
            keep[order[again]] = False
            row, item, score = row[keep], item[keep], score[keep]
        rows.append(row)
        items.append(item)
        scores.append(score)
        places.append(np.full(len(item), place, dtype=np.int64))
    empty = np.empty(0, dtype=np.int64)
    return ScoredTable(
        found,
        readings,
        np.concatenate([empty, *items]),
        np.concatenate([empty, *places]),
        np.concatenate([np.empty(0), *scores]),
        np.concatenate([empty, *rows]),
    )


def _refuse_twice(found: Voices, place: int, rows: Ints, items: Ints, scores: Floats, at: int) -> None:
    voice, table = found.voices[place], found.table
    name = found.items.name(int(items[at]))
    hint = ""
    if voice.kind == "judge":
        hint = " If these are runs of one judge, give their column with --run."
    raise table.refusal(
        f"{voice.rater} answers “{name}” twice: {scores[at - 1]:g} and {scores[at]:g}. Keep one.{hint}"
    )


def _refuse_without(scored: ScoredTable, unread: Sequence[tuple[int, str, str]]) -> None:
    """Raise ImportRefused if no rater of a kind has a readable answer."""
    found, table = scored.voices, scored.voices.table
    answered = {found.voices[place].kind for place in np.unique(scored.voice).tolist()}
    gold = "gold" in answered and not any(voice.kind == "human" for voice in found.voices)
    if gold:
        answered.add("human")
    for kind, who in (("human", "an annotator"), ("judge", "a judge")):
        names = dict.fromkeys(voice.rater for voice in found.voices if voice.kind == kind)
        shown = [f"{table.place(row)}, {rater}: “{cell[:40]}”" for row, rater, cell in unread if row >= 0]
        # A column that nobody has filled yet is no mistake where only judges are looked for.
        missing = kind in table.needed or (names and (shown or not table.needed))
        if kind not in answered and missing:
            examples = f"; {'; '.join(shown[:2])}" if shown else ": all cells are empty"
            raise table.refusal(f"no answer of {who} is readable in {', '.join(names)}{examples}.")


def _ask_missing(scored: ScoredTable, profiles: Mapping[str, Profile]) -> None:
    """Ask about numbers of one rater that may stand for no answer; warn of answers beside a failure."""
    found, table = scored.voices, scored.voices.table
    for name, reading in scored.readings.items():
        if not reading.numeric:
            continue
        by_rater: dict[tuple[str, RaterKind], Floats] = {}
        columns: dict[tuple[str, RaterKind], set[str]] = {}
        for place, voice in enumerate(found.voices):
            if voice.criterion == name:
                own = scored.score[scored.voice == place]
                before = by_rater.get((voice.rater, voice.kind), np.empty(0))
                by_rater[voice.rater, voice.kind] = np.concatenate([before, own])
                columns.setdefault((voice.rater, voice.kind), set()).add(voice.column)
        if len(by_rater) > 200:
            continue
        for rater, own in by_rater.items():
            others = [scores for other, scores in by_rater.items() if other != rater]
            for sentinel in sentinels_of(rater[0], own, others):
                raise _asked(table, sentinel)
            if zeros := zeros_below(own, others):
                table.warnings.append(messages.zeros(rater[0], zeros, len(own)))
            if len(columns[rater]) == 1:
                [column] = columns[rater]
                _ask_failed(table, profiles, rater[0], column, others, found)


def _ask_failed(
    table: SourceTable,
    profiles: Mapping[str, Profile],
    rater: str,
    column: str,
    others: Sequence[Floats],
    found: Voices,
) -> None:
    """Ask about one value that a rater gives wherever a column about it says that it failed."""
    rest = np.concatenate([np.empty(0), *others])
    for flag, (role, reason) in found.about.items():
        named = holds(tokens(flag), word_set("failure_flags"))
        if role is not ColumnRole.ABOUT or reason is not RoleReason.NAME_ABOUT or not named:
            continue
        if profiles[flag].column.long:
            continue
        if not extends(flag, column) and len({v.rater for v in found.voices if v.kind == "judge"}) > 1:
            continue
        if not extends(flag, column) and rater not in {v.rater for v in found.voices if v.kind == "judge"}:
            continue
        bad = failed_rows(profiles[flag])
        scores = profiles[column].scores
        at, ok = scores[bad & np.isfinite(scores)], scores[~bad & np.isfinite(scores)]
        if not len(at) or not len(ok):
            continue
        values = np.unique(at)
        total = len(at) + len(ok)
        if len(values) == 1 and (values[0] == 0 or not np.isin(values[0], ok)) and len(rest):
            value = float(values[0])
            outside = value < rest.min() or value > rest.max() or not np.isin(value, ok)
            if outside or len(at) > 1:
                raise _asked(
                    table,
                    Sentinel(rater, value, len(at), total, float(rest.min()), float(rest.max()), flag),
                )
        warning = messages.failed_beside(rater, flag, len(at), total)
        if warning not in table.warnings:
            table.warnings.append(warning)


def _asked(table: SourceTable, one: Sentinel) -> ImportRefused:
    return table.refusal(
        messages.sentinel(one.rater, one.value, one.count, one.total, one.low, one.high, one.flag)
    )


def _lines(scored: ScoredTable) -> tuple[str, ...]:
    """What the columns of a table were taken for, a line each."""
    found, table = scored.voices, scored.voices.table
    lines = dict(found.lines)
    for title, kind in KIND_BY_TITLE.items():
        if raters := dict.fromkeys(voice.rater for voice in found.voices if voice.kind == kind):
            lines[title] = messages.listed([*raters], 40)
    if len(scored.readings) > 1:
        lines["criteria"] = ", ".join(scored.names.values())
    if found.groups:
        lines["group"] = ", ".join(found.groups)
    text, question = _text_columns(found)
    if text:
        lines["text"] = ", ".join(filter(None, (question, text)))
    shown = {*found.used, *found.groups, text, question}
    ignored = [column for column in table.columns if column and column not in shown]
    about = [c for c in ignored if c in found.about and found.about[c][1] is RoleReason.NAME_ABOUT]
    if ignored:
        lines["ignored"] = messages.listed(ignored)
    if about:
        lines["about answers"] = messages.listed(about)
    for criterion, called in [*scored.names.items()][:LINES]:
        lines[called] = scored.readings[criterion].description
    written = _patterns(found)
    return (*(f"{title}: {what}" for title, what in lines.items()), *table.form, *written)


def _patterns(found: Voices) -> list[str]:
    """How answers are written in cells, a line for each pattern."""
    by_pattern: dict[tuple[str, str], list[str]] = {}
    for column in dict.fromkeys(voice.column for voice in found.voices):
        profile = found.profiles[column]
        for pattern in profile.patterns[:1]:
            what = messages.PATTERNS.get(pattern, pattern)
            by_pattern.setdefault((what, ""), []).append(column)
    lines = []
    for (what, _), columns in by_pattern.items():
        example = " ".join(found.profiles[columns[0]].reading.example.split())[:30]
        shown = f", such as “{example}”" if example else ""
        lines.append(f"cells of {messages.listed(columns, 4)}: {what}{shown}")
    return lines


def _text_columns(found: Voices) -> tuple[str, str]:
    """The columns of the text that is rated and of the question before it; “” without one."""
    table = found.table
    text, question = table.options.text or table.named("texts"), table.named("questions")
    return ("" if text in found.used else text), ("" if question in found.used else question)


@dataclass(frozen=True, eq=False)
class _Rated:
    """The items that have ratings, as units numbered from 1 in the order of the table."""

    scored: ScoredTable

    def __post_init__(self) -> None:
        items = self.scored.voices.items
        there = np.zeros(len(items), dtype=bool)
        there[self.scored.item] = True
        numbers = np.flatnonzero(there)
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
        self._size, self._text = size, text

    def __getitem__(self, unit: int) -> str:
        if not 1 <= unit <= self._size:
            raise KeyError(unit)
        return str(self._text(unit))

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, self._size + 1))

    def __len__(self) -> int:
        return self._size


def _measured(scored: ScoredTable, how: Treatment) -> LabelTable:
    """The ratings of a table as those of agreement, by column."""
    found, table = scored.voices, scored.voices.table
    rated = _Rated(scored)
    criteria = _study_criteria(scored)
    study = Study(Path(table.name).stem, criteria, source=FILE)
    raters = [Rater(voice.rater, voice.kind) for voice in found.voices]
    called = rater_labels(raters)
    unit = rated.unit_of[scored.item]
    n = len(unit)
    player = next((c for c in found.groups if c.lower().rpartition(".")[2] in words("players")), "")
    facets = {
        column: Keyed(cells.codes, cells.values)
        for column in sorted(found.groups)
        if column != player
        for cells in (rated.cells(column),)
    }
    players = rated.cells(player) if player else Names(np.zeros(len(rated), dtype=np.int32), ["unknown"])
    players = Names(players.codes, [name or "unknown" for name in players.values])
    names = scored.names
    by_voice: dict[str, list[str]] = {
        "criterion": [names[voice.criterion] for voice in found.voices],
        "rater": [called[rater] for rater in raters],
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
        "repeat": np.array([voice.repeat for voice in found.voices], dtype=np.int64)[scored.voice],
        "total": scored.score,
        "n": np.ones(n, dtype=np.int64),
        "score": scored.score,
    }
    order = rated.unit_of[found.items.by_name(rated.items)]
    cluster_by = how.get("cluster_by")
    if "cluster_by" not in how:
        cluster_by = ("scenario",) if "scenario" in facets else ()
    places = (
        [(int(u), study.name, found.items.name(int(rated.items[u - 1])), -1) for u in order.tolist()]
        if cluster_by
        else []
    )
    of = study_ratings(study, rows, places, facets, {}, cluster_by=cluster_by, order=order)
    of = replace(of, orders=_order_rows(scored, rated, by_voice))
    _warn_empty(scored)
    text, question = _text_columns(found)

    shown = [table.columns[column] for column in (question, text) if column]
    items, rows_of_units, numbers = found.items, rated.rows, rated.items

    def whole_text(unit: int) -> str:
        row = int(rows_of_units[unit - 1])
        cells = [column.cell(row) for column in shown]
        return "\n\n".join(str(cell) for cell in cells if not is_blank(cell))

    return LabelTable(
        of,
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
    found, table = scored.voices, scored.voices.table
    if found.layout is not Layout.WIDE:
        return
    answered = np.zeros(table.size, dtype=bool)
    answered[scored.row] = True
    if scored.drawn or scored.orders or any(voice.rows is not None for voice in found.voices):
        for voice in found.voices:
            answered |= found.profiles[voice.column].answered
    if empty := int((~answered).sum()):
        table.warnings.append(f"{empty:,} {'row has' if empty == 1 else 'rows have'} no answer")


def _order_rows(scored: ScoredTable, rated: _Rated, by_voice: Mapping[str, Sequence[str]]) -> Columns:
    """The answers of judges to pairs whose order is known; no columns without any."""
    judged = [of for of in scored.orders if scored.voices.voices[of.voice].kind == "judge"]
    if not judged:
        return {}
    voice = np.repeat([of.voice for of in judged], [len(of.item) for of in judged])
    straight = np.repeat([of.straight for of in judged], [len(of.item) for of in judged])
    return {
        "unit": rated.unit_of[np.concatenate([of.item for of in judged])],
        "criterion": _by_voice(by_voice["criterion"], voice),
        "rater": _by_voice(by_voice["rater"], voice),
        "straight": straight,
        "score": np.concatenate([of.score for of in judged]),
    }


def _by_voice(values: Sequence[str], voice: Ints) -> Names:
    distinct = [*dict.fromkeys(values)]
    place = {value: number for number, value in enumerate(distinct)}
    return Names(np.array([place[value] for value in values], dtype=np.int32)[voice], distinct)


def _study_criteria(scored: ScoredTable) -> tuple[Criterion, ...]:
    """The criteria with their scales. Those of unequal ends are in no final.

    Raises ImportRefused for a person's answer off a declared scale, NotFound for a scale of no criterion.
    """
    found, names = scored.voices, scored.names
    declared = {name.casefold() for name in found.table.options.scales if name}
    if unknown := declared - {name.casefold() for name in (*names, *names.values())}:
        raise ImportRefused(
            f"{found.table.name} has no ratings on “{min(unknown)}”. Its criteria: "
            f"{', '.join(names.values())}."
        )
    scales = {name: reading.scale for name, reading in scored.readings.items()}
    alike = len({(scale.low, scale.high) for scale in scales.values()}) == 1
    for name, scale in scales.items():
        if scale.guessed or scale.named:
            continue
        for place, voice in enumerate(found.voices):
            if voice.criterion != name or voice.kind != "human":
                continue
            at = np.flatnonzero(scored.voice == place)
            off = [score for score in np.unique(scored.score[at]).tolist() if score not in scale]
            if off:
                row = int(scored.row[at[scored.score[at] == off[0]][0]])
                raise ImportRefused(
                    f"{found.table.name}, {found.table.place(row)}: the score {off[0]:g} is not on the "
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
        self._table, self._rows = table, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return _Places(self._table, self._rows[at])
        return f"{self._table.name}, {self._table.place(int(self._rows[at]))}"


class _Conversations(Mapping[str, Conversation]):
    """The conversation of each item that has ratings, made when it is asked for: memory holds none."""

    def __init__(self, rated: _Rated) -> None:
        self._rated, self._found = rated, rated.scored.voices
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
            tuple(Message(role, str(said)) for role, said in texts.items() if not is_blank(said)),
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
    found, table = scored.voices, scored.voices.table
    rated = _Rated(scored)
    names = scored.names
    asked = [
        RaterAsked(names[voice.criterion], Rater(voice.rater, voice.kind), None, voice.repeat)
        for voice in found.voices
    ]
    distinct = [*dict.fromkeys(asked)]
    place = {one: number for number, one in enumerate(distinct)}
    of_voice = np.array([place[one] for one in asked], dtype=np.int32)
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
        [NOTHING] * len(order),
    )
    _warn_empty(scored)
    scales = {names[name]: reading.scale for name, reading in scored.readings.items()}
    return RatingsFile(ratings_table, scales, conversations, (*_lines(scored), *table.warnings))
