"""Partitions through the Batch API: sent once, left, collected, and paid once whatever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from urllib.request import Request, urlopen

import pytest

from concord.codes import Failure
from concord.configuration import Reported
from concord.errors import CallFailed, ConfigError
from concord.lake import engines
from concord.lake.coordinator import LakeHow
from concord.lake.journal import PartitionJournal
from concord.llm import batch as api
from concord.llm.models import load_models
from concord.rating import Spent
from concord.runs import batches as run_batches
from concord.store.batches import Batch, Waiting
from concord.store.runs import NotedCall
from concord.workspace import Workspace
from tests.conftest import FIXED, toml
from tests.lake.kills import LakeJob
from tests.lake.logs import calls, calls_of, conversation, lines, planned, rows
from tests.mock.faults import Faults
from tests.mock.server import running

BATCH = LakeHow(batch=True)
WAIT = LakeHow(batch=True, wait=True)


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Look at batches without pauses."""
    monkeypatch.setattr(engines, "FIRST_LOOK", 0.01)
    monkeypatch.setattr(engines, "LONGEST_LOOK", 0.05)


@pytest.fixture
def log(tmp_path):
    """A hundred conversations in five partitions."""
    return lines(tmp_path / "log.jsonl", [conversation(number) for number in range(100)])


def at_server(workspace, what="batches"):
    """The batches that the server has begun, or the files that it has."""
    with urlopen(f"{load_models(workspace.models_path)['a'].base_url}/{what}?limit=100") as reply:
        return json.load(reply)["data"]


def end_all(workspace):
    """Have the server end all batches now."""
    address = load_models(workspace.models_path)["a"].base_url
    for batch in at_server(workspace):
        urlopen(Request(f"{address}/batches/{batch['id']}/end", method="POST")).close()


def whole(workspace, log, tmp_path):
    """What one process answers by calls."""
    engines.execute(planned(workspace, [log], tmp_path / "whole"))
    return rows(tmp_path / "whole")


def test_files_are_sent_left_and_collected_by_the_same_command(faulty, log, tmp_path):
    workspace = faulty(batch_seconds=3600)
    of = planned(workspace, [log], tmp_path / "out")
    sent = engines.execute(of, BATCH)
    partitions = len(of.partitions)
    assert (sent.state, sent.judged, sent.waiting) == ("open", 0, 198)
    assert sent.expense.calls == calls(workspace) == 2, "the first call of a judge is made directly"
    assert len(at_server(workspace)) == 2 * partitions > 4
    assert f"198 calls wait in {2 * partitions} batches" in sent.message
    again = engines.execute(of, BATCH)
    assert (again.state, again.waiting, len(at_server(workspace))) == ("open", 198, 2 * partitions)
    assert calls(workspace) == 2
    end_all(workspace)
    ended = engines.execute(of, BATCH)
    assert (ended.state, ended.judged, ended.failed, ended.waiting) == ("finished", 200, 0, 0)
    assert ended.expense.calls == 198
    assert (calls(workspace), calls_of(workspace)["repeated"]) == (200, 0)
    assert rows(tmp_path / "out") == whole(workspace, log, tmp_path)
    assert not list((tmp_path / "out").glob("*/*.journal"))


def test_the_command_waits_where_it_is_told_to(faulty, log, tmp_path):
    workspace = faulty(batch_seconds=0.3)
    ended = engines.execute(planned(workspace, [log], tmp_path / "out"), WAIT)
    assert (ended.state, ended.judged, ended.waiting, ended.expense.calls) == ("finished", 200, 0, 200)
    assert ended.message == ""
    assert (calls(workspace), calls_of(workspace)["repeated"]) == (200, 0)


@pytest.mark.parametrize(
    "faults",
    [
        {"batch_missing": 7},
        {"batch_garbled": 7},
        {"batch_repeated": 3},
        {"batch_error": 9},
        {"batch_expired": 2},
        {"batch_lost": 3},
    ],
    ids=lambda faults: next(iter(faults)),
)
def test_what_a_batch_does_not_answer_is_asked_again(faulty, log, tmp_path, faults, monkeypatch):
    monkeypatch.setattr(run_batches, "UNSURE_SECONDS", 0.0)
    workspace = faulty(**faults)
    ended = engines.execute(planned(workspace, [log], tmp_path / "out"), WAIT)
    assert (ended.state, ended.judged, ended.failed) == ("finished", 200, 0), ended
    assert len({row[:3] for row in rows(tmp_path / "out")}) == 400


def test_an_endpoint_whose_queue_is_full_gets_smaller_batches(faulty, log, tmp_path):
    workspace = faulty(batch_most=12)
    ended = engines.execute(planned(workspace, [log], tmp_path / "out"), WAIT)
    assert (ended.state, ended.judged) == ("finished", 200)
    assert (calls(workspace), calls_of(workspace)["repeated"]) == (200, 0)


def test_a_queue_that_others_fill_is_waited_for(faulty, log, tmp_path, monkeypatch):
    """The endpoint takes three batches at a time: the others are sent as they are when it has room."""
    workspace = faulty(batch_seconds=0.1, batch_queue=3)
    ended = engines.execute(planned(workspace, [log], tmp_path / "out"), WAIT)
    assert (ended.state, ended.judged) == ("finished", 200)
    assert (calls(workspace), calls_of(workspace)["repeated"]) == (200, 0)
    sizes = {batch["request_counts"]["total"] for batch in at_server(workspace)}
    assert min(sizes) > 10, "no partition is cut, as its own size was not the reason"


