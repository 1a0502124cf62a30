"""Tasks are proposed by a model, and a person decides."""

import random
import time

import pytest

from concord.benchmarks.simulbench import proposals
from concord.benchmarks.simulbench.proposals import Proposed
from concord.benchmarks.simulbench.tasks import catalogue
from concord.benchmarks.simulbench.tasks import tasks as usable
from concord.errors import NotFound
from concord.llm.replies import Unusable
from concord.runs import engine, launching, planning
from concord.runs.planning import materials
from concord.runs.plans import ProposePlan
from concord.store import runs, scenarios
from concord.workspace import SHIPPED

KNOWN = list(catalogue([SHIPPED / "data"]).values())


def proposed(**changed):
    fields = {
        "task_name": "Till",
        "task_description": "Be a till. My first item costs 3.",
        "request_type": "an item",
    }
    return Proposed(**{**fields, **changed})


def propose(workspace, type="stateful", count=4, **how):
    return carry_out(workspace, wanted((type,), count, **how))


def wanted(types=(), count=5, **how):
    return ProposePlan("simulbench", "mock-user", types, count, **how)


def carry_out(workspace, plan, **how):
    return engine.execute(workspace, planning.job(workspace, plan), **how)


def survey(workspace, plan, **how):
    return planning.survey(workspace, planning.job(workspace, plan), **how)


def waiting(workspace):
    with workspace.read() as db:
        return scenarios.page(db, "simulbench", "task", state="proposed")


def test_five_examples_of_the_type_at_random():
    chosen = proposals.seeds(KNOWN, "stateless", random.Random(1))
    assert len({t.id for t in chosen}) == 5
    assert {t.type for t in chosen} == {"stateless"}
    assert chosen == proposals.seeds(KNOWN, "stateless", random.Random(1))
    assert chosen != proposals.seeds(KNOWN, "stateless", random.Random(2))
    few = [t for t in KNOWN if t.type == "stateless"][:3]
    assert len(proposals.seeds(few, "stateless", random.Random(1))) == 3


@pytest.mark.parametrize(
    "changed",
    [
        {"task_description": "Be a till and add up what I say."},
        {"task_description": "Be a till. My first item is [ITEM_NAME]."},
        {"task_name": "[TASK_NAME]"},
        {"request_type": "<kind of request>"},
    ],
)
def test_a_proposal_without_a_first_request_is_sent_back(changed):
    proposals.check(proposed())
    with pytest.raises(Unusable):
        proposals.check(proposed(**changed))


def test_proposals_wait_are_not_used_and_a_second_round_continues(workspace):
    assert propose(workspace, count=3).done == 3
    again = propose(workspace, count=5)
    assert (again.done, again.stored) == (2, 3)
    assert propose(workspace, "stateless", count=2).done == 2
    found = waiting(workspace)
    assert [one.body["type"] for one in found] == ["stateful"] * 5 + ["stateless"] * 2
    for one in found:
        assert len(one.body["examples"]) == 5
        assert one.body["model"] == "mock-user"
        assert one.body["simulated"] is True
        assert one.key not in usable(materials(workspace))
        assert " first " in one.body["task_description"]


def test_a_person_accepts_and_rejects_and_it_is_kept_who_and_when(workspace, run):
    propose(workspace, count=2)
    a, b = (one.key for one in waiting(workspace))
    with workspace.write() as db:
        accepted = scenarios.decide(db, "simulbench", "task", a, "accepted", "Ada")
        scenarios.decide(db, "simulbench", "task", b, "rejected", "Ben")
    assert (accepted.decided_by, bool(accepted.decided)) == ("Ada", True)
    known = usable(materials(workspace))
    assert a in known
    assert b not in known
    assert waiting(workspace) == []
    rejected = run(workspace, "simulbench", "tasks", "list", "--state", "rejected").output
    assert rejected.startswith(b)
    assert " first " in rejected
    assert "\n  Every request: " in rejected


def test_an_unknown_task_is_named(workspace):
    with workspace.write() as db, pytest.raises(NotFound, match="task “nope”"):
        scenarios.decide(db, "simulbench", "task", "nope", "accepted", "Ada")


def test_calls_that_fail_are_counted_and_asked_again_the_next_time(workspace, run):
    good = workspace.models_path.read_text()
    workspace.models_path.write_text(good.replace("/v1", "/gone"))
    failed = run(
        workspace,
        "simulbench",
        "tasks",
        "propose",
        "--model",
        "mock-user",
        "--type",
        "stateful",
        "--count",
        2,
    )
    assert failed.exit_code == 2
    assert "  2 × HTTP 404 (mock-user)\n    simulbench/task/mock-user/" in failed.output
    workspace.models_path.write_text(good)
    assert propose(workspace, count=2).done == 2


