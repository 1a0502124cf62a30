"""The default guidelines of a new study, from `data/`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from concord.errors import ConfigError
from concord.files import read_toml
from concord.rating import Criterion

FALLBACK = "en"


def default_guidelines(
    folders: Sequence[Path],
    benchmark: str,
    criteria: Sequence[Criterion],
    *,
    language: str = "",
    per_turn: bool = False,
) -> str:
    """Default guidelines in Markdown, in the conversations' language where there are texts, else in English.

    A criterion that the benchmark's guidelines.toml does not explain has its statement. The first of the
    folders with a file counts. Raises ConfigError naming the file.
    """
    languages = [language or FALLBACK, FALLBACK]
    general = _first(folders, [f"guidelines/{name}.toml" for name in languages])
    own = _first(folders, [f"{benchmark}/{name}/guidelines.toml" for name in languages])
    meaning = own.get("criteria", {})
    parts = [
        *(general.get("opening", ""), own.get("about", "")),
        *(general.get("turn" if per_turn else "conversation", ""), general.get("scale", "")),
        *(f"## {c.label}\n\n*{c.statement}*\n\n{meaning.get(c.name, '').strip()}" for c in criteria),
        general.get("closing", ""),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _first(folders: Sequence[Path], names: Sequence[str]) -> Mapping[str, Any]:
    """The tables of the first name that a folder has; {} where there is none."""
    files = (folder / name for name in names for folder in folders)
    return next((_read(file) for file in files if file.is_file()), {})


def _read(file: Path) -> Mapping[str, Any]:
    told = read_toml(file)
    meanings = told.get("criteria", {})
    texts = [text for name, text in told.items() if name != "criteria"]
    if not isinstance(meanings, dict) or not all(isinstance(t, str) for t in [*texts, *meanings.values()]):
        raise ConfigError(f"{file} may hold texts, and a table [criteria] of texts.")
    return told
