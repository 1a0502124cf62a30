"""What performers say under each architecture, side by side: table 5 of the paper, for every scene."""

from __future__ import annotations

from collections.abc import Mapping

from sqlite_utils import Database

from concord.benchmarks.stss import STSS_LANGUAGE
from concord.benchmarks.stss.evidence import words_in
from concord.benchmarks.stss.tasks import task_from
from concord.conversation import Conversation
from concord.errors import ConcordError
from concord.store import conversations, tables
from concord.store.filters import Where
from concord.table import Cell, Column, Table

ALIKE = ("scenario", "residents", "currently", "version", "embeddings")
"""The facets in which conversations of one row are alike, besides the player."""


def texts(db: Database, where: Where | None = None) -> Table:
    """A row for each scene and player with several architectures, a column for each architecture.

    A text is the first utterance of the performer that names the task by one of its keywords, else its first
    utterance; of repeats the first. `NAME conversation` is the number of its conversation. Raises
    ConcordError where no scene was talked through under two architectures.
    """
    tables.check(db, STSS_LANGUAGE.name, where)
    known = tables.conversations(db, STSS_LANGUAGE.name, where).index
    found: dict[tuple[str, ...], dict[str, tuple[int, Conversation]]] = {}
    for number, talk in conversations.each(db, STSS_LANGUAGE.name):
        if number in known:
            alike = tuple(talk.facets.get(name, "") for name in ALIKE)
            found.setdefault((*alike, talk.player), {}).setdefault(
                talk.facets["architecture"], (number, talk)
            )
    both = {key: sides for key, sides in sorted(found.items()) if len(sides) > 1}
    if not both:
        raise ConcordError(
            "No scene was talked through under two architectures. Freeze scenes with `concord stss freeze`, "
            "then run `concord run stss-language` with GA and GA+TDP."
        )
    architectures = list(dict.fromkeys(name for sides in both.values() for name in sorted(sides)))
    return Table(
        "texts",
        "STSS: what the performer says, by architecture",
        (
            *(Column(name) for name in ("task", "partner", "player")),
            *(Column(name) for name in architectures),
            *(Column(f"{name} conversation", file_only=True) for name in architectures),
            *(Column(name, file_only=True) for name in ALIKE),
        ),
        tuple(_row(key, sides) for key, sides in both.items()),
        "The performer's first utterance about its task, to the same partner at the same moment.",
    )


def _row(key: tuple[str, ...], sides: Mapping[str, tuple[int, Conversation]]) -> dict[str, Cell]:
    talk = next(talk for _, talk in sides.values())
    row: dict[str, Cell] = {
        "task": talk.facets["task"],
        "partner": talk.facets["partner"],
        "player": talk.player,
        **dict(zip(ALIKE, key, strict=False)),
    }
    for architecture, (number, said) in sides.items():
        row |= {architecture: invitation(said), f"{architecture} conversation": number}
    return row


def invitation(talk: Conversation) -> str:
    """The performer's first utterance that names the task, else its first; empty if it said nothing."""
    keywords = task_from(talk.context["_task"]).keywords
    said = [message.content for message in talk.messages if message.role == "assistant"]
    return next((text for text in said if words_in(text, keywords)), next(iter(said), ""))
