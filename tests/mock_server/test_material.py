"""Lines with slots: filled, chosen, read back, and checked when they are loaded."""

from __future__ import annotations

import random

import pytest

from concord.errors import ConfigError
from tests.mock import material
from tests.mock.material import DATA, fill, fresh, load, pick, read

ASK = "I am holding {what}[ at {place}][ on {date}]. Will you come?"
SHAPES = {"what": r"[^.;?]+?", "place": "[A-Z][A-Za-z ]*?", "date": r"\d{4}-\d\d-\d\d"}


def test_a_part_in_brackets_is_left_out_where_its_slot_is_empty():
    assert fill(ASK, {"what": "a supper", "place": "", "date": "2023-02-14"}) == (
        "I am holding a supper on 2023-02-14. Will you come?"
    )
    assert fill(ASK, {"what": "a supper"}) == "I am holding a supper. Will you come?"
    assert fill(ASK, {"what": "", "place": "Town Hall"}) is None


@pytest.mark.parametrize(
    "slots",
    [
        {"what": "a supper"},
        {"what": "a supper", "place": "Town Hall"},
        {"what": "board games", "place": "Fern Park", "date": "2023-02-14"},
    ],
)
def test_what_is_said_with_a_line_is_read_back_with_it(slots):
    said = f"Hello! {fill(ASK, slots)} It is my doing."
    assert read(ASK, said, SHAPES) == slots
    assert read(ASK, "I am going home.", SHAPES) is None


def test_a_line_that_was_said_is_not_chosen_while_there_is_another():
    lines = ["Sit down.", "Sleep well, stranger, underneath whatever blankets remain."]
    slipped = "Slep well, stranger, underneath whatever blankets remain."
    assert fresh(lines, "Now sit down. And then?") == lines[1:]
    assert fresh(lines, slipped) == lines[:1]
    assert pick(lines, random.Random(1), before="Sit down.") == lines[1]
    assert pick(["{echo}, you say."], random.Random(1), {"echo": ""}) == ""


@pytest.mark.parametrize("path", sorted(DATA.glob("*/*/*.toml")), ids=lambda p: "/".join(p.parts[-3:]))
def test_all_material_that_ships_is_valid(path):
    assert load(path.parts[-3], path.parts[-2], path.stem)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('lines = ["Hello, {nmae}."]', "slots that `slots` does not name: nmae"),
        ('slots = ["name"]\nlines = ["Hello, {name}.", " "]', "empty list or line"),
        ('lines = ["Hello.", "Hello."]', "a line twice"),
        ("lines = [", "is not valid TOML"),
    ],
)
def test_material_that_is_not_valid_is_named(tmp_path, monkeypatch, content, said):
    monkeypatch.setattr(material, "DATA", tmp_path)
    file = tmp_path / "haiku" / "en" / f"{abs(hash(content))}.toml"
    file.parent.mkdir(parents=True)
    file.write_text(content)
    with pytest.raises(ConfigError, match=said):
        load("haiku", "en", file.stem)
