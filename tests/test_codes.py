"""Codes: what a failure does, and that workspaces of earlier versions open."""

import pytest

from concord.codes import EFFECTS, ON_DEMAND, Failure, Retry
from concord.store import runs
from concord.store.runs import FailedWork


def test_every_failure_says_what_it_does():
    assert [code for code in Failure if code not in EFFECTS] == []
    assert [code for code in Failure if code.stops_model and code.retry is not Retry.NEVER] == []
    assert [code for code in Failure if code.on_demand and code.retry is not Retry.NEVER] == []


@pytest.mark.parametrize(
    ("stored", "code"),
    [
        ("auth", Failure.KEY_REFUSED),
        ("unparsable", Failure.UNPARSEABLE),
        *((name, Failure(name)) for name in ("unreachable", "timeout", "rate_limit", "server", "refused")),
        *((name, Failure(name)) for name in ("bad_request", "truncated", "empty", "unexpected")),
    ],
)
def test_a_name_in_an_earlier_workspace_has_its_code(stored, code):
    assert Failure(stored) is code


def test_no_name_is_made_up():
    with pytest.raises(ValueError, match="is not a valid Failure"):
        Failure("nonsense")


def test_failed_work_of_an_earlier_workspace_is_not_tried_again(workspace):
    with workspace.write() as db:
        for code in Failure:
            runs.save_failure(db, code.value, FailedWork(code, "It failed."), None)
        runs.save_failure(db, "earlier", FailedWork(Failure.UNPARSEABLE, "It failed."), None)
        db.execute("UPDATE failures SET kind = 'unparsable' WHERE work = 'earlier'")
        works = [*(code.value for code in Failure), "earlier", "never"]
        assert runs.failed(db, works) == {*(code.value for code in ON_DEMAND), "earlier"}
