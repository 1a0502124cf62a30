"""Improving a judge: a planted flaw is found and repaired, and where nothing is to gain the lab says so."""

from __future__ import annotations

import tomllib

import pytest

from concord.codes import Failure
from concord.errors import CallFailed, RunStopped, StudyError
from concord.lab import improving
from concord.lab.running import SharedBudget
from concord.store import lab
from concord.workspace import Workspace
from tests.conftest import toml
from tests.lab.loop import JUDGE, answering, proposer
from tests.mock import lab as mock


def outcome(workspace: Workspace, seed: int, propose=None, stop_after: int = 10**9, **how):
    mock.made(workspace, seed=seed)
    mock.divided(workspace, seed)
    return improving.improve(
        workspace,
        mock.STUDY,
        JUDGE,
        propose or proposer(),
        answering(workspace, stop_after=stop_after, seed=seed, **how),
        rounds=2,
        resamples=300,
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_flaw_is_repaired_and_the_gain_is_shown_on_test(fresh, seed):
    found = outcome(fresh, seed)
    assert found.gain.interval[0] > 0, found.sentences
    assert mock.CURE in found.choice.rubric.judge.instructions
    with fresh.read() as db:
        assert len(lab.openings(db, mock.STUDY)) == 1


@pytest.mark.parametrize("seed", range(3))
def test_without_a_true_gain_it_says_so(fresh, seed):
    found = outcome(fresh, seed, flaw=0.0)
    assert found.gain is None or found.gain.interval[0] <= 0, found.sentences
    assert any("no gain" in line.lower() for line in found.sentences)


def test_a_judge_that_equals_people_has_nothing_to_learn(fresh, monkeypatch):
    monkeypatch.setattr(improving, "EQUAL", 0.5)
    found = outcome(fresh, 0)
    assert "nothing to improve" in found.sentences[-1]
    assert found.choice == found.base


@pytest.mark.parametrize(
    "error",
    [CallFailed("It holds no JSON object.", code=Failure.UNPARSEABLE), RunStopped("Stopped at the limit.")],
)
def test_an_optimiser_that_returns_nonsense_is_a_sentence(fresh, error):
    def propose(asked):
        raise error

    found = outcome(fresh, 0, propose)
    assert any("is unusable" in line for line in found.sentences)
    assert "Proposal" not in found.choice.rubric.judge.instructions


@pytest.mark.parametrize("stop_after", range(8))
def test_a_budget_that_ends_at_any_step_loses_nothing(fresh, stop_after):
    if not stop_after:
        with pytest.raises(StudyError, match="stored and not paid again"):
            outcome(fresh, 0, stop_after=0)
        return
    found = outcome(fresh, 0, stop_after=stop_after)
    with fresh.read() as db:
        opened = lab.openings(db, mock.STUDY)
    assert bool(opened) == (found.gain is not None)
    if found.gain is None:
        assert any("budget ended" in line or "no gain" in line for line in found.sentences)
    # With money again, run the same command to continue where it was.
    again = improving.improve(fresh, mock.STUDY, JUDGE, proposer(), answering(fresh), rounds=2, resamples=100)
    assert again.gain is not None


def test_a_proposer_sees_the_develop_part_alone(fresh):
    seen: list[str] = []

    def propose(asked):
        seen.append(asked[-1].content)
        raise CallFailed("no", code=Failure.UNPARSEABLE)

    outcome(fresh, 0, propose)
    with fresh.read() as db:
        kept = lab.division(db, mock.STUDY).parts
    hidden = {key.split("/")[1] for key, part in kept.items() if part != "develop"}
    assert seen
    assert not any(f"Problem {number}?" in text for text in seen for number in hidden)


def test_the_command_holds_its_budget_to_the_call(workspace, run):
    mock.made(workspace, scenarios=12)
    address = tomllib.loads(workspace.models_path.read_text())["models"]["a"]["base_url"]
    priced = "price = { input = 100.0, output = 1000.0 }\nmax_concurrency = 1\n"
    judges = {"a": f'model = "mock-judge-strict"\n{priced}', "m": f'model = "mock-judge-strict"\n{priced}'}
    workspace.models_path.write_text(toml(address, **judges))
    asked = ("lab", "improve", "shop", "--judge", "a", "--with", "m", "--budget")
    assert " lab split shop" in run(workspace, *asked, 1.5).output
    mock.divided(workspace)
    outcome = run(workspace, *asked, 1.5)
    assert "budget ended" in outcome.output, outcome.output
    with workspace.read() as db:
        spent = db.execute("SELECT sum(cost) FROM runs").fetchone()[0]
    assert 0 < spent <= 1.5
    outcome = run(workspace, *asked, 50, "--rounds", 1)
    assert outcome.exit_code == 0, outcome.output
    assert "of 50" in outcome.output
    assert "Proposal 1" in outcome.output
    assert SharedBudget(1.0, 2.0).left == 0.0
