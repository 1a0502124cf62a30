"""A stream of judgements as a table: agreement and rates so far, and whether they keep to their range."""

from collections.abc import Mapping
from dataclasses import dataclass

from concord.codes import FINDINGS
from concord.errors import ImportRefused
from concord.messages import STREAM_FIGURES, STREAM_STATES
from concord.reports.evidence import Evidence
from concord.statistics.intervals import Ends
from concord.statistics.majority import answer_of_people
from concord.statistics.ratings import Floats
from concord.statistics.sequences import ERROR
from concord.statistics.stream import Followed, closeness, expected_range, follow
from concord.studies.studies import StudyRatings
from concord.table import Cell, Column, Table

COLUMNS = (
    Column("judge"),
    Column("criterion"),
    Column("figure", file_only=True),
    Column("what", "Figure"),
    Column("estimate", "So far", interval="ends", n=True),
    Column("reference", "Range to keep"),
    Column("state", file_only=True),
    Column("words", "State"),
    Column("since", "Shown at", help="The row with which it was shown."),
)


@dataclass(frozen=True, eq=False)
class RatedTable:
    """Ratings, and the key of each unit, in the order of the table they come from."""

    ratings: StudyRatings
    keys: Mapping[int, str]


@dataclass(frozen=True)
class RangeSource:
    """What a stream should keep to: ranges that are stated, or those of a finished table, `margin` wider."""

    agreement: Ends | None = None
    rate: Ends | None = None
    table: RatedTable | None = None
    margin: float = 0.0


@dataclass(frozen=True, eq=False)
class _Answers:
    """The answers to one criterion by item, in the order of a table."""

    people: Floats
    judges: dict[str, Floats]
    ends: Ends
    ordered: bool


def stream_table(
    stream: RatedTable, criteria: list[str], expected: RangeSource, *, name: str
) -> tuple[Table, bool]:
    """The figures of each judge on each criterion, and whether something was shown that needs a look.

    `name` is the stream's. Raises ImportRefused where a table of reference has neither the judge nor two
    items with it.
    """
    rows: list[dict[str, Cell]] = []
    is_found = False
    answers_by_criterion = [(criterion, _answers(stream, criterion)) for criterion in criteria]
    share = ERROR / max(sum(len(answers.judges) for _, answers in answers_by_criterion), 1)
    keys = [*stream.keys.values()]
    for criterion, answers in answers_by_criterion:
        for judge, scores in answers.judges.items():
            agreement = expected.agreement
            rate = expected.rate
            error = share
            if expected.table is not None:
                # Half of the error is the reference's, shared by agreement and the mean.
                error = share / 2
                agreement, rate = _reference(expected, criterion, judge, answers, error / 2)
            figures = follow(
                answers.people,
                scores,
                answers.ends,
                ordered=answers.ordered,
                agreement=agreement,
                rate=rate,
                error=error,
            )
            binary = answers.ordered and answers.ends == (0, 1)
            rows += [_row(one, judge, criterion, keys, binary=binary) for one in figures]
            is_found = is_found or any(one.state in FINDINGS for one in figures)
    notes = (
        "Intervals hold at all looks simultaneously, by betting (Waudby-Smith and Ramdas 2023). Their 95% "
        "is shared by all judges, criteria and figures with a range, and holds for a figure that does not "
        "change.",
        "Closeness is 1 minus the distance between judge and annotators, as a share of the scale."
        if any(row["what"] == "closeness" for row in rows)
        else "",
        "The labelled rows must be a random sample of the stream. Unlabelled rows enter the judge's mean "
        "only.",
    )
    return Table(
        "stream", f"{name}: {len(keys):,} items", COLUMNS, tuple(rows), notes=tuple(filter(None, notes))
    ), is_found


def sentences(table: Table) -> list[str]:
    """What a stream shows: each figure that somebody has to look at, or that there is none."""
    findings = [
        f"{row['judge']} on {row['criterion']}: {row['what']} {row['words']}, shown with item {row['since']}."
        for row in table.rows
        if row["state"] in FINDINGS
    ]
    return findings or ["no figure has significantly left its range or changed."]


def _row(one: Followed, judge: str, criterion: str, keys: list[str], *, binary: bool) -> dict[str, Cell]:
    words = STREAM_FIGURES["two_answers" if binary else "scores"]
    low, high = one.reference or (None, None)
    return {
        "judge": judge,
        "criterion": criterion,
        "figure": one.figure.value,
        "what": words[one.figure],
        "estimate": one.estimate,
        "reference": "" if one.reference is None else f"{low:.3g} to {high:.3g}",
        "state": one.state.value,
        "words": STREAM_STATES[one.state],
        "since": None if one.place is None else keys[one.place],
    }


def _answers(table: RatedTable, criterion: str) -> _Answers:
    """The answers of people and judges on a criterion, in the order of the table."""
    evidence = Evidence.read(table.ratings)
    scores = evidence.ratings[criterion]
    scale = evidence.scale(criterion)
    place = {unit: place for place, unit in enumerate(evidence.ratings.units)}
    order = [place[unit] for unit in table.keys if unit in place]
    two = scale is not None and (scale.low, scale.high) == (0, 1) and len(scale.values) == 2
    people = answer_of_people(scores) if two or not scores.ordered else scores.target
    judges = {judge: values_of_judge[order] for judge, values_of_judge in scores.judges.items()}
    ends = (float(scale.low), float(scale.high)) if scale is not None else (0.0, 1.0)
    observed = [
        float(observation)
        for values in (people, *judges.values())
        for observation in values[values == values]
    ]
    ends = (min([ends[0], *observed]), max([ends[1], *observed]))
    return _Answers(people[order], judges, ends, scores.ordered)


def _reference(
    expected: RangeSource, criterion: str, judge: str, stream: _Answers, error: float
) -> tuple[Ends | None, Ends | None]:
    """The ranges of agreement and of the judge's mean in the finished table."""
    assert expected.table is not None
    answers = _answers(expected.table, criterion)
    if judge not in answers.judges:
        raise ImportRefused(
            f"OLD has no judge {judge}, but {', '.join(answers.judges)}. Name the column of both tables with "
            "--judge."
        )
    scores = answers.judges[judge]
    ends = (min(answers.ends[0], stream.ends[0]), max(answers.ends[1], stream.ends[1]))
    near = closeness(answers.people, scores, ends, ordered=answers.ordered)
    near = near[near == near]
    scores = scores[scores == scores]
    if len(scores) < 2:
        raise ImportRefused(f"OLD has fewer than two answers of {judge}, too few to set an expectation.")
    agreement = None
    if len(near) > 1:
        agreement = (expected_range(near, (0.0, 1.0), margin=expected.margin, error=error)[0], 1.0)
    rate = expected_range(scores, ends, margin=expected.margin, error=error) if answers.ordered else None
    return agreement, rate
