"""One annotator of a study: each of their answers beside those of others to the same item."""

from __future__ import annotations

from collections.abc import Sequence

from sqlite_utils import Database

from concord.questions import Scale
from concord.store import access, answers, studies
from concord.store.answers import ItemAnswer
from concord.table import Cell, Column, Table

LONGEST = 2000
"""Characters of a reason or a comment in a cell."""


def annotators(db: Database, study: str) -> list[str]:
    """Everybody who has items or answers in a study, by name. Raises NotFound."""
    return sorted({*access.items_of(db, study), *(one.person for one in answers.blind(db, study))})


def answers_of(db: Database, study: str, annotator: str) -> Table:
    """An annotator's blind answers, each beside the others', those that differ most first. Raises NotFound.

    `difference` is that from the mean of the others, as a share of the scale; of answers without an order the
    share of others who answered differently. An item that no other annotator answered has none. Excluded
    annotators are among the others, as the page is about people, not about figures.
    """
    scales = {c.name: c.scale for c in studies.get(db, study).criteria}
    labels = {c.name: c.label for c in studies.get(db, study).criteria}
    places = answers.places(db, study)
    peers: dict[tuple[int, str], list[ItemAnswer]] = {}
    own_answers: list[ItemAnswer] = []
    rater = access.annotator_id(db, annotator)
    for one in answers.blind(db, study):
        if one.rater == rater:
            own_answers.append(one)
        else:
            peers.setdefault((one.item, one.criterion), []).append(one)
    rows: list[dict[str, Cell]] = []
    for one in own_answers:
        scale = scales.get(one.criterion)
        place = places.get(one.item)
        if scale is None or place is None:
            continue
        peer_answers = peers.get((one.item, one.criterion), [])
        rows.append(
            {
                "conversation": place.conversation_id,
                "key": place.key,
                "turn": place.turn,
                "criterion": labels[one.criterion],
                "answer": scale.word(one.score),
                "others": ", ".join(f"{peer.person}: {scale.word(peer.score)}" for peer in peer_answers),
                "difference": distance(scale, one.score, [peer.score for peer in peer_answers]),
                "said": " · ".join(filter(None, (one.reason, one.flag)))[:LONGEST],
            }
        )
    rows.sort(key=lambda row: -float(str(row["difference"] if row["difference"] is not None else -1)))
    has_turns = any(row["turn"] is not None for row in rows)
    columns = (
        Column("conversation", "No.", help="Select a row to read the conversation with all answers."),
        *((Column("turn"),) if has_turns else ()),
        Column("criterion", "question"),
        Column("answer"),
        Column("difference", "difference", percent=True, help="As a share of the scale."),
        Column("others", "other annotators"),
        Column("said", "reason and comment"),
        Column("key"),
    )
    notes = () if rows else (f"{annotator} has not submitted an item of “{study}” yet.",)
    return Table("answers_of_annotator", f"Answers of {annotator}", columns, tuple(rows), notes=notes)


def distance(scale: Scale, answer: float, peers: Sequence[float]) -> float | None:
    """How far an answer lies from those of others, from 0 to 1; None without others."""
    if not peers:
        return None
    if scale.named or not scale.width:
        return sum(peer != answer for peer in peers) / len(peers)
    return abs(answer - sum(peers) / len(peers)) / scale.width
