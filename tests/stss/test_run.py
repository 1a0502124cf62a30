"""Simulations as a run: stored with their trajectories, taken up after a kill, frozen, talked once more, and
put into tables.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from concord.benchmarks.stss import tables
from concord.benchmarks.stss.mind import Mind
from concord.benchmarks.stss.scoring import score
from concord.benchmarks.stss.tasks import task_from
from concord.benchmarks.stss.trajectory import from_stored
from concord.cli import main
from concord.conversation import Unit
from concord.errors import ConcordError, ConfigError, NotFound
from concord.rating import Rating
from concord.runs import engine, planning
from concord.runs.plans import JudgePlan, PlayPlan
from concord.store import access, conversations, scenarios, studies
from concord.store.conversations import Filter
from concord.studies.studies import StudyDraw, draw_study
from concord.workspace import Workspace
from tests import warm
from tests.annotated import Annotation, import_annotations
from tests.conftest import toml
from tests.mock.faults import Faults
from tests.mock.server import running
from tests.stss.run_helpers import LANGUAGE, MODELS, plan, workspace_at

ROOT = Path(__file__).resolve().parents[2]


def calls_of(url):
    """What the mock server has done so far."""
    with urlopen(f"{url}/_calls") as reply:
        return json.load(reply)


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """A workspace with three tasks × two architectures × two models, frozen, talked once more and judged."""
    with running(seed=5) as url:
        workspace = workspace_at(tmp_path_factory.mktemp("lived"), url)
        ended = engine.execute(workspace, planning.job(workspace, plan(("host", "shy"))))
        assert (ended.state, ended.done, ended.failed) == ("finished", 12, 0)
        done = concord(workspace, "stss", "freeze")
        assert done.exit_code == 0, done.output
        ended = engine.execute(workspace, planning.job(workspace, LANGUAGE))
        assert (ended.state, ended.failed) == ("finished", 0)
        yield workspace


def concord(workspace, *arguments):
    return CliRunner().invoke(main, ["--workspace", str(workspace.path), *arguments])


def each(workspace, benchmark="stss"):
    with workspace.read() as db:
        return list(conversations.of_benchmark(db, benchmark))


def test_a_simulation_is_stored_with_its_trajectory(lived):
    with lived.read() as db:
        for number, conversation in conversations.of_benchmark(db, "stss"):
            happened = from_stored(conversations.required_trajectory(db, number))
            task = task_from(conversation.context["_task"])
            assert happened.residents == task.cast
            assert len(happened.times) == 2 * 96
            assert conversation.facets["task"] == task.id
            talks = [t for t in happened.talks if task.performer in t.pair]
            assert [m.content for m in conversation.messages] == [
                text for t in talks for _, text in t.messages
            ]
            assert all(
                (m.role == "assistant") == (m.meta["speaker"] == task.performer)
                for m in conversation.messages
            )
        with pytest.raises(NotFound, match="There is no trajectory"):
            conversations.required_trajectory(db, 999999)


def test_the_same_plan_again_asks_nothing(lived):
    again = engine.execute(lived, planning.job(lived, plan(("host", "shy"))))
    assert (again.stored, again.done, again.spent.calls) == (12, 0, 0)


def test_an_estimate_counts_the_calls_before_any_is_made(tmp_path):
    workspace = workspace_at(tmp_path, "http://127.0.0.1:1/v1")
    found = planning.survey(workspace, planning.job(workspace, plan(architectures=["GA"])))
    assert found.planned == 3
    assert found.calls["host"] > 0
    assert found.calls["resident"] > found.calls["host"]


def test_there_is_nothing_for_a_judge_in_a_simulation(lived):
    with pytest.raises(ConfigError, match="STSS is scored by rules"):
        planning.job(lived, JudgePlan("stss", ("strict",)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": ["harvest-super"]}, "Did you mean “harvest-supper”"),
        ({"architectures": ["GA+TPD"]}, "Did you mean “GA"),
        ({"town": "atlantis"}, "town"),
    ],
)
def test_unknown_choices_are_named_before_anything_is_paid_for(lived, options, message):
    with pytest.raises(NotFound, match=message):
        planning.job(lived, plan(**options))


def test_a_killed_simulation_goes_on_where_it_was(tmp_path):
    """No answer that came before the kill is paid for again.

    The first server leaves every fiftieth call without an answer. Once only such calls are in flight, the
    run is killed.
    """
    options = {"players": "host", "residents": "resident", "tasks": "harvest-supper"}
    options |= {"architectures": "GA+TDP", "step-minutes": "15"}
    command = [sys.executable, "-m", "concord.cli", "--workspace", str(tmp_path), "run", "stss"]
    command += [word for name, value in options.items() for word in (f"--{name}", value)]
    silent = 50
    with running(seed=5, faults=Faults(hang=silent)) as url:
        workspace = workspace_at(tmp_path, url)
        process = warm.Popen(command, stdout=subprocess.PIPE)
        while True:
            calls = calls_of(url)
            answered, waiting = sum(calls["answered"].values()), calls["in_flight"]
            with workspace.read() as db:
                noted = db["journal"].count
            if 0 < waiting == (answered + waiting) // silent and noted == answered:
                break
            assert process.poll() is None, "the run ended before it could be killed"
            time.sleep(0.02)
        process.kill()
        process.wait()
    with running(seed=5) as url:
        workspace_at(tmp_path, url)
        done = warm.run(command, check=True)
        again = sum(calls_of(url)["answered"].values())
    assert "1 of 1 stored" in done.stdout
    ((_, conversation),) = each(workspace)
    with workspace.read() as db:
        total = db.execute("SELECT calls FROM conversations").fetchone()[0]
    assert noted >= silent - 1
    assert noted + again == total
    assert conversation.messages


def test_frozen_scenes_hold_what_was_known_then(lived):
    with lived.read() as db:
        scenes = scenarios.accepted(db, "stss-language", "scenario")
    assert scenes
    for scene in scenes:
        body = scene.body
        task = task_from(body["task"])
        assert set(body["states"]) == {task.performer, body["partner"]}
        assert not task.target or body["partner"] in task.target
        assert body["time"] < "2023-02-14"
        for state in body["states"].values():
            assert all(m[0] <= body["time"] for m in state["memories"])
            assert not any(m[0] == body["time"] and m[2] == "talked" for m in state["memories"])
    per_pair = [(s.body["task"]["id"], s.body["partner"]) for s in scenes]
    assert max(map(per_pair.count, per_pair)) <= 2
    again = concord(lived, "stss", "freeze")
    assert "0 of them new" in again.output


def test_scenes_are_talked_through_by_every_agent_and_judged(lived):
    with lived.read() as db:
        scenes = {s.key for s in scenarios.accepted(db, "stss-language", "scenario")}
    talks = [c for _, c in each(lived, "stss-language")]
    assert len(talks) == len(scenes) * 2 * 2
    for c in talks:
        assert len(c.messages) <= 16
        assert c.context["The partner’s summary"]
        assert c.meta["reminders"].keys() == (
            {"general_plan", "plan_reminder", "talk_reminder"}
            if c.facets["architecture"] == "GA+TDP"
            else set()
        )


def test_a_scene_takes_the_plan_that_another_of_its_task_made(lived, monkeypatch):
    of_task = {}
    for number, c in each(lived, "stss-language"):
        if c.facets["architecture"] == "GA+TDP":
            of_task.setdefault((c.facets["task"], c.player), []).append((number, c))
    (number, lost), (_, kept) = next(found for found in of_task.values() if len(found) > 1)[:2]
    with lived.write() as db:
        db["conversations"].delete(number)
    with monkeypatch.context() as only:
        only.delattr(Mind, "prepare")
        ended = engine.execute(lived, planning.job(lived, LANGUAGE))
    assert (ended.state, ended.failed, ended.done) == ("finished", 0, 5)
    with lived.read() as db:
        again = conversations.load(db, lost.key)
    assert again.meta["reminders"] == kept.meta["reminders"] != {}


def test_the_tables_agree_with_the_scores(lived):
    with lived.read() as db:
        action, language, summary = tables.leaderboard(db, resamples=50)
        expected = {}
        for number, c in conversations.of_benchmark(db, "stss"):
            value = score(
                task_from(c.context["_task"]), from_stored(conversations.required_trajectory(db, number))
            ).value
            expected.setdefault((c.player, c.facets["architecture"]), []).append(value)
    for row in action.rows:
        values = expected[row["player"], row["architecture"]]
        assert row["overall"].value == pytest.approx(sum(values) / len(values))
        assert (row["n"], row["simulated"]) == (3, True)
    assert action.meta["judges"] == action.meta["simulated"] == ["lenient", "strict"]
    assert len(language.rows) == len(summary.rows) == 4
    parted = [[c.name for c in t.shown if c.name[-5:] in ("micro", "macro")] for t in (language, summary)]
    assert [" ".join(column) for column in tables.COLUMNS] == [*parted[0], *parted[1]]


def test_conditions_choose_what_the_tables_rest_on(lived):
    with lived.read() as db:
        every, *_ = tables.leaderboard(db, resamples=0)
        action, *rest = tables.leaderboard(db, filters={"architecture": ["GA"]}, resamples=0)
        assert {row["architecture"] for table in (action, *rest) for row in table.rows} == {"GA"}
        assert {row["architecture"] for row in every.rows} == {"GA", "GA+TDP"}
        with pytest.raises(NotFound, match="Did you mean “architecture”"):
            tables.leaderboard(db, filters={"architectur": ["GA"]})


@pytest.mark.parametrize("form", ["table", "json", "csv", "latex"])
def test_the_leaderboard_prints_in_every_form(lived, form):
    done = concord(lived, "leaderboard", "stss", "--format", form, "--resamples", "20")
    assert done.exit_code == 0, done.output
    assert "GA+TDP" in done.stdout
    assert "Some results come from rule-based mock models" in (done.stderr if form == "csv" else done.stdout)
    if form == "json":
        found = json.loads(done.stdout)["tables"]
        assert {"action", "language", "summary"} == set(found)
        assert found["action"]["rows"][0]["public"]["n"] == 1


def test_an_empty_workspace_says_what_to_do(tmp_path):
    workspace = Workspace.open(tmp_path)
    for arguments in (["leaderboard", "stss"], ["stss", "freeze"]):
        done = concord(workspace, *arguments)
        assert done.exit_code == 1
        assert " run stss" in done.output
    workspace.models_path.write_text(toml("http://127.0.0.1:1/v1", **MODELS))
    job = planning.job(
        workspace, PlayPlan("stss-language", {"players": ("host",), "residents": ("resident",)}, {})
    )
    with pytest.raises(ConcordError, match="There are no frozen scenes"):
        list(job.plays())


def test_people_answer_the_same_conditions_and_agree_on_them(lived):
    """Three people, of whom the last is contrary about the place; drawn, answered and measured by the
    commands a study uses.
    """
    with lived.write() as db:
        study = draw_study(
            db,
            "conditions",
            StudyDraw(
                8,
                Filter("stss-language", facets={"type": ("public",)}),
                ask=["invited", "time", "place"],
                strata=(),
            ),
        )
        for person in ("Ada", "Ben", "Cleo"):
            access.invite(db, person)
        given = []
        for unit in studies.units(db, "conditions"):
            conversation = conversations.load(db, unit["conversation_id"])
            said = " ".join(m.content for m in conversation.messages)
            told = {"invited": "supper" in said, "time": "18:00" in said, "place": "Town Hall" in said}
            for person in ("Ada", "Ben", "Cleo"):
                for name, answer in told.items():
                    score = int(answer != (person == "Cleo" and name == "place"))
                    given.append(Annotation(Rating(Unit(conversation.key), name, score), person))
        import_annotations(db, "conditions", given)
    assert [c.scale.values for c in study.criteria] == [(0, 1)] * 3
    figures = {}
    for name in ("time", "place"):
        section = ("--section", "people", "--criterion", name, "--format", "json", "--resamples", "50")
        done = concord(lived, "agreement", "--study", "conditions", *section)
        assert done.exit_code == 0, done.output
        tables = json.JSONDecoder().raw_decode(done.stdout)[0]["tables"]
        figures |= {(name, row["coefficient"], row["a"], row["b"]): row for row in tables["nominal"]["rows"]}
    # None where everybody was told, or nobody.
    assert figures["time", "kappa", "Ada", "Ben"]["value"]["value"] in (1, None)
    assert figures["place", "kappa", "Ada", "Ben"]["agreement"]["value"] == 1
    assert figures["place", "kappa", "Ada", "Cleo"]["agreement"]["value"] == 0
    assert {a for _, _, a, b in figures if b == "majority of people"} == {"strict", "lenient"}
