"""Files of conversations: recognise the form, check the file whole, and store it in parts.

Memory does not grow with the file: it is read once, and what was read is kept on the disk until it is stored.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.codes import Scorer
from concord.conversation import Conversation
from concord.errors import ImportRefused
from concord.exchange import conversations_jsonl, entries, images, records, rows, suggestion
from concord.exchange.cells import SHOWN, refuse, yes
from concord.exchange.comparisons_file import import_key
from concord.exchange.conversations_jsonl import OWN_FORM
from concord.exchange.dialogue import Roles
from concord.exchange.entries import Entry, Reading, RowReader
from concord.exchange.given import Given
from concord.exchange.incoming import rate
from concord.exchange.otlp import SPAN
from concord.exchange.parsed import ParsedRow, ParsedRows
from concord.exchange.rows import AROUND, FileRow
from concord.exchange.shapes import OF_TURNS, ROWS, at, failure, forms, has, mapped, shape_of
from concord.questions import Scale
from concord.rating import Comparison, Criterion, Rater, RaterKind
from concord.store import comparisons, conversations, ratings, studies
from concord.store import images as stored_images
from concord.store.comparisons import OWN, PairQuestion
from concord.store.parts import in_parts
from concord.store.seen import FirstByKey, firsts
from concord.store.studies import Study
from concord.studies.scales import guessed
from concord.workspace import Workspace

MORE = (
    "To import more, use --scores-as JUDGE and --study NAME (scores of judges and of annotators), --rubric "
    "NAME "
    "(votes), --map facet:NAME=COLUMN and --map context:HEADING=PATH."
)
"""What options of the command do with what is not taken."""
FACET_VALUES = 100
"""Different values of a field that divides rows into groups, at most."""
DISTINCT = 1000
"""Different scores of a criterion that are remembered; of more only the least and the greatest."""
SAMPLED = 20
"""Rows of an unknown form by which a command is suggested."""
AT_ONCE = 500
"""Plain rows that are stored in one part: some hundredths of a second."""
HEAVY = 5
"""As many plain rows takes one with scores or votes, and a line of Concord's own form."""
BYTES_AT_ONCE = 2**20
"""After so many bytes of lines a part ends, however few they are."""


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
    shown: list[tuple[str, Entry]] = field(default_factory=list)
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
    named: Counter[str] = field(default_factory=Counter)
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
        most = min(FACET_VALUES, self.rows - 1)
        return [name for name, different in self.metadata_values.items() if 1 < len(different) <= most]

    def refuse(self) -> None:
        """Raises ImportRefused with all that is wrong, where something is."""
        head = f"{self.path}: {self.faults:,} of {self.rows:,} rows are invalid; nothing was imported."
        rest = self.rows - self.faults
        some = [f"--skip-wrong imports the other {rest:,} rows."] if rest else []
        refuse(self.wrong, head, self.faults, some)


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
    result = _begun(path, options)
    shape = result.reading.shape
    nowhere = {name: to for name, to in options.mapping.items() if name not in OF_TURNS}
    size, position = max(1, path.stat().st_size), 0
    with firsts() as keys:
        for row in records.read(path, result.kind, shape, result.joins, result.unused, result.place):
            entry = _checked(result, row, keys)
            position += row.size or (_extent(row) if progress is not None else 0)
            if progress is not None and position and result.rows % AT_ONCE == 0:
                progress(position / size)
            if nowhere:
                walk = RowReader(row.fields or {}, shape) if entry is None else entry.walk
                nowhere = {
                    name: to
                    for name, to in nowhere.items()
                    if walk.column(to) not in walk.taken and (to in shape.out or at(walk.fields, to) is None)
                }
    if not result.rows:
        raise ImportRefused(f"{path} is empty. It needs at least one row.")
    for name, to in nowhere.items():
        if name.startswith("out:") and to in result.fields:
            continue
        raise _nowhere(path, name, to, result.fields)
    return result


def _extent(row: FileRow) -> int:
    """About how many bytes a row of CSV takes."""
    return sum(len(text) + 1 for text in (row.fields or {}).values() if isinstance(text, str))


