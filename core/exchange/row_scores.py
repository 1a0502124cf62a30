"""The scores of a row: their criterion, their value, and who gave them, as far as the file says it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from concord.codes import Scorer
from concord.conversation import Conversation, Turn, Unit
from concord.exchange import promptfoo
from concord.exchange.cells import nfc
from concord.exchange.embedded_text import parsed
from concord.exchange.otlp import objects
from concord.exchange.rating_table import ScoreRow
from concord.exchange.row_paths import first, value_at
from concord.exchange.row_reader import Reading, RowReader, unused_paths
from concord.exchange.shapes import ScorePaths
from concord.files.limits import NAME
from concord.rating import PROGRAM, Rater, program
from concord.reading.cells import score_of_word
from concord.scores import LARGEST

COLUMNS = "*"
"""The end of a path that stands for all columns which begin so."""
AS_GIVEN = "^position"
"""The name under which a score of a rater without a name has the place in its list."""


CRITERION_NAME = "="
"""The path to a criterion's own name."""
COLUMN_ITSELF = "="
"""The value of a score whose column has no end, such as `feedback_scores.tone`."""
ANY_WORD = "*"
"""Any word for a kind of rater that is not named."""
EDITED = "provenance"
"""What says of a score who changed it."""


class RowScore(NamedTuple):
    """A score as it stands in a row: its value is not yet a number, and who gave it may be unknown."""

    criterion: str
    value: Any
    scorer: Scorer
    rater: str = ""
    reason: str = ""
    turn: int | None = None


class RowScores(NamedTuple):
    """The scores of a row, those that are no numbers, and the criteria of those whose scorer is unknown."""

    rows: tuple[ScoreRow, ...] = ()
    unread: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class ScoreEntry(NamedTuple):
    """A value on a criterion, and the object in the row that says more of it."""

    criterion: str
    value: Any
    reason: Any
    fields: Mapping[str, Any]
    turn: int | None = None


def scores_of(reader: RowReader, conversation: Conversation, reading: Reading) -> RowScores:
    """The scores of a row, one of each rater on a criterion; of several the last."""
    if not reader.shape.scores:
        return RowScores()
    rows = dict[tuple[Any, ...], ScoreRow]()
    unread = list[str]()
    unknown = list[str]()
    replies = [turn for turn in conversation.turns() if turn.reply is not None]
    for scores in reader.shape.scores:
        for one in _graded(reader, scores) if scores.graded else _row_scores(reader, scores, replies):
            value = number_in(one.value)
            if value is None:
                unread.append(f"{one.criterion}: {str(one.value)[:40]}")
                continue
            criterion = nfc(one.criterion)[:NAME]
            scorer = one.scorer
            if scorer == Scorer.UNKNOWN:
                scorer = reading.scorers.get(criterion) or reading.scorers.get("*") or scorer
            if scorer == Scorer.UNKNOWN:
                unknown.append(criterion)
                _leave_unknown(reader, scores)
                continue
            unit = Unit(conversation.key, one.turn)
            rater = _rater(scorer, nfc(one.rater)[:NAME])
            rows[unit, criterion, rater] = ScoreRow(unit, criterion, rater, value, explanation=one.reason)
    return RowScores(tuple(rows.values()), tuple(unread), tuple(unknown))


def _leave_unknown(reader: RowReader, scores: ScorePaths) -> None:
    """Note that scores are not kept, because who gave them is unknown."""
    reader.leave(scores.path, reason="scores without a known source")
    for path in scores.reason if scores.criterion else ():
        reader.leave(path, reason="scores without a known source")


def _rater(scorer: Scorer, name: str) -> Rater:
    """Who gave a score: a person, a program, or a judge."""
    if scorer == Scorer.CODE:
        return program(name[: NAME - len(PROGRAM)])
    return Rater(name, "human" if scorer == Scorer.HUMAN else "judge")


def _graded(reader: RowReader, scores: ScorePaths) -> Iterator[RowScore]:
    """The scores of a result of promptfoo."""
    for path in ("score", "namedScores", scores.path):
        reader.first((path,), "scores")
    paths = {"pass", "score", "namedScores"}
    for grade in promptfoo.grades(reader.fields):
        paths |= {*grade.paths}
        if grade.value is not None:
            yield RowScore(grade.criterion, grade.value, grade.scorer, reason=grade.reason)
    grading = value_at(reader.fields, scores.path)
    reader.leave(scores.path, unused_paths(grading, paths) if isinstance(grading, Mapping) else ())


def _row_scores(reader: RowReader, scores: ScorePaths, replies: Sequence[Turn]) -> Iterator[RowScore]:
    """Each score that a row has."""
    for entry in _entries(reader, scores, replies):
        scorer, rater_name = _scorer(reader, scores, entry.criterion, entry.fields)
        reason = entry.reason
        if scorer == Scorer.HUMAN and scores.comment:
            reason = reader.first(scores.comment, "reasons of a score")
        yield RowScore(entry.criterion, entry.value, scorer, rater_name, str(reason or ""), entry.turn)


