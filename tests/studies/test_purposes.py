"""Whatever lies on desks, for whatever purpose: only first answers enter agreement, and a browser cannot tell
the others from them.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.rating import Criterion
from concord.store import access, conversations, desk, frames, known, placements, summaries
from concord.store import studies as stored
from concord.store.database import connect
from concord.store.known import Gold, UnitKey
from concord.store.purposes import PURPOSES
from concord.workspace import Workspace
from pages.desk import sent

CRITERIA = (Criterion("wit", "It is witty."),)
SAID = (Message("user", "a"), Message("assistant", "b"))
PEOPLE = ("ann", "bob", "cy")
OWN = 3


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory):
    """A study of three items and a conversation with a known answer; nothing is dealt."""
    workspace = Workspace.open(tmp_path_factory.mktemp("purposes"))
    with workspace.write() as opened:
        stored.create(opened, stored.Study("s", CRITERIA))
        ids = [conversations.save(opened, Conversation("x", f"k{i}", "p", SAID)) for i in range(OWN + 1)]
        stored.add_units(opened, "s", [(i, None, "") for i in ids[:OWN]])
        known.set_gold(opened, "s", [Gold(UnitKey(ids[OWN], None), "wit", 3)])
        known.set_gold(opened, "s", [Gold(UnitKey(ids[OWN], None), "wit", 3)], "training")
        for name in PEOPLE:
            access.invite(opened, name)
    reader = connect(workspace.db_path, create=False)
    yield reader
    reader.close()


LAID = st.lists(
    st.tuples(
        st.integers(0, OWN - 1),
        st.sampled_from(PEOPLE),
        st.sampled_from(sorted(PURPOSES)),
        st.sampled_from(("", "answered", "done", "skipped", "again", "reopened")),
        st.integers(1, 5),
    ),
    max_size=12,
)


@given(LAID)
def test_agreement_reads_submitted_first_answers_and_nothing_else(db: Database, laid) -> None:
    db.execute("BEGIN")
    try:
        _lay_and_read(db, laid)
    finally:
        db.rollback()


def _lay_and_read(db: Database, laid) -> None:
    units = [unit["id"] for unit in stored.units(db, "s")]
    special = {purpose: next(iter(known.by_item(db, "s", purpose))) for purpose in ("gold", "training")}
    expected: dict[tuple[int, str], float] = {}
    extra: dict[tuple[int, str], float] = {}
    seen = set()
    for (place, person, purpose, what, score), n in zip(laid, count(1), strict=False):
        rater, item = access.annotator_id(db, person), special.get(purpose, units[place])
        lies = "first" if purpose == "extra" else purpose
        if (item, person, lies) in seen:
            continue
        seen.add((item, person, lies))
        placements.place(db, rater, purpose, [(item, float(n))])
        [placement] = db.execute(
            "SELECT id FROM placements WHERE item_id = ? AND rater_id = ? AND purpose = ?",
            [item, rater, purpose],
        ).fetchone()
        if what:
            placements.answer(db, rater, placement, "wit", score)
        counted = {"first": expected, "extra": extra}.get(purpose, {})
        if what in ("done", "again", "reopened"):
            placements.submit(db, rater, placement)
            counted[item, person] = score
        locked = placements.get(db, rater, placement).opened is not None
        if what == "again" and not locked:
            placements.answer(db, rater, placement, "wit", 6 - score)
            counted[item, person] = 6 - score
        if what == "reopened" and not locked:
            placements.reopen(db, rater, placement)
            del counted[item, person]
        if what == "skipped" and PURPOSES[purpose].skippable:
            placements.skip(db, rater, placement, "I cannot judge this one")
    rows = frames.rows(db, "s")
    read = zip(rows["unit"].tolist(), rows["rater"].tolist(), rows["score"].tolist(), strict=True)
    assert {(unit, rater): score for unit, rater, score in read} == expected
    for kind, counts in enumerate((expected, extra)):  # of the desk nothing else lies where figures read
        stood = db.execute(
            "SELECT i.id, x.name, r.score FROM ratings r JOIN raters x ON x.id = r.rater_id JOIN items i "
            "ON i.study_id = r.study_id AND i.conversation_id = r.conversation_id WHERE r.extra = ?",
            [kind],
        )
        assert {(unit, person): score for unit, person, score in stood} == counts
    kept = db.execute("SELECT * FROM scores ORDER BY 1, 2").fetchall()
    summaries.refresh(db)
    assert db.execute("SELECT * FROM scores ORDER BY 1, 2").fetchall() == kept


def test_a_browser_receives_the_same_of_every_item_that_is_not_announced(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as db:
        stored.create(db, stored.Study("s", CRITERIA))
        number = conversations.save(db, Conversation("x", "k", "p", SAID))
        beside = conversations.save(db, Conversation("x", "g", "p", SAID))
        [unit] = stored.add_units(db, "s", [(number, None, "")])
        known.set_gold(db, "s", [Gold(UnitKey(beside, None), "wit", 3)])
        access.invite(db, "ann")
        rater = access.annotator_id(db, "ann")
        purposes = [purpose for purpose in PURPOSES.values() if not purpose.announced]
        for place, purpose in enumerate(purposes):
            item = next(iter(known.by_item(db, "s"))) if purpose.name == "gold" else unit
            placements.place(db, rater, purpose.name, [(item, float(place))])
        laid = len(placements.on_desk(db, rater, "s"))
        assert laid == len(purposes) - 1  # an extra item lies there instead of a first one
        moving = sent.moving(db, rater, stored.get(db, "s"), None, ())
        first, *others = moving["items"]
        assert len(others) == laid - 1
        for other in others:
            assert {**other, "id": 0} == {**first, "id": 0}
        text = json.dumps(moving)
        assert not [
            name for name in ("extra", "repeat", "gold", "placement", "purpose") if f'"{name}"' in text
        ]
        ids = [item["id"] for item in moving["items"]]
        assert min(ids) > desk._HALF**2 > max(n for n, _, _ in placements.on_desk(db, rater, "s"))
