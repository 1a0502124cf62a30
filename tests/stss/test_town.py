"""The town that ships, and what is said of towns that cannot be lived in."""

from __future__ import annotations

import re

import pytest

from concord.benchmarks.stss.tasks import TITLES
from concord.benchmarks.stss.templates import instantiate, load_templates, missing
from concord.benchmarks.stss.town import load_town
from concord.errors import ConfigError, NotFound
from tests.stss.town_helpers import SHIPPED, SMALL, town


def test_the_shipped_town_is_whole():
    found = load_town(SHIPPED / "town.toml")
    places = [s for s in found.sectors.values() if s.kind not in ("street", "home")]
    assert len(places) >= 18
    assert len(found.residents) == 25
    assert all(
        r.innate and r.learned and r.currently and r.lifestyle and r.work and r.knows
        for r in found.residents.values()
    )


def test_the_shipped_templates_make_tasks_of_all_five_types():
    found = load_town(SHIPPED / "town.toml")
    templates = load_templates(SHIPPED / "templates.toml", found)
    tasks = [instantiate(template, found, seed) for template in templates.values() for seed in (1, 2)]
    counts = {kind: sum(t.kind == kind for t in tasks) / 2 for kind in TITLES}
    assert counts == {"public": 10, "appointment": 5, "companions": 5, "online": 5, "help": 5}
    for task in tasks:
        assert not missing(task, found), task
        assert 10 <= len(task.cast) - 1 <= 12
        assert task.cast[0] == task.performer
        # Nobody can look for somebody they have never heard of.
        assert set(task.target) <= set(found.residents[task.performer].knows)
        assert "{" not in task.goal + task.currently + task.criteria
        background = len(task.cast) - 1
        # Half of the background, a third of it for companions, rounded up; the performer counts too.
        hoped = {
            "public": -(-background // 2),
            "online": -(-background // 2),
            "companions": -(-background // 3),
            "appointment": 1,
            "help": 0,
        }
        assert task.wanted == hoped[task.kind] + 1
    supper = templates["harvest-supper"]
    assert instantiate(supper, found, 1) == instantiate(supper, found, 1)


def test_ways_are_as_long_as_the_streets(tmp_path):
    found = load_town(town(tmp_path))
    # 240 m and then 320 m at 80 m a minute; the straight line of 400 m has no door.
    assert found.minutes("Lane", "Blue House") == pytest.approx(3 + 4)
    assert found.minutes("Lane", "Red House") == pytest.approx(3)
    assert found.way("Lane", "Blue House") == ["Lane", "Red House", "Blue House"]
    assert found.minutes("Lane", "Lane") == 0


def test_places_by_name_and_by_likeness(tmp_path):
    found = load_town(town(tmp_path))
    assert str(found.place("Red House:room")) == "Red House:room:chair"
    assert str(found.home("Ada Ash")) == "Red House:room:bed"
    assert str(found.nearest("red house: ROOM: bed")) == "Red House:room:bed"
    assert str(found.nearest("Two Houses:Red Hause:room")) == "Red House:room:chair"
    assert str(found.nearest("Red House:bed")) == "Red House:room:bed"
    assert str(found.nearest("in the hall of the Red House")) == "Red House:hall:door"
    assert found.nearest("Mars") is None
    assert found.nearest("Redhousing") is None
    with pytest.raises(NotFound, match="Did you mean “Red House”"):
        found.place("Red Hous")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('doors = ["Blue House"]\n', "", "There is no way from Lane to Blue House"),
        (
            'doors = ["Blue House"]',
            'doors = ["Blue House", "Gren House"]',
            "There is no sector to which Red House has a door “Gren House”",
        ),
        (
            'home = "Red House:room"',
            'home = "Red House:attic"',
            "There is no arena of Red House “attic”",
        ),
        ('work = "Red House:hall"', 'work = "Mill"', "There is no sector of Two Houses “Mill”"),
        (
            '"Ada Ash" = "his landlady"',
            '"Ada Esh" = "his landlady"',
            "There is no resident whom Ben Birch knows “Ada Esh”. Did you mean “Ada Ash”?",
        ),
        ('sectors."Lane"', 'sectors."House"', "The name “House” is part of “Red House”"),
        ("age = 30", 'age = 30\nwakes = "23:30"', "Ada Ash must wake (23:30) before going to bed (23:00)"),
        (
            'work = "Red House:hall"',
            'hours = ["17:00", "09:00"]',
            "Ben Birch’s work must end after it begins",
        ),
    ],
)
def test_what_is_wrong_with_a_town_is_told(tmp_path, old, new, sentence):
    file = town(tmp_path, SMALL.replace(old, new))
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        load_town(file)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nonsense", "is not valid TOML"),
        ("name = 'x'", "sectors: Field required"),
        (SMALL.replace("at = [0, 0]", "at = [0]"), "sectors.Lane.at"),
        (SMALL.replace('sectors."Lane"', 'sectors."La:ne"'), "sectors.La:ne.name"),
        (SMALL.replace("age = 30", "age = 300"), "residents.Ada Ash.age"),
        (SMALL.replace("age = 30", "age = 30\nshoe = 41"), "shoe"),
        ("speed = 3\n" + SMALL, "speed: Extra inputs are not permitted"),
        (SMALL.replace("at = [0, 240]", "at = [nan, 240]"), "nan cannot be stored as a number"),
        (SMALL.replace("at = [0, 240]", "at = [0, -inf]"), "inf cannot be stored as a number"),
    ],
)
def test_a_file_out_of_form_is_refused_by_a_sentence(tmp_path, text, sentence):
    with pytest.raises(ConfigError, match=sentence):
        load_town(town(tmp_path, text))


def test_a_template_that_names_a_stranger_is_refused(tmp_path):
    text = (SHIPPED / "templates.toml").read_text().replace('["Ruth Abrams"]', '["Ruth Nobody"]', 1)
    file = tmp_path / "templates.toml"
    file.write_text(text)
    with pytest.raises(
        ConfigError, match="“pottery-exhibition”: There is no resident of Merrow Quay “Ruth N"
    ):
        load_templates(file, load_town(SHIPPED / "town.toml"))
