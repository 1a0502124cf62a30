"""What belongs to each purpose beside its row in `core/store/purposes.py`: a file of its name.

`concord.studies.annotation_flow` lists the functions. They are about one person's desk, or one study's
answers; that items are assigned, and what is shown to whom, is the same for all purposes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from concord.rating import Criterion
from concord.store.answers import ItemAnswer
from concord.store.placements import QueueEntry
from concord.store.studies import Study


class Desk(NamedTuple):
    """What lies on somebody's desk of a study: their rated items in order, and `entries` those for a purpose.

    `departed`: they get nothing more.
    """

    person: str
    rater: int
    queue: Sequence[QueueEntry]
    entries: Sequence[QueueEntry]
    departed: bool

    @property
    def entries_begun(self) -> list[QueueEntry]:
        """The items for the purpose that were begun: they stay whatever is dealt."""
        return [item for item in self.entries if item.begun]


class DeskLayout(NamedTuple):
    """What is to lie on a desk for a purpose: what stays of that which is there, and (item, position) new."""

    retained: Sequence[QueueEntry]
    new: Collection[tuple[int, float]] = ()
    attempt: int = 0


Blind = Callable[[], Mapping[int, Sequence[ItemAnswer]]]
"""People's blind answers by item, read when they are needed: a second of a large study."""


class ShownAnswer(NamedTuple):
    """Somebody's answer that is shown: a letter, the judge, or nobody's name; and what they said of it."""

    source: str
    score: float
    words: str = ""


VisibleAnswers = dict[int, dict[str, list[ShownAnswer]]]
"""What stands beside the questions of each item: item → criterion → answers."""


class Question(NamedTuple):
    """A question that is asked in sight of answers: these, one's own first answer, and the one given now."""

    criterion: Criterion
    shown_answers: Sequence[ShownAnswer]
    own_score: float | None
    answer: ItemAnswer | None


@dataclass(frozen=True, eq=False)
class Look:
    """What somebody is shown of a study for a purpose: the questions of each item, in their order.

    Not `is_open`: first answers are to be locked before.
    """

    study: Study
    items: Mapping[int, Sequence[Question]]
    is_open: bool = True

    @property
    def answered_items(self) -> set[int]:
        """The items of which every question is answered."""
        return {item for item, questions in self.items.items() if all(one.answer for one in questions)}
