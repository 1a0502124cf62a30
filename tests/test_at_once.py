"""Several people rate at once, while an import writes as well: everything pressed is stored, and once."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from click.testing import Result

from bench.crowd import rate
from concord.exchange import incoming
from concord.store import access, desk, studies
from concord.workspace import Workspace
from tests.browser.keeper import CRITERIA, serving
from tests.browser.restarts import House
from tests.wire import Desk, opened

PEOPLE, ITEMS = 5, 6


def test_what_five_people_press_at_once_is_stored_beside_an_import(
    tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = House(tmp_path, PEOPLE, ITEMS)
    monkeypatch.setattr(incoming, "AT_ONCE", 1)
    file = tmp_path / "ratings.csv"
    lines = [f"i{item},wit,human,ann,{item % 5 + 1},Said." for item in range(60)]
    file.write_text("\n".join(["item_id,criterion,rater_type,rater,score,text", *lines]) + "\n")

    def imported() -> Result:
        return run(made.workspace, "import", "ratings", file, "--study", "imported")

    async def all_at_once(url: str) -> list[dict[int, list[float]]]:
        async with AsyncExitStack() as sessions:
            desks = [
                Desk(await sessions.enter_async_context(opened(url, token=token)), "window")
                for token in made.tokens.values()
            ]
            importing = asyncio.create_task(asyncio.to_thread(imported))
            pressed = await asyncio.gather(*(rate(one, ITEMS, []) for one in desks))
            done = await importing
            assert done.exit_code == 0, done.output
            return pressed

    with serving(Workspace(made.workspace.path), tmp_path / "log") as server:
        pressed = asyncio.run(all_at_once(server.url))
        for name, given in zip(made.tokens, pressed, strict=True):
            stored: dict[int, list[float]] = {}
            for unit, score in server.rows(
                "SELECT a.unit_id, r.score FROM ratings r JOIN raters x ON x.id = r.rater_id "
                "JOIN study_units u ON u.study_id = r.study_id AND u.conversation_id = r.conversation_id "
                "JOIN assignments a ON a.unit_id = u.id AND a.rater_id = r.rater_id AND a.state = 'done' "
                "WHERE x.name = ? ORDER BY r.id",
                name,
            ):
                stored.setdefault(unit, []).append(score)
            with made.workspace.read() as db:
                rater = access.annotator_id(db, name)
                [(study, *_)] = studies.studies_of(db, rater)
                numbers = desk.Numbers(studies.get(db, study), rater)
            assert stored == {numbers.item(shown): scores for shown, scores in given.items()}
            assert len(given) == ITEMS
            assert all(len(scores) == len(CRITERIA) for scores in stored.values())
        assert server.rows("SELECT count(*) FROM ratings WHERE criterion = 'wit'") == [(60,)]
