"""What the check of a file has read, for the import that follows: on the disk, so that memory does not grow.

The temporary file has no name, and holds nothing but what this process wrote into it.
"""

import pickle
import tempfile
from collections.abc import Iterator, Mapping
from itertools import starmap
from typing import Any, NamedTuple

from concord.conversation import Conversation, Message, Role
from concord.exchange.entries import Entry
from concord.exchange.file_row import FileRow
from concord.exchange.rating_table import ScoreRow
from concord.rating import Comparison


class ParsedRow(NamedTuple):
    """What one row holds, with its place: an `Entry` without the way through the row."""

    place: str
    conversations: tuple[Conversation, ...]
    votes: tuple[Comparison, ...]
    scores: tuple[ScoreRow, ...]
    line: FileRow | None
    images: Mapping[str, bytes]
    size: int
    """Bytes of its line, where it is one of JSON Lines."""


class ParsedRows:
    """Rows in the order in which they were read."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it goes with this

    def add(self, file_row: FileRow, entry: Entry) -> None:
        """Keep what a row holds."""
        talks = [
            (
                c.benchmark,
                c.key,
                c.player,
                c.language,
                c.facets,
                c.context,
                c.meta,
                c.trajectory,
                [(m.role, m.content, m.meta) for m in c.messages],
            )
            for c in entry.conversations
        ]
        scores = (entry.votes, entry.scores)
        row = (file_row.location, talks, *scores, entry.line, entry.images, file_row.size)
        pickle.dump(row, self._file, pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[ParsedRow]:
        self._file.flush()
        with open(self._file.fileno(), "rb", closefd=False) as rows:
            rows.seek(0)
            while True:
                try:
                    place, talks, *fields = pickle.load(rows)
                except EOFError:
                    return
                yield ParsedRow(place, tuple(starmap(_conversation, talks)), *fields)


def _conversation(
    benchmark: str,
    key: str,
    player: str,
    language: str,
    facets: Mapping[str, str],
    context: Mapping[str, Any],
    meta: Mapping[str, Any],
    trajectory: Mapping[str, Any] | None,
    messages: list[tuple[Role, str, Mapping[str, Any]]],
) -> Conversation:
    utterances = tuple(starmap(Message, messages))
    return Conversation(benchmark, key, player, utterances, language, facets, context, meta, trajectory)
