"""What several tests take from `test_town`: SHIPPED, SMALL, town."""

from __future__ import annotations

from pathlib import Path

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "stss" / "en" / "merrow-quay"


SMALL = """
name = "Two Houses"
[sectors."Lane"]
at = [0, 0]
doors = ["Red House"]
[sectors."Lane".arenas]
"lane" = ["stone"]
[sectors."Red House"]
kind = "home"
at = [0, 240]
doors = ["Blue House"]
[sectors."Red House".arenas]
"hall" = ["door"]
"room" = ["chair", "bed"]
[sectors."Blue House"]
kind = "home"
at = [320, 240]
[sectors."Blue House".arenas]
"room" = ["bed"]
[residents."Ada Ash"]
age = 30
innate = "calm"
learned = "Ada Ash counts stones."
home = "Red House:room"
[residents."Ben Birch"]
age = 31
innate = "loud"
learned = "Ben Birch throws stones."
home = "Blue House:room"
work = "Red House:hall"
[residents."Ben Birch".knows]
"Ada Ash" = "his landlady"
"""


def town(tmp_path, text=SMALL):
    file = tmp_path / "town.toml"
    file.write_text(text)
    return file
