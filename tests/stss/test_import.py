"""The published task files brought into a workspace: what the town lacks is told, and a mapping makes them
playable.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from concord.benchmarks.stss import files, system
from concord.cli import main
from concord.errors import ImportRefused
from concord.runs import planning
from concord.workspace import Workspace
from tests.stss.asking import MATERIALS, TOWN
from tests.stss.made import party

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "stss"
needs_published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published task files are not here")


def concord(folder, *arguments):
    return CliRunner().invoke(main, ["--workspace", str(folder), *arguments])


@needs_published
@pytest.mark.parametrize(
    "file", ["tasks.json", "tasks_supplement.json", "meta_task_public_activity_240208.json"]
)
def test_published_files_are_kept_and_what_is_missing_is_told(tmp_path, file):
    done = concord(tmp_path, "stss", "import", "tasks", str(PUBLISHED / file))
    assert done.exit_code == 0, done.output
    assert "0 of them can be played in Merrow Quay." in done.output
    assert "Merrow Quay lacks" in done.output
    if file == "tasks.json":
        assert (
            "20 tasks (public activity 8, appointment 3, inviting companions 3, online activity 3, "
            "asking for help 3)" in done.output
        )
        assert "lacks 25 people" in done.output
        assert "Hobbs Cafe (2)" in done.output
    run = concord(
        tmp_path, "run", "stss", "--players", "m", "--residents", "m", "--task-set", Path(file).stem
    )
    assert run.exit_code == 1


@needs_published
def test_with_names_for_its_people_and_places_a_published_task_can_be_played(tmp_path):
    tasks = files.read(PUBLISHED / "tasks.json")[:1]
    file = tmp_path / "one.json"
    file.write_text(json.dumps(json.loads((PUBLISHED / "tasks.json").read_text())[:1]))
    people = dict(zip(tasks[0].cast, TOWN.residents, strict=False))
    lines = [
        "[people]",
        *(f'"{a}" = "{b}"' for a, b in people.items()),
        "[places]",
        '"Hobbs Cafe" = "Saltbread Café"',
    ]
    names = tmp_path / "names.toml"
    names.write_text("\n".join(lines))
    done = concord(tmp_path / "w", "stss", "import", "tasks", str(file), "--map", str(names))
    assert "1 of them can be played in Merrow Quay: concord run stss --task-set one" in done.output
    brought = planning.materials(Workspace.open(tmp_path / "w"))
    (task,) = system.tasks_of(brought, system.TOWN, "one").values()
    assert task.performer == "Ngozi Okafor"
    assert (
        task.currently
        == "Ngozi Okafor wants to hold a Valentine's Day party at Saltbread Café at 2023-02-14 19:00"
    )
    assert task.subgoals[0].location == "Saltbread Café"
    system.check(task, TOWN)


def test_longer_names_are_replaced_before_those_in_them():
    task = party(goal="Meet at Oak Hill College:library, not at Oak Hill College", currently="Adam and Ada")
    places = {"Oak Hill College": "Tidemill College", "Oak Hill College:library": "Merrow Library"}
    names = {"people": {"Ada": "Zoe"}, "places": places}
    found = files.renamed(task, names)
    assert found.goal == "Meet at Merrow Library, not at Tidemill College"
    assert found.currently == "Adam and Zoe"
    assert found.performer == "Zoe"


def test_who_is_not_named_is_drawn(tmp_path):
    folder = tmp_path / "stss" / "en" / "tasks"
    folder.mkdir(parents=True)
    performer = next(iter(TOWN.residents))
    task = party(performer=performer, subgoals=party().subgoals, target=())
    files.write([task], tmp_path, "mine")
    brought = MATERIALS.__class__(MATERIALS.prompts, (tmp_path, *MATERIALS.data))
    (found,) = system.tasks_of(brought, system.TOWN, "mine").values()
    assert found.cast[0] == performer
    assert 10 <= len(found.cast) - 1 <= 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[people]\n"a" = 3', "may hold the tables"),
        ('[persons]\n"a" = "b"', "may hold the tables"),
        ('[people]\n"a" = "c"\n"b" = "c"', "maps two people onto one"),
        ("nonsense", "is not valid TOML"),
    ],
)
def test_names_out_of_form_are_refused(tmp_path, text, message):
    file = tmp_path / "names.toml"
    file.write_text(text)
    with pytest.raises(ImportRefused, match=message):
        files.read_names(file)


def test_a_file_that_cannot_be_used_leaves_nothing(tmp_path):
    file = tmp_path / "tasks.json"
    file.write_text(
        json.dumps(
            [
                {
                    "goal": "x",
                    "task_type": "Dance",
                    "performer": "Ada",
                    "task": {"target_num": 2, "goal": [{"keyword": "x"}]},
                }
            ]
        )
    )
    done = concord(tmp_path / "w", "stss", "import", "tasks", str(file))
    assert done.exit_code == 1
    assert "task 1: there is no task type “Dance”" in done.output
    assert "Nothing was imported." in done.output
    assert not list((tmp_path / "w").glob("data/**/*.json"))


def test_a_file_of_residents_is_named_as_such(tmp_path):
    file = tmp_path / "characteristics.json"
    file.write_text(json.dumps({"Ada Moss": {"name": "Ada Moss", "age": 25, "innate": "calm"}}))
    with pytest.raises(ImportRefused, match=r"describes residents of a town \(Ada Moss, …\), not tasks"):
        files.read(file)
