"""Forged messages: pages, widgets and desk events that whoever sends them was never shown.

Most are guards: they passed before the limits and the sessions were made, and must go on to.
"""

from __future__ import annotations

import json
import platform
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime.metrics_util import Installation

from concord.files import SHIPPED
from concord.store import access, placements, studies
from concord.studies.studies import deal_study
from pages.desk import report
from pages.parts.navigation import SECTIONS
from tests.browser.keeper import SECRETS, Server
from tests.wire import LINK, Desk, Wire, opened

from .conftest import finish, served

ADDRESSES = [page.address for pages in SECTIONS.values() for page in pages]


def invited(server: Server, name: str, study: str = "keeper") -> str:
    """The token of an annotator with three items."""
    with server.workspace.write() as db:
        token = access.invite(db, name)
        units = [unit["id"] for unit in studies.units(db, study)][:3]
        placements.assign(db, access.annotator_id(db, name), units)
    return token


async def said(wire: Wire, asked: BackMsg) -> str:
    """Everything the server sends for a message, as text."""
    await wire.socket.send(asked.SerializeToString())
    told = []
    async for message in wire.messages():
        told.append(str(message))
        if message.WhichOneof("type") == "script_finished":
            break
    return "\n".join(told)


def forged(**fields: Any) -> BackMsg:
    """A request for a run that no page makes."""
    asked = BackMsg()
    for name, value in fields.items():
        setattr(asked.rerun_script, name, value)
    return asked


