"""Changes of models.toml, line by line: all else in the file stays as it is, comments too."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from concord.errors import ConfigError
from concord.files import as_toml, limits, read_text, toml_key
from concord.llm.models import CURRENCY, load_models, read_entry


def append_entry(path: Path, name: str, settings: Mapping[str, Any]) -> str:
    """Append an entry to models.toml and return its lines; what the file holds stays as it is.

    Raises ConfigError, and leaves the file, where no table can follow, as after `models = { … }`.
    """
    text = read_text(path, most=limits.TOML_BYTES) if path.exists() else ""
    block = f"[models.{toml_key(name)}]\n{as_toml(settings)}"
    text += ("\n" if text and text[-1] != "\n" else "") + f"\n{block}"
    try:
        tomllib.loads(text)
        path.write_text(text, encoding="utf-8")
    except ValueError as error:
        raise ConfigError(
            f"{path}: no entry can be added ({error}). Write each model as a table [models.NAME]."
        ) from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error
    return block


def merged(entry: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an entry with others in their place; of a table, what is new is added. None removes."""
    settings_of_entry = {**entry} | {
        name: {**entry.get(name, {}), **value} if isinstance(value, Mapping) else value
        for name, value in settings.items()
    }
    return {name: value for name, value in settings_of_entry.items() if value is not None}


def change_entry(path: Path, name: str, settings: Mapping[str, Any]) -> str:
    """Change settings of an entry in models.toml and return their lines; all else in the file stays as it is.

    Of a setting that is a table, what is new is added; a setting that is None is removed. Raises ConfigError,
    and leaves the file, for a value that is none of its setting, and where the entry is written in a form
    that cannot be changed line by line.
    """
    before = tomllib.loads(read_text(path, most=limits.TOML_BYTES))
    entry = merged(before["models"][name], settings)
    read_entry(path, name, entry)
    after = {**before, "models": {**before["models"], name: entry}}
    toml_lines = as_toml({setting: entry[setting] for setting in settings if setting in entry})

    def change(lines: list[str]) -> None:
        for setting in settings:
            if setting in entry:
                _write_setting(lines, name, setting, entry[setting])
            else:
                _remove_setting(lines, name, setting)

    wrong = f"the entry of “{name}” cannot be changed"
    _rewrite(path, change, after, wrong, f"Write these lines into it:\n{toml_lines}")
    return toml_lines


def remove_entry(path: Path, name: str) -> None:
    """Remove an entry from models.toml. Raises ConfigError, and leaves the file, as `change_entry` does."""
    before = tomllib.loads(read_text(path, most=limits.TOML_BYTES))
    remaining = {
        name_of_entry: entry for name_of_entry, entry in before["models"].items() if name_of_entry != name
    }
    after = {**before, "models": remaining}

    def change(lines: list[str]) -> None:
        while place := _first_table(lines, "models", name):
            del lines[place[0] - 1 : _last(lines, *place)]

    wrong = f"the entry of “{name}” cannot be removed"
    _rewrite(path, change, after, wrong, f"Remove the table [models.{toml_key(name)}] from it.")


def set_currency(path: Path, currency: str) -> None:
    """Say in models.toml what its prices are in; “” removes the line. Raises ConfigError, as above."""
    text = read_text(path, most=limits.TOML_BYTES) if path.exists() else ""
    after = tomllib.loads(text) | ({CURRENCY: currency} if currency else {})
    if not currency:
        after.pop(CURRENCY, None)

    def change(lines: list[str]) -> None:
        end = next((n for n, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
        if currency:
            _write_line(lines, (0, end), CURRENCY, currency)
        else:
            _remove_line(lines, (0, end), CURRENCY)

    _rewrite(path, change, after, "the currency cannot be changed", f'Write {CURRENCY} = "{currency}" above.')


def restore(path: Path, before: str, after: str) -> None:
    """Give models.toml the text that it had before a change. Raises ConfigError if it was changed since."""
    if not path.exists() or read_text(path, most=limits.TOML_BYTES) != after:
        raise ConfigError(f"{path} was changed since, and stays as it is.")
    _write(path, before)


def _rewrite(
    path: Path, change: Callable[[list[str]], None], after: Mapping[str, Any], wrong: str, remedy: str
) -> None:
    """Write the file with changed lines, if what it says then is what it should say."""
    lines = read_text(path, most=limits.TOML_BYTES).splitlines() if path.exists() else []
    change(lines)
    changed = "\n".join(lines) + "\n"
    try:
        if {"models": {}} | tomllib.loads(changed) != {"models": {}} | dict(after):
            raise ValueError("it is written in another form")
    except ValueError as error:
        raise ConfigError(f"{path}: {wrong} ({error}). {remedy}") from error
    _write(path, changed)
    load_models(path)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path} cannot be written: {reason}.") from error


def _write_setting(lines: list[str], name: str, setting: str, value: Any) -> None:
    """Write one setting into the lines of an entry: into its table, or its line, or a new one at the end."""
    if isinstance(value, Mapping) and (place := _table(lines, "models", name, setting)):
        for key, inner in value.items():
            _write_line(lines, _table(lines, "models", name, setting) or place, key, inner)
    elif place := _table(lines, "models", name):
        _write_line(lines, place, setting, value)


def _table(lines: Sequence[str], *keys: str) -> tuple[int, int] | None:
    """The lines of a table, without its header, from the first to behind the last; None where it has none."""
    nested: dict[str, Any] = {}
    for key in reversed(keys):
        nested = {key: nested}
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for number in headers:
        with suppress(ValueError):
            if tomllib.loads(lines[number]) == nested:
                return number + 1, next(
                    (next_header for next_header in headers if next_header > number), len(lines)
                )
    return None


def _write_line(lines: list[str], place: tuple[int, int], key: str, value: Any) -> None:
    """Write a line into a table, in place of the one with its key, else behind its last line."""
    begin, end = place
    new = as_toml({key: value}).rstrip("\n")
    for number in range(begin, end):
        if _is_line_of(lines[number], key):
            lines[number] = new
            return
    lines.insert(_last(lines, begin, end), new)


def _last(lines: Sequence[str], begin: int, end: int) -> int:
    """Behind the last setting of a table: comments after it are about the table that follows."""
    while end > begin and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


def _remove_setting(lines: list[str], name: str, setting: str) -> None:
    """Remove one setting from the lines of an entry: its line, and its table."""
    if place := _table(lines, "models", name):
        _remove_line(lines, place, setting)
    if place := _table(lines, "models", name, setting):
        del lines[place[0] - 1 : _last(lines, *place)]


def _remove_line(lines: list[str], place: tuple[int, int], key: str) -> None:
    """Remove the line of a key from a table; where it has none, nothing."""
    for number in range(*place):
        if _is_line_of(lines[number], key):
            del lines[number]
            return


def _is_line_of(line: str, key: str) -> bool:
    return bool(re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line))


def _first_table(lines: Sequence[str], *keys: str) -> tuple[int, int] | None:
    """The lines of the first table with these keys or further ones, as `_table` has them."""
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for number in headers:
        with suppress(ValueError):
            inner: Any = tomllib.loads(lines[number])
            for key in keys:
                inner = inner.get(key) if isinstance(inner, dict) else None
            if inner is not None:
                return number + 1, next(
                    (next_header for next_header in headers if next_header > number), len(lines)
                )
    return None
