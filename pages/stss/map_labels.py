"""Where the names of places stand on a map, so that none covers another on the narrowest screen."""

from collections.abc import Sequence
from typing import NamedTuple

EDGE = 36
NARROWEST = 330
"""Pixels between the outermost places and the edge; the width of the map on a telephone."""
LETTER = 6.4
LINE = 15.0
LOWER = 20.0
UPPER = 14.0
"""Pixels of a letter and of a line, and from a place to the middle of the line next to it."""


class MapLabel(NamedTuple):
    """A name at a place, at first in full; `first` ones are placed before others."""

    x: float
    y: float
    text: str
    first: bool = False


class Box(NamedTuple):
    """What a name covers, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, box: "Box") -> bool:
        """Whether two names cover a common part."""
        disjoint = self.right <= box.left or box.right <= self.left
        return not disjoint and self.top < box.bottom and box.top < self.bottom


def place(labels: Sequence[MapLabel], height: float, width: float = NARROWEST) -> list[tuple[str, float]]:
    """The text of each name, and how far below its place its first line stands (above it: less than 0).

    A name that fits neither below nor above its place keeps its first line only; one that does not fit then
    is “”: the tip of the place says it.
    """
    boxes: list[Box] = []
    results = [("", LOWER) for _ in labels]
    for number in sorted(range(len(labels)), key=lambda place: not labels[place].first):
        label = labels[number]
        x = _pixel(label.x, [one.x for one in labels], width)
        y = height - _pixel(label.y, [one.y for one in labels], height)
        for text, offset in _choices(label.text):
            candidate = _box(text, x, y + offset)
            if not any(candidate.overlaps(box) for box in boxes):
                boxes.append(candidate)
                results[number] = text, offset
                break
    return results


def _pixel(value: float, values: Sequence[float], length: float) -> float:
    low = min(values)
    high = max(values)
    return EDGE + (value - low) / ((high - low) or 1.0) * (length - 2 * EDGE)


def _choices(text: str) -> list[tuple[str, float]]:
    """The texts and the places of a name, the best first; none for no name."""
    texts = dict.fromkeys([text, text.partition("\n")[0]]) if text else {}
    return [(one, offset) for one in texts for offset in (LOWER, -UPPER - LINE * one.count("\n"))]


def _box(text: str, x: float, y: float) -> Box:
    """What a text covers whose first line has its middle here."""
    lines = text.split("\n")
    half = max(map(len, lines)) * LETTER / 2
    return Box(x - half, y - LINE / 2, x + half, y - LINE / 2 + LINE * len(lines))
