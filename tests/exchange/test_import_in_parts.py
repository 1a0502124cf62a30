"""An import is stored in parts, so that others write in between; one that does not end leaves nothing."""

import signal
import sys

import pytest

from concord.errors import WorkspaceError
from concord.exchange import incoming
from concord.store import copies, parts
from concord.workspace import Workspace
from tests import warm
from tests.derived import faults
from tests.exchange.import_in_parts_helpers import LINES, held, imported, workspace  # noqa: F401


def whole(workspace):  # noqa: F811
    with copies.snapshot(workspace.db_path) as copy:
        return faults(copy) == []


def test_what_is_stored_is_what_one_transaction_stores(workspace, run, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(incoming, "CONVERSATIONS", 1000)
    monkeypatch.setattr(incoming, "RATINGS", 1000)
    other = Workspace.open(tmp_path / "other")
    assert imported(other, run, tmp_path, "first", LINES).exit_code == 0
    one, another = held(workspace), held(other)
    assert {name: len(rows) for name, rows in one.items()} == {n: len(rows) for n, rows in another.items()}
    for name in ("items", "criteria", "scores", "finals", "summaries"):
        assert one[name] == another[name]
    assert whole(workspace)
    assert not any("'part " in row for row in held(workspace)["settings"])


@pytest.mark.parametrize("more", [(), ("--append",)])
def test_a_refusal_in_the_last_part_leaves_nothing(workspace, run, tmp_path, monkeypatch, more):  # noqa: F811
    before = held(workspace)
    study = "first" if more else "second"
    lines = [line.replace("i", "j", 1) for line in LINES]
    if more:  # the conversations stay, and what was derived from the ratings has to be as before
        lines = [line.replace("one", "two").replace("ann", "bob") for line in LINES]
    last, parts_done = len({line.split(",")[0] for line in lines}), []
    stored = incoming._rate

    def refused(*args):
        parts_done.append(args)
        if len(parts_done) == last:
            raise incoming.ImportRefused("The last one is wrong.")
        return stored(*args)

    monkeypatch.setattr(incoming, "_rate", refused)
    done = imported(workspace, run, tmp_path, study, [*lines, f"{lines[0][:2]},care,human,ann,2,"], *more)
    assert "The last one is wrong." in done.output
    assert done.exit_code == 1
    assert held(workspace) == before
    assert whole(workspace)


KILLED = """
import os, signal, sys
from concord.cli import main
from concord.exchange import incoming
incoming.CONVERSATIONS = incoming.RATINGS = 1
rows, calls = incoming._rate, []
def dying(*args):
    calls.append(args)
    if len(calls) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows(*args)
incoming._rate = dying
main()
"""


def test_an_import_that_was_killed_is_removed_when_the_workspace_is_opened(workspace, tmp_path):  # noqa: F811
    before = held(workspace)
    file = tmp_path / "second.csv"
    lines = [line.replace("i", "j", 1) for line in LINES]
    file.write_text("\n".join(["item_id,criterion,rater_type,rater,score,text", *lines]) + "\n")
    command = ["--workspace", str(workspace.path), "import", "ratings", str(file), "--study", "second"]
    done = warm.run([sys.executable, "-c", KILLED, *command])
    assert done.returncode == -signal.SIGKILL
    assert len(held(workspace)["ratings"]) == len(before["ratings"]) + 6
    Workspace.open(workspace.path)
    assert held(workspace) == before
    assert whole(workspace)


def test_an_import_under_way_is_not_taken_for_an_abandoned_one(workspace, run, tmp_path):  # noqa: F811
    with parts.in_parts(workspace.db_path) as part:
        with part() as db:
            db.execute("INSERT INTO studies (name, title, source, created) VALUES ('new', '', '', '')")
        with Workspace.open(workspace.path).read() as db:
            assert db.execute("SELECT count(*) FROM studies").fetchone() == (2,)
        assert "Another import is running" in imported(workspace, run, tmp_path, "third", LINES).output
        with pytest.raises(WorkspaceError, match="Another import"), parts.in_parts(workspace.db_path):
            pass
    with Workspace.open(workspace.path).read() as db:
        assert db.execute("SELECT count(*) FROM studies").fetchone() == (2,)


def test_a_criterion_that_is_added_later_is_missing_in_every_final(workspace, run, tmp_path):  # noqa: F811
    done = imported(workspace, run, tmp_path, "first", ["i0,care,human,ann,2,"], "--append")
    assert done.exit_code == 0, done.output
    assert whole(workspace)
    with workspace.read() as db:
        people = "SELECT f.final FROM finals f JOIN raters x ON x.id = f.rater_id WHERE x.kind = 'human'"
        finals = [final for (final,) in db.execute(people)]
    assert len(finals) == 6
    assert len([final for final in finals if final is not None]) == 1
