"""The default guidelines of a new study, from `data/`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.files import read_toml
from core.rating import Criterion

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
    language = language or FALLBACK
    general = _first(folders, f"guidelines/{language}.toml") or _first(folders, f"guidelines/{FALLBACK}.toml")
    own = _first(folders, f"{benchmark}/{language}/guidelines.toml") or _first(
        folders, f"{benchmark}/{FALLBACK}/guidelines.toml"
    )
    meaning = own.get("criteria", {})
    parts = [
        general.get("opening", ""),
        own.get("about", ""),
        general.get("turn" if per_turn else "conversation", ""),
        general.get("scale", ""),
    ]
    for criterion in criteria:
        parts.append(
            f"## {criterion.label}\n\n*{criterion.statement}*\n\n{meaning.get(criterion.name, '').strip()}"
        )
    parts.append(general.get("closing", ""))
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _first(folders: Sequence[Path], name: str) -> dict[str, Any]:
    for folder in folders:
        file = folder / name
        if file.is_file():
            return read_toml(file)
    return {}
