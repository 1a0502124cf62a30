"""The page Differences: two runs in the address, one click from the page Runs, conversations turn by turn."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message, Unit
from concord.rating import Judgement, Rater, Rating
from concord.runs.plans import PlayPlan, as_dict
from concord.store import conversations, ratings, runs
from concord.workspace import Workspace
from tests.filled import HOSTILE, fill
from tests.pages.test_navigation import FRAME

FILE = "results/differences.py"


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


def said(shown: AppTest) -> str:
    return "\n".join(each.value for each in shown.markdown).replace("\\", "")


def test_the_latest_two_runs_are_compared_unless_the_address_says_otherwise(two_runs: Workspace) -> None:
    shown = page()
    # 3 on every criterion and turn → 4.
    assert "Final by j changed by +1.00 from run 1 to run 2" in said(shown)
    assert (shown.query_params["one"], shown.query_params["other"]) == ("1", "2")
    turned = page(one="2", other="1")
    assert "changed by -1.00 from run 2 to run 1" in said(turned)


def test_a_scenario_opens_both_conversations_turn_by_turn(two_runs: Workspace) -> None:
    shown = page(one="1", other="2")
    shown.session_state["changes run 1 run 2 final"] = {"selection": {"rows": [0], "columns": []}}
    shown.run()
    assert not shown.exception
    texts = [each.value for each in shown.text]
    # Turn 1 of both, then turn 2 of the longer one; letter for letter.
    first = ["Question of u", f"{HOSTILE} u", "Question of w", f"{HOSTILE} w"]
    assert texts == [*first, *first[2:]]
    lines = [each.value.replace("\\", "") for each in shown.caption if "Fluency" in each.value]
    assert [line.splitlines()[-1] for line in lines] == ["Fluency: j 3", "Fluency: j 4", "Fluency: j 4"]


def test_a_conversation_that_both_have_is_shown_once(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, people=False)
        key = "pingpong/v2/en/goblin/riddle/alder/asker/0"
        given = tuple(Rating(Unit(key, 1), name, 1) for name in ("in_character", "entertaining", "fluency"))
        ratings.save_judgement(db, Judgement(f"{key}|x", key, Rater("kind", "judge", "stern"), given))
    shown = page(of="versions", benchmark="pingpong", one="v2", other="stern")
    shown.session_state["changes v2 stern final"] = {"selection": {"rows": [0], "columns": []}}
    shown.run()
    assert not shown.exception
    assert [each.value for each in shown.text].count("Question 1 of the riddle?") == 1
    lines = [each.value for each in shown.caption if "Fluency" in each.value]
    assert any("**stern**" in line and "kind 1" in line for line in lines)


def test_one_click_leads_from_a_run_to_what_changed_since_the_one_before(two_runs: Workspace) -> None:
    [link] = [
        each for each in page("study/runs.py", run="2").get("page_link") if "changed" in each.proto.label
    ]
    assert link.proto.label == "What changed since run 1"
    assert link.proto.page == "differences"
    assert link.proto.query_string == "of=runs&one=1&other=2"
    assert not [
        each for each in page("study/runs.py", run="1").get("page_link") if "changed" in each.proto.label
    ]


def test_a_row_of_the_leaderboard_leads_to_what_differs_from_another_player(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db)
    shown = page("results/leaderboard.py")
    shown.session_state["leaderboard"] = {"selection": {"rows": [1], "columns": []}}
    shown.run()
    board = next(each.value for each in shown.dataframe if "player" in each.value.columns)
    first, second = board.player[:2]
    every = [each for each in shown.get("page_link") if each.proto.page == "differences"]
    [link] = [each for each in every if "another player" in each.proto.label]
    assert link.proto.query_string == f"of=players&benchmark=pingpong&one={second}&other={first}"
    assert "of=players&benchmark=pingpong" in {each.proto.query_string for each in every}


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ({"one": "7", "other": "2"}, "There is no run “7”"),
        ({"one": HOSTILE}, "is not the number of a run"),
        ({"of": "players", "benchmark": "pingpong", "one": HOSTILE, "other": "p"}, "There is no player"),
    ],
)
def test_an_address_of_what_there_is_not_is_a_sentence(
    two_runs: Workspace, address: dict[str, str], says: str
) -> None:
    shown = page(**address)
    assert says in "\n".join(each.value for each in shown.error)
