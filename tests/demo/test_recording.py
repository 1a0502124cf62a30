"""The recorded demo: current, whole, marked as simulated, and put into empty workspaces only."""

from __future__ import annotations

import json
import lzma
import socket

import pytest

from concord.demo import workspace as demo
from concord.errors import ConfigError, WorkspaceError
from concord.llm.models import load_models
from concord.store import conversations, holdings, ratings, rows, runs, studies
from concord.store.conversations import Filter
from concord.studies import annotation_flow
from tests.demo import example_ratings, own_data
from tests.demo.record import HOST, lines
from tests.derived import faults


@pytest.fixture(scope="module")
def recorded() -> list[str]:
    with lzma.open(demo.ROWS, "rt", encoding="utf-8") as lines:
        return list(lines)


def tables(lines) -> dict[str, list[str]]:
    """The rows by table, each as a JSON object; in an order that does not depend on that of the columns."""
    found: dict[str, list[str]] = {}
    for entry in map(json.loads, lines):
        if isinstance(entry, dict):
            columns, of = entry["columns"], found.setdefault(entry["table"], [])
        else:
            of.append(json.dumps(dict(zip(columns, entry, strict=True)), sort_keys=True))
    return {table: sorted(rows) for table, rows in found.items()}


def test_the_recording_has_the_columns_that_the_database_has(recorded, fresh):
    begun = [json.loads(line) for line in recorded if line.startswith("{")]
    with fresh.read() as db:
        now = {table: set(db[table].columns_dict) for table in db.table_names()}
    old = [entry["table"] for entry in begun if set(entry["columns"]) != now.get(entry["table"])]
    assert not old, "The database has changed. Record the demo again: make record-demo"


def test_a_loaded_demo_holds_what_was_recorded(recorded, demo_workspace):
    with demo_workspace.write() as db:
        assert tables(lines(db)) == tables(recorded)
        assert faults(db) == []


def test_the_demo_is_small_enough_for_a_repository():
    assert sum(file.stat().st_size for file in demo.RECORDED.rglob("*") if file.is_file()) <= 3_000_000


def test_everything_in_it_is_marked_as_simulated(demo_workspace):
    models = load_models(demo_workspace.models_path)
    assert models
    assert all(model.simulated for model in models.values())
    with demo_workspace.read() as db:
        assert not list(db["conversations"].rows_where("simulated = 0"))
        raters = [row for row in db["raters"].rows if row["name"] != demo.VISITOR]
        assert all(row["simulated"] for row in raters)
        assert db.execute("SELECT DISTINCT host FROM runs").fetchall() == [(HOST,)]


def test_it_has_what_the_readme_says(demo_workspace):
    with demo_workspace.read() as db:
        assert conversations.count(db, Filter("pingpong")) == 512
        assert len(conversations.values(db, "pingpong")["player"]) == 4
        assert len(ratings.judges(db, "pingpong")) == 3
        assert len(studies.units(db, "demo")) == 250
        people = {row["rater"] for row in ratings.exported(db, "demo") if row["rater_type"] == "human"}
        assert len(people) == 5
        assert conversations.count(db, Filter("stss")) == 10
        assert conversations.count(db, Filter(own_data.RUBRIC)) == 24


def test_who_compared_pairs_is_counted_with_a_rubric_and_without(demo_workspace):
    with demo_workspace.read() as db:
        compared = {study.name: (study.rated, study.judged) for study in holdings.pairs(db)}
    assert compared == {"support-pairs": (2, 3), "simulbench-pairs": (2, 2)}


def test_it_holds_what_goes_wrong_and_what_costs_money(demo_workspace):
    models = load_models(demo_workspace.models_path)
    assert len({model.family for model in models.values()} - {""}) > 1
    with demo_workspace.read() as db:
        failed = list(db["judgements"].rows_where("failure IS NOT NULL"))
        assert len(failed) >= 5
        assert {row["name"] for row in db["raters"].rows if row["id"] in {f["rater_id"] for f in failed}} == {
            own_data.ERRATIC
        }
        own = [run for run in runs.recent(db) if run.benchmark == own_data.RUBRIC]
        assert sum(run.spent.cost for run in own) > 0
        assert max(row["repeat"] for row in db["judgements"].rows) == 2
        assert {row["rater"] for row in ratings.exported(db, own_data.STUDY)} >= {*own_data.PEOPLE}
        disputes = annotation_flow.look(db, "adjudicate", own_data.STUDY, None)
        assert disputes
        assert len(disputes.items) > len(disputes.answered_items) == own_data.SETTLED
        assert len(studies.pairs(db, own_data.PAIRS)) == 12
        verdicts = list(db["comparisons"].rows_where("criterion = ?", [own_data.QUESTION]))
        assert len(verdicts) == 12 * (2 + 3 * 2)  # two people, and three judges in both orders
        assert sum(run.plan.get("judge_repeats") == 3 for run in own) == 2


def test_a_workspace_that_holds_something_else_is_left_as_it_is(filled):
    with filled.read() as db:
        before = list(lines(db))
    with pytest.raises(WorkspaceError, match="needs its own workspace"):
        demo.load(filled)
    with filled.read() as db:
        assert list(lines(db)) == before
    assert not demo.is_there(filled)


def test_rows_of_any_workspace_come_back_bytes_included(filled, fresh):
    with filled.write() as db:
        db["conversations"].update(1, {"trajectory": b"\x00\xff"})
    with filled.read() as db:
        written = list(lines(db))
    with fresh.write() as db:
        rows.insert(db, written)
    with fresh.write() as db:
        assert list(lines(db)) == written
        assert db["conversations"].get(1)["trajectory"] == b"\x00\xff"
        assert faults(db) == []


def test_the_ratings_of_the_readme_are_those_that_their_script_writes():
    assert example_ratings.FILE.read_text(encoding="utf-8") == example_ratings.text()


def test_where_the_port_is_taken_it_is_said(fresh):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        demo.copy_files(fresh, demo.ADDRESS.format(port=port))
        with pytest.raises(ConfigError, match=rf"127\.0\.0\.1:{port} .* in models.toml"), demo.serving(fresh):
            pytest.fail("it cannot listen")