def test_an_estimate_counts_what_is_left_and_asks_nothing(workspace, run):
    plan = wanted(count=3)
    found = survey(workspace, plan)
    assert (found.planned, found.stored_count, found.left, found.calls) == (6, 0, 6, {"mock-user": 6})
    assert waiting(workspace) == []
    propose(workspace, "stateless", count=2)
    found = survey(workspace, plan)
    assert (found.planned, found.stored_count, found.calls) == (6, 2, {"mock-user": 4})
    assert found.unpriced == {"mock-user"}
    told = run(
        workspace, "simulbench", "tasks", "propose", "--model", "mock-user", "--count", 3, "--estimate"
    ).output
    assert "6 results planned, 2 stored, 4 to generate." in told
    assert "mock-user: 4 calls" in told
    assert carry_out(workspace, plan).done == 4
    assert survey(workspace, plan).calls == {}
    assert carry_out(workspace, plan).spent.calls == 0


def test_a_round_stops_at_its_limit_and_goes_on(workspace):
    priced = workspace.models_path.read_text().replace(
        "[models.mock-user]",
        "[models.mock-user]\nprice = { input = 1000.0, output = 1000.0 }\nmax_concurrency = 1",
    )
    workspace.models_path.write_text(priced)
    plan = wanted(count=5, seed=1)
    [found] = [planning.survey(workspace, planning.job(workspace, plan))]
    # Room for one call, or a part of the next: what ten cost is a guess.
    stopped = carry_out(workspace, plan, max_cost=found.cost / 10 * 1.2)
    assert (stopped.state, stopped.done, stopped.planned) == ("stopped", 1, 10)
    assert "spending limit" in stopped.message
    again = carry_out(workspace, plan)
    assert (again.state, again.stored, again.done) == ("finished", 1, 9)


def test_asked_to_stop_it_stops(workspace):
    def watch(progress):
        if progress.done:
            with workspace.write() as db:
                runs.ask_to_stop(db, progress.id)

    workspace.models_path.write_text(
        workspace.models_path.read_text().replace(
            "[models.mock-user]", "[models.mock-user]\nmax_concurrency = 1"
        )
    )
    ended = carry_out(workspace, wanted(count=1000), watch=watch)
    assert ended.state == "stopped"
    assert 0 < ended.left < 2000
    assert len(waiting(workspace)) == ended.done, "what was proposed is kept"


def test_a_call_without_a_usable_reply_is_paid_once(workspace, monkeypatch):
    def picky(reply):
        raise Unusable("Not this one.")

    plan = wanted(("stateful",), 2)
    with monkeypatch.context() as patched:
        patched.setattr(proposals, "check", picky)
        failed = carry_out(workspace, plan)
    # Three attempts each: asked, and sent back twice.
    assert (failed.state, failed.done, failed.failed) == ("finished", 0, 2)
    again = carry_out(workspace, plan)
    assert (again.done, again.failed, again.spent.calls) == (0, 2, 0)
    assert survey(workspace, plan).failed == 2
    assert survey(workspace, plan, retry_failed=True).left == 2
    assert carry_out(workspace, plan, retry_failed=True).done == 2
    assert survey(workspace, plan).failed == 0


def test_a_launched_round_is_a_process_that_can_be_resumed(workspace, run):
    plan = wanted(("stateful",), 2, seed=9)
    number = launching.start(workspace, plan)
    while True:
        with workspace.read() as db:
            if runs.get(db, number).state != "running":
                break
        time.sleep(0.05)
    assert len(waiting(workspace)) == 2
    told = run(workspace, "run", "resume", number)
    assert told.exit_code == 0, told.output
    assert "2 of 2 stored · 0 calls" in told.output


def test_by_command(run, workspace):
    told = run(
        workspace,
        "simulbench",
        "tasks",
        "propose",
        "--model",
        "mock-user",
        "--type",
        "stateless",
        "--count",
        2,
    )
    assert told.exit_code == 0, told.output
    key = told.output.splitlines()[1].split("\t")[0]
    assert run(workspace, "--by", "Ada", "simulbench", "tasks", "accept", key).output == "1 accepted.\n"
    assert (
        run(workspace, "simulbench", "tasks", "list", "--state", "proposed").output.count("\tproposed\t") == 1
    )
    assert run(workspace, "--by", "Ada", "simulbench", "tasks", "reject", key).output == "1 rejected.\n"
    with workspace.read() as db:
        assert scenarios.get(db, "simulbench", "task", key).state == "rejected"
