"""Runs by batch: sent once, left, collected, and asked again where an endpoint gave no answer."""

from __future__ import annotations

import json
import subprocess
import sys
from urllib.request import Request, urlopen

import pytest

from concord.codes import Failure
from concord.commands.progress import estimated
from concord.errors import CallFailed
from concord.llm import batch as api
from concord.llm.models import load_models
from concord.runs import batches, engine, planning
from concord.runs.plans import JudgePlan
from concord.store import batches as stored
from concord.store import runs
from tests import warm
from tests.runs.runs_helpers import calls_made, calls_of, count, plan, run, until
from tests.shaken import shaken

JUDGED = JudgePlan("pingpong", ("a", "b"))


class Killed(BaseException):
    """Ends a run as no error does."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Look at batches without pauses."""
    monkeypatch.setattr(batches, "FIRST_LOOK", 0.01)
    monkeypatch.setattr(batches, "LONGEST_LOOK", 0.05)


def by_batch(workspace, the_plan=JUDGED, **how):
    return engine.execute(workspace, planning.job(workspace, the_plan), batch=True, **how)


def played(faulty, **faults):
    """Four conversations without judgements, on a server whose batches go wrong as told."""
    workspace = faulty(**faults)
    run(workspace, plan(judges=(), characters=("tully", "mizuki"), situations=("reality", "heckler")))
    return shaken(workspace)


def states(workspace):
    with workspace.read() as db:
        return [row["state"] for row in db["batches"].rows]


def at_server(workspace, what="batches"):
    """The batches that the server has begun, or the files that it has."""
    with urlopen(f"{load_models(workspace.models_path)['a'].base_url}/{what}?limit=100") as reply:
        return json.load(reply)["data"]


def entries(workspace, **more):
    """Add settings to models of models.toml."""
    text = workspace.models_path.read_text()
    for name, setting in more.items():
        text = text.replace(f"[models.{name}]\n", f"[models.{name}]\n{setting}\n")
    workspace.models_path.write_text(text)


def test_what_another_run_sent_is_not_paid_a_second_time(faulty):
    """A direct run leaves calls alone that wait in batches which another run has sent."""
    workspace = played(faulty, batch_seconds=3600)
    before = calls_made(workspace)
    by_batch(workspace)
    assert (run(workspace, JUDGED).spent.calls, calls_made(workspace)) == (0, before)
    address = load_models(workspace.models_path)["a"].base_url
    for batch in at_server(workspace):
        urlopen(Request(f"{address}/batches/{batch['id']}/end", method="POST")).close()
    assert by_batch(workspace, wait=True).state == "finished"
    assert calls_made(workspace) == before + 8


def test_judging_by_batch_is_sent_left_and_collected(faulty):
    workspace = played(faulty)
    before = calls_made(workspace)
    left = by_batch(workspace)
    assert (left.stands, left.done, left.spent.calls) == ("waiting for batches", 0, 0)
    assert "8 calls wait in 2 batches" in left.message
    ended = by_batch(workspace)
    assert (ended.state, ended.done, ended.failed, ended.spent.calls) == ("finished", 8, 0, 8)
    assert count(workspace, "judgements") == 8
    assert [count(workspace, table) for table in ("journal", "batch_calls")] == [0, 0]
    assert calls_made(workspace) == before + 8
    with workspace.read() as db:
        assert runs.get(db, left.id).stands == "stopped", "nothing of it waits any more"


def test_the_first_call_of_a_model_is_direct_the_others_are_batched(faulty):
    """What its endpoint takes is known before a file of calls is sent."""
    workspace = played(faulty)
    with workspace.write() as db:
        db["settings"].delete_where("key LIKE 'handshake %'")
    before = calls_made(workspace)
    ended = by_batch(workspace, wait=True)
    assert (ended.state, ended.done, ended.failed) == ("finished", 8, 0)
    assert (ended.spent.calls, calls_made(workspace) - before) == (8, 8), "nothing is paid twice"
    with workspace.read() as db:
        assert [(row["model"], row["lines"]) for row in db["batches"].rows] == [("a", 3), ("b", 3)]