def _scorer(
    reader: RowReader, scores: ScorePaths, criterion: str, entry: Mapping[str, Any]
) -> tuple[Scorer, str]:
    """Who gave a score, as far as the file says it, and the name."""
    if scores.scorer == Scorer.HUMAN:
        return Scorer.HUMAN, _rater_name(reader, scores, entry)
    if scores.audit:
        author = _editor(parsed(value_at(reader.fields, scores.audit)), criterion)
        if author is not None:
            return Scorer.HUMAN, author
    if not (scores.kind or scores.row_kind):
        return scores.scorer or Scorer.JUDGE, _rater_name(reader, scores, entry)
    if EDITED in entry:
        return Scorer.UNKNOWN, _rater_name(reader, scores, entry)
    scorer = _scorer_of_words(_kind_words(reader, scores, criterion, entry), scores)
    rater = _rater_name(reader, scores, entry)
    if scorer == Scorer.HUMAN and not rater:
        owner = first(entry, scores.owner)
        rater = str(owner) if isinstance(owner, str | int) else rater
    return scorer, rater


def _editor(changes: Any, criterion: str) -> str | None:
    """The person who last set a score on Braintrust's page, “” for one without a name; None where nobody
    did.
    """
    for change in reversed(objects(changes)):
        path = first(change, ("audit_data.path", "path"))
        if isinstance(path, list) and path[-1:] == [criterion] and str(change.get("source")).lower() == "app":
            author = first(change, ("metadata.user_id", "metadata.email", "metadata.id"))
            return str(author or "")
    return None


def _kind_words(reader: RowReader, scores: ScorePaths, criterion: str, entry: Mapping[str, Any]) -> list[str]:
    """What a score and its row say of the kind of rater, in upper case."""
    words: list[Any] = []
    for path in scores.kind if entry is not reader.fields else ():
        words.append(criterion.partition("/")[0] if path == CRITERION_NAME else value_at(entry, path))
    words += [value_at(reader.fields, path) for path in scores.row_kind]
    return [str(word).upper() for word in words if word is not None]


def _scorer_of_words(words: Sequence[str], scores: ScorePaths) -> Scorer:
    """The kind of rater that the first known word names; that of any word else, and the form's."""
    scorer_of = dict.fromkeys(scores.people, Scorer.HUMAN)
    scorer_of |= dict.fromkeys(scores.judges, Scorer.JUDGE)
    scorer_of |= dict.fromkeys(scores.code, Scorer.CODE)
    known = [scorer_of[word] for word in words if word in scorer_of]
    if known:
        return known[0]
    if words and ANY_WORD in scorer_of:
        return scorer_of[ANY_WORD]
    return scores.scorer or Scorer.UNKNOWN


def _rater_name(reader: RowReader, scores: ScorePaths, entry: Mapping[str, Any]) -> str:
    """The name of who gave a score; “” where the file does not say it."""
    author = None
    if entry is not reader.fields:
        author = first(entry, (AS_GIVEN, *scores.rater))
    if author is None:
        author = reader.first(scores.rater, "rater")
    return str(author) if isinstance(author, str | int) else ""


def _entries(reader: RowReader, scores: ScorePaths, replies: Sequence[Turn]) -> Iterator[ScoreEntry]:
    """Each value on a criterion that a row has."""
    for path, words in scores.unless.items():
        if _matches(str(value_at(reader.fields, path)), words):
            return
    use = f"score “{scores.criterion}”" if scores.criterion else "scores"
    value: Any
    if scores.path.endswith(COLUMNS):
        value = _columns(reader, scores)
    else:
        value = reader.first((scores.path,), use)
    content = parsed(value)
    if content is None:
        return
    if scores.criterion and not isinstance(content, list):
        reason = reader.first(scores.reason, "reasons of a score")
        yield ScoreEntry(scores.criterion, value, reason, reader.fields)
        return
    for name, score in _by_criterion(content, scores):
        for version in _versions(score, scores):
            yield from _values(reader, scores, name, version, replies, isinstance(content, list))


def _by_criterion(content: Any, scores: ScorePaths) -> list[tuple[Any, Any]]:
    """The scores in a value with the criterion of each; None for one that names none."""
    if isinstance(content, Mapping):
        return list(content.items())
    if not isinstance(content, list):
        return [(scores.path.rpartition(".")[2], content)]
    entries = [entry for entry in map(parsed, content) if isinstance(entry, Mapping)]
    if scores.inside:
        entries = [score for entry in entries for score in _inside(entry, scores.inside)]
    return [(scores.criterion or first(entry, scores.name), entry) for entry in entries]