def _nowhere(path: Path, name: str, to: str, fields: Sequence[str]) -> ImportRefused:
    return ImportRefused(
        f"--map {name}={to}: no row of {path} has a value there. Its fields are "
        f"{', '.join(fields[:30])[:500]}."
    )


def store(
    workspace: Workspace,
    surveyed: FileSurvey,
    *,
    judge: str = "",
    study: str = "",
    question: PairQuestion = OWN,
    scales: Mapping[str, Scale] | None = None,
    skip_wrong: bool = False,
    progress: Callable[[float], None] | None = None,
) -> str:
    """Store what a survey of the whole file found, everything or nothing; returns a sentence on it.

    With `judge`, scores become ratings: by the judge whom the file names, else by this one. With `study`,
    scores by people become a study of that name. Votes are answers to the `question`: a rubric's, or a
    benchmark's own. Raises ImportRefused for what is wrong, unless `skip_wrong`.
    """
    if not skip_wrong:
        surveyed.refuse()
    if question != OWN and not surveyed.votes:
        raise ImportRefused(f"{surveyed.path} holds no votes. Remove the rubric for votes.")
    counts = Counter[str]()
    with in_parts(workspace.db_path) as part:
        with part() as db:
            number = _prepare(db, surveyed, judge, study, scales or {})
        raters, units = dict[Rater, int](), set[str]()
        unnamed = {"human": Rater("annotator", "human"), "judge": Rater(judge, "judge")}
        for some in _batches(surveyed.parsed):
            counts["rows"] += len(some)
            if progress is not None:
                progress(counts["rows"] / (surveyed.rows - surveyed.faults))
            with part() as db:
                stored = _saved(db, some, counts, skip_wrong=skip_wrong)
                for vote in (v for entry in stored for v in entry.votes):
                    counts["votes"] += _voted(db, vote, question)
                given = [
                    scored if scored.rater.name else scored._replace(rater=unnamed[scored.rater.kind])
                    for entry in stored
                    for scored in entry.scores
                    if (study if scored.rater.kind == "human" else judge)
                ]
                for rater in dict.fromkeys(g.rater for g in given):
                    raters.setdefault(rater, ratings.rater_id(db, rater))
                if number is not None:
                    _units(db, study, given, units)
                added = rate(db, given, number, raters)
                counts["people"] += added[0]
                counts["judges"] += added[1]
    return _stored(surveyed, counts, study)


STORED_AS_BEFORE = (
    " Conversations that were stored already stay as they are, with or without their system prompt in sight. "
    "To show it, set `system_prompt` in a rubric."
)
"""What is said where a file is imported again to show system prompts."""


def _stored(surveyed: FileSurvey, counts: Counter[str], study: str) -> str:
    """What was stored, in one sentence."""
    words = {"known": "were stored already", "votes": "comparisons"}
    words |= {"people": f"ratings by annotators in the study “{study}”", "judges": "by judges"}
    new = [f"{counts['conversations']:,} new conversations"]
    new += [f"{counts[name]:,} {what}" for name, what in words.items() if counts[name]]
    out = surveyed.faults + counts["left_out"]
    left = f" {out:,} rows were excluded." if out else ""
    left += "".join(f" Study “{name}”." for name in surveyed.studies)
    if counts["known"] and surveyed.reading.show_system_prompt:
        left += STORED_AS_BEFORE
    under = "”, “".join(sorted(surveyed.benchmarks)) or surveyed.reading.benchmark
    return f"Under “{under}”: {', '.join(new)}.{left}"


