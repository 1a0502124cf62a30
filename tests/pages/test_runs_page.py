"""Runs from the runs page, each in a process of its own: watched, stopped, resumed, killed, refused."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from concord.store import runs
from concord.store.runs import Progress
from concord.workspace import Workspace
from tests.conftest import FIXED, toml
from tests.filled import fill
from tests.mock.server import running
from tests.pages.framed import FRAME


@pytest.fixture(scope="module")
def urls() -> Iterator[tuple[str, str]]:
    """A slow mock server, and one that refuses every key."""
    with running(latency=0.1, seed=5) as slow, running(require_key="another") as locked:
        yield slow, locked


@pytest.fixture
def workspace(workspace: Workspace, urls: tuple[str, str]) -> Workspace:
    """A workspace whose models are slow, priced or free, locked, or without a key."""
    slow, locked = urls
    priced = FIXED + "\nmax_concurrency = 2\nprice = { input = 1000.0, output = 1000.0 }"
    free = FIXED + "\nprice = { input = 0.0, output = 0.0 }"
    workspace.models_path.write_text(
        toml(slow, player=priced, user=free, judge=free, other=FIXED)
        + toml(locked, locked=FIXED)
        + '[models.keyless]\napi_key_env = "A_KEY_NOBODY_SET"\n'
    )
    return workspace


def opened(**address: str) -> AppTest:
    page = AppTest.from_string(FRAME.format(file="study/runs.py"), default_timeout=60)
    for name, value in address.items():
        page.query_params[name] = value
    return page.run()


def labelled(boxes: Any, label: str) -> Any:
    """The one widget with this label."""
    [box] = [box for box in boxes if box.label == label]
    return box


def planned(player: str = "player") -> AppTest:
    """The page with a plan of eight conversations with a character, each judged."""
    page = opened()
    labelled(page.multiselect, "Players").set_value([player])
    labelled(page.selectbox, "Interrogator").set_value("user")
    labelled(page.multiselect, "Judges").set_value(["judge"])
    labelled(page.multiselect, "Characters").set_value(["tully"])
    return page.run()


def says(page: AppTest) -> str:
    """All that the page says, without the escapes of Markdown."""
    assert not page.exception
    kinds = (page.subheader, page.markdown, page.warning, page.info, page.caption, page.error)
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "")


def buttons(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def press(page: AppTest, label: str) -> AppTest:
    page = labelled(page.button, label).click().run()
    assert not page.exception
    return page


def until(workspace: Workspace, holds: Callable[[Progress], object]) -> Progress:
    """The latest run, once this holds of it."""
    end = time.monotonic() + 60
    while True:
        with workspace.read() as db:
            [run] = runs.recent(db, 1)
        if holds(run):
            return run
        assert time.monotonic() < end, run
        time.sleep(0.02)


def pid(run: Progress) -> int:
    assert run.pid is not None
    return run.pid


def test_a_run_survives_its_browser_is_stopped_and_resumed(workspace: Workspace) -> None:
    page = planned()
    assert "16 results to generate" in says(page)
    assert [metric.label for metric in page.metric] == ["Estimated cost"]
    page = press(page, "Start")
    number = page.query_params["run"]
    assert "Stop" in buttons(page)
    del page
    run = until(workspace, lambda run: run.done)
    os.kill(pid(run), signal.SIGSTOP)  # it waits for the click
    again = opened(run=number)
    assert re.search(r"\d+ of 16", says(again))
    assert "Start" not in buttons(again)
    again = press(again, "Stop")
    assert until(workspace, lambda run: run.stop_asked).state == "running"
    os.kill(pid(run), signal.SIGCONT)
    assert until(workspace, lambda run: run.state != "running").state == "stopped"
    assert "Stopped on request" in says(again.run())
    again = press(again, "Resume")
    assert again.query_params["run"] != number, "the address names the run that resumes it"
    assert until(workspace, lambda run: run.state != "running").state == "finished"
    with workspace.read() as db:
        assert list(db.query("SELECT player, count(*) AS n FROM conversations GROUP BY player")) == [
            {"player": "player", "n": 8}
        ]


def test_a_killed_run_is_shown_as_interrupted(workspace: Workspace) -> None:
    page = press(planned(), "Start")
    assert "Stop" in buttons(page)
    run = until(workspace, lambda run: run.state == "running")
    os.kill(pid(run), signal.SIGKILL)
    until(workspace, lambda run: run.interrupted)
    words = says(page.run())
    assert f"Run {run.id}: interrupted" in words
    assert "Its process ended without a message" in words
    press(page, "Resume")
    assert until(workspace, lambda run: run.state != "running").state == "finished"


def test_a_spending_limit_stops_a_run_and_says_so(workspace: Workspace) -> None:
    page = planned()
    labelled(page.number_input, "Stop at a cost of").set_value(0.01).run()
    page = press(page, "Start")
    assert until(workspace, lambda run: run.state != "running").state == "stopped"
    assert "Stopped at the spending limit of 0.01" in says(page.run())
    page = press(page, "All runs")
    page.session_state["view"] = "Earlier runs"
    assert "Stopped at the spending limit of 0.01" in says(page.run())


def test_an_endpoint_that_refuses_is_told_in_sentences(workspace: Workspace) -> None:
    page = press(planned("locked"), "Start")
    assert until(workspace, lambda run: run.state != "running").state == "broken"
    words = says(page.run())
    assert "refuses the key of “locked”" in words
    assert any("Retry the" in label for label in buttons(page))
    assert "Traceback" not in words


def test_a_model_without_its_key_is_told_before_anything_starts(workspace: Workspace) -> None:
    page = planned("keyless")
    assert "set the environment variable A_KEY_NOBODY_SET" in says(page)
    assert "Start" not in buttons(page)


def test_further_judges_rate_what_is_stored(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db)
    page = opened()
    page.session_state["view"] = "Let judges rate"
    page.run()
    labelled(page.multiselect, "Judges").set_value(["other"]).run()
    assert re.search(r"\d+ results to generate", says(page))
    page = press(page, "Start")
    until(workspace, lambda run: run.done > 5)
    press(page, "Stop")
    assert until(workspace, lambda run: run.state != "running").state in ("stopped", "finished")
    with workspace.read() as db:
        [(count,)] = db.execute(
            "SELECT count(*) FROM judgements j JOIN raters r ON r.id = j.rater_id WHERE r.name = 'other'"
        ).fetchall()
    assert count > 5


def test_judges_rate_only_some_conversations_by_another_version(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db)
    page = opened(judge="true", benchmark="pingpong")
    labelled(page.multiselect, "Judges").set_value(["other"]).run()
    every = int(re.search(r"(\d+) results? to generate", says(page))[1])  # type: ignore[index]
    players = labelled(page.multiselect, "Player")
    players.set_value([players.options[0]]).run()
    some = int(re.search(r"(\d+) results? to generate", says(page))[1])  # type: ignore[index]
    assert 0 < some < every
    assert "Version of the prompt" not in [box.label for box in page.selectbox]
    own = workspace.path / "prompts" / "pingpong" / "brief"
    own.mkdir(parents=True)
    (own / "judge_user.jinja").write_text("Rate this: {{ dialogue }}")
    page = page.run()
    version = labelled(page.selectbox, "Version of the prompt")
    assert (version.value, version.options) == ("v2", ["v2", "brief"])
    labelled(page.selectbox, "Version of the prompt").set_value("brief").run()
    page = press(page, "Start")
    until(workspace, lambda run: run.state != "running")
    with workspace.read() as db:
        [run] = runs.recent(db, 1)
        assert (run.plan["version"], run.plan["where"]) == ("brief", {"player": [players.options[0]]})


def test_an_address_chooses_the_benchmark_and_its_options(workspace: Workspace) -> None:
    page = opened(benchmark="stss", tasks="board-games", seed="3")
    assert labelled(page.multiselect, "Tasks").value == ["board-games"]
    assert labelled(page.number_input, "Seed").value == 3
    assert "benchmark" not in page.query_params
    assert not page.warning
    page = opened(benchmark="stss", tasks="nothing-of-this-name", seed="-3")
    assert labelled(page.multiselect, "Tasks").value == []
    assert labelled(page.number_input, "Seed").value == 1
