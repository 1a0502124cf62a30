"""The published task files brought into a workspace: what the town lacks is told, and a mapping makes them
playable.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from concord.benchmarks.stss import files, system
from concord.benchmarks.stss.hours import habit, up_to
from concord.benchmarks.stss.town import minute_of
from concord.cli import main
from concord.errors import ImportRefused
from concord.files import SHIPPED
from concord.runs import planning
from concord.workspace import Workspace
from tests.stss.asking import MATERIALS, TOWN
from tests.stss.made import party

FOLDERS = (folder / "shared" / "data" / "stss" for folder in Path(__file__).resolve().parents)
PUBLISHED = next((folder for folder in FOLDERS if folder.is_dir()), Path("shared"))
needs_published = pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published task files are not here")


def concord(folder, *arguments):
    return CliRunner().invoke(main, ["--workspace", str(folder), *arguments])


@needs_published
@pytest.mark.parametrize("file", sorted(f.name for f in PUBLISHED.glob("*tasks*.json")))
def test_every_published_task_can_be_played_by_the_towns_residents(tmp_path, file):
    done = concord(tmp_path, "stss", "import", "tasks", str(PUBLISHED / file))
    assert done.exit_code == 0, done.output
    count = len(json.loads((PUBLISHED / file).read_text()))
    assert f"{count} of them can be played in Merrow Quay: concord " in done.output
    if file == "tasks.json":
        assert (
            "20 tasks (public activity 8, appointment 3, inviting companions 3, online activity 3, "
            "asking for help 3)" in done.output
        )
    brought = planning.materials(Workspace.open(tmp_path))
    for task in system.tasks_of(brought, system.TOWN, Path(file).stem).values():
        system.check(task, TOWN)


@needs_published
def test_the_published_people_play_the_published_tasks(tmp_path):
    done = concord(
        tmp_path, "stss", "import", "people", str(PUBLISHED / "characteristics.json"), "--name", "ville"
    )
    assert done.exit_code == 0, done.output
    assert "25 people live in" in done.output
    done = concord(tmp_path, "stss", "import", "tasks", str(PUBLISHED / "tasks.json"), "--town", "ville")
    assert "20 of them can be played in ville: concord " in done.output
    brought = planning.materials(Workspace.open(tmp_path))
    town = system.town_named(brought, "ville")
    first = next(iter(system.tasks_of(brought, "ville", "tasks").values()))
    assert first.performer == "Isabella Rodriguez"
    assert first.subgoals[0].location == "Saltbread Café"
    system.check(first, town)
    isabella = town.residents["Isabella Rodriguez"]
    assert (isabella.age, isabella.work) == (34, "Saltbread Café:front room")


def persona(**changes):
    of = {"age": 30, "innate": "calm", "learned": "", "currently": "", "lifestyle": "Ada sleeps late."}
    return {"Ada": {**of, **changes}, "shared": {"vision_r": 4}}


@pytest.mark.parametrize(
    ("given", "names", "message"),
    [
        ([], {}, "must hold an object with a persona by name"),
        (persona(), {}, "Ada has no counterpart in Merrow Quay"),
        (persona(age="old"), {"Ada": "Otto Brandt"}, "Ada: age"),
        ({"Ada": 3}, {"Ada": "Otto Brandt"}, "Ada: age"),
    ],
)
def test_people_who_cannot_live_in_the_town_are_refused(tmp_path, given, names, message):
    file = tmp_path / "people.json"
    file.write_text(json.dumps(given))
    with pytest.raises(ImportRefused, match=message):
        files.people(file, TOWN, files.TownNames(people=names))


def test_people_live_where_and_when_their_counterparts_do(tmp_path):
    file = tmp_path / "people.json"
    file.write_text(json.dumps(persona()))
    [ada] = files.people(file, TOWN, files.TownNames(people={"Ada": "Otto Brandt"})).values()
    otto = TOWN.residents["Otto Brandt"]
    assert (ada["age"], ada["lifestyle"]) == (30, "Ada sleeps late.")
    assert (ada["home"], ada["work"], ada["hours"]) == (otto.home, otto.work, list(otto.hours))
    assert (ada["wakes"], ada["sleeps"]) == (otto.wakes, otto.sleeps)


@pytest.mark.parametrize(
    ("lifestyle", "plan", "own"),
    [
        ("Ada goes to bed around 11pm, awakes up around 6am.", "", {"wakes": "06:00", "sleeps": "23:00"}),
        ("Ada goes to bed around midnight, wakes at 8 am.", "", {"wakes": "08:00", "sleeps": "24:00"}),
        ("Ada goes to bed around 2am, gets up at 10:30.", "", {"wakes": "10:30", "sleeps": "24:00"}),
        (
            "Ada gets up around 6:30, has dinner around 19:00 and goes to bed around 22:30.",
            "",
            {"wakes": "06:30", "sleeps": "22:30"},
        ),
        (
            "Ada eats at 5pm.",
            "Ada opens the café at 8am, and stands at the counter until 8pm.",
            {"hours": ["08:00", "20:00"]},
        ),
        ("Ada sleeps until noon.", "", {"wakes": "12:00"}),
        ("", "Ada takes classes starting 10am and games 6 hours a day.", {}),
        ("", "Ada opens at 9pm and closes at 9am.", {}),
        ("Ada wakes at 25:90 and goes to bed at 99pm.", "", {}),
    ],
)
def test_people_keep_the_hours_that_their_own_words_name(tmp_path, lifestyle, plan, own):
    file = tmp_path / "people.json"
    file.write_text(json.dumps(persona(lifestyle=lifestyle, daily_plan_req=plan)))
    names = files.TownNames(people={"Ada": "Otto Brandt"})
    [ada] = files.people(file, TOWN, names).values()
    otto = TOWN.residents["Otto Brandt"].model_dump(mode="json")
    expected = {name: otto[name] for name in ("wakes", "sleeps", "hours")} | own
    assert {name: ada[name] for name in expected} == expected


def test_who_goes_to_bed_after_midnight_is_told_one_hour():
    late = TOWN.residents["Otto Brandt"].model_copy(
        update={"lifestyle": "Otto goes to bed around 2am.", "sleeps": "24:00"}
    )
    assert up_to(late) == "after midnight"
    assert up_to(TOWN.residents["Otto Brandt"]) == TOWN.residents["Otto Brandt"].sleeps


@needs_published
def test_no_published_person_is_told_two_bedtimes():
    folder = SHIPPED / "data" / "stss" / "en" / "merrow-quay"
    names = files.read_names(folder / files.PUBLISHED_NAMES)
    for name, one in files.people(PUBLISHED / "characteristics.json", TOWN, names).items():
        wakes, sleeps = habit(one["lifestyle"])
        assert minute_of(one["wakes"]) == wakes, name
        assert minute_of(one["sleeps"]) == min(sleeps, 24 * 60), name


def test_the_names_that_ship_are_of_the_towns_people_and_places():
    names = files.read_names(SHIPPED / "data" / "stss" / "en" / "merrow-quay" / files.PUBLISHED_NAMES)
    assert sorted(names.people.values()) == sorted(TOWN.residents)
    for place in names.places.values():
        TOWN.place(place)


@needs_published
def test_a_published_task_with_names_of_the_town_can_be_played(tmp_path):
    file = tmp_path / "one.json"
    file.write_text(json.dumps(json.loads((PUBLISHED / "tasks.json").read_text())[:1]))
    done = concord(tmp_path / "w", "stss", "import", "tasks", str(file))
    assert "1 of them can be played in Merrow Quay: concord " in done.output
    brought = planning.materials(Workspace.open(tmp_path / "w"))
    (task,) = system.tasks_of(brought, system.TOWN, "one").values()
    assert task.performer == "Astrid Lindqvist"
    assert (
        task.currently
        == "Astrid Lindqvist wants to hold a Valentine's Day party at Saltbread Café at 2023-02-14 19:00"
    )
    assert task.subgoals[0].location == "Saltbread Café"
    system.check(task, TOWN)


def test_longer_names_are_replaced_before_those_in_them():
    task = party(goal="Meet at Oak Hill College:library, not at Oak Hill College", currently="Adam and Ada")
    places = {"Oak Hill College": "Tidemill College", "Oak Hill College:library": "Merrow Library"}
    names = files.TownNames(people={"Ada": "Zoe"}, places=places)
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
        ('[people]\n"a" = 3', "people.a: Input should be a valid string"),
        ('[persons]\n"a" = "b"', "persons: Extra inputs are not permitted"),
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
    assert not list((tmp_path / "w").glob("data/**/*.json"))
