"""Files of conversations: recognise the form, and check the file whole.

Memory does not grow with the file: it is read once, and what was read is kept on the disk until it is stored
(`concord.exchange.conversations_import`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from concord.codes import Scorer
from concord.conversation import Conversation
from concord.errors import ImportRefused
from concord.exchange import conversations_jsonl, entries, images, records, rows, suggestion
from concord.exchange.cells import MOST_NAMED, refuse
from concord.exchange.conversations_jsonl import OWN_FORM
from concord.exchange.dialogue import Roles
from concord.exchange.entries import Entry
from concord.exchange.field_mapping import OF_TURNS, mapped
from concord.exchange.file_row import FileRow
from concord.exchange.otlp import SPAN
from concord.exchange.parsed import ParsedRows
from concord.exchange.row_paths import value_at
from concord.exchange.row_reader import Reading, RowReader
from concord.exchange.shapes import ROWS, failure, forms, has, shape_of
from concord.rating import RaterKind
from concord.store.seen import FirstByKey, firsts

FACET_VALUES = 100
"""Different values of a field that divides rows into groups, at most."""
DISTINCT = 1000
"""Different scores of a criterion that are remembered; of more only the least and the greatest."""
SAMPLED = 20
"""Rows of an unknown form by which a command is suggested."""
ROWS_BETWEEN_REPORTS = 500
"""Rows after which the check says how far it is."""


class FormNotKnown(ImportRefused):
    """A file whose rows have no form that is known; `fields` are the names in its first row."""

    def __init__(self, message: str, fields: Sequence[str]) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


@dataclass(frozen=True)
class FileOptions:
    """What the importer is told beside the file: all of it optional.

    `mapping` says where things lie (`--map`), `roles` who speakers are. `benchmark` is the name under which
    the conversations are kept, the file's unless given. `rows` is the path of the list of rows inside the
    file, where it is not the usual one. `joins` are files whose rows belong to this one's.
    """

    benchmark: str = ""
    mapping: Mapping[str, str] = field(default_factory=dict)
    roles: Roles = field(default_factory=dict)
    joins: tuple[Path, ...] = ()
    rows: str = ""
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    """Who gave the scores on a criterion, where the file does not say it; “*” on any other."""
    show_system_prompt: bool = False
    """Whether annotators and judges see each system prompt as context."""


@dataclass
class FileSurvey:
    """What a file holds: its form, counts, what is wrong (`wrong` of `faults` rows by name), the first rows.

    `criteria` are the scores by who gave them and on what: how many, and the different values.
    """

    path: Path
    kind: str
    reading: Reading
    fields: tuple[str, ...] = ()
    rows: int = 0
    conversations: int = 0
    repeated: int = 0
    votes: Counter[RaterKind] = field(default_factory=Counter)
    faults: int = 0
    wrong: list[str] = field(default_factory=list)
    examples: list[tuple[str, Entry]] = field(default_factory=list)
    scores: Counter[tuple[RaterKind, str]] = field(default_factory=Counter)
    values: dict[str, set[float]] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    """Criteria of scores that do not say who gave them."""
    metadata: Counter[str] = field(default_factory=Counter)
    """Fields that are kept, but shown nowhere unless a rubric names them."""
    metadata_values: dict[str, set[str]] = field(default_factory=dict)
    """Different values of these fields, up to one more than a facet may have."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Paths of what is not kept."""
    columns: dict[str, Counter[str]] = field(default_factory=dict)
    """What each column, or path, was taken as, and in how many rows."""
    joins: tuple[Path, ...] = ()
    place: str = ""
    """Where its rows lie, as `FileOptions.rows` says."""
    unused: Counter[str] = field(default_factory=Counter)
    """Rows of joined files that belong to none of the file's."""
    benchmarks: set[str] = field(default_factory=set)
    """The names under which the conversations are kept: Concord's own lines say it themselves."""
    studies: list[str] = field(default_factory=list)
    images: int = 0
    missing_images: Counter[str] = field(default_factory=Counter)
    """Images that are only named in the text, with the reason."""
    parsed: ParsedRows = field(default_factory=ParsedRows)
    """What the rows that are right hold, for `store`."""
    system_prompts: int = 0
    """Rows with a system prompt."""
    failed: Counter[str] = field(default_factory=Counter)
    """Why rows have no reply, as they say, or that they ended with an error."""

    @property
    def name(self) -> str:
        """What was recognised, for a person."""
        return self.reading.shape.name

    @property
    def groups(self) -> list[str]:
        """The metadata that divides the rows into groups: few values, shared by several rows."""
        limit = min(FACET_VALUES, self.rows - 1)
        return [name for name, different in self.metadata_values.items() if 1 < len(different) <= limit]

    def refuse(self) -> None:
        """Raises ImportRefused with all that is wrong, where something is."""
        head = f"{self.path}: {self.faults:,} of {self.rows:,} rows are invalid; nothing was imported."
        rest = self.rows - self.faults
        remedies = [f"--skip-wrong imports the other {rest:,} rows."] if rest else []
        refuse(self.wrong, head, self.faults, remedies)


