"""What an item is put before a person for: one row a purpose, and no other place that lists them.

docs/annotation.md has them in words: who gets the item, what follows, and what its answers count in.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from concord.codes import ItemContext


@dataclass(frozen=True)
class Purpose:
    """What an annotator sees with an item (its `context`), and how answers to it are taken.

    Answers of a `rated` purpose are ratings; those of others are kept apart, so that no mean and no figure of
    agreement has them. An `announced` purpose is told to whoever answers; others look like any item. Where
    the known answer is shown the annotator's own is locked. What is `queued` lies among the items of a
    study's desk; what is not has a desk of its own, and lies there once somebody has answered it or was shown
    what stands beside it. `locks`: that is shown after a button, which locks the first answers to a study.
    `alone`: an item is answered by one person, for all. `reasoned`: an answer has a reason.

    `concord.studies.annotation_flow` has the functions of a purpose that does more than lie where it was put.
    """

    name: str
    context: ItemContext = ItemContext.NOTHING
    rated: bool = False
    announced: bool = False
    skippable: bool = True
    queued: bool = True
    locks: bool = False
    alone: bool = False
    reasoned: bool = False


PURPOSES: Mapping[str, Purpose] = {
    purpose.name: purpose
    for purpose in (
        Purpose("first", rated=True),
        Purpose("extra", rated=True),
        Purpose("repeat"),
        Purpose("gold"),
        Purpose("training", ItemContext.KNOWN_ANSWER, announced=True, skippable=False),
        Purpose("adjudicate", ItemContext.ANSWERS, announced=True, queued=False, alone=True, reasoned=True),
        Purpose("revise", ItemContext.JUDGE, announced=True, queued=False, locks=True),
        Purpose("discuss", ItemContext.ANSWERS, announced=True, queued=False, locks=True),
        Purpose("spot-check", ItemContext.JUDGE, announced=True, queued=False),
        Purpose("diagnose", ItemContext.JUDGE, announced=True, queued=False),
    )
}
RATED = tuple(name for name, purpose in PURPOSES.items() if purpose.rated)
UNRATED = tuple(name for name, purpose in PURPOSES.items() if purpose.queued and not purpose.rated)
HIDDEN = tuple(name for name in UNRATED if not PURPOSES[name].announced)
QUEUED = RATED + UNRATED
LOCKING = tuple(name for name, purpose in PURPOSES.items() if purpose.locks)