def test_a_whole_run_goes_wave_by_wave(faulty):
    """A dialogue of four turns takes eight waves, its judges one more."""
    workspace = shaken(faulty())
    ended = by_batch(workspace, plan(), wait=True)
    assert (ended.state, ended.done, ended.failed, ended.spent.calls) == ("finished", 6, 0, 20)
    with workspace.read() as db:
        sent = [(row["model"], row["lines"]) for row in db["batches"].rows]
    assert sent == [("user", 2), ("player", 2)] * 4 + [("a", 2), ("b", 2)]
    assert calls_of(workspace)["repeated"] == 0


def test_batches_write_what_calls_write(faulty, workspace):
    one = faulty()
    by_batch(one, plan(), wait=True)
    run(workspace, plan())

    def texts(of):
        with of.read() as db:
            said = {row["key"]: row["messages"] for row in db["conversations"].rows}
            return said, {row["key"]: row["raw"] for row in db["judgements"].rows}

    assert texts(one) == texts(workspace)


@pytest.mark.parametrize(("fault", "lost"), [("batch_error", 0), ("batch_missing", 2), ("batch_garbled", 2)])
def test_lines_without_an_answer_are_asked_again(faulty, fault, lost):
    """Of the first eight lines the 3rd and the 6th, of the two of the second wave the 9th."""
    workspace = played(faulty, **{fault: 3})
    ended = by_batch(workspace, wait=True)
    assert (ended.state, ended.done, ended.failed, ended.spent.calls) == ("finished", 8, 0, 8)
    with workspace.read() as db:
        assert sum(row["lines"] for row in db["batches"].rows) == 8 + 2 + 1
    assert (calls_of(workspace)["repeated"] > 0) == bool(lost), "the endpoint had answered those that it lost"


def test_an_answer_counts_once_and_an_unasked_one_never(faulty):
    workspace = played(faulty, batch_repeated=2)
    ended = by_batch(workspace, wait=True)
    assert (ended.state, ended.done, ended.spent.calls) == ("finished", 8, 8)
    assert states(workspace) == ["collected"] * 2


def test_a_line_that_is_refused_is_a_counted_failure(faulty):
    workspace = played(faulty, batch_refused=4)
    ended = by_batch(workspace, wait=True)
    assert (ended.state, ended.done, ended.failed, ended.left) == ("finished", 6, 2, 0)
    with workspace.read() as db:
        [reason] = runs.reasons(db, ended.id)
    assert (reason.reason, reason.failed) == ("HTTP 400", 2)
    assert "told to fail" in reason.raw
    again = by_batch(workspace, wait=True)
    assert (again.stored - ended.stored, again.done, again.failed) == (6, 2, 0), "tried again when run again"


def test_a_call_that_is_never_answered_fails_after_some_batches(faulty):
    workspace = played(faulty, batch_error=1)
    ended = by_batch(workspace, wait=True)
    assert (ended.state, ended.done, ended.failed) == ("finished", 0, 8)
    assert len(states(workspace)) == 2 * batches.TRIES
    with workspace.read() as db:
        assert [r.reason for r in runs.reasons(db, ended.id)] == ["HTTP 500"]


def test_an_unusable_reply_is_asked_again_by_batch(faulty):
    workspace = played(faulty)
    entries(workspace, a="params = { max_tokens = 5 }")
    ended = by_batch(workspace, wait=True)
    assert (ended.done, ended.failed, ended.spent.calls) == (4, 4, 4 * 3 + 4)
    with workspace.read() as db:
        kinds = {row["kind"] for row in db["failures"].rows}
    assert kinds <= {"truncated"}


def test_what_an_expired_batch_did_not_answer_is_asked_again(faulty):
    workspace = played(faulty, batch_expired=2)
    ended = by_batch(workspace, wait=True)
    assert (ended.state, ended.done, ended.spent.calls) == ("finished", 8, 8)
    assert calls_of(workspace)["repeated"] == 0
    with workspace.read() as db:
        assert {row["message"] for row in db["batches"].rows} == {"", "expired"}


