"""An estimate of judging rests on the texts that are stored, until calls were measured."""

from __future__ import annotations

from concord.benchmarks.simulbench.scripts import Script
from concord.conversation import Conversation, Message
from concord.runs import planning, status
from concord.runs.plans import JudgePlan, PlayPlan
from concord.store import conversations, scenarios
from concord.workspace import Workspace
from tests.conftest import FIXED, toml
from tests.filled import fill

RUBRIC = '[[criteria]]\nname = "kind"\nstatement = "It is kind."\n'


def surveyed(workspace: Workspace, text: str) -> planning.Survey:
    """What judging two conversations of this text would take."""
    workspace.models_path.write_text('[models.j]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "mock-fixed"\n')
    (workspace.path / "rubrics").mkdir()
    (workspace.path / "rubrics" / "care.toml").write_text(RUBRIC)
    with workspace.write() as db:
        for key in "ab":
            said = (Message("user", text), Message("assistant", text))
            conversations.save(db, Conversation("shop", key, "m", said))
    job = planning.job(workspace, JudgePlan("shop", ("j",), rubric="care"))
    return planning.survey(workspace, job)


def test_longer_texts_cost_more_by_their_length(tmp_path) -> None:
    short = surveyed(Workspace.open(tmp_path / "short"), "x" * 40)
    long = surveyed(Workspace.open(tmp_path / "long"), "x" * 4040)
    assert short.by_text == long.by_text == {"j"}
    # Two texts in each of two prompts are 4,000 characters longer, which are 1,000 tokens each.
    assert long.tokens["j"][0] - short.tokens["j"][0] == 2 * 2 * 1000
    assert long.tokens["j"][1] == short.tokens["j"][1]


def test_the_line_says_what_the_estimate_rests_on(tmp_path) -> None:
    [line] = status.calls(surveyed(Workspace.open(tmp_path), "hello"))
    assert "stored" in line
    assert "guess" not in line


def answering(workspace: Workspace, text: str) -> planning.Survey:
    """What it would take to have a model answer a script with this request, and a judge score the answer."""
    workspace.models_path.write_text(toml("http://127.0.0.1:9", m=FIXED, j=FIXED))
    script = Script(
        key="s",
        task="calculator",
        act="Calculate.",
        type="stateless",
        kind="LastOnly",
        turn=1,
        challenging=0,
        dialogue="d",
        history=(Message("user", text),),
    )
    with workspace.write() as db:
        scenarios.save(db, [script.scenario("own", "test")])
    plan = PlayPlan("simulbench", {"targets": ("m",), "judges": ("j",)}, {})
    return planning.survey(workspace, planning.job(workspace, plan))


def test_what_a_script_says_is_counted_before_it_is_answered(tmp_path) -> None:
    short = answering(Workspace.open(tmp_path / "short"), "x" * 40)
    long = answering(Workspace.open(tmp_path / "long"), "x" * 4040)
    assert short.by_text == long.by_text == {"j"}
    assert long.tokens["j"][0] - short.tokens["j"][0] == 1000
    # The judge reads the answer, too: 250 tokens are expected of it.
    assert short.tokens["j"][0] > 250 + 10
    assert short.tokens["j"][1] < 180


def test_judges_of_conversations_to_be_made_read_as_much_as_of_stored_ones(tmp_path) -> None:
    workspace = Workspace.open(tmp_path)
    workspace.models_path.write_text(toml("http://127.0.0.1:9", m=FIXED, u=FIXED, j=FIXED))
    roles = {"players": ("m",), "interrogator": ("u",), "judges": ("j",)}
    job = planning.job(workspace, PlayPlan("pingpong", roles, {"characters": ["tully"]}))
    guessed = planning.survey(workspace, job)
    assert not guessed.by_text
    with workspace.write() as db:
        fill(db)
    known = planning.survey(workspace, job)
    stored = planning.survey(workspace, planning.job(workspace, JudgePlan("pingpong", ("j",))))
    assert known.by_text == {"j"}
    calls = known.calls["j"]
    assert known.tokens["j"][0] / calls == stored.tokens["j"][0] / stored.calls["j"]
    assert known.tokens["j"][0] != guessed.tokens["j"][0]