def _values(
    reader: RowReader, scores: ScorePaths, name: Any, score: Any, replies: Sequence[Turn], listed: bool
) -> Iterator[ScoreEntry]:
    """The values of one score, which may be one, one of each turn or rater, or several by name.

    What else it says is noted as left. Of a `listed` score the value is a field.
    """
    fields: Mapping[str, Any] = score if isinstance(score, Mapping) else {}
    if scores.required and first(fields, scores.required) is None:
        reader.leave(scores.path, "…")
        return
    read_paths = {*_read_paths(fields, scores, listed), *scores.required}
    reader.leave(scores.path, unused_paths(fields, read_paths))
    value = score
    if fields and (scores.value or listed):
        value = first(fields, scores.value)
    reason = first(fields, scores.reason)
    if name is None:
        return
    if isinstance(value, list) and scores.anonymous:
        for place, element in enumerate(value, 1):
            yield ScoreEntry(str(name), element, reason, {AS_GIVEN: f"position {place}"})
    elif isinstance(value, list) and len(value) == len(replies):
        for turn, element in zip(replies, value, strict=True):
            yield ScoreEntry(str(name), element, reason, fields, turn.number)
    elif isinstance(value, Mapping):
        for part_name, element in value.items():
            yield ScoreEntry(f"{name}/{part_name}", element, reason, fields)
    elif value is not None:
        number = first(fields, scores.turn)
        yield ScoreEntry(str(name), value, reason, fields, number if isinstance(number, int) else None)


def _read_paths(fields: Mapping[str, Any], scores: ScorePaths, listed: bool) -> Iterator[str]:
    """The paths of a score's parts that are read: of each part the first that leads to something."""
    parts = [scores.value, scores.reason, scores.rater, scores.kind, scores.turn]
    if listed:
        parts.append(scores.name)
    parts += [(path,) for path in (scores.authors, scores.edits) if path]
    for paths in parts:
        yield next((path for path in paths if value_at(fields, path) is not None), "")


def _columns(reader: RowReader, scores: ScorePaths) -> list[dict[str, Any]] | None:
    """The scores of a table that has a column for each part of one, whose name stands in the middle, or, of
    its value, at the end.
    """
    begin = scores.path.removesuffix(COLUMNS)
    ends = [*scores.value, *scores.reason, *scores.kind]
    by_name = dict[str, dict[str, Any]]()
    bare = COLUMN_ITSELF in scores.value
    for column, value in reader.fields.items():
        if not column.startswith(begin) or value in (None, "", "-"):
            continue
        end = max((end for end in ends if str(column).endswith(f"_{end}")), key=len, default="")
        if end or bare:
            reader.take(column, "scores")
            name = column[len(begin) : -len(end) - 1] if end else column[len(begin) :]
            by_name.setdefault(name, {})[end or COLUMN_ITSELF] = value
    return [{"name": name, **parts} for name, parts in by_name.items() if name] or None


def _matches(text: str, words: Collection[str]) -> bool:
    """Whether a text is one of these words, or begins as one that ends in “: ”."""
    return text in words or any(word.endswith(": ") and text.startswith(word) for word in words)


def _versions(value: Any, scores: ScorePaths) -> list[Any]:
    """A score as each of several gave it, and as it was before it was changed; else as it stands."""
    if not isinstance(value, Mapping):
        return [value]
    by_author = parsed(value_at(value, scores.authors)) if scores.authors else None
    if isinstance(by_author, Mapping) and by_author:
        authors = [(name, score) for name, score in by_author.items() if isinstance(score, Mapping)]
        return [{**value, "author": name, **_present(score)} for name, score in authors]
    edits = objects(value_at(value, scores.edits)) if scores.edits else []
    if len(edits) < 2 or not edits[-1].get(EDITED):
        return [value]
    return [edits[0], {**value, EDITED: edits[-1][EDITED]}]


def _inside(entry: Mapping[str, Any], path: str) -> Iterator[Mapping[str, Any]]:
    """The scores that an entry consists of, each with what the entry says of all; several words are one."""
    scores = parsed(value_at(entry, path))
    for name, value in scores.items() if isinstance(scores, Mapping) else ():
        score = dict(value) if isinstance(value, Mapping) else {"value": value}
        if isinstance(words := score.get("value"), list):
            score["value"] = ", ".join(map(str, words))
        yield {**{n: v for n, v in entry.items() if n != path}, "name": name, **score}


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def number_in(value: Any) -> float | None:
    """The number that a score is, or that its word means; None where it is none."""
    if isinstance(value, bool | int | float):
        return float(value) if abs(value) <= LARGEST else None
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return score_of_word(value)
        return number if abs(number) <= LARGEST and "_" not in value else None
    return None
