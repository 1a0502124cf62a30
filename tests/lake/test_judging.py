"""Files of conversations are judged by the same calls as a run makes, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

import concord
from concord.codes import Failure
from concord.errors import ConcordError, ConfigError, ImportRefused
from concord.lake import engines
from concord.lake.coordinator import LakeHow
from concord.lake.judging import items_of, judge_partition
from concord.lake.partitions import Shard
from concord.lake.plan import ANSWER_COLUMNS, named_columns, read_plan, shard_of
from concord.runs import engine, planning
from concord.runs.plans import JudgePlan
from tests.conftest import FIXED, toml
from tests.lake.logs import calls, conversation, lines, planned, rows, table
from tests.mock.server import running

LOG = [conversation(number) for number in range(100)]


@pytest.fixture
def log(tmp_path):
    """Two files of a hundred conversations."""
    lines(tmp_path / "logs" / "one.jsonl", LOG[:50])
    table(tmp_path / "logs" / "two.parquet", LOG[50:], row_group_size=30)
    return tmp_path / "logs"


def test_files_are_judged_and_nothing_touches_a_database(workspace, log, tmp_path, monkeypatch):
    of = planned(workspace, [log], tmp_path / "out", keep=named_columns(["segment", "when=created"]))
    monkeypatch.setattr(sqlite3, "connect", lambda *_a, **_k: pytest.fail("a database was opened"))
    ended = engines.execute(of)
    assert (ended.state, ended.conversations, ended.judged, ended.failed) == ("finished", 100, 200, 0)
    assert ended.expense.calls == 200
    answers = rows(tmp_path / "out", ["key", "judge", "criterion", "segment", "when"])
    expected = [
        (row["id"], judge, criterion, row["segment"], row["created"])
        for row in LOG
        for judge in "ab"
        for criterion in ("solved", "polite")
    ]
    assert answers == sorted(expected)
    again = engines.execute(of)
    assert (again.state, again.earlier, again.judged, again.expense.calls) == ("finished", 200, 0, 0)


def test_a_run_of_a_workspace_gives_the_same_answers(workspace, log, tmp_path, run):
    engines.execute(planned(workspace, [log], tmp_path / "out", ["a"]))
    lines(tmp_path / "all.jsonl", LOG)
    assert run(workspace, "import", "conversations", tmp_path / "all.jsonl").exit_code == 0
    ended = engine.execute(workspace, planning.job(workspace, JudgePlan("all", ("a",), rubric="support")))
    assert ended.state == "finished"
    with workspace.read() as db:
        stored = db.query(
            "SELECT c.key, r.criterion, r.score, r.explanation FROM ratings r "
            "JOIN conversations c ON c.id = r.conversation_id"
        )
        by_run = sorted(
            (row["key"].removeprefix("all/"), row["criterion"], str(row["score"]), row["explanation"])
            for row in stored
        )
    assert by_run == rows(tmp_path / "out", ["key", "criterion", "score", "reason"])


def test_shards_lie_side_by_side_and_are_the_whole(workspace, log, tmp_path):
    engines.execute(planned(workspace, [log], tmp_path / "whole"))
    counted = []
    for number in (1, 2, 3):
        shard = planned(workspace, [log], tmp_path / "shards", shard=Shard(number, 3))
        counted.append(engines.execute(shard).conversations)
    assert sum(counted) == 100
    assert all(counted)
    assert rows(tmp_path / "shards") == rows(tmp_path / "whole")


def test_two_workers_give_the_same_result(workspace, log, tmp_path):
    engines.execute(planned(workspace, [log], tmp_path / "whole"))
    of = planned(workspace, [log], tmp_path / "out")
    ended = engines.execute(of, LakeHow(workers=2))
    assert (ended.state, ended.judged, ended.expense.calls, ended.message) == ("finished", 200, 200, "")
    assert rows(tmp_path / "out") == rows(tmp_path / "whole")


def test_another_rubric_and_another_judge_are_written_beside(workspace, log, tmp_path):
    engines.execute(planned(workspace, [log], tmp_path / "out", ["a"]))
    first = rows(tmp_path / "out")
    ended = engines.execute(planned(workspace, [log], tmp_path / "out", ["a", "c"]))
    assert (ended.earlier, ended.judged) == (100, 100)
    file = workspace.path / "rubrics" / "support.toml"
    file.write_text(file.read_text().replace("is polite", "is very polite"))
    ended = engines.execute(planned(workspace, [log], tmp_path / "out", ["a"]))
    assert (ended.earlier, ended.judged) == (0, 100)
    answers = rows(tmp_path / "out")
    assert len(answers) == 3 * len(first)
    assert set(first) <= set(answers)


def test_the_pure_function_gives_a_table(workspace, log, tmp_path):
    of = planned(workspace, [log], tmp_path / "out", ["a"])
    reader = of.reader()
    items = items_of(of, reader.rows(of.partitions[0]), reader.key)
    judged = asyncio.run(judge_partition(items, of))
    assert judged.items == judged.tables["a"].num_rows / 2 > 0
    assert judged.complete == {"a"}
    assert not (tmp_path / "out").exists()


def test_a_failed_judgement_is_kept_and_retried_on_demand(faulty, log, tmp_path):
    workspace = faulty(malformed=1)
    ended = engines.execute(planned(workspace, [log], tmp_path / "out", ["a"]))
    assert (ended.state, ended.failed) == ("finished", 100)
    columns = ["key", "score", "failure_class", "refused"]
    assert rows(tmp_path / "out", columns)[0] == ("c00000", "None", Failure.UNPARSEABLE.value, "False")
    with running() as url:
        text = workspace.models_path.read_text()
        workspace.models_path.write_text(toml(url, a=FIXED))
        assert text != workspace.models_path.read_text()
    with running() as url:
        # The same address as before would be the same judge; here another one stands beside it.
        workspace.models_path.write_text(toml(url, a=FIXED))
        again = engines.execute(
            planned(workspace, [log], tmp_path / "out", ["a"]), LakeHow(retry_failed=True)
        )
    assert again.failed == 0


BAD = {
    "a line that is none": (lambda log: (log / "one.jsonl").open("a").write("no json\n"), "byte"),
    "a row that is none": (lambda log: (log / "one.jsonl").open("a").write('{"x": 1}\n'), "form"),
    "keys that come twice": (lambda log: lines(log / "three.jsonl", LOG[3:4]), "c00003"),
    "a file that is none": (lambda log: (log / "notes.txt").write_bytes(b"\0\1\2"), "notes.txt"),
    "a broken Parquet": (lambda log: (log / "x.parquet").write_bytes(b"PAR1 no"), "x.parquet"),
}


@pytest.mark.parametrize("spoil", BAD)
@pytest.mark.parametrize("workers", [0, 2])
def test_bad_files_are_refused_before_anything_is_paid(faulty, log, tmp_path, spoil, workers):
    workspace, (change, named) = faulty(), BAD[spoil]
    change(log)
    with pytest.raises(ImportRefused, match=named):
        engines.execute(planned(workspace, [log], tmp_path / "out"), LakeHow(workers=workers))
    assert calls(workspace) == 0
    assert read_plan(tmp_path / "out") is None if (tmp_path / "out").exists() else True


@pytest.mark.parametrize(
    "address", ["nowhere.jsonl", "none/*.jsonl", "s3://", "http://127.0.0.1:9/x.jsonl", "file:///nowhere"]
)
def test_an_address_that_leads_nowhere_is_named(workspace, tmp_path, address, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ImportRefused, match=address.partition("*")[0]):
        planned(workspace, [address], tmp_path / "out")


def test_a_folder_of_another_plan_is_not_used(workspace, log, tmp_path):
    engines.execute(planned(workspace, [log], tmp_path / "out", ["a"]))
    lines(tmp_path / "other.jsonl", LOG[:5])
    with pytest.raises(ConfigError, match="another plan"):
        engines.execute(planned(workspace, [tmp_path / "other.jsonl"], tmp_path / "out", ["a"]))
    with pytest.raises(ConfigError, match="shards"):
        engines.execute(planned(workspace, [log], tmp_path / "out", ["a"], shard=Shard(1, 2)))
    with pytest.raises(ConfigError, match="other files"):
        engines.execute(planned(workspace, [log], log, ["a"]))


def test_a_column_that_no_row_has_is_named(faulty, log, tmp_path):
    workspace = faulty()
    with pytest.raises(ConfigError, match="region"):
        engines.execute(planned(workspace, [log], tmp_path / "out", keep=named_columns(["region"])))
    assert calls(workspace) == 0


def test_two_coordinators_do_not_share_a_folder(workspace, log, tmp_path):
    of = planned(workspace, [log], tmp_path / "out", ["a"])
    seen = []

    def watch(_progress):
        if not seen:
            seen.append(True)
            with pytest.raises(ConfigError, match="Another process"):
                engines.execute(of)

    assert engines.execute(of, watch=watch).state == "finished"
    assert seen


def test_a_spending_limit_holds_over_attempts_and_workers(faulty, log, tmp_path):
    workspace = faulty()
    priced = f"{FIXED}\nprice = {{ input = 1000, output = 1000 }}"
    url = workspace.models_path.read_text().split('"')[1]
    workspace.models_path.write_text(toml(url, a=priced))
    of = planned(workspace, [log], tmp_path / "out", ["a"])
    free = engines.execute(planned(workspace, [log], tmp_path / "free", ["a"])).expense.cost
    for workers in (0, 2):
        for share in (0.3, 0.6):
            ended = engines.execute(of, LakeHow(workers=workers, max_cost=free * share))
            assert ended.state == "stopped"
    last = engines.execute(of, LakeHow(max_cost=free * 0.61))
    assert last.expense.cost <= 0.1 * free
    assert engines.execute(of, LakeHow(max_cost=free * 2)).state == "finished"
    with pytest.raises(ConcordError, match="price"):
        engines.execute(planned(faulty(), [log], tmp_path / "x", ["b"]), LakeHow(max_cost=1))


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/0"])
def test_a_shard_that_is_none_is_refused(text):
    with pytest.raises(ConfigError):
        shard_of(text)


def test_the_library_judges_files_also_by_a_function(workspace, log, tmp_path):
    planned(workspace, [log], tmp_path / "x")  # writes the rubric

    def short(given):
        return {"solved": "yes", "polite": min(5, len(given["conversation"]["messages"][1]["content"]) // 20)}

    ended = concord.judge_files(
        str(log), "support", {"short": short}, tmp_path / "out", workspace=workspace.path, partition=20
    )
    assert (ended.state, ended.judged, ended.failed) == ("finished", 100, 0)
    assert {row[0] for row in rows(tmp_path / "out", ["judge"])} == {"short"}
    with pytest.raises(ConfigError, match="function"):
        concord.judge_files(
            str(log), "support", {"short": short}, tmp_path / "y", workspace=workspace.path, workers=2
        )


@pytest.mark.parametrize("name", ANSWER_COLUMNS)
def test_a_kept_column_cannot_replace_a_column_of_answers(name):
    with pytest.raises(ConfigError, match="must not be a name of an answer column"):
        named_columns([f"{name}=metadata.{name}"])


@pytest.mark.parametrize("pattern", ["logs", "logs/**/*.*"])
def test_answers_below_the_files_are_no_conversations(workspace, tmp_path, monkeypatch, pattern):
    """Also where they are named from another folder."""
    monkeypatch.chdir(tmp_path)
    lines(tmp_path / "logs" / "a.jsonl", LOG[:40])
    of = planned(workspace, [Path(pattern)], Path("logs/judged"), ["a"])
    assert engines.execute(of).judged == 40
    monkeypatch.chdir(tmp_path / "logs")
    again = planned(workspace, [Path("../logs")], Path("judged"), ["a"])
    assert (engines.execute(again).earlier, again.files) == (40, of.files)


def test_a_file_that_is_gone_is_named(workspace, tmp_path):
    path = table(tmp_path / "log.parquet", LOG)
    of = planned(workspace, [path], tmp_path / "out")
    path.unlink()
    with pytest.raises(ImportRefused, match=r"log.parquet does not exist\."):
        engines.execute(of)


def test_a_folder_of_another_plan_says_what_differs(workspace, tmp_path):
    log = lines(tmp_path / "log.jsonl", LOG)
    engines.execute(planned(workspace, [log], tmp_path / "out", ["a"]))
    with pytest.raises(ConfigError, match="by another --partition"):
        engines.execute(planned(workspace, [log], tmp_path / "out", ["a"], conversations=50))
    lines(log, LOG[:50])
    with pytest.raises(ConfigError, match=r"log\.jsonl has changed"):
        engines.execute(planned(workspace, [log], tmp_path / "out", ["a"]))
    with pytest.raises(ConfigError, match="is a file"):
        engines.execute(planned(workspace, [log], log, ["a"]))
    with pytest.raises(ConfigError, match="Did you mean “segment”"):
        engines.execute(planned(workspace, [log], tmp_path / "other", ["a"], keep={"segmnt": "segmnt"}))
    with pytest.raises(ConfigError, match=r"NAME=messages\.FIELD"):
        engines.execute(planned(workspace, [log], tmp_path / "other", ["a"], keep={"x": "messages"}))
