"""Share work between runs: a run claims what is still to be made, and is being made by no other run."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlite_utils import Database

from concord.llm.replies import UNANSWERED
from concord.runs.planning import Pending, Survey, pending
from concord.runs.stored import RunStore
from concord.store import leases, ratings, runs


@dataclass
class Claimed:
    """What a run got: `mine` to be made now, `others` that the runs `by` are making.

    `stored` and `failed` count the pieces that other runs have made, or failed to, since they were found
    pending.
    """

    mine: list[Pending] = field(default_factory=list)
    others: list[Pending] = field(default_factory=list)
    by: set[int] = field(default_factory=set)
    stored: int = 0
    failed: int = 0


class Sharing:
    """What a run shares with others: the work that they are making, and what they have made of its plan."""

    def __init__(self, store: RunStore, run: int, *, again: bool):
        self._store, self._run, self._again = store, run, again
        self.others: list[Pending] = []
        """What other runs are making."""
        self.stored = self.failed = 0
        """The pieces that they have made, or failed to, since the run found them pending."""
        self._by: set[int] = set()

    async def claim(self, items: Sequence[Pending]) -> list[Pending]:
        """Lease these pieces of work; those that are for this run to make."""
        claimed = await self._store.do(partial(claim, run=self._run, items=items, again=self._again))
        self.others += claimed.others
        self._by |= claimed.by
        self.stored += claimed.stored
        self.failed += claimed.failed
        return claimed.mine

    async def given_back(self) -> list[Pending]:
        """What others were making and hold no more, wholly or in part. Raises RunStopped."""
        waiting, self.others = self.others, []
        keys = [key for item in waiting for key in item.first]
        held = await self._store.look(partial(leases.held_by, works=keys))
        self.others = [item for item in waiting if held.keys() >= set(item.first)]
        return [item for item in waiting if not held.keys() >= set(item.first)]

    def says(self, before: int) -> str:
        """Which results other runs make or have made, so many of them `before`; “” where there are none."""
        results = self.stored + before
        by = "run " + ", ".join(map(str, sorted(self._by))) if self._by else "another run"
        waiting = sum(item.pieces for item in self.others)
        sentences = [f"{results:,} results were made by {by} meanwhile."] if results else []
        if waiting:
            sentences.append(f"{waiting:,} results are being made by {by}: they are not paid twice.")
        return " ".join(sentences)


def claim(db: Database, run: int, items: Sequence[Pending], *, again: bool = False) -> Claimed:
    """Lease what is left of these items, in one writing transaction. `again` retries what failed before.

    Of a play that another run makes, the verdicts wait as well: they need its conversation.
    """
    by_play = {p.play.key: p for p in pending(db, [i.play for i in items], Survey(), retry_failed=again)}
    claimed, present = Claimed(), []
    for item in items:
        item_now = _rest(item, by_play.get(item.play.key))
        _count(db, claimed, item, item_now)
        if item_now is not None:
            present.append(item_now)
    first = leases.claim(db, run, [key for item in present for key in item.first])
    claimed.by |= set(first.others.values())
    for item in present:
        if item.stored or item.play.play is None:
            _split(claimed, item, first)
        elif item.play.key in first.others:
            claimed.others.append(item)
        elif item.play.key in first.mine:
            verdicts = leases.claim(db, run, item.owed)
            claimed.mine.append(replace(item, judged=tuple(j for j in item.judged if j.key in verdicts.mine)))
    return claimed


def _rest(item: Pending, now: Pending | None) -> Pending | None:
    """What is left of an item, which may be a part of its play's work; None if nothing is."""
    if now is None:
        return None
    now = replace(now, judged=tuple(j for j in now.judged if j.key in item.owed))
    return now if now.judged or not (now.stored or now.play.play is None) else None


def _split(claimed: Claimed, item: Pending, got: leases.Claim) -> None:
    for into, keys in ((claimed.mine, got.mine), (claimed.others, got.others.keys())):
        if judged := tuple(j for j in item.judged if j.key in keys):
            into.append(replace(item, judged=judged))


def _count(db: Database, claimed: Claimed, item: Pending, now: Pending | None) -> None:
    """Count what others have done of an item since it was found pending."""
    done = item.pieces - (now.pieces if now else 0)
    if not done:
        return
    if item.play.key in runs.failed(db, [item.play.key], UNANSWERED) and now is None and not item.stored:
        claimed.failed += done
        return
    failed = len(ratings.failed(db, item.owed) - set(now.owed if now else ()))
    claimed.failed += failed
    claimed.stored += done - failed
