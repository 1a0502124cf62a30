"""Store a checked file of conversations: dialogues, votes and scores, everything or nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlite_utils import Database

from concord.conversation import Conversation
from concord.errors import ImportRefused
from concord.exchange import conversations_jsonl
from concord.exchange.cells import yes
from concord.exchange.comparisons_file import import_key
from concord.exchange.conversations_file import FileSurvey, digest
from concord.exchange.file_row import FileRow
from concord.exchange.incoming import rate
from concord.exchange.parsed import ParsedRow
from concord.exchange.rating_table import ScoreRow
from concord.exchange.survey_sentences import unknown_scorers
from concord.questions import Scale
from concord.rating import Comparison, Criterion, Rater, criteria_by_name
from concord.store import comparisons, conversations, ratings, studies
from concord.store import images as stored_images
from concord.store.comparisons import OWN, PairQuestion
from concord.store.parts import in_parts
from concord.store.studies import Study
from concord.studies.scales import guessed
from concord.workspace import Workspace

AT_ONCE = 500
"""Plain rows that are stored in one part: some hundredths of a second."""
HEAVY = 5
"""As many plain rows takes one with scores or votes, and a line of Concord's own form."""
BYTES_AT_ONCE = 2**20
"""After so many bytes of lines a part ends, however few they are."""


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
        raters = dict[Rater, int]()
        units = set[str]()
        unnamed = {"human": Rater("annotator", "human"), "judge": Rater(judge, "judge")}
        for batch in _batches(surveyed.parsed):
            counts["rows"] += len(batch)
            if progress is not None:
                progress(counts["rows"] / (surveyed.rows - surveyed.faults))
            with part() as db:
                imported = _saved(db, batch, counts, skip_wrong=skip_wrong)
                for vote in (v for entry in imported for v in entry.votes):
                    counts["votes"] += _voted(db, vote, question)
                score_rows = [
                    scored if scored.rater.name else scored._replace(rater=unnamed[scored.rater.kind])
                    for entry in imported
                    for scored in entry.scores
                    if (study if scored.rater.kind == "human" else judge)
                ]
                for rater in dict.fromkeys(row.rater for row in score_rows):
                    raters.setdefault(rater, ratings.rater_id(db, rater))
                if number is not None:
                    _units(db, study, score_rows, units)
                counts_of_ratings = rate(db, score_rows, number, raters)
                counts["people"] += counts_of_ratings[0]
                counts["judges"] += counts_of_ratings[1]
    return _summary(surveyed, counts, study)


STORED_AS_BEFORE = (
    " Conversations that were stored already stay as they are, with or without their system prompt in sight. "
    "To show it, set `system_prompt` in a rubric."
)
"""What is said where a file is imported again to show system prompts."""


def _summary(surveyed: FileSurvey, counts: Counter[str], study: str) -> str:
    """What was stored, in one sentence."""
    words = {"known": "were stored already", "votes": "comparisons"}
    words |= {"people": f"ratings by annotators in the study “{study}”", "judges": "by judges"}
    new = [f"{counts['conversations']:,} new conversations"]
    new += [f"{counts[name]:,} {noun}" for name, noun in words.items() if counts[name]]
    excluded_rows = surveyed.faults + counts["left_out"]
    left = f" {excluded_rows:,} rows were excluded." if excluded_rows else ""
    left += "".join(f" Study “{name}”." for name in surveyed.studies)
    if counts["known"] and surveyed.reading.show_system_prompt:
        left += STORED_AS_BEFORE
    benchmark_names = "”, “".join(sorted(surveyed.benchmarks)) or surveyed.reading.benchmark
    return f"Under “{benchmark_names}”: {', '.join(new)}.{left}"


def _batches(parsed: Iterable[ParsedRow]) -> Iterator[list[ParsedRow]]:
    """What is stored in one part each."""
    batch = list[ParsedRow]()
    size = 0
    weight = 0
    for row in parsed:
        batch.append(row)
        size += row.size or sum(len(message.content) for c in row.conversations for message in c.messages)
        weight += HEAVY if row.line is not None or row.scores or row.votes else 1
        if weight >= AT_ONCE or size >= BYTES_AT_ONCE:
            yield batch
            batch = []
            size = 0
            weight = 0
    if batch:
        yield batch


