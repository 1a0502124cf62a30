"""The guidelines a study starts from."""

from dataclasses import replace
from pathlib import Path

import pytest

from concord.errors import ConfigError
from concord.rating import Criterion
from concord.runs.registry import get
from concord.studies.guidelines import default_guidelines
from concord.workspace import SHIPPED

SHIPS = [SHIPPED / "data"]
PINGPONG = get("pingpong").criteria


@pytest.mark.parametrize("language", ["en", "ru"])
def test_every_criterion_of_pingpong_is_explained_in_every_language(language: str) -> None:
    text = default_guidelines(SHIPS, "pingpong", PINGPONG, language=language)
    for criterion in PINGPONG:
        section = text.split(f"## {criterion.label}\n")[1].split("\n## ")[0]
        assert len(section) > len(criterion.statement) + 100, criterion.name
    assert ("Спасибо" in text) == (language == "ru")


def test_a_turn_and_a_conversation_are_rated_by_different_words() -> None:
    whole, turn = (default_guidelines(SHIPS, "pingpong", PINGPONG, per_turn=p) for p in (False, True))
    assert "as a whole" in whole
    assert "as a whole" not in turn


def test_a_criterion_of_ones_own_is_explained_by_its_statement() -> None:
    text = default_guidelines(
        SHIPS, "imported", [Criterion("clarity", "One understands it at once.")], language="de"
    )
    assert "## Clarity\n\n*One understands it at once.*" in text
    assert "Thank you for rating" in text


def test_russian_guidelines_state_the_questions_in_russian() -> None:
    own = replace(PINGPONG[0], statement="Is it Sancho?")
    text = default_guidelines(SHIPS, "pingpong", (own, PINGPONG[2]), language="ru")
    assert "*Is it Sancho?*" in text
    assert "*Язык игрока" in text


def test_version_1_and_the_dialogues_are_explained_too() -> None:
    """Both were left without: their texts lay under the name of another benchmark."""
    told = {"pingpong-v1": "its card stands beside", "simulbench-dialogues": "first such turn"}
    for name, said in told.items():
        assert said in default_guidelines(SHIPS, name, get(name).criteria)


def test_a_workspace_s_own_text_replaces_what_ships(tmp_path: Path) -> None:
    own = tmp_path / "pingpong" / "en" / "rubrics"
    own.mkdir(parents=True)
    text = (SHIPPED / "data" / "pingpong" / "en" / "rubrics" / "judge.toml").read_text()
    (own / "judge.toml").write_text(text.replace("Is this the language of", "Count the commas of"))
    assert "Count the commas of" in default_guidelines([tmp_path, *SHIPS], "pingpong", PINGPONG)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    own = tmp_path / "guidelines"
    own.mkdir()
    (own / "en.toml").write_text("opening = ")
    with pytest.raises(ConfigError, match=r"en\.toml is not valid TOML"):
        default_guidelines([tmp_path, *SHIPS], "pingpong", PINGPONG)
