"""An estimate of judging rests on the texts that are stored, until calls were measured."""

from __future__ import annotations

from concord.conversation import Conversation, Message
from concord.runs import planning, status
from concord.runs.plans import JudgePlan
from concord.store import conversations
from concord.workspace import Workspace

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
