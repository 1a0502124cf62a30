"""Twenty people rate a study at once beside an import, a researcher changes it meanwhile, and the server is
killed: what they pressed is stored, and once.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from sqlite_utils import Database
from websockets.exceptions import WebSocketException

from concord.conversation import Conversation, Message
from concord.exchange import incoming
from concord.rating import Criterion
from concord.store import access, conversations, desk, placements
from concord.store import studies as stored
from concord.store.known import Gold, UnitKey
from concord.studies import running, studies
from tests.browser.restarts import House
from tests.wire import Desk, opened

PEOPLE = [f"p{number}" for number in range(20)]
LEAVER = PEOPLE[0]
"""One whose items go to the others."""
UNITS, OVERLAP, GOLD = 250, 8, 3
"""A hundred items each, ten repeats and three gold items."""
CRITERIA = (Criterion("fluency", "It is fluent."), Criterion("wit", "It is witty."))
SAID = (Message("user", "Good evening."), Message("assistant", "Aye."))
FIRST_KILL, SECOND_KILL = 600, 1500
"""How many items all have rated together when the server is killed."""
LEAVES_AFTER, WAIT_AFTER = 30, 60
"""How many the leaver has rated when they leave, and the others when they wait for that."""


@dataclass
class Annotator:
    """Somebody at a desk, and everything they did there."""

    name: str
    token: str
    desk: Desk
    told: list[dict[str, Any]] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)
    items: int = 0
    left: bool = False

    def press(self, item: int) -> None:
        """Rate an item; one in twenty is skipped, one flagged, and two have second thoughts."""
        self.items += 1
        if self.items % 20 == 7:
            return self.do(item, "skip", text="I cannot judge this one")
        for place, criterion in enumerate(CRITERIA):
            score = float((self.items * 7 + place * 3) % 5 + 1)
            if self.items % 10 == 4:
                self.do(item, "answer", criterion=criterion.name, score=6 - score)
            self.do(item, "answer", criterion=criterion.name, score=score)
        if self.items % 20 == 3:
            self.do(item, "flag", text=f"odd {self.items}")
        self.do(item, "submit")

    def do(self, item: int, do: str, **more: Any) -> None:
        self.desk.do(item, do, **more)
        self.told.append(self.desk.waiting[-1])


@dataclass
class Item:
    """What is to be stored of an item."""

    answers: dict[str, float] = field(default_factory=dict)
    state: str = "open"
    reason: str = ""
    flag: str = ""
    seconds: float = 0.0
    changes: int = field(default=0, compare=False)
    """Answers that replaced others."""


@dataclass
class Crowd:
    """Everybody at their desks, a researcher, and a server that is killed."""

    house: House
    people: list[Annotator]
    starts: int = 0
    up: asyncio.Event = field(default_factory=asyncio.Event)
    moved: asyncio.Condition = field(default_factory=asyncio.Condition)
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    reassigned: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def at_work(self, one: Annotator) -> None:
        """Open the desk, again whenever the server was killed, and rate."""
        while True:
            await self.up.wait()
            start = self.starts
            try:
                assert self.house.server is not None
                async with opened(self.house.server.url, token=one.token) as wire:
                    one.desk.wire = wire
                    return await self.rate(one)
            except (OSError, HTTPException, WebSocketException):
                if start == self.starts and self.up.is_set():
                    raise

    async def rate(self, one: Annotator) -> None:
        """Rate until nothing is left, a few items a report."""
        while True:
            while one.desk.waiting:
                news = await one.desk.report()
                one.refused |= {refusal["n"] for refusal in news["refused"]}
            async with self.moved:
                self.moved.notify_all()
            items = one.desk.open_items()
            if one.name == LEAVER and one.items >= LEAVES_AFTER and not one.left:
                self.leaving.set()
                await self.reassigned.wait()  # what is in sight is somebody else's then
                one.left = True
            elif one.items >= WAIT_AFTER and not self.reassigned.is_set():
                await self.reassigned.wait()
                continue
            elif not items:
                if self.over.is_set():
                    return
                await self.over.wait()
                await one.desk.report()  # with what came meanwhile
            for item in items[: 1 + one.items % 5]:
                one.press(item)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with self.moved:
            await self.moved.wait_for(holds)

    async def killed_after(self, items: int) -> None:
        """Kill the server when so many items were rated. All that it has acknowledged is in the store."""
        await self.until(lambda: sum(one.items for one in self.people) >= items)
        self.up.clear()
        await asyncio.to_thread(self.house.kill)
        assert any(one.desk.waiting for one in self.people)
        with self.house.workspace.read() as db:
            for one in self.people:
                rater = access.annotator_id(db, one.name)
                assert desk.mark(db, desk.of(rater), one.desk.client) >= one.desk.stored
        await asyncio.to_thread(self.house.start)
        self.starts += 1
        self.up.set()

    async def researcher(self) -> None:
        """What happens meanwhile."""
        self.up.set()
        await self.killed_after(FIRST_KILL)
        await self.until(lambda: self.people[1].items > 20)
        await self.leaving.wait()
        await asyncio.to_thread(self.decide)
        self.reassigned.set()
        await self.until(lambda: self.people[0].left and not self.people[0].desk.waiting)
        await self.killed_after(SECOND_KILL)
        self.over.set()

    def decide(self) -> None:
        with self.house.workspace.write() as db:
            running.reassign(db, "s", LEAVER, "has left")


@pytest.fixture
def house(tmp_path: Path):
    made = House(tmp_path, 0, 1)
    with made.workspace.write() as db:
        stored.create(db, stored.Study("s", CRITERIA))
        ids = [conversations.save(db, Conversation("x", f"k{i}", "p", SAID)) for i in range(UNITS + GOLD)]
        stored.add_units(db, "s", [(i, None, "") for i in ids[:UNITS]])
        made.tokens = {name: access.invite(db, name) for name in PEOPLE}
        dealt = studies.deal_study(db, "s", PEOPLE, overlap=OVERLAP, repeats=0.1)
        assert set(dealt.values()) == {100}
        running.set_gold(db, "s", [Gold(UnitKey(i, None), "wit", 3) for i in ids[UNITS:]])
    yield made
    made.close()


def test_what_twenty_people_press_is_stored_once(
    house: House, tmp_path: Path, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incoming, "CONVERSATIONS", 1)
    monkeypatch.setattr(incoming, "RATINGS", 1)
    file = tmp_path / "ratings.csv"
    lines = [f"i{item},wit,human,ann,{item % 5 + 1},Said." for item in range(60)]
    file.write_text("\n".join(["item_id,criterion,rater_type,rater,score,text", *lines]) + "\n")
    people = [Annotator(name, house.tokens[name], Desk(None, name)) for name in PEOPLE]  # type: ignore[arg-type]

    async def all_at_once() -> None:
        crowd = Crowd(house, people)
        async with asyncio.TaskGroup() as group:
            for one in people:
                group.create_task(crowd.at_work(one))
            group.create_task(crowd.researcher())
            imported = await asyncio.to_thread(
                run, house.workspace, "import", "ratings", file, "--study", "imported"
            )
            assert imported.exit_code == 0, imported.output

    house.start()
    asyncio.run(all_at_once())
    leaver, *others = people
    assert leaver.refused == {event["n"] for event in leaver.told if event["n"] >= min(leaver.refused)}
    assert not any(one.refused for one in others)
    with house.workspace.read() as db:
        every = {one.name: expected(db, one) for one in people}
        for name, items in every.items():
            rater = access.annotator_id(db, name)
            assert {item for item, _, _ in placements.on_desk(db, rater, "s")} == items.keys()
            for item, wanted in items.items():
                held = placements.numbered(db, rater, item)
                there = Item(dict(held.answers), held.state, held.reason, held.flag, held.seconds)
                assert there == wanted, (name, item)
    assert house.server is not None
    rows = house.server.rows
    rated = {number for (number,) in rows("SELECT DISTINCT number FROM placed_items WHERE number = item_id")}
    units: list[Item] = []
    apart: list[Item] = []
    for items in every.values():
        for item, wanted in items.items():
            (units if item in rated else apart).append(wanted)
    counted = "SELECT count(*) FROM ratings r JOIN studies t ON t.id = r.study_id WHERE t.name = ?"
    assert rows(counted, "imported") == [(60,)]
    assert rows(counted, "s") == [(sum(len(item.answers) for item in units if item.state == "done"),)]
    kept = "SELECT count(*) FROM answers a JOIN placements p ON p.id = a.placement_id WHERE p.purpose "
    for here, items in (("= 'first'", units), ("<> 'first'", apart)):
        assert rows(f"{kept} {here} AND a.superseded_at IS NULL") == [(sum(len(i.answers) for i in items),)]
        assert rows(f"{kept} {here} AND a.superseded_at IS NOT NULL") == [(sum(i.changes for i in items),)]
    raters = "SELECT count(*) FROM placements a JOIN items u ON u.id = a.item_id "
    raters += "JOIN studies t ON t.id = u.study_id WHERE t.name = ? AND a.purpose = 'first' GROUP BY u.id"
    assert Counter(rows(raters, "s")) == {(OVERLAP,): UNITS}
    assert len(apart) > len(others) * (10 + GOLD)


def expected(db: Database, one: Annotator) -> dict[int, Item]:
    """What is to be stored of somebody's items, by their numbers in the store."""
    found: defaultdict[int, Item] = defaultdict(Item)
    numbers = desk.Numbers(db, "s", access.annotator_id(db, one.name))
    for event in one.told:
        if event["n"] in one.refused:
            continue
        item = found[numbers.item(event["item"])]
        item.seconds += event["seconds"]
        match event["do"]:
            case "answer":
                old = item.answers.get(event["criterion"], event["score"])
                item.changes += old != event["score"]
                item.answers[event["criterion"]] = event["score"]
            case "flag":
                item.flag = event["text"]
            case "skip":
                item.state, item.reason = "skipped", event["text"]
            case "submit":
                item.state, item.reason = "done", ""
    return dict(found)
