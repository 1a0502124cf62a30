"""An import is stored whole, or leaves nothing: where it is refused at its end, or its process dies."""

import json
import signal
import sys
from dataclasses import replace

import pytest

from concord.errors import ImportRefused
from concord.exchange import conversations_file, incoming
from concord.store import checking, conversations, copies
from concord.workspace import Workspace
from tests import warm
from tests.exchange.test_trajectories import KEYS, simulated

LINES = [
    f"i{item},wit,{kind},{rater},{(item + len(rater)) % 5 + 1},A reply of item {item}."
    for item in range(6)
    for kind, rater in (("human", "ann"), ("judge", "one"))
]


@pytest.fixture
def workspace(tmp_path, run, monkeypatch):
    """One that holds a study, and a simulation without its trajectory; rows are taken one at a time."""
    monkeypatch.setattr(incoming, "AT_ONCE", 1)
    made = Workspace.open(tmp_path / "workspace")
    assert imported(made, run, tmp_path, "first", LINES).exit_code == 0
    with made.write() as db:
        conversations.save(db, replace(simulated(KEYS[0]), trajectory=None), simulated=True)
    return made


def imported(workspace, run, tmp_path, study, lines, *more):
    file = tmp_path / f"{study}.csv"
    file.write_text("\n".join(["item_id,criterion,rater_type,rater,score,text", *lines]) + "\n")
    return run(workspace, "import", "ratings", file, "--study", study, *more)


def held(workspace):
    """Everything stored, but raters, contexts and the count of changes, which mean nothing by themselves."""
    with workspace.read() as db:
        names = [name for name in db.table_names() if not name.startswith(("raters", "contexts", "sqlite_"))]
        rows = {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}").fetchall())) for name in names}
    return rows | {"settings": [row for row in rows["settings"] if not row.startswith("('changes'")]}


def whole(workspace):
    with copies.snapshot(workspace.db_path) as copy:
        return checking.findings(copy) == []


@pytest.fixture
def out(fresh, run, tmp_path):
    """An export: two simulations with trajectories, eight conversations with criteria, and a study."""
    with fresh.write() as db:
        for key in KEYS:
            conversations.save(db, simulated(key), simulated=True)
    file = tmp_path / "talks.jsonl"
    assert run(fresh, "export", "conversations", "--out", file).exit_code == 0
    question = {"name": "wit", "statement": "It is witty.", "title": "Wit", "counted": True}
    question |= {"values": [1, 2], "labels": ["no", "yes"], "continuous": False}
    lines = [{"kind": "benchmark", "name": "talks", "criteria": [question], "refusal_criterion": "wit"}]
    lines += [{"key": f"t{n}", "messages": [{"role": "user", "content": f"Hi {n}"}]} for n in range(8)]
    study = {**dict.fromkeys(("overlap", "seed", "per_turn", "anonymous"), 0), "name": "s", "title": "S"}
    study |= {"guidelines": "", "source": "drawn", "meta": {}, "criteria": [question]}
    lines += [{"kind": "study", **study, "units": [[f"t{n}", None, ""] for n in range(4)]}]
    with file.open("a") as more:
        more.writelines(json.dumps(line) + "\n" for line in lines)
    return file


def bring(workspace, file):
    """Check a file and store it; what is said of that."""
    return conversations_file.store(workspace, conversations_file.survey(file))


@pytest.mark.parametrize("more", [(), ("--append",)])
def test_a_refusal_at_the_end_leaves_nothing(workspace, run, tmp_path, monkeypatch, more):
    before, calls = held(workspace), []
    lines = [line.replace("i", "j", 1) for line in LINES]
    if more:  # the conversations stay, and what was derived from the ratings has to be as before
        lines = [line.replace("one", "two").replace("ann", "bob") for line in LINES]
    stored = incoming._rows

    def refused(*args):
        calls.append(args)
        if len(calls) == 6:
            raise incoming.ImportRefused("The last one is wrong.")
        return stored(*args)

    monkeypatch.setattr(incoming, "_rows", refused)
    lines.append(f"{lines[0][:2]},care,human,ann,2,")
    done = imported(workspace, run, tmp_path, "first" if more else "second", lines, *more)
    assert "The last one is wrong." in done.output
    assert done.exit_code == 1
    assert held(workspace) == before
    assert whole(workspace)


def test_a_criterion_that_is_added_later_is_missing_in_every_final(workspace, run, tmp_path):
    done = imported(workspace, run, tmp_path, "first", ["i0,care,human,ann,2,"], "--append")
    assert done.exit_code == 0, done.output
    assert whole(workspace)
    with workspace.read() as db:
        people = "SELECT f.final FROM finals f JOIN raters x ON x.id = f.rater_id WHERE x.kind = 'human'"
        finals = [final for (final,) in db.execute(people)]
    assert len(finals) == 6
    assert len([final for final in finals if final is not None]) == 1


def test_a_repeated_import_changes_nothing(workspace, out):
    talks = out.with_name("talks-only.jsonl")
    talks.write_text("".join(line for line in out.read_text().splitlines(True) if '"study"' not in line))
    assert "9 new conversations, 1 were here already" in bring(workspace, talks)
    with workspace.read() as db:
        trajectories = db.execute("SELECT count(trajectory) FROM conversations").fetchone()
    assert trajectories == (2,)  # the one that was there has gained its own
    before = held(workspace)
    assert "0 new conversations, 10 were here already" in bring(workspace, talks)
    assert held(workspace) == before
    assert whole(workspace)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"key": "z", "messages": 5}', "no list of messages"),
        ('{"key": "z", "messages": [], "configurations": [{}]}', "is missing"),
        ('{"key": "t0", "messages": [{"role": "user", "content": "Bye"}]}', "with other messages"),
        ('{"kind": "study"}', "is missing"),
        ('{"kind": "poem"}', "is unknown"),
        ("{", "not valid JSON"),
    ],
)
def test_a_wrong_last_line_leaves_nothing(workspace, out, line, why):
    before = held(workspace)
    with out.open("a") as more:
        more.write(line + "\n")
    with pytest.raises(ImportRefused, match=why) as refused:
        bring(workspace, out)
    assert "line 14" in str(refused.value)
    assert held(workspace) == before
    assert whole(workspace)


KILLED = """
import os, signal
from concord.cli import main
from concord.exchange import conversations_jsonl
study = conversations_jsonl._study
def dying(*args):
    study(*args)
    os.kill(os.getpid(), signal.SIGKILL)
conversations_jsonl._study = dying
main()
"""


def test_an_import_that_was_killed_leaves_nothing(workspace, out):
    before = held(workspace)
    command = ["--workspace", str(workspace.path), "import", "conversations", str(out)]
    done = warm.run([sys.executable, "-c", KILLED, *command])
    assert done.returncode == -signal.SIGKILL
    assert held(workspace) == before
    assert whole(workspace)