def sentences(surveyed: FileSurvey) -> list[str]:
    """What a survey found, one sentence a line."""
    some = [f"{surveyed.conversations:,} conversations"]
    some += [f"{surveyed.repeated:,} repeat another"] if surveyed.repeated else []
    named: dict[RaterKind, str]
    named = {"human": "votes by people", "judge": "votes by judges", "gold": "gold labels"}
    some += [f"{n:,} {named[kind]}" for kind, n in surveyed.votes.items() if n]
    lines = [
        f"{surveyed.path.name} is {surveyed.kind} of the form “{surveyed.name}”, {surveyed.rows:,} rows.",
        ", ".join(some) + ".",
    ]
    for kind, who in (("judge", "Scores"), ("human", "Scores by people")):
        on = [f"{name} ({count:,})" for (by, name), count in surveyed.scores.items() if by == kind]
        lines += [f"{who}: {', '.join(on[:SHOWN])}."] if on else []
    lines += [unknown_scorers(surveyed)] if surveyed.unknown else []
    for what, counts in (
        ("scores are not numbers and are excluded", surveyed.unread),
        ("rows ended with an error", surveyed.failed),
        ("images appear only by name in the text", surveyed.named),
    ):
        lines += [f"{counts.total():,} {what}, such as “{next(iter(counts))}”."] if counts else []
    lines += [f"{surveyed.images:,} images are imported."] if surveyed.images else []
    lines += [f"{n:,} rows of {name} match none of these." for name, n in surveyed.unused.items() if n]
    taken = "; ".join(f"{path} as {', '.join(uses)}" for path, uses in surveyed.columns.items())
    for how, paths in (
        ("Taken", taken),
        ("Stored as metadata, not shown", _counted(surveyed.metadata, surveyed.rows)),
        ("Left out", _counted(surveyed.left_out, surveyed.rows)),
    ):
        lines += [f"{how}: {paths}."] if paths else []
    return [*lines, *filter(None, [surveyed.reading.shape.also])]


def unknown_scorers(surveyed: FileSurvey) -> str:
    """Which scores do not say who gave them, and how to say it."""
    on = ", ".join(f"{name} ({count:,})" for name, count in [*surveyed.unknown.items()][:SHOWN])
    return (
        f"{surveyed.unknown.total():,} scores have no known source and are excluded: {on}. Give the source "
        f"with --scorer '{next(iter(surveyed.unknown))}=human' (or =judge, =code)."
    )


def _counted(names: Mapping[str, int], rows: int) -> str:
    """Names, with the number of rows where it is not all of them."""
    return ", ".join(
        f"{name.removeprefix(f'{AROUND}.')} (around the rows)"
        if name.startswith(AROUND)
        else name + (f" ({n:,} rows)" if n < rows else "")
        for name, n in names.items()
    )


def _begun(path: Path, options: FileOptions) -> FileSurvey:
    kind = rows.kind_of(path)
    return recognized(path, kind, rows.read(path, kind, options.rows), options)


def recognized(path: Path, kind: str, file_rows: Iterable[FileRow], options: FileOptions) -> FileSurvey:
    """A survey that knows the form of the file, by its first rows. Raises ImportRefused."""
    benchmark = options.benchmark or path.stem.removesuffix(".jsonl") or "imported"
    broken, names, unknown = "", tuple[str, ...](), list[dict[str, Any]]()
    joined_names = records.names_of_joins(options.joins)
    for row in islice(file_rows, 200):
        if row.fields is None:
            broken = broken or f"{row.where}, {row.wrong}"
            continue
        fields = tuple(map(str, row.fields))
        if conversations_jsonl.own(row.fields, kind):
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
                if at(row.fields, to := options.mapping[name]) is None:
                    raise _nowhere(path, name, to, fields)
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
    if (other := next((one for one in forms().elsewhere if has(unknown[0], one)), None)) is not None:
        raise ImportRefused(f"{path} ({kind}) holds {other.name}. {other.how}")
    lists = list(islice(rows.lists_inside(unknown[0]), SHOWN))
    inside = f" It holds lists of objects: --rows {' or --rows '.join(lists)} reads one." if lists else ""
    example = suggestion.command(path, unknown, options.rows)
    example = f" Try: {example}" if example else ""
    raise FormNotKnown(
        f"{path} ({kind}) has an unknown format. Map its fields, for example --map messages=NAME, or --map "
        "user=NAME --map assistant=NAME; for one turn per row, --map conversation=NAME. Its fields are "
        f"{', '.join(names)[:500]}.{inside}{example}",
        names,
    )


def _batches(parsed: Iterable[ParsedRow]) -> Iterator[list[ParsedRow]]:
    """What is stored in one part each."""
    some, size, weight = list[ParsedRow](), 0, 0
    for row in parsed:
        some.append(row)
        size += row.size or sum(len(message.content) for c in row.conversations for message in c.messages)
        weight += HEAVY if row.line is not None or row.scores or row.votes else 1
        if weight >= AT_ONCE or size >= BYTES_AT_ONCE:
            yield some
            some, size, weight = [], 0, 0
    if some:
        yield some


