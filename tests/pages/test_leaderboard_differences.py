"""Do these two differ?, on the page Leaderboard: what its address says, one click from the page Runs."""

from __future__ import annotations

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message, Unit
from concord.rating import Judgement, Rater, Rating
from concord.runs.plans import PlayPlan, as_dict
from concord.store import conversations, ratings, runs
from concord.workspace import Workspace
from tests.filled import HOSTILE, fill
from tests.pages.test_navigation import FRAME

FILE = "results/leaderboard.py"


@pytest.fixture
def two_runs(workspace: Workspace) -> Workspace:
    """Two runs of one scenario; the second has another interrogator, a longer dialogue and a point more."""
    with workspace.write() as db:
        conversations.save(db, Conversation("pingpong", "another", "q", (Message("user", "Hello."),)))
        for number, user in enumerate("uw"):
            chosen = {"language": "en", "character_set": "own", "characters": ["tully"], "repeats": 1}
            chosen |= {"situations": ["reality"], "judge_repeats": 1, "symmetric": False, "version": "v2"}
            models = {"players": ("p",), "interrogator": (user,), "judges": ("j",)}
            run = runs.start(db, "pingpong", as_dict(PlayPlan("pingpong", models, chosen)), 1)
            runs.end(db, run, "finished")
            key = f"pingpong/v2/en/tully/reality/p/{user}/0"
            said = [Message("user", f"Question of {user}"), Message("assistant", f"{HOSTILE} {user}")]
            about = {"character": "tully", "situation": "reality", "interrogator": user}
            talk = Conversation("pingpong", key, "p", tuple(said * (number + 1)), facets=about)
            conversations.save(db, talk)
            given = tuple(
                Rating(Unit(key, turn), name, 3 + number)
                for turn in range(1, number + 2)
                for name in ("in_character", "entertaining", "fluency")
            )
            ratings.save_judgement(db, Judgement(f"{key}|j|v2|0", key, Rater("j", "judge", "v2"), given))
    return workspace


def page(file: str = FILE, **address: str) -> AppTest:
    shown = AppTest.from_string(FRAME.format(file=file), default_timeout=60)
    shown.query_params.update(address)
    shown.run()
    assert not shown.exception
    return shown


def differences(shown: AppTest) -> pd.DataFrame:
    return next(each.value for each in shown.dataframe if "difference" in each.value)


def text(shown: AppTest) -> str:
    return "\n".join(each.value for each in (*shown.markdown, *shown.caption)).replace("\\", "")


def test_two_runs_in_the_address_are_compared(two_runs: Workspace) -> None:
    shown = page(benchmark="pingpong", of="run", one="1", other="2")
    # 3 on every criterion and turn → 4, in the one scenario that both have.
    table = differences(shown)
    assert table["one"].tolist() == [3.0] * 4
    assert table["other"].tolist() == [4.0] * 4
    assert "Whether Run 1 and Run 2 differ is not known: they share one scenario." in text(shown)


def test_players_are_compared_unless_the_address_says_otherwise(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db)
    shown = page(of="player")
    board, table = shown.dataframe[0].value, differences(shown)
    first, second = board.player[:2]
    assert (shown.query_params["one"], shown.query_params["other"]) == (second, first)
    assert table["criterion"].tolist()[:2] == ["Score", "Final"]
    turned = differences(page(of="player", one=first, other=second))
    assert turned["difference"].tolist() == [-gap for gap in table["difference"]]
    assert turned["one"].tolist() == table["other"].tolist()


def test_the_fold_is_closed_where_nothing_was_asked(two_runs: Workspace) -> None:
    shown = page()
    assert "of" not in shown.query_params
    assert len(shown.dataframe) == 1


def test_one_click_leads_from_a_run_to_what_changed_since_the_one_before(two_runs: Workspace) -> None:
    [link] = [
        each for each in page("study/runs.py", run="2").get("page_link") if "changed" in each.proto.label
    ]
    assert link.proto.label == "What changed since run 1"
    assert link.proto.page == "leaderboard"
    assert link.proto.query_string == "of=run&benchmark=pingpong&one=1&other=2"
    assert not [
        each for each in page("study/runs.py", run="1").get("page_link") if "changed" in each.proto.label
    ]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ({"of": "run", "one": "7", "other": "2"}, "There is no one “7”"),
        ({"of": "run", "one": HOSTILE}, "There is no one"),
        ({"of": HOSTILE}, "There is no of"),
    ],
)
def test_an_address_of_what_there_is_not_is_a_sentence(
    two_runs: Workspace, address: dict[str, str], says: str
) -> None:
    shown = page(**address)
    assert says in "\n".join(each.value for each in shown.warning).replace("\\", "")
