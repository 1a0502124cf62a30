"""Files of the authors: settings, written as the workspace's TOML files, and the form of their results."""

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from concord.benchmarks.pingpong.play import OWN_SET, Character, Situation
from concord.codes import AuditAct
from concord.errors import ImportRefused
from concord.files import as_toml, file_name, read_json, valid
from concord.store import audit
from concord.workspace import Workspace

# The published files name the greeting in three ways, one of them a slip.
_GREETINGS = ("greeting", "initial_message", "inital_message")


@dataclass(frozen=True)
class Settings:
    """A settings file by language: characters by slug, and situations, each as the content of a TOML file."""

    characters: Mapping[str, Mapping[str, Mapping[str, Any]]]
    situations: Mapping[str, list[Mapping[str, Any]]]


class _Part(BaseModel):
    """One language of a settings file."""

    characters: list[dict[str, Any]]
    situations: list[dict[str, Any]]


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
            raise ImportRefused(f"{path}: “{language}” is not a language code such as en or ru.")
        language_part = valid(_Part, part, f"{path}: “{language}”", ImportRefused)
        characters[language] = {}
        situations[language] = []
        for number, entry in enumerate(language_part.characters, 1):
            name = _free(slug(str(entry.get("char_name"))), characters[language])
            greeting = next((entry[field] for field in _GREETINGS if entry.get(field)), "")
            fields = {**entry, "slug": name, "greeting": greeting, "source": "imported"}
            place = f"{path}, character {number} of “{language}”"
            characters[language][name] = _dump(valid(Character, fields, place, ImportRefused), "slug")
        for number, entry in enumerate(language_part.situations, 1):
            place = f"{path}, situation {number} of “{language}”"
            scene = valid(Situation, {"id": "any", **entry}, place, ImportRefused)
            ids = {situation["id"] for situation in situations[language]}
            name = _free(slug("-".join(scene.tags) or f"situation-{number}"), ids)
            situations[language].append({"id": name, **_dump(scene, "id")})
    return Settings(characters, situations)


def _dump(model: BaseModel, *excluded_fields: str) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude=set(excluded_fields))


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


def bring(workspace: Workspace, settings: Settings, name: str) -> list[Path]:
    """Keep settings as the character set `name` of a workspace; its files. Raises ImportRefused."""
    if name == OWN_SET:
        raise ImportRefused(f"“{OWN_SET}” is the set of what ships and of your own. Choose another --name.")
    paths = write(settings, workspace.path / "data", name)
    _record(workspace, AuditAct.FILES_IMPORTED, name)
    return paths


def remove(workspace: Workspace, name: str) -> None:
    """Remove the imported character set `name` in all languages. Conversations with it stay."""
    sets = (workspace.path / "data" / "pingpong").glob("*/sets/*")
    for folder in [path for path in sets if path.name == name]:
        shutil.rmtree(folder)
    _record(workspace, AuditAct.IMPORT_REMOVED, name)


def _record(workspace: Workspace, act: AuditAct, name: str) -> None:
    with workspace.write() as db:
        audit.record(db, act, detail=f"the character set {name}", target="characters")


def slug(name: str) -> str:
    """A name as that of a file: lower case, words joined by hyphens, letters of any script."""
    return re.sub(r"[._-]+", "-", file_name(name.lower())).strip("-")


def _free(name: str, names: Any) -> str:
    number = 2
    free = name
    while free in names:
        number, free = number + 1, f"{name}-{number}"
    return free