def read_row(reading: Reading, row: FileRow) -> Entry:
    """What a row holds. Raises ImportRefused."""
    if reading.shape is OWN_FORM:
        return images.copied(conversations_jsonl.read(row, reading), reading.folder)
    first_row = row.whole if reading.shape.turns is None else row.whole[ROWS][0]
    if not reading.shape.spans and not has(first_row, reading.shape):
        other = shape_of(first_row)
        form = f"has the form “{other.name}”" if other is not None else "has an unknown format"
        raise ImportRefused(f"{row.where}, {form}, the file's first row “{reading.shape.name}”.")
    return images.copied(entries.read(row.whole, reading, row.where), reading.folder)


def _checked(survey: FileSurvey, row: FileRow, keys: FirstByKey) -> Entry | None:
    """Count what a row holds, or that it is wrong."""
    survey.rows += 1
    try:
        entry = read_row(survey.reading, row)
        for conversation in entry.conversations:
            mark = digest(conversation)
            earlier = keys.add(conversation.key, row.where, mark)
            if earlier is not None and earlier[1] != mark:
                place = earlier[0].rpartition(", ")[2]
                raise ImportRefused(
                    f"{row.where}: “{conversation.key}” is in {place} too, with other messages. Give each "
                    "conversation a unique key, or none."
                )
            survey.repeated += earlier is not None
            survey.conversations += earlier is None
            survey.benchmarks.add(conversation.benchmark)
    except ImportRefused as error:
        survey.faults += 1
        if len(survey.wrong) < SHOWN:
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
    if (reason := failure(row.whole, survey.reading.shape)) not in (None, "success", "started"):
        survey.failed.update([" ".join(str(reason).split())[:200]])
    if entry.unread and len(survey.unread) < DISTINCT:
        survey.unread.update(entry.unread)
    if entry.line is not None and entry.line.whole.get("kind") == "study":
        survey.studies.append(str(entry.line.whole.get("name")))
    if entry.images or entry.named:
        survey.images += len(entry.images)
        survey.named.update(entry.named)
    survey.system_prompts += any(
        message.role == "system" for one in entry.conversations for message in one.messages
    )
    if len(survey.left_out) + len(survey.metadata) < DISTINCT:
        for path, use in entry.walk.taken.items():
            if path not in survey.columns:
                survey.columns[path] = Counter()
            survey.columns[path][use] += 1
        meta = {} if entry.line is not None else entry.conversations[0].meta
        metadata, left_out = entry.walk.metadata(meta, around=not survey.shown)
        survey.metadata.update(metadata)
        for name in metadata:
            different = survey.metadata_values.setdefault(name, set())
            if name in meta and len(different) <= FACET_VALUES:
                different.add(str(meta[name]))
        survey.left_out.update(left_out)
    if len(survey.shown) < SHOWN and entry.conversations:
        survey.shown.append((row.where, entry))
    return entry


def digest(conversation: Conversation) -> str:
    """What tells conversations of other messages apart, within this process."""
    return str(hash((conversation.player, *((m.role, m.content) for m in conversation.messages))))


def _saved(
    db: Database, parsed: Sequence[ParsedRow], counts: Counter[str], *, skip_wrong: bool
) -> list[ParsedRow]:
    """Store the conversations of rows; the rows of which all conversations are stored as they have them.

    Raises ImportRefused for one that is stored with other messages, unless `skip_wrong`.
    """
    keys = [one.key for row in parsed for one in row.conversations]
    ids = conversations.existing(db, keys)
    imported, new = list[ParsedRow](), dict[str, Conversation]()
    for row in parsed:
        if any(_differs(db, one, ids, new) for one in row.conversations):
            if skip_wrong:
                counts["left_out"] += 1
                continue
            (conflict,) = [one for one in row.conversations if _differs(db, one, ids, new)][:1]
            remedy = "Import the file under another name with --benchmark."
            remedy = remedy if row.line is None else "Give this conversation another key."
            raise ImportRefused(
                f"{row.place}: a conversation “{conflict.key}” with other messages is stored already. "
                f"{remedy}"
            )
        imported.append(row)
        if row.line is None:
            for one in row.conversations:
                duplicate = one.key in ids or one.key in new
                counts["known" if duplicate else "conversations"] += 1
                new.setdefault(one.key, one)
    conversations.save_all(db, [one for key, one in new.items() if key not in ids])
    for row in imported:
        if row.images:
            stored_images.save(db, row.images)
        if row.line is not None:
            _save_line(db, row, row.line, counts)
    return imported