def test_a_batch_can_be_cancelled_at_the_endpoint(faulty, run):
    workspace = played(faulty, batch_seconds=3600)
    by_batch(workspace)
    with workspace.read() as db:
        name = next(db["batches"].rows)["name"]
    address = load_models(workspace.models_path)["a"].base_url
    urlopen(Request(f"{address}/batches/{name}/cancel", method="POST")).close()
    left = by_batch(workspace)
    assert left.done == 0
    assert left.waiting == 8, "the calls of the cancelled batch are in a third one"
    assert states(workspace) == ["collected", "in_progress", "in_progress"]
    assert "Forgotten" in run(workspace, "run", "forget-batch", 2).output
    assert "no batch that waits" in run(workspace, "run", "forget-batch", 2).output


@pytest.mark.parametrize(
    "moment", [{"batch_upload_seconds": 3600}, {"batch_create_seconds": 3600}], ids=["upload", "create"]
)
def test_killed_while_it_sends_nothing_is_sent_twice(faulty, moment):
    """`kill -9` before the endpoint has acknowledged the file, or the batch that it has begun."""
    workspace = played(faulty, **moment)
    words = ["judge", "pingpong", "--judges", "a", "--batch"]
    command = [sys.executable, "-m", "concord.cli", "--workspace", str(workspace.path), *words]
    process = warm.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    state = "prepared" if "batch_upload_seconds" in moment else "uploaded"
    until(lambda: at_server(workspace, "files" if state == "prepared" else "batches"), process)
    assert states(workspace) == [state]
    process.kill()
    process.wait()
    ended = by_batch(workspace, JudgePlan("pingpong", ("a",)), wait=True)
    assert (ended.state, ended.done, ended.spent.calls) == ("finished", 4, 4)
    assert len(at_server(workspace)) == 1
    assert calls_of(workspace)["repeated"] == 0


def test_a_batch_that_may_yet_begin_is_not_sent_again_at_once(faulty, monkeypatch):
    """Killed when the file was sent: the store cannot know whether the endpoint was asked to begin."""
    workspace = played(faulty)

    async def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(api, "create", killed)
        with pytest.raises(Killed):
            by_batch(workspace)
    left = by_batch(workspace)
    # Of one judge it is not known; the other's calls were not sent.
    assert (left.state, len(at_server(workspace))) == ("stopped", 1)
    monkeypatch.setattr(batches, "UNSURE_SECONDS", 0.0)
    ended = by_batch(workspace, wait=True)
    assert (ended.state, ended.stored + ended.done, len(at_server(workspace))) == ("finished", 8, 2)
    assert calls_of(workspace)["repeated"] == 0


def test_killed_while_it_collects_it_collects_the_rest(faulty, monkeypatch):
    workspace = played(faulty)
    by_batch(workspace)
    settle, settled = stored.settle, []

    def dies(*args):
        settled.append(args)
        if len(settled) == 3:
            raise Killed
        return settle(*args)

    with monkeypatch.context() as patch:
        patch.setattr(batches, "CHUNK", 1)
        patch.setattr(stored, "settle", dies)
        with pytest.raises(Killed):
            by_batch(workspace)
    with workspace.read() as db:
        assert (db["journal"].count, db["batch_calls"].count) == (2, 6)
    ended = by_batch(workspace)
    assert (ended.state, ended.done, ended.spent.calls) == ("finished", 8, 6)
    assert len(at_server(workspace)) == 2


def test_a_batch_whose_beginning_was_not_told_is_found_again(faulty):
    workspace = played(faulty, batch_lost=1)
    left = by_batch(workspace)
    assert left.waiting == 8
    assert states(workspace) == ["uploaded", "uploaded"]
    ended = by_batch(workspace, wait=True)
    assert (ended.state, ended.done, ended.spent.calls) == ("finished", 8, 8)
    assert calls_of(workspace)["repeated"] == 0
    assert len(states(workspace)) == 2


def test_an_endpoint_that_is_away_for_a_while_is_looked_at_again(faulty, monkeypatch):
    workspace = played(faulty)
    look, looks = api.look, []

    async def away(*args):
        looks.append(args)
        if len(looks) <= 3:
            raise CallFailed("It cannot be reached.", code=Failure.UNREACHABLE)
        return await look(*args)

    monkeypatch.setattr(api, "look", away)
    ended = by_batch(workspace, wait=True)
    assert (ended.state, ended.done, len(looks) > 3) == ("finished", 8, True)


