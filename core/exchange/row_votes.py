"""The votes of a row: which of its sides a rater preferred."""

from collections.abc import Sequence
from itertools import combinations

from concord.conversation import Conversation
from concord.errors import ImportRefused
from concord.exchange.cells import nfc, yes
from concord.exchange.row_reader import RowReader
from concord.exchange.row_scores import number_in
from concord.exchange.shapes import WON, Votes
from concord.files.limits import NAME
from concord.rating import Comparison, Rater, Verdict


def votes_of(
    reader: RowReader,
    parts: Sequence[RowReader],
    votes: Votes,
    sides: Sequence[Conversation],
    benchmark: str,
    location: str,
) -> tuple[Comparison, ...]:
    """The votes of a row on its sides, the first of a pair shown as A. Raises ImportRefused."""
    rater = _rater(reader, votes, benchmark)
    reason = str(reader.first(votes.reason, "reasons of a vote") or "")
    if votes.rank:
        ranks = [number_in(part.first((votes.rank,), "vote")) for part in parts]
        return _by_rank(ranks, sides, rater)
    verdict = votes.verdict
    answer = ""
    strong = False
    for path in (*votes.columns, *votes.winner, *votes.thresholds):
        value = reader.first((path,), "vote")
        if not answer and value is not None:
            answer = str(value)
        number = number_in(value) if path in votes.thresholds else None
        if path in votes.columns:
            if verdict is None and yes(value):
                verdict = votes.columns[path]
        elif number is not None:
            distance = number - votes.thresholds[path]
            verdict = _lower(distance, 0.0)
            strong = 0 < votes.strong <= abs(distance)
        else:
            words = votes.words or WON
            verdict = verdict or words.get(str(value).strip().lower())
    if verdict is None:
        must = ", ".join(votes.words) or "model_a, model_b, tie or tie (bothbad)"
        raise ImportRefused(f"{location}: the winner is “{answer[:80]}”. It must be {must}.")
    if not reason and "bad" in answer.lower():
        reason = "both bad"
    first, second = sides
    return (Comparison("", first.key, second.key, rater, verdict, reason, strong=strong),)


def _rater(reader: RowReader, votes: Votes, benchmark: str) -> Rater:
    """Who votes: a judge with its prompt where the row has a list, else whom the form names."""
    voter = reader.first(votes.rater, "rater")
    if isinstance(voter, list | tuple) and voter:
        variant = str(voter[1])[:NAME] if len(voter) > 1 else ""
        return Rater(nfc(str(voter[0]))[:NAME], "judge", variant)
    if voter is None:
        return Rater(votes.unnamed or f"voters of {benchmark}", votes.rater_kind)
    return Rater(nfc(str(voter))[:NAME], votes.rater_kind)


def _by_rank(
    ranks: Sequence[float | None], sides: Sequence[Conversation], rater: Rater
) -> tuple[Comparison, ...]:
    """A vote on every two sides that have a rank."""
    ranked = [(rank, side) for rank, side in zip(ranks, sides, strict=True) if rank is not None]
    return tuple(
        Comparison("", first.key, second.key, rater, _lower(a, b))
        for (a, first), (b, second) in combinations(ranked, 2)
    )


def _lower(first: float, second: float) -> Verdict:
    """Which of two numbers is lower, as a verdict."""
    if first == second:
        return "C"
    return "A" if first < second else "B"
