"""Translations of the desk: every text of its scripts in every language, and files that are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from concord.errors import ConfigError
from concord.questions import SIDES, TYPES, Scale
from concord.runs.registry import BENCHMARKS
from concord.studies.pairings import PREFERENCE
from concord.studies.translations import translations
from pages.desk.component import DESK_FOLDER, SCRIPTS
from pages.desk.form import REASONS
from pages.desk.shown_answers import END_TEXTS

DATA = Path(__file__).resolve().parents[2] / "data"
SHIPPED = translations([DATA])
TEXT = re.compile(r'\bt\((?:[\w?.= "]+ \? )?"([^"]+)"(?: : "([^"]+)")?')


def texts() -> set[str]:
    """Every text that the desks of annotators ask a translation for."""
    scripts = [(DESK_FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS]
    said = {text for script in scripts for found in TEXT.findall(script) for text in found if text}
    known = {speaker for benchmark in BENCHMARKS.values() for speaker in benchmark.speakers}
    common = {
        "English",
        "User",
        "Model",
        "Tool call",
        "Tool result",
        "Your work",
        "Assistant",
        "Simulator",
    } | (known & {"Player"})
    common |= {"All done – thank you!", "Nothing to rate here", "All compared – thank you!"}
    common |= {"No pairs to compare", "Nothing to show", END_TEXTS["revise"]}
    scales = (Scale((0, 1), ("a", "b"), name) for name in TYPES)
    of_types = {choice.say for scale in scales for choice in scale.kind.options(scale) if choice.say}
    answers = (
        of_types
        | {choice.say for *_, choice in SIDES}
        | {
            "Why?",
            "yours",
            PREFERENCE.label,
        }
    )
    return said | {*REASONS} | common | answers


@pytest.mark.parametrize("language", SHIPPED)
def test_every_text_of_the_desk_is_translated(language: str) -> None:
    assert len(texts()) > 100
    assert texts() - set(SHIPPED[language]) == set(), "not translated"
    assert set(SHIPPED[language]) - texts() == set(), "not used"


@pytest.mark.parametrize("language", SHIPPED)
def test_a_translation_holds_the_same_values(language: str) -> None:
    for text, translation in SHIPPED[language].items():
        assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", translation)), text


def test_a_workspaces_own_file_comes_first_and_a_broken_one_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "ru.toml").write_text('"English" = "По-русски"', encoding="utf-8")
    (folder / "de.toml").write_text('"English" = "Deutsch"\n"Skip" = "Auslassen"', encoding="utf-8")
    found = translations([tmp_path, DATA])
    assert found["ru"] == {"English": "По-русски"}
    assert found["de"]["Skip"] == "Auslassen"
    (folder / "de.toml").write_text('"Skip" = 3', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"de\.toml"):
        translations([tmp_path, DATA])