def _differs(
    db: Database, one: Conversation, ids: Mapping[str, int], new: Mapping[str, Conversation]
) -> bool:
    """Whether a conversation is stored, or about to be, with other messages."""
    if one.key in new:
        return digest(new[one.key]) != digest(one)
    return one.key in ids and digest(conversations.load(db, ids[one.key])) != digest(one)


def _save_line(db: Database, row: ParsedRow, line: FileRow, counts: Counter[str]) -> None:
    """Store what a line of Concord's own form holds."""
    if not row.conversations:
        conversations_jsonl.save(db, line)
    for one in row.conversations:
        duplicate = conversations.find_id(db, one.key)
        number = duplicate or conversations.save(db, one, simulated=yes(line.whole.get("simulated")))
        counts["conversations" if duplicate is None else "known"] += 1
        conversations_jsonl.save_beside(db, number, one, line, new=duplicate is None)


def _voted(db: Database, vote: Comparison, question: PairQuestion) -> bool:
    """Store a vote; whether it is new. A rater's second vote on the same two that differs is a repeat."""
    there = comparisons.verdicts(db, vote.rater, vote.first, vote.second, question)
    if vote.verdict in there.values():
        return False
    vote = replace(vote, repeat=max(there, default=-1) + 1, **question._asdict())
    comparisons.save(db, replace(vote, key=import_key(vote)))
    return True


def _prepare(
    db: Database, surveyed: FileSurvey, judge: str, study: str, scales: Mapping[str, Scale]
) -> int | None:
    """Register the criteria of the scores that are taken, and make the study; its id."""
    taken = {"judge": bool(judge), "human": bool(study)}
    named = list(dict.fromkeys(criterion for kind, criterion in surveyed.scores if taken[kind]))
    for name in scales:
        if name and name not in named:
            raise ImportRefused(
                f"{surveyed.path} has no scores on “{name}”. It has scores on: {', '.join(named)}."
            )
    if study and not any(kind == "human" for kind, _ in surveyed.scores):
        more = f" {unknown_scorers(surveyed)}" if surveyed.unknown else ""
        raise ImportRefused(
            f"{surveyed.path} holds no scores by annotators, so it cannot become a study.{more}"
        )
    if judge and not any(kind == "judge" for kind, _ in surveyed.scores):
        remedy = unknown_scorers(surveyed) if surveyed.unknown else "Omit --scores-as."
        raise ImportRefused(f"{surveyed.path} holds no scores of judges. {remedy}")
    benchmark = surveyed.reading.benchmark
    there = {c.name: c for c in ratings.criteria(db, benchmark)}
    criteria = []
    for name in named:
        declared = scales.get(name, scales.get(""))
        if declared is None and name in there and surveyed.values[name] <= set(there[name].scale.values):
            criteria.append(there[name])
        else:
            criteria.append(Criterion(name, name, declared or guessed(surveyed.values[name])))
    # Where judges have criteria already, a new one does not enter their final.
    new = [replace(c, counted=not there) for c in criteria if c.name not in there]
    if new:
        ratings.register(db, benchmark, (*there.values(), *new), refusal=ratings.refusal(db, benchmark))
    if not study:
        return None
    by_people = tuple(c for c in criteria if ("human", c.name) in surveyed.scores)
    unnamed = any(scores.unnamed for scores in surveyed.reading.shape.scores)
    return studies.create(db, Study(study, by_people, source="conversations", anonymous=unnamed))


def _units(db: Database, study: str, given: Sequence[Given], have: set[str]) -> None:
    """Add the conversations that people scored to the study, but for those it has."""
    keys = dict.fromkeys(g.unit.conversation for g in given if g.rater.kind == "human")
    new = [key for key in keys if key not in have]
    ids = conversations.existing(db, new)
    studies.add_units(db, study, [(ids[key], None, "") for key in new])
    have.update(new)