def survey(
    path: Path,
    options: FileOptions = FileOptions(),
    *,
    progress: Callable[[float], None] | None = None,
) -> FileSurvey:
    """Read a file and say what it holds and what is wrong; store nothing.

    `progress` is called with the share of a file of JSON Lines or CSV that is read. Raises ImportRefused
    where the file cannot be read or its form is not known.
    """
    result = _survey_of_form(path, options)
    shape = result.reading.shape
    nowhere = {name: field_path for name, field_path in options.mapping.items() if name not in OF_TURNS}
    size = max(1, path.stat().st_size)
    position = 0
    with firsts() as keys:
        for row in records.read(path, result.kind, shape, result.joins, result.unused, result.place):
            entry = _count_row(result, row, keys)
            position += row.size or (_extent(row) if progress is not None else 0)
            if progress is not None and position and result.rows % ROWS_BETWEEN_REPORTS == 0:
                progress(position / size)
            if nowhere:
                reader = RowReader(row.fields or {}, shape) if entry is None else entry.reader
                nowhere = {
                    name: field_path
                    for name, field_path in nowhere.items()
                    if reader.column(field_path) not in reader.uses
                    and (field_path in shape.excluded or value_at(reader.fields, field_path) is None)
                }
    if not result.rows:
        raise ImportRefused(f"{path} is empty. It needs at least one row.")
    for name, field_path in nowhere.items():
        if name.startswith("out:") and field_path in result.fields:
            continue
        raise _nowhere(path, name, field_path, result.fields)
    return result


def _extent(row: FileRow) -> int:
    """About how many bytes a row of CSV takes."""
    return sum(len(text) + 1 for text in (row.fields or {}).values() if isinstance(text, str))


def _nowhere(path: Path, name: str, field_path: str, fields: Sequence[str]) -> ImportRefused:
    return ImportRefused(
        f"--map {name}={field_path}: no row of {path} has a value there. Its fields are "
        f"{', '.join(fields[:30])[:500]}."
    )


def _survey_of_form(path: Path, options: FileOptions) -> FileSurvey:
    kind = rows.kind_of(path)
    return recognized(path, kind, rows.read(path, kind, options.rows), options)


def recognized(path: Path, kind: str, file_rows: Iterable[FileRow], options: FileOptions) -> FileSurvey:
    """A survey that knows the form of the file, by its first rows. Raises ImportRefused."""
    benchmark = options.benchmark or path.stem.removesuffix(".jsonl") or "imported"
    broken = ""
    names = tuple[str, ...]()
    unknown = list[dict[str, Any]]()
    joined_names = records.names_of_joins(options.joins)
    for row in islice(file_rows, 200):
        if row.fields is None:
            broken = broken or f"{row.location}, {row.wrong}"
            continue
        fields = tuple(map(str, row.fields))
        if conversations_jsonl.is_own_form(row.fields, kind):
            if options.mapping or options.roles or options.joins or options.rows:
                raise ImportRefused(
                    f"{path} was written by `concord export conversations`, so it needs no options. Remove "
                    "--map, --role, --join and --rows."
                )
            return FileSurvey(path, kind, Reading(OWN_FORM, benchmark, folder=path.parent))
        shape = shape_of({**joined_names, **row.fields})
        if shape is None and options.joins and SPAN in row.fields:
            shape = records.shape_of_spans(options.joins)
        if options.mapping:
            shape = mapped(options.mapping, shape)
        if shape is not None:
            for name in set(OF_TURNS) & set(options.mapping):
                if value_at(row.fields, field_path := options.mapping[name]) is None:
                    raise _nowhere(path, name, field_path, fields)
            reading = Reading(
                shape,
                benchmark,
                options.roles,
                path.parent,
                options.scorers,
                options.show_system_prompt,
            )
            return FileSurvey(path, kind, reading, fields, joins=options.joins, place=options.rows)
        names = names or fields
        unknown += [dict(row.fields)] if len(unknown) < SAMPLED else []
    if not names:
        raise ImportRefused(broken or f"{path} is empty. It needs at least one row.")
    if (other_file := next((one for one in forms().other_files if has(unknown[0], one)), None)) is not None:
        raise ImportRefused(f"{path} ({kind}) holds {other_file.name}. {other_file.remedy}")
    lists = list(islice(rows.lists_inside(unknown[0]), MOST_NAMED))
    inside = f" It holds lists of objects: --rows {' or --rows '.join(lists)} reads one." if lists else ""
    example = suggestion.command(path, unknown, options.rows)
    example = f" Try: {example}" if example else ""
    raise FormNotKnown(
        f"{path} ({kind}) has an unknown format. Map its fields, for example --map messages=NAME, or --map "
        "user=NAME --map assistant=NAME; for one turn per row, --map conversation=NAME. Its fields are "
        f"{', '.join(names)[:500]}.{inside}{example}",
        names,
    )


