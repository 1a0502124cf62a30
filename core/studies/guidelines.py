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
    candidates = [shipped.rubrics(prompt_benchmark, name, folders) for name in languages]
    rubrics = candidates[0] or candidates[1]
    statements: dict[str, str] = {}
    explanations: dict[str, str] = {}
    for rubric in rubrics:
        explanations.update(rubric.explained)
        for criterion in rubric.criteria:
            statements[criterion.name] = criterion.statement
    asked_criteria: list[Criterion] = []
    for criterion in criteria:
        # What is asked in words of one's own is shown in these.
        if criterion in known_or_imported(prompt_benchmark).criteria:
            statement = statements.get(criterion.name, criterion.statement)
            criterion = replace(criterion, statement=statement)
        asked_criteria.append(criterion)
    parts = [
        general.get("opening", ""),
        *(rubric.guidelines for rubric in rubrics),
        general.get("turn" if per_turn else "conversation", ""),
        general.get("scale", ""),
        *explained(asked_criteria, explanations),
        general.get("closing", ""),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _first(folders: Sequence[Path], names: Sequence[str]) -> Mapping[str, Any]:
    """The tables of the first name that a folder has; {} where there is none."""
    for name in names:
        for folder in folders:
            if (folder / name).is_file():
                return _read(folder / name)
    return {}


def _read(file: Path) -> Mapping[str, Any]:
    texts = read_toml(file)
    if not all(isinstance(text, str) for text in texts.values()):
        raise ConfigError(f"{file} may hold texts only.")
    return texts
