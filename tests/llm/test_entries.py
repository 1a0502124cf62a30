"""models.toml changed line by line: what else it says, and its comments, stay."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from concord.errors import ConfigError
from concord.llm import entries
from concord.llm.models import currency, load_models

OWN = """# mine
[models.a]   # first
model = "one"
price = { input = 1.0, output = 2.0 }

# about b
[models.b]
model = "two"

[models.b.price]
input = 3.0
output = 4.0

[models.c]
model = "three"  # last
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "models.toml"
    file.write_text(OWN)
    return file


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_setting_that_is_none_is_removed_as_a_line_or_as_a_table(path: Path, name: str) -> None:
    entries.change_entry(path, name, {"price": None, "family": "gpt"})
    models = load_models(path)
    assert models[name].price is None
    assert models[name].family == "gpt"
    assert "# mine" in path.read_text()
    assert "# last" in path.read_text()


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_an_entry_is_removed_with_its_tables_and_no_other(path: Path, name: str) -> None:
    entries.remove_entry(path, name)
    assert set(load_models(path)) == {"a", "b", "c"} - {name}
    assert "# about b" in path.read_text()


def test_the_last_entry_can_be_removed(path: Path) -> None:
    for name in "abc":
        entries.remove_entry(path, name)
    assert load_models(path) == {}


def test_an_entry_in_another_form_is_left_with_what_to_do(path: Path) -> None:
    path.write_text(text := 'models.a.model = "one"\n')
    with pytest.raises(ConfigError):
        entries.remove_entry(path, "a")
    assert path.read_text() == text


@pytest.mark.parametrize(
    "setting", [{"base_url": "not an address"}, {"price": {"input": -1.0}}, {"colour": 1}]
)
def test_a_value_that_is_none_of_its_setting_changes_nothing(path: Path, setting: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        entries.change_entry(path, "a", setting)
    assert path.read_text() == OWN


def test_the_currency_stands_above_all_tables_and_goes_again(path: Path) -> None:
    entries.set_currency(path, "EUR")
    assert currency(path) == "EUR"
    entries.set_currency(path, "USD")
    assert currency(path) == "USD"
    entries.set_currency(path, "")
    assert tomllib.loads(path.read_text()) == tomllib.loads(OWN)


def test_a_text_comes_back_only_where_nobody_changed_it_since(path: Path) -> None:
    entries.remove_entry(path, "a")
    after = path.read_text()
    path.write_text(f"{after}# by hand\n")
    with pytest.raises(ConfigError):
        entries.restore(path, OWN, after)
    path.write_text(after)
    entries.restore(path, OWN, after)
    assert path.read_text() == OWN
