"""Files of the authors: settings, written as the workspace's TOML files, and the form of their results."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concord.errors import ImportRefused
from concord.files import as_toml, file_name, has_half_characters, read_json

# The published files name the greeting in three ways, one of them a slip.
_GREETINGS = ("greeting", "initial_message", "inital_message")
_FIELDS = ("char_name", "system_prompt", "example_prompt", "summary")


@dataclass(frozen=True)
class Settings:
    """A settings file by language: characters by slug, and situations, each as the content of a TOML file."""

    characters: Mapping[str, Mapping[str, Mapping[str, Any]]]
    situations: Mapping[str, list[Mapping[str, Any]]]


def read(path: Path) -> Settings:
    """Read a settings file. Raises ImportRefused naming the language and the entry."""
    settings = read_json(path, ImportRefused)
    if not isinstance(settings, dict) or not settings:
        raise ImportRefused(
            f'{path} must hold an object per language, such as {{"en": {{"characters": […], "situations": '
            f"[…]}}}}."
        )
    characters: dict[str, dict[str, Mapping[str, Any]]] = {}
    situations: dict[str, list[Mapping[str, Any]]] = {}
    for language, part in settings.items():
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]+)?", language):
            raise ImportRefused(f"{path}: “{language}” is no code of a language such as en or ru.")
        if not isinstance(part, dict) or not all(
            isinstance(part.get(k), list) for k in ("characters", "situations")
        ):
            raise ImportRefused(f"{path}: “{language}” lacks a list of characters or of situations.")
        characters[language] = {}
        for number, entry in enumerate(part["characters"], 1):
            card = _character(entry, f"{path}, character {number} of “{language}”")
            characters[language][_free(slug(card["char_name"]), characters[language])] = card
        situations[language] = []
        for number, entry in enumerate(part["situations"], 1):
            situation = _situation(entry, f"{path}, situation {number} of “{language}”")
            taken = {known["id"] for known in situations[language]}
            name = _free(slug("-".join(situation["tags"]) or f"situation-{number}"), taken)
            situations[language].append({"id": name, **situation})
    return Settings(characters, situations)


def write(settings: Settings, data: Path, name: str) -> list[Path]:
    """Write the files of the character set `name` below `data` (a workspace's folder) and return them.

    None that is there changes: raises ImportRefused where one has other content.
    """
    files: dict[Path, str] = {}
    for language, cards in settings.characters.items():
        folder = data / "pingpong" / language / "sets" / name
        for character, card in cards.items():
            files[folder / "characters" / f"{character}.toml"] = as_toml(card)
        tables = ("[[situations]]\n" + as_toml(situation) for situation in settings.situations[language])
        files[folder / "situations.toml"] = "\n".join(tables)
    for file, text in files.items():
        if file.exists() and file.read_text(encoding="utf-8") != text:
            raise ImportRefused(
                f"{file} is there already with other content. Give the set another name with --name; nothing "
                "was written."
            )
    try:
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ImportRefused(f"{file} cannot be written: {error.strerror}.") from error
    return list(files)


def slug(name: str) -> str:
    """A name as that of a file: lower case, words joined by hyphens, letters of any script."""
    return re.sub(r"[._-]+", "-", file_name(name.lower())).strip("-")


def _free(name: str, taken: Any) -> str:
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name}-{number}"
    return free


def _character(entry: Any, where: str) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise ImportRefused(f"{where}, is not an object.")
    card: dict[str, Any] = {name: entry.get(name, "") for name in _FIELDS}
    card["greeting"] = next((entry[name] for name in _GREETINGS if entry.get(name)), "")
    for name, text in card.items():
        if not isinstance(text, str) or has_half_characters(text):
            raise ImportRefused(f"{where}: “{name}” is not text.")
    for name in ("char_name", "system_prompt", "summary"):
        if not card[name].strip():
            raise ImportRefused(f"{where}, has no {name}. Fill it in.")
    return {**card, "source": "imported", "tags": _tags(entry, where)}


def _situation(entry: Any, where: str) -> dict[str, Any]:
    text, turns = (entry.get("text"), entry.get("num_turns")) if isinstance(entry, dict) else (None, None)
    if not isinstance(text, str) or not text.strip() or has_half_characters(text):
        raise ImportRefused(f"{where}, has no text. Fill it in.")
    if isinstance(turns, bool) or not isinstance(turns, int) or not 1 <= turns <= 50:
        raise ImportRefused(f"{where}: num_turns is {turns!r}; it must be a whole number from 1 to 50.")
    return {"num_turns": turns, "tags": _tags(entry, where), "text": text}


def _tags(entry: Mapping[str, Any], where: str) -> list[str]:
    tags = entry.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ImportRefused(f"{where}: “tags” is not a list of texts.")
    return tags