def _saved(
    db: Database, parsed: Sequence[ParsedRow], counts: Counter[str], *, skip_wrong: bool
) -> list[ParsedRow]:
    """Store the conversations of rows; the rows of which all conversations are stored as they have them.

    Raises ImportRefused for one that is stored with other messages, unless `skip_wrong`.
    """
    keys = [one.key for row in parsed for one in row.conversations]
    ids = conversations.existing(db, keys)
    imported = list[ParsedRow]()
    new = dict[str, Conversation]()
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
        number = duplicate or conversations.save(db, one, simulated=yes(line.complete.get("simulated")))
        counts["conversations" if duplicate is None else "known"] += 1
        conversations_jsonl.save_beside(db, number, one, line, new=duplicate is None)


def _voted(db: Database, vote: Comparison, question: PairQuestion) -> bool:
    """Store a vote; whether it is new. A rater's second vote on the same two that differs is a repeat."""
    stored_verdicts = comparisons.verdicts(db, vote.rater, vote.first, vote.second, question)
    if vote.verdict in stored_verdicts.values():
        return False
    vote = replace(vote, repeat=max(stored_verdicts, default=-1) + 1, **question._asdict())
    comparisons.save(db, replace(vote, key=import_key(vote)))
    return True


def _prepare(
    db: Database, surveyed: FileSurvey, judge: str, study: str, scales: Mapping[str, Scale]
) -> int | None:
    """Register the criteria of the scores that are taken, and make the study; its id."""
    wanted_kinds = {"judge": bool(judge), "human": bool(study)}
    criterion_names = list(
        dict.fromkeys(criterion for kind, criterion in surveyed.scores if wanted_kinds[kind])
    )
    for name in scales:
        if name and name not in criterion_names:
            raise ImportRefused(
                f"{surveyed.path} has no scores on “{name}”. It has scores on: {', '.join(criterion_names)}."
            )
    if study and not any(kind == "human" for kind, _ in surveyed.scores):
        remedy = f" {unknown_scorers(surveyed)}" if surveyed.unknown else ""
        raise ImportRefused(
            f"{surveyed.path} holds no scores by annotators, so it cannot become a study.{remedy}"
        )
    if judge and not any(kind == "judge" for kind, _ in surveyed.scores):
        remedy = unknown_scorers(surveyed) if surveyed.unknown else "Omit --scores-as."
        raise ImportRefused(f"{surveyed.path} holds no scores of judges. {remedy}")
    benchmark = surveyed.reading.benchmark
    registered = criteria_by_name(ratings.criteria(db, benchmark))
    criteria = []
    for name in criterion_names:
        declared = scales.get(name, scales.get(""))
        if (
            declared is None
            and name in registered
            and surveyed.values[name] <= set(registered[name].scale.values)
        ):
            criteria.append(registered[name])
        else:
            criteria.append(Criterion(name, name, declared or guessed(surveyed.values[name])))
    # Where judges have criteria already, a new one does not enter their final.
    new = [replace(c, counted=not registered) for c in criteria if c.name not in registered]
    if new:
        ratings.register(db, benchmark, (*registered.values(), *new), refusal=ratings.refusal(db, benchmark))
    if not study:
        return None
    by_people = tuple(c for c in criteria if ("human", c.name) in surveyed.scores)
    unnamed = any(scores.anonymous for scores in surveyed.reading.shape.scores)
    return studies.create(db, Study(study, by_people, source="conversations", anonymous=unnamed))


def _units(db: Database, study: str, scores: Sequence[ScoreRow], have: set[str]) -> None:
    """Add the conversations that people scored to the study, but for those it has."""
    keys = dict.fromkeys(g.unit.conversation for g in scores if g.rater.kind == "human")
    new = [key for key in keys if key not in have]
    ids = conversations.existing(db, new)
    studies.add_units(db, study, [(ids[key], None, "") for key in new])
    have.update(new)
