"""Ratings of a file: in Concord's own columns, or in any form that a table of labels has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from concord.conversation import Conversation
from concord.errors import ImportRefused
from concord.exchange import labels, ratings_csv
from concord.exchange.columns import NO_OPTIONS, TableOptions
from concord.exchange.given import RatingTable
from concord.exchange.label_rows import SHEETS
from concord.questions import Scale


@dataclass(frozen=True)
class RatingsFile:
    """Ratings that were read: with `scales` by criterion, conversations by item, and notes of how a table of
    labels was read.
    """

    table: RatingTable
    scales: Mapping[str, Scale]
    conversations: Mapping[str, Conversation] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read(path: Path, options: TableOptions = NO_OPTIONS) -> RatingsFile:
    """Read a file. Raises ImportRefused naming every line that is wrong, or what the file lacks."""
    own: ImportRefused | None = None
    if path.suffix.lower() not in SHEETS:
        try:
            return RatingsFile(ratings_csv.read(path), options.scales)
        except ratings_csv.ColumnMissing as error:
            own = error
    try:
        brought, notes = labels.brought(path, options)
    except ImportRefused as error:
        if own is None:
            raise
        raise ImportRefused(f"{own} As a table of labels it is not read either: {error}") from error
    scales = {criterion.name: criterion.scale for criterion in brought.study.criteria}
    return RatingsFile(brought.given, scales, brought.conversations, notes)
