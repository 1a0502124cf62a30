"""A run does what is planned minus what is stored: once, whole, and again from where it was."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from pathlib import Path

import pytest

from concord.commands import options, progress
from concord.commands.progress import estimated
from concord.configuration import UNREPORTED
from concord.errors import ConfigError, NotFound
from concord.llm.client import Client
from concord.llm.models import Model, load_models
from concord.rating import NOTHING_SPENT
from concord.runs import call_runner, planning
from concord.runs.plans import JudgePlan, PlayPlan
from concord.store import conversations, ratings
from concord.store import runs as stored
from concord.store.runs import NotedCall
from concord.workspace import Workspace
from tests import warm
from tests.conftest import FIXED, toml
from tests.mock.server import running
from tests.runs.runs_helpers import calls_made, calls_of, concord_run, count, plan, run, until

ROOT = Path(__file__).parent.parent.parent


def test_a_run_stores_every_conversation_and_judgement_once(workspace):
    ended = run(workspace, plan())
    # 2 characters × 1 situation × 1 player = 2 conversations, each judged by 2: 6 pieces; 2 × (4 turns × 2) +
    # 2 × 2 calls = 20
    assert (ended.state, ended.planned, ended.done, ended.failed) == ("finished", 6, 6, 0)
    assert ended.spent.calls == 20
    assert count(workspace, "conversations") == 2
    assert count(workspace, "judgements") == 4
    assert count(workspace, "ratings") == 2 * 2 * 4 * 4, "2 conversations × 2 judges × 4 turns × 4 criteria"
    assert count(workspace, "journal") == 0, "what is stored needs no journal"
    with workspace.read() as db:
        assert all(f.simulated for f in conversations.search(db)), "mock models are marked as such"
        assert all(r.simulated for r in ratings.judges(db))


def test_the_same_plan_again_does_nothing_and_a_wider_one_only_the_rest(workspace):
    run(workspace, plan())
    again = run(workspace, plan())
    assert (again.done, again.spent.calls, again.stored) == (0, 0, 6)
    wider = run(workspace, plan(judges=("a", "b", "c"), characters=("tully", "mizuki", "arachne")))
    # One more judge over two conversations, and a third conversation (8 calls) with three judges
    assert (wider.stored, wider.done, wider.spent.calls) == (6, 2 + 4, 2 + 8 + 3)


def test_further_judges_rate_what_is_stored(workspace):
    run(workspace, plan(judges=()))
    later = JudgePlan("pingpong", ("b",))
    ended = run(workspace, later)
    assert (ended.done, ended.spent.calls) == (2, 2)
    assert run(workspace, later).done == 0


def test_judges_take_what_where_selects(workspace):
    run(workspace, plan(judges=(), characters=("tully", "mizuki"), situations=("reality", "heckler")))
    first = run(workspace, JudgePlan("pingpong", ("b",), {"character": ("tully",), "language": ("en",)}))
    assert (first.planned, first.done) == (2, 2), "a judgement of each of two stored conversations"
    none = run(workspace, JudgePlan("pingpong", ("b",), {"language": ("ru",)}))
    assert none.planned == 0
    assert run(workspace, JudgePlan("pingpong", ("b",))).done == 2


@pytest.mark.parametrize("moment", ["journal", "conversations", "judgements"])
def test_killed_at_any_moment_it_loses_only_the_calls_in_flight(faulty, moment):
    """What the store held when the run was killed, as results or in the journal, is not paid for again."""
    workspace = faulty(latency=0.05)
    command = concord_run(
        workspace, "--judges", "a,b", "--characters", "tully,mizuki,arachne", "--repeats", "2"
    )
    process = warm.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: count(workspace, moment), process)
    process.kill()
    process.wait()
    with workspace.read() as db:
        kept = db["journal"].count + sum(
            row["calls"] for table in ("conversations", "judgements") for row in db[table].rows
        )
    done = warm.run(command)
    assert done.returncode == 0, done.stderr
    # 3 characters × 8 situations × 2 repeats = 48 conversations: 42 of 4 turns, 6 of 8; a call each for user
    # and player, 2 judges
    needed = 42 * 8 + 6 * 16 + 48 * 2
    with workspace.read() as db:
        continued, killed = stored.recent(db)
    assert killed.interrupted
    assert 0 < kept < needed
    assert continued.spent.calls == needed - kept
    assert (count(workspace, "conversations"), count(workspace, "judgements")) == (48, 96)
    assert count(workspace, "journal") == 0


def test_unusable_verdicts_become_failed_judgements_with_their_raw_reply(faulty):
    workspace = faulty(malformed=1, models=("mock-judge-strict",))
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(
        text.replace('mock-fixed"\n\n[models.b]', 'mock-judge-strict"\n\n[models.b]')
    )
    ended = run(workspace, plan())
    assert (ended.done, ended.failed) == (4, 2)
    with workspace.read() as db:
        failed = [
            j for row in conversations.search(db) for j in ratings.judgements_of(db, row.id) if j["failure"]
        ]
        assert len(failed) == 2
        assert all(
            j["raw"] and "No usable reply after 3 attempts" in j["failure"] and j["calls"] == 3
            for j in failed
        )
        assert [row.failed for row in conversations.search(db)] == [1, 1]
        assert count(workspace, "ratings") == 2 * 4 * 4, "the other judge's ratings, nothing made up"
    again = run(workspace, plan())
    assert (again.spent.calls, again.failed, again.left) == (0, 2, 0), (
        "failed judgements wait until asked for"
    )
    assert run(workspace, plan(), retry_failed=True).spent.calls == 6
    assert calls_of(workspace)["repeated"] == 0, "a retry on demand asks with another seed"


def test_endpoint_trouble_is_retried_and_nothing_is_lost(faulty):
    ended = run(faulty(rate_limit=5, server_error=7, dropped=11, retry_after=0.01), plan())
    assert (ended.state, ended.done, ended.failed) == ("finished", 6, 0)


def test_an_endpoint_that_is_down_breaks_the_run_with_a_sentence(workspace):
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(text.replace(text.split('"')[1], "http://127.0.0.1:9/v1"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("concord.llm.gates.FIRST_SECONDS", 0.0)
        ended = run(workspace, plan(repeats=30))
    assert ended.state == "broken"
    assert "cannot be reached" in ended.message
    assert ended.left > 0
    assert count(workspace, "conversations") == 0


def test_failures_that_are_not_in_a_row_do_not_end_the_run(faulty, monkeypatch):
    """Of each model, two calls at least are answered between two that fail."""
    monkeypatch.setattr("concord.llm.client.RETRIES", 0)
    monkeypatch.setattr(call_runner, "PATIENCE", 3)
    workspace = faulty(server_error=5)
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(text.replace("seed = true", "seed = true\nmax_concurrency = 1"))
    ended = run(workspace, plan(judges=(), repeats=6))
    assert ended.state == "finished"
    assert ended.failed > 2 * call_runner.PATIENCE


def test_an_authentication_error_ends_the_run_at_once(tmp_path, monkeypatch):
    """Fewer calls than the patience for other failures: a key that is refused once will not be taken
    later.
    """
    monkeypatch.setenv("WRONG_KEY", "wrong")
    with running(require_key="right") as url:
        workspace = Workspace.open(tmp_path / "workspace")
        keyed = FIXED + '\napi_key_env = "WRONG_KEY"\nmax_concurrency = 1'
        workspace.models_path.write_text(toml(url, player=keyed, user=keyed))
        ended = run(workspace, plan(judges=(), repeats=call_runner.PATIENCE // 4))
    assert ended.planned < call_runner.PATIENCE
    assert ended.state == "broken"
    assert "refuses the key of “user” (401)" in ended.message
    assert ended.failed == 1, "no further call was made"


def test_too_many_calls_are_no_fault_of_the_judge(faulty, monkeypatch):
    """A 429 that outlasts all patience leaves the judgement to be done; it is not stored as failed."""
    monkeypatch.setattr("concord.llm.client.THROTTLED_SECONDS", -1.0)
    workspace = faulty(rate_limit=2, retry_after=0.01, models=("mock-judge-strict",))
    text = workspace.models_path.read_text()
    judge = "[models.a]", "mock-fixed", "mock-judge-strict"
    workspace.models_path.write_text(
        text[: text.index(judge[0])] + text[text.index(judge[0]) :].replace(*judge[1:], 1)
    )
    the_plan = plan(judges=("a",))
    first = run(workspace, the_plan)
    assert (first.done, first.failed) == (3, 1)
    with workspace.read() as db:
        assert [f["kind"] for f in db["failures"].rows] == ["rate_limit"]
        assert db["judgements"].count == 1
    again = run(workspace, the_plan)
    assert (again.done, again.failed) == (1, 0), "without --retry-failed"


def test_a_spending_limit_stops_cleanly_and_the_rest_is_done_later(faulty):
    workspace = faulty(latency=0.01)
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(
        text.replace(
            "seed = true", "seed = true\nmax_concurrency = 2\nprice = { input = 1000.0, output = 1000.0 }"
        )
    )
    ended = run(workspace, plan(), max_cost=1.0)
    assert ended.state == "stopped"
    assert "spending limit of 1" in ended.message
    # A first guess of a call is 0.75 (700 tokens in, 50 out), of the player's 0.92.
    assert 0 < ended.spent.cost < 1.0 + 1.0
    paid = calls_made(workspace)
    rest = run(workspace, plan())
    assert rest.state == "finished"
    assert calls_made(workspace) == 20, "what was paid before the stop was not paid again"
    assert rest.spent.calls == 20 - paid
    with workspace.read() as db:
        made = [row["calls"] for table in ("conversations", "judgements") for row in db[table].rows]
    assert sum(made) == 20, "a result's cost holds the calls that were in the journal"


def test_a_spending_limit_of_nothing_makes_no_call(workspace):
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(
        text.replace("seed = true", "seed = true\nprice = { input = 1, output = 1 }")
    )
    ended = run(workspace, plan(), max_cost=0.0)
    assert ended.state == "stopped"
    assert (ended.done, ended.spent.calls) == (0, 0)
    limited = concord_run(workspace, "--max-cost", "0")
    assert warm.run(limited).returncode == 3


def test_a_signal_stops_cleanly_and_the_next_run_pays_for_nothing_again(faulty):
    workspace = faulty(latency=0.1)
    command = concord_run(workspace, "--characters", "tully", "--repeats", "5")
    process = warm.Popen(command, stdout=subprocess.PIPE)
    until(lambda: calls_made(workspace) >= 30, process)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert "stopped" in said
    assert "Stopped by a signal" in said
    assert process.returncode == 130
    assert warm.run(command).returncode == 0
    assert calls_made(workspace) == 5 * (7 * 8 + 16), "not one call twice"


def test_a_line_of_progress_is_shown_while_the_database_is_gone(workspace, monkeypatch, capsys):
    """It ended the run as broken."""
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0)
    ended = run(workspace, plan(characters=["tully"]))
    workspace.db_path.rename(workspace.path / "moved")
    with progress._watching() as show:
        show(ended)
    assert "stored" in capsys.readouterr().out


def test_judging_an_unknown_benchmark_names_the_known_ones(filled):
    """It finished 0 of 0."""
    with filled.read() as db:
        with pytest.raises(NotFound, match=r"no benchmark with conversations “nothing”\. Known: .*pingpong"):
            options.benchmark_of(db, "nothing")
        assert options.benchmark_of(db, "pingpong") == "pingpong"


def test_an_endpoint_that_never_answered_is_waited_for_a_while():
    async def go():
        async with Client({"m": Model(name="m", base_url="http://127.0.0.1:9/v1")}) as client:
            gate = next(iter(client._gates.values()))
            return gate.unreachable(0.0), client.status()

    left, told = asyncio.run(go())
    assert (left, "15 s more" in told) == (15, True)


def test_the_estimate_says_what_an_interrupted_run_has_paid_already(workspace):
    """A conversation of four turns is eight calls; three were answered and noted before the power went."""
    with workspace.write() as db:
        user = load_models(workspace.models_path)["user"].configuration
        [play] = planning.job(workspace, plan(characters=["tully"], judges=[])).plays()
        for step in ("1 interrogator", "1 player", "2 interrogator"):
            stored.note_call(
                db, play.key, step, NotedCall("asked", "said", False, NOTHING_SPENT, UNREPORTED), user
            )
    found = planning.survey(workspace, planning.job(workspace, plan(characters=["tully"], judges=[])))
    assert (sum(found.calls.values()), found.noted) == (8, 3)
    assert "3 of these calls were answered before an interruption" in estimated(found)
    assert (
        planning.survey(workspace, planning.job(workspace, plan(characters=["mizuki"], judges=[]))).noted == 0
    )


def test_a_run_in_which_something_failed_does_not_simply_stand_as_finished(faulty):
    workspace = faulty(malformed=1)
    ended = run(workspace, plan(characters=["tully"], judges=["a"]))
    assert ended.state == "finished"
    assert ended.failed > 0
    assert ended.stands == "finished with failures"


def test_an_unexpected_end_leaves_a_broken_run_that_says_so(workspace):
    def fail(progress):
        raise RuntimeError("the terminal is gone")

    with pytest.raises(RuntimeError, match="the terminal is gone"):
        run(workspace, plan(), watch=fail)
    with workspace.read() as db:
        [ended] = stored.recent(db)
    assert ended.state == "broken"
    assert "Resume the run to continue." in ended.message
    assert run(workspace, plan()).state == "finished"


def test_stop_asked_for_from_elsewhere(faulty):
    workspace = faulty(latency=0.2)

    def press(progress):
        with workspace.write() as db:
            stored.ask_to_stop(db, progress.id)

    ended = run(workspace, plan(repeats=3), watch=press)
    assert ended.state == "stopped"
    assert "on request" in ended.message
    assert run(workspace, plan(repeats=3)).state == "finished"


def test_the_estimate_counts_what_the_run_then_does(workspace):
    job = planning.job(workspace, plan())
    found = planning.survey(workspace, job)
    assert (found.planned, found.left, found.usage.calls) == (6, 6, 20)
    assert found.unpriced == {"player", "user", "a", "b"}
    run(workspace, plan())
    assert planning.survey(workspace, job).usage.calls == 0


def test_the_estimate_is_of_measured_tokens_where_there_are_any(workspace):
    text = workspace.models_path.read_text()
    priced = "[models.a]", "[models.a]\nprice = { input = 2.0, output = 10.0 }"
    workspace.models_path.write_text(text.replace(*priced))
    run(workspace, plan(judges=("a",), characters=("tully",)))
    with workspace.read() as db:
        [judgement] = db["judgements"].rows
    with workspace.write() as db:  # of another prompt, which says nothing of this one
        other = {"key": "other", "prompt": "another", "input_tokens": 1, "output_tokens": 1}
        db.table("judgements").insert({name: judgement[name] for name in judgement if name != "id"} | other)
    found = planning.survey(workspace, planning.job(workspace, plan(judges=("a",))))
    # A conversation of four turns and its judgement are left.
    tokens_in, tokens_out = judgement["input_tokens"], judgement["output_tokens"]
    assert found.calls == {"user": 4, "player": 4, "a": 1}
    assert found.tokens == {
        "user": (4 * 700, 4 * 50),
        "player": (4 * 800, 4 * 120),
        "a": (tokens_in, tokens_out),
    }
    assert found.measured_models == {"a"}
    assert found.unpriced == {"user", "player"}
    assert found.cost == pytest.approx((2 * tokens_in + 10 * tokens_out) / 1e6)
    spent = found.usage
    assert (spent.calls, spent.input_tokens) == (9, 4 * 700 + 4 * 800 + tokens_in)
    assert spent.output_tokens == 4 * 50 + 4 * 120 + tokens_out


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (
            lambda: PlayPlan("pingpong", {"players": ("playr",), "interrogator": ("user",)}),
            NotFound,
            "Did you mean “player”",
        ),
        (lambda: PlayPlan("pingpong", {"players": ("player",)}), ConfigError, "needs interrogator"),
        (
            lambda: PlayPlan("pingpong", {"players": ("player",), "interrogator": ("user", "a")}),
            ConfigError,
            "takes one model as interrogator",
        ),
        (lambda: plan(characters=("tuly",)), NotFound, "Did you mean “tully”"),
        (lambda: plan(language="fr"), NotFound, "language"),
        (lambda: plan(repeats=0), ConfigError, "at least 1"),
        (lambda: plan(version="v9"), NotFound, "version"),
        (lambda: PlayPlan("pingpnog", {}), NotFound, "Did you mean “pingpong”"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_before_anything_is_paid(workspace, wrong, error, says):
    with pytest.raises(error, match=says):
        run(workspace, wrong())
    assert count(workspace, "runs") == 0


def test_a_missing_key_is_named_before_the_run_starts(workspace, monkeypatch):
    monkeypatch.delenv("NOT_SET_KEY", raising=False)
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(
        text.replace("seed = true", 'seed = true\napi_key_env = "NOT_SET_KEY"', 1)
    )
    with pytest.raises(ConfigError, match="NOT_SET_KEY"):
        run(workspace, plan())
