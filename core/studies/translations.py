"""Translations of the desk's own texts, from `data/desk/LANGUAGE.toml`."""

from collections.abc import Sequence
from pathlib import Path

from concord.errors import ConfigError
from concord.files import read_toml


def translations(folders: Sequence[Path]) -> dict[str, dict[str, str]]:
    """The translations of every text by language, such as “ru”; the first of the folders with a file counts.

    A file maps English texts to translations; a text that it does not have stays English. Raises ConfigError
    naming the file.
    """
    files = {file.stem: file for folder in reversed(folders) for file in sorted(folder.glob("desk/*.toml"))}
    return {language: _read(file) for language, file in files.items()}


def _read(file: Path) -> dict[str, str]:
    texts = read_toml(file)
    if "English" not in texts or not all(isinstance(text, str) for text in texts.values()):
        raise ConfigError(
            f"{file} maps each English text of the desk to its translation, and “English” to its language."
        )
    return dict(texts)
