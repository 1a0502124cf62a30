"""Names on the map of a town never cover each other, on the narrowest screen."""

from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from pages.stss.map_labels import EDGE, LETTER, LINE, LOWER, NARROWEST, UPPER, Box, MapLabel, place

HEIGHT = 520
PLACES = st.tuples(
    st.floats(0, 10), st.floats(0, 10), st.sampled_from(["", "Mill", "Old Kiln Studios\nMirelle, Kenji"])
)


def covered(labels: list[MapLabel]) -> list[Box]:
    """What the names cover, computed from the pixels of their places."""
    xs, ys = [one.x for one in labels], [one.y for one in labels]
    boxes = []
    for one, (text, offset) in zip(labels, place(labels, HEIGHT), strict=True):
        if not text:
            continue
        x = EDGE + (one.x - min(xs)) / ((max(xs) - min(xs)) or 1) * (NARROWEST - 2 * EDGE)
        y = HEIGHT - EDGE - (one.y - min(ys)) / ((max(ys) - min(ys)) or 1) * (HEIGHT - 2 * EDGE)
        lines = text.split("\n")
        half, top = max(map(len, lines)) * LETTER / 2, y + offset - LINE / 2
        boxes.append(Box(x - half, top, x + half, top + LINE * len(lines)))
    return boxes


@given(st.lists(PLACES, min_size=1, max_size=30))
def test_no_two_names_overlap(places: list[tuple[float, float, str]]) -> None:
    boxes = covered([MapLabel(*each) for each in places])
    for one, other in combinations(boxes, 2):
        inside = [
            one.left + 1e-6 < x < one.right - 1e-6 and one.top + 1e-6 < y < one.bottom - 1e-6
            for x, y in product((other.left, other.right), (other.top, other.bottom))
        ]
        assert not any(inside)
        assert not one.overlaps(other)


def test_a_name_stands_below_then_above_then_alone() -> None:
    apart = [MapLabel(0, 0, "Mill\nAda"), MapLabel(9, 9, "Inn")]
    assert place(apart, HEIGHT) == [("Mill\nAda", LOWER), ("Inn", LOWER)]
    same = [MapLabel(0, 0, "Mill\nAda"), MapLabel(0, 0, "Inn\nBo"), MapLabel(0, 0, "Pub\nCy", first=True)]
    assert place(same, HEIGHT) == [("Mill\nAda", -UPPER - LINE), ("", LOWER), ("Pub\nCy", LOWER)]
