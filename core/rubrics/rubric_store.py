"""The rubrics of a workspace: files in its folder `rubrics`, and the versions that were used."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from concord.errors import ConfigError, StudyError, check_known, not_found
from concord.rubrics.reading import read, rubric_of
from concord.rubrics.rubric import Rubric
from concord.store import conversations, rubrics
from concord.store.studies import AskedRubric
from concord.workspace import Workspace


@dataclass(frozen=True)
class Numbered:
    """A rubric and the number of its version."""

    rubric: Rubric
    version: int

    @property
    def variant(self) -> str:
        """What its judges are distinguished by."""
        return rubrics.variant(self.rubric.name, self.version)

    @property
    def noted(self) -> AskedRubric:
        """What a study that is rated by it keeps of it."""
        rubric = self.rubric
        fields = None if rubric.show is None else tuple(rubric.show)
        return AskedRubric(rubric.name, self.version, rubric.hash, fields, rubric.system_prompt)

    def publish(self, db: Database) -> None:
        """Keep this version: from now on it is frozen."""
        rubric = self.rubric
        rubrics.publish(db, rubric.name, rubric.hash, rubric.body, rubric.criteria)


def folder(workspace: Workspace) -> Path:
    """Where the files lie."""
    return workspace.path / "rubrics"


def names(workspace: Workspace) -> list[str]:
    """The rubrics that have a file."""
    return sorted(path.stem for path in folder(workspace).glob("*.toml"))


def of_pairs(workspace: Workspace) -> dict[str, Rubric]:
    """The rubrics that ask which of two is better. One with a mistake is not among them: `concord rubric
    show` and the page Rubrics name it.
    """
    rubrics_by_name = {}
    for name in names(workspace):
        with suppress(ConfigError):
            rubrics_by_name[name] = find(workspace, name).rubric
    return {name: rubric for name, rubric in rubrics_by_name.items() if rubric.pairs}


def find(workspace: Workspace, name: str, version: int = 0) -> Numbered:
    """A rubric as its file says now, or a version that was used. Raises NotFound and ConfigError."""
    if version:
        with workspace.read() as db:
            return used(db, name, version)
    known = names(workspace)
    check_known("rubric", name, known)
    rubric = read(folder(workspace) / f"{name}.toml")
    with workspace.read() as db:
        return Numbered(rubric, rubrics.number(db, name, rubric.hash))


def put(workspace: Workspace, file: Path) -> str:
    """Copy a rubric's file into the workspace, unless it is there, and return its name.

    Raises ConfigError where it cannot be read, and where the workspace has another one of this name.
    """
    rubric = read(file)
    there = folder(workspace) / file.name
    if not there.exists():
        there.parent.mkdir(mode=0o700, exist_ok=True)
        shutil.copyfile(file, there)
    elif read(there).hash != rubric.hash:
        raise ConfigError(f"{there} differs from {file}. Use the name “{rubric.name}”, or rename one.")
    return rubric.name


def used(db: Database, name: str, version: int) -> Numbered:
    """A version that was used. Raises NotFound."""
    kept = rubrics.get(db, name, version)
    return Numbered(rubric_of(name, kept.body, f"version {version} of the rubric {name}"), version)


def refuse_unknown_facets(db: Database, rubric: Rubric, benchmark: str) -> None:
    """Raise StudyError where a question is asked of conversations with a facet that none of a benchmark's
    has: it would be asked of nobody.
    """
    if not any(criterion.only for criterion in rubric.criteria):
        return
    known = conversations.values(db, benchmark)
    if not known.pop("benchmark"):
        return  # nothing is stored yet
    for criterion in rubric.criteria:
        if wrong := next((name for name in criterion.only if name not in known), ""):
            raise StudyError(
                f"The rubric “{rubric.name}” never asks “{criterion.name}”: only names the "
                f"unknown facet “{wrong}”. {not_found('facet', wrong, known)}"
            )


def unasked(db: Database, rubric: Rubric) -> list[str]:
    """Sentences about questions that are asked of no stored conversation, because none has the values that
    they name.
    """
    known = conversations.values(db)
    return [
        f"“{criterion.name}” applies to no stored conversation: none has {name} = {' or '.join(values)}."
        for criterion in rubric.criteria
        for name, values in criterion.only.items()
        if known["benchmark"] and not {*values} & {*known.get(name, ())}
    ]


def number_of(text: str) -> int:
    """The version that an option names; 0 for none. Raises ConfigError."""
    if text and not (text.isdigit() and int(text) > 0):
        raise ConfigError(f"“{text}” is not a version of a rubric. Versions are numbered from 1.")
    return int(text or 0)