def test_an_endpoint_without_a_batch_api_is_named(faulty, log, tmp_path, monkeypatch):
    workspace = faulty()

    async def none(*_args, **_kwargs):
        raise CallFailed("There is no such address.", code=Failure.UNKNOWN_MODEL, reason="404", status=404)

    monkeypatch.setattr(api, "upload", none)
    ended = engines.execute(planned(workspace, [log], tmp_path / "out", ["a"]), BATCH)
    assert ended.state == "broken"
    assert "offers no Batch API" in ended.message


def test_what_waits_is_not_asked_directly(faulty, log, tmp_path):
    workspace = faulty(batch_seconds=3600)
    of = planned(workspace, [log], tmp_path / "out", ["a"])
    engines.execute(of, BATCH)
    before = calls(workspace)
    for how in (LakeHow(), LakeHow(workers=2)):
        ended = engines.execute(of, how)
        assert (ended.state, calls(workspace)) == ("open", before)
    end_all(workspace)
    assert engines.execute(of).state == "finished"
    assert (calls(workspace), calls_of(workspace)["repeated"]) == (100, 0)


def test_a_spending_limit_counts_what_waits(faulty, log, tmp_path):
    workspace = faulty(batch_seconds=3600)
    url = workspace.models_path.read_text().split('"')[1]
    workspace.models_path.write_text(toml(url, a=f"{FIXED}\nprice = {{ input = 1000, output = 1000 }}"))
    of = planned(workspace, [log], tmp_path / "out", ["a"])
    free = engines.execute(planned(workspace, [log], tmp_path / "free", ["a"])).expense.cost
    how = LakeHow(batch=True, max_cost=free / 2)
    sent = engines.execute(of, how)
    assert 0 < sent.waiting < 70
    assert "Raise --max-cost" in sent.message
    again = engines.execute(of, how)
    assert again.waiting == sent.waiting, "what waits is reserved, also for the next command"
    end_all(workspace)
    # What batches cost less than was reserved is spent on further ones.
    for _ in range(5):
        ended = engines.execute(of, how)
        end_all(workspace)
    assert ended.state != "finished"
    assert calls(workspace) - 100 <= 55


def test_options_that_do_not_go_together_are_refused(workspace, log, tmp_path):
    of = planned(workspace, [log], tmp_path / "out")
    with pytest.raises(ConfigError, match="--workers"):
        engines.execute(of, LakeHow(batch=True, workers=2))
    with pytest.raises(ConfigError, match="--wait"):
        engines.execute(of, LakeHow(wait=True))


def test_a_command_that_is_killed_pays_once(tmp_path, log):
    """Killed five times while it sends and collects: each call is answered once."""
    slow = Faults(batch_seconds=0.2, batch_create_seconds=0.3, batch_upload_seconds=0.3)
    with running(faults=slow) as url:
        workspace = Workspace.open(tmp_path / "workspace")
        workspace.models_path.write_text(toml(url, a=FIXED, b=FIXED))
        planned(workspace, [log], tmp_path / "out")  # writes the rubric
        job = LakeJob(workspace, log, tmp_path / "out", "a,b", 20, [("--batch", "--wait")])
        for wanted in (1, 2, 4, 7, 10):
            process = job.begin(0)
            while len(at_server(workspace, "files")) < wanted and process.poll() is None:
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
        process = job.begin(0)
        try:
            said, _ = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        counts = calls_of(workspace)
    assert process.returncode == 0, said
    answers = rows(tmp_path / "out")
    assert len(answers) == len(set(answers)) == 400
    assert sum(counts["answered"].values()) - counts["repeated"] == 200
    assert counts["repeated"] <= 2, "a direct first call of each judge may have been in flight"


def test_the_command_says_what_a_batch_costs_and_what_waits(faulty, log, tmp_path, run):
    workspace = faulty(batch_seconds=3600)
    url = workspace.models_path.read_text().split('"')[1]
    price = "price = { input = 1000, output = 1000, batch = 0.5 }"
    workspace.models_path.write_text(toml(url, a=f"{FIXED}\n{price}"))
    planned(workspace, [log], tmp_path / "x", ["a"])  # writes the rubric
    words = ("judge", log, "--rubric", "support", "--judges", "a", "--out", tmp_path / "out")
    costs = [
        float(line.rpartition(" ")[2])
        for line in run(workspace, *words, "--estimate").output.splitlines()
        if "cost: " in line or "By batch" in line
    ]
    assert costs[0] == pytest.approx(2 * costs[1], abs=0.02)
    sent = run(workspace, *words, "--batch")
    assert sent.exit_code == 3, sent.output
    assert "Waiting for batches: " in sent.output
    assert "99 calls wait in" in sent.output
    assert "Run the same command to continue." in sent.output


def test_an_answer_that_was_collected_is_not_counted_again(tmp_path):
    """Killed between two answers of a batch: the journal knows which one it has."""
    journal = PartitionJournal(tmp_path / "part.journal")
    journal.keep_batch(Batch(1, "mark", None, "a", 2, "in_progress", "file", "batch", "", "", ""))
    for number in (1, 2):
        journal.keep_call(Waiting(f"call {number}", 1, "a", f"work {number}", "judge", "asked", 0.5))
    note = NotedCall("asked", "yes", False, Spent(1, cost=0.25), Reported("a"))
    journal.note("work 1", "judge", note, call="call 1")
    journal.close()
    again = PartitionJournal(tmp_path / "part.journal")
    assert (list(again.waiting), again.reserved, again.spent.cost) == (["call 2"], 0.5, 0.25)
    assert again.noted["work 1"]["judge"].reply == "yes"
    assert again.batches[1].name == "batch"
    again.close()