def read_row(reading: Reading, row: FileRow) -> Entry:
    """What a row holds. Raises ImportRefused."""
    if reading.shape is OWN_FORM:
        return images.copied(conversations_jsonl.read(row, reading), reading.folder)
    first_row = row.complete if reading.shape.turns is None else row.complete[ROWS][0]
    if not reading.shape.spans and not has(first_row, reading.shape):
        other_shape = shape_of(first_row)
        form = f"has the form “{other_shape.name}”" if other_shape is not None else "has an unknown format"
        raise ImportRefused(f"{row.location}, {form}, the file's first row “{reading.shape.name}”.")
    return images.copied(entries.read(row.complete, reading, row.location), reading.folder)


def _count_row(survey: FileSurvey, row: FileRow, keys: FirstByKey) -> Entry | None:
    """Count what a row holds, or that it is wrong."""
    survey.rows += 1
    try:
        entry = read_row(survey.reading, row)
        for conversation in entry.conversations:
            mark = digest(conversation)
            earlier = keys.add(conversation.key, row.location, mark)
            if earlier is not None and earlier[1] != mark:
                place = earlier[0].rpartition(", ")[2]
                raise ImportRefused(
                    f"{row.location}: “{conversation.key}” is in {place} too, with other messages. Give each "
                    "conversation a unique key, or none."
                )
            survey.repeated += earlier is not None
            survey.conversations += earlier is None
            survey.benchmarks.add(conversation.benchmark)
    except ImportRefused as error:
        survey.faults += 1
        if len(survey.wrong) < MOST_NAMED:
            survey.wrong.append(str(error))
        return None
    survey.parsed.add(row, entry)
    for vote in entry.votes:
        survey.votes[vote.rater.kind] += 1
    for scored in entry.scores:
        survey.scores[scored.rater.kind, scored.criterion] += 1
        values = survey.values.setdefault(scored.criterion, set())
        values.add(scored.score)
        if len(values) > DISTINCT:
            survey.values[scored.criterion] = {min(values), max(values)}
    if entry.unknown:
        survey.unknown.update(entry.unknown)
    if (reason := failure(row.complete, survey.reading.shape)) not in (None, "success", "started"):
        survey.failed.update([" ".join(str(reason).split())[:200]])
    if entry.unread and len(survey.unread) < DISTINCT:
        survey.unread.update(entry.unread)
    if entry.line is not None and entry.line.complete.get("kind") == "study":
        survey.studies.append(str(entry.line.complete.get("name")))
    if entry.images or entry.missing_images:
        survey.images += len(entry.images)
        survey.missing_images.update(entry.missing_images)
    survey.system_prompts += any(
        message.role == "system" for one in entry.conversations for message in one.messages
    )
    if len(survey.left_out) + len(survey.metadata) < DISTINCT:
        for path, use in entry.reader.uses.items():
            if path not in survey.columns:
                survey.columns[path] = Counter()
            survey.columns[path][use] += 1
        meta = {} if entry.line is not None else entry.conversations[0].meta
        metadata, left_out = entry.reader.metadata(meta, around=not survey.examples)
        survey.metadata.update(metadata)
        for name in metadata:
            different = survey.metadata_values.setdefault(name, set())
            if name in meta and len(different) <= FACET_VALUES:
                different.add(str(meta[name]))
        survey.left_out.update(left_out)
    if len(survey.examples) < MOST_NAMED and entry.conversations:
        survey.examples.append((row.location, entry))
    return entry


def digest(conversation: Conversation) -> str:
    """What tells conversations of other messages apart, within this process."""
    return str(hash((conversation.player, *((m.role, m.content) for m in conversation.messages))))
