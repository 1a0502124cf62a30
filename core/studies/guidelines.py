"""The default guidelines of a new study, from `data/`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from concord.errors import ConfigError
from concord.files import read_toml
from concord.rating import Criterion
from concord.rubrics import shipped
from concord.rubrics.rubric import explained
from concord.runs.registry import known_or_imported

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

    What a benchmark's rubrics say of it and of its criteria is part of them; a criterion that they do not
    explain has its statement. The first of the folders with a file counts. Raises ConfigError naming the
    file.
    """
    languages = [language or FALLBACK, FALLBACK]
    general = _first(folders, [f"guidelines/{name}.toml" for name in languages])
    prompt_benchmark = known_or_imported(benchmark).prompts_of or benchmark
    candidates = (shipped.rubrics(prompt_benchmark, name, folders) for name in languages)
    rubrics = next(filter(None, candidates), ())
    texts = {c.name: c.statement for r in rubrics for c in r.criteria}
    asked_criteria = [
        # What is asked in words of one's own is shown in these.
        replace(c, statement=texts.get(c.name, c.statement))
        if c in known_or_imported(prompt_benchmark).criteria
        else c
        for c in criteria
    ]
    parts = [
        general.get("opening", ""),
        *(r.guidelines for r in rubrics),
        general.get("turn" if per_turn else "conversation", ""),
        general.get("scale", ""),
        *explained(asked_criteria, {name: text for r in rubrics for name, text in r.explained.items()}),
        general.get("closing", ""),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _first(folders: Sequence[Path], names: Sequence[str]) -> Mapping[str, Any]:
    """The tables of the first name that a folder has; {} where there is none."""
    files = (folder / name for name in names for folder in folders)
    return next((_read(file) for file in files if file.is_file()), {})


def _read(file: Path) -> Mapping[str, Any]:
    texts = read_toml(file)
    if not all(isinstance(text, str) for text in texts.values()):
        raise ConfigError(f"{file} may hold texts only.")
    return texts