def test_a_queue_that_is_full_is_given_smaller_batches(faulty):
    workspace = played(faulty, batch_most=2)
    ended = by_batch(workspace, JudgePlan("pingpong", ("a",)), wait=True)
    assert (ended.state, ended.done, ended.spent.calls) == ("finished", 4, 4)
    assert states(workspace) == ["refused", "collected", "collected"]


def test_a_refused_batch_breaks_the_run_with_the_endpoints_words(faulty):
    workspace = played(faulty, batch_invalid=1)
    by_batch(workspace)
    ended = by_batch(workspace)
    assert ended.state == "broken"
    assert "says invalid_json_line" in ended.message
    assert ended.left == 8


def test_calls_that_wait_are_not_made_directly(faulty):
    workspace = played(faulty, batch_seconds=3600)
    before = calls_made(workspace)
    by_batch(workspace, JudgePlan("pingpong", ("a",)))
    ended = run(workspace, JUDGED)
    assert (ended.done, ended.spent.calls) == (4, 4), "those of the other judge"
    assert "4 calls wait in a batch (in progress)" in ended.message
    assert calls_made(workspace) == before + 4


def test_a_model_without_batches_is_called(faulty):
    workspace = played(faulty)
    entries(workspace, b="batch = false")
    left = by_batch(workspace)
    assert (left.done, left.waiting) == (4, 4)


def test_an_endpoint_without_batches_is_told(faulty):
    workspace = played(faulty)
    url = load_models(workspace.models_path)["a"].base_url
    text = workspace.models_path.read_text()
    workspace.models_path.write_text(
        text.replace(f'[models.a]\nbase_url = "{url}"', f'[models.a]\nbase_url = "{url}/x"')
    )
    ended = by_batch(workspace, JudgePlan("pingpong", ("a",)))
    assert ended.state == "broken"
    assert "offers no Batch API" in ended.message


def test_a_batch_that_the_endpoint_has_lost_is_kept_until_it_is_given_up(faulty, run):
    workspace = played(faulty)
    by_batch(workspace, JudgePlan("pingpong", ("a",)))
    with workspace.write() as db:
        db.execute("UPDATE batches SET name = 'batch_99'")
    ended = by_batch(workspace, JudgePlan("pingpong", ("a",)))
    assert ended.state == "broken"
    assert "`concord run forget-batch 1`" in ended.message
    assert run(workspace, "run", "forget-batch", 1).exit_code == 0
    assert by_batch(workspace, JudgePlan("pingpong", ("a",)), wait=True).done == 4


PRICE = "price = { input = 1000.0, output = 1000.0, batch = 0.5 }"


def test_answers_cost_the_price_of_batches_and_the_estimate_says_both(faulty):
    workspace = played(faulty)
    entries(workspace, a=PRICE)
    the_plan = JudgePlan("pingpong", ("a",))
    found = planning.survey(workspace, planning.job(workspace, the_plan))
    assert found.by_batch == pytest.approx(found.cost / 2)
    assert f"By batch (--batch): {found.cost / 2:.2f}" in estimated(found)
    ended = by_batch(workspace, the_plan, wait=True)
    assert ended.spent.cost == pytest.approx((ended.spent.input_tokens + ended.spent.output_tokens) / 2000)


def test_calls_that_might_exceed_the_limit_are_not_sent(faulty):
    workspace = played(faulty)
    entries(workspace, a=PRICE)
    the_plan = JudgePlan("pingpong", ("a",))
    limit = 0.6 * planning.survey(workspace, planning.job(workspace, the_plan)).by_batch
    left = by_batch(workspace, the_plan, max_cost=limit)
    assert "spending limit" in left.message
    assert 0 < left.waiting < 4
    assert by_batch(workspace, the_plan, wait=True).done == 4


def test_the_commands_say_when_to_come_back(faulty, run):
    workspace = played(faulty, batch_seconds=3600)
    left = run(workspace, "judge", "pingpong", "--judges", "a", "--batch")
    assert left.exit_code == 3
    assert "4 calls wait in a batch" in left.output