@pytest.mark.parametrize("who", ["stranger", "annotator"])
def test_no_crafted_request_shows_a_page_to_whoever_may_not_see_it(server: Server, who: str) -> None:
    """Each fifteen requests come from somebody else: one alone is made to wait."""

    async def attack() -> None:
        async with opened(server.url, headers={"Cookie": server.cookie}) as researcher:
            shown = await said(researcher, forged(page_name="conversations"))
            assert "hidden-player" in shown
            await researcher.run()
            async for message in researcher.messages():
                if message.WhichOneof("type") == "navigation":
                    hashes = [page.page_script_hash for page in message.navigation.app_pages]
                if message.WhichOneof("type") == "script_finished":
                    break  # not before: what was not read keeps the connection from closing for ten seconds
        own = [{"page_script_hash": each} for each in hashes] + [{"page_name": each} for each in ADDRESSES]
        crafted = [{"page_name": each} for each in ("pages/study/runs", "../app", "app.py", "x" * 5000)]
        crafted += [{"query_string": each} for each in ("as=hidden-colleague", "desk=1", "token=x")]
        for begin in range(0, len(own), 15):
            token = {"token": invited(server, f"crafts {who} {begin}")} if who == "annotator" else {}
            source = {"X-Forwarded-For": f"203.0.113.{begin}"}
            async with opened(server.url, headers=source, **token) as wire:
                with_address = [{**fields, "query_string": wire.query} for fields in own[begin : begin + 15]]
                for fields in [*with_address, *crafted[begin // 15 :: len(range(0, len(own), 15))]]:
                    answer = await said(wire, forged(**fields))
                    for secret in (*SECRETS, server.workspace.path.name):
                        assert secret not in answer, fields

    finish(attack())


def test_nobody_is_told_where_and_on_what_the_server_runs(server: Server) -> None:
    async def attack() -> tuple[list[bytes], NewSession]:
        async with opened(server.url) as wire:
            await wire.run()
            told = []
            async for message in wire.messages():
                told.append(message)
                if message.WhichOneof("type") == "script_finished":
                    break
            frames = [message.SerializeToString() for message in told]
            return frames, next(m.new_session for m in told if m.HasField("new_session"))

    frames, new_session = finish(attack())
    described = (str(SHIPPED), streamlit.__version__, platform.python_version())
    described += (Installation.instance().installation_id_v3, Installation.instance().installation_id_v4)
    assert not [known for known in described for frame in frames if known.encode() in frame]
    assert not new_session.initialize.environment_info.server_os
    # The page does not start where one of them is missing.
    assert all(map(new_session.initialize.HasField, ("environment_info", "user_info")))


EVENTS: list[dict[str, Any]] = [
    {"item": 4},
    {"item": 10**9},
    {"item": -1},
    {"do": "delete"},
    {"do": ["answer"]},
    {"criterion": "no such"},
    {"criterion": None},
    {"score": 6},
    {"score": 2.5},
    {"score": [5]},
    {"seconds": -1},
    {"do": "flag", "text": "x" * 4001},
    {"do": "submit"},
]


@pytest.mark.parametrize("changes", EVENTS, ids=json.dumps)
def test_a_forged_event_changes_nothing_and_says_why(server: Server, changes: dict[str, Any]) -> None:
    name = f"forges {EVENTS.index(changes)}"
    token = invited(server, name)
    everything = "SELECT id, placement_id, question, value, superseded_at FROM answers ORDER BY id"
    states = "SELECT id, state, flag, seconds FROM placements ORDER BY id"

    async def attack() -> dict[str, Any]:
        async with opened(server.url, token=token, study="keeper") as wire:
            desk = Desk(wire, "forger")
            event = {"item": desk.open_items()[0], "do": "answer", "criterion": "fluency", "score": 5}
            event |= {"item": 40 - 1} if changes == {"item": 4} else changes
            before[:] = server.rows(everything), server.rows(states)
            desk.do(**event)  # type: ignore[arg-type]
            return await desk.report()

    before: list[Any] = []
    news = finish(attack())
    assert [refusal["n"] for refusal in news["refused"]] == [1]
    assert news["refused"][0]["message"].endswith(".")
    assert [server.rows(everything), server.rows(states)] == before


def test_a_claimed_time_at_work_counts_an_hour_at_most(server: Server) -> None:
    token = invited(server, "sleeps")

    async def attack() -> dict[str, Any]:
        async with opened(server.url, token=token, study="keeper") as wire:
            desk = Desk(wire, "sleeper")
            item = desk.open_items()[0]
            desk.do(item, "answer", criterion="fluency", score=5, seconds=10**6)
            return await desk.report()

    assert finish(attack())["refused"] == []
    stored = (
        "SELECT max(p.seconds) FROM placements p JOIN raters x ON x.id = p.rater_id WHERE x.name = 'sleeps'"
    )
    assert server.rows(stored) == [(3600.0,)]


def test_the_desk_of_another_cannot_be_reported_to(server: Server) -> None:
    tokens = invited(server, "owner"), invited(server, "thief")

    def session(token: str) -> AbstractAsyncContextManager[Wire]:
        return opened(server.url, token=token, study="keeper")

    async def attack() -> None:
        async with session(tokens[0]) as owner, session(tokens[1]) as thief:
            component, fragment = owner.components[LINK]
            items = Desk(owner, "owner").open_items()
            event = {"n": 1, "item": items[0], "do": "answer", "criterion": "fluency", "score": 1}
            state = {"report": {"k": 1, "boxes": {"thief": [event]}, "want": items}}
            await thief.run(fragment, **{component.id: state})
            await thief.run(**{component.id: state})
            await thief.finished()
        for name in ("owner", "thief"):
            assert not server.rows(
                "SELECT value FROM answers a JOIN placements p ON p.id = a.placement_id "
                "JOIN raters x ON x.id = p.rater_id WHERE x.name = ?",
                name,
            )

    finish(attack())


def test_guesses_wait_and_a_browser_that_was_signed_in_does_not(tmp_path: Path) -> None:
    with served(tmp_path) as (running, _):
        with running.workspace.write() as db:
            access.set_passphrase(db, "eleven ships in one night")
        stranger = {"X-Forwarded-For": "198.51.100.7"}
        answers = [guess(running, "guess 0", **stranger)]
        # The wait doubles with each wrong guess, so one of them comes too early, however slow the machine.
        while "Too many wrong guesses" not in answers[-1][1] and len(answers) < 20:
            answers.append(guess(running, f"guess {len(answers)}", **stranger))
        assert {status for status, _ in answers} == {403}
        assert "Wrong passphrase." in answers[0][1]
        assert "Too many wrong guesses" in answers[-1][1]
        known = {"Cookie": running.cookie}
        assert guess(running, "eleven ships in one night", **stranger, **known)[0] == 200


def guess(server: Server, passphrase: str, **headers: str) -> tuple[int, str]:
    """Status and text of the answer to a sign-in."""
    body = json.dumps({"passphrase": passphrase}).encode()
    told = {"Content-Type": "application/json", "Origin": server.url, **headers}
    try:
        with urlopen(Request(server.url + "/sign-in", body, told)) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.parametrize("do", ["answer", "submit", "skip", "reopen", "flag", "time"])
def test_only_the_numbers_of_the_own_desk_name_an_item(server: Server, do: str) -> None:
    """Flags set by the store's own numbers showed in the strip which items were hidden ones."""
    name = f"counts to {do}"
    with server.workspace.write() as db:
        token = access.invite(db, name)
        studies.create(db, replace(studies.get(db, "keeper"), name=name))
        units = [(unit["conversation_id"], None, "") for unit in studies.units(db, "keeper")]
        studies.add_units(db, name, units)
        deal_study(db, name, [name], repeats=0.1)
        last = max(unit["id"] for unit in studies.units(db, name))
        first_placement = db.execute("SELECT min(id) FROM placements").fetchone()[0]
    assert first_placement > 1000 * last, "Numbers of placements begin far above those of items."

    async def attack() -> tuple[list[Any], dict[str, Any]]:
        async with opened(server.url, token=token, study=name) as wire:
            desk = Desk(wire, "counter")
            before = desk.news["strip"]
            own = {item for item, _, _ in before}
            tried = [*range(last - 25, last + 5), *range(first_placement - 1, first_placement + 9), -1, 2**50]
            tried += [item + 1 for item in own if item + 1 not in own]
            refused = []
            for start in range(0, len(tried), report.EVENTS):
                for item in tried[start : start + report.EVENTS]:
                    desk.do(item, do, criterion="fluency", score=5, text="mine")
                news = await desk.report(want=tried[:50])
                refused += news["refused"]
            assert len(refused) == len(tried)
            return before, {**news, "refused": refused}

    before, news = finish(attack())
    assert len(before) == 44, "Repeats lie among them."
    assert news["strip"] == before
    assert news["items"] == []
    assert len({refusal["message"] for refusal in news["refused"]}) == 1
