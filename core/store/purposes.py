"""What an item is put before a person for: one row a purpose, and no other place that lists them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Beside = Literal["", "known, once submitted", "known, where the study says so", "others", "judge"]
"""What stands beside an item: nothing, the known answer, everybody's answers without names, the judge's score
and reasons.
"""


@dataclass(frozen=True)
class Purpose:
    """Who gets an item for it, what stands beside the item, what happens after, what its answers count in.

    Answers of a `rated` purpose are ratings; those of others are kept apart, so that no mean and no figure of
    agreement has them. An `announced` purpose is told to whoever answers; others look like any item. Where
    the known answer is shown the annotator's own is locked. What is `queued` lies among the items of a
    study's desk; what is not has a desk of its own, and lies there once somebody has answered it or was shown
    what stands beside it. `locks`: that is shown after a button, which locks the first answers to a study.
    `alone`: an item is answered by one person, for all. `reasoned`: an answer has a reason.

    `concord.studies.asking` has the functions of a purpose that does more than lie where it was put.
    """

    name: str
    who: str
    counts: str
    beside: Beside = ""
    after: str = ""
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
        Purpose(
            "first",
            "annotators, as dealt by design",
            "agreement and every other figure",
            after="an extra rater, where people differ by the study's rule",
            rated=True,
        ),
        Purpose(
            "extra",
            "the next annotator who is free, where the first ones differ",
            "adjudicated scores and means of people",
            rated=True,
        ),
        Purpose("repeat", "who rated the item, later", "test–retest"),
        Purpose("gold", "everybody", "hits", "known, where the study says so"),
        Purpose(
            "training",
            "everybody, before all other items",
            "admission",
            "known, once submitted",
            after="the study opens, or the next attempt",
            announced=True,
            skippable=False,
        ),
        Purpose(
            "adjudicate",
            "one adjudicator, where people differ by the study's rule",
            "adjudicated scores",
            "others",
            announced=True,
            queued=False,
            alone=True,
            reasoned=True,
        ),
        Purpose(
            "revise",
            "who answered everything, afterwards",
            "anchoring",
            "judge",
            announced=True,
            queued=False,
            locks=True,
        ),
        Purpose(
            "discuss",
            "who answered everything, once all have",
            "no figure",
            "others",
            announced=True,
            queued=False,
            locks=True,
        ),
        Purpose(
            "spot-check",
            "a researcher",
            "triage, audits, and the agreement of those who check",
            "judge",
            announced=True,
            queued=False,
        ),
        Purpose(
            "diagnose",
            "a researcher, on the part of a study that a judge learns from",
            "causes of disagreement",
            "judge",
            announced=True,
            queued=False,
        ),
    )
}
RATED = tuple(name for name, purpose in PURPOSES.items() if purpose.rated)
UNRATED = tuple(name for name, purpose in PURPOSES.items() if purpose.queued and not purpose.rated)
HIDDEN = tuple(name for name in UNRATED if not PURPOSES[name].announced)
QUEUED = RATED + UNRATED
LOCKING = tuple(name for name, purpose in PURPOSES.items() if purpose.locks)
