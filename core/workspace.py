"""A workspace: one folder with the database, the models, and own prompts and data. Nothing is global."""

from __future__ import annotations

import logging
import os
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sqlite_utils import Database

from concord import messages
from concord.errors import WorkspaceError
from concord.files import SHIPPED as SHIPPED
from concord.store import database, parts, writer

T = TypeVar("T")

MODELS_TEMPLATE = SHIPPED / "data" / "models.toml"
"""What the models.toml of a new workspace says."""

LOCAL = "CONCORD_LOCAL"
"""The environment variable that `concord app` sets to 1 where it listens on loopback addresses only."""

PUBLIC_URL = "CONCORD_PUBLIC_URL"
"""The environment variable that `concord app --public-url` sets: the app's address behind a proxy."""


@dataclass(frozen=True)
class Workspace:
    """A folder with `concord.db`, `models.toml`, and optionally `prompts/` and `data/` of its own."""

    path: Path

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True) -> Workspace:
        """Open a folder; create it if needed and migrate its database. Raises WorkspaceError."""
        folder = Path(path).expanduser().resolve()
        workspace = cls(folder)
        if not create and not workspace.db_path.exists():
            raise WorkspaceError(
                f"There is no Concord workspace in {folder}. "
                "Name one with --workspace, or make the demo with `concord demo`."
            )
        if workspace.db_path.exists() and not all(os.access(p, os.W_OK) for p in (folder, workspace.db_path)):
            raise WorkspaceError(
                f"The workspace {folder} is read-only. Copy it to a folder that you can write."
            )
        try:
            # A folder that exists keeps its mode: it may hold more than the workspace.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not workspace.models_path.exists():
                workspace.models_path.touch(mode=0o600)
                workspace.models_path.write_bytes(MODELS_TEMPLATE.read_bytes())
        except OSError as error:
            raise WorkspaceError(
                f"The workspace {folder} cannot be written: {error.strerror}. Choose another folder."
            ) from error
        if copy := database.prepare(workspace.db_path):
            logging.getLogger(__name__).warning(messages.database_updated(workspace.db_path, copy))
        parts.undo_abandoned(workspace.db_path)
        return workspace

    @classmethod
    def chosen(cls) -> Workspace:
        """The workspace that CONCORD_WORKSPACE names, else ./workspace."""
        return cls.open(os.environ.get("CONCORD_WORKSPACE") or "workspace")

    @property
    def db_path(self) -> Path:
        """The database."""
        return self.path / "concord.db"

    @property
    def figures_path(self) -> Path:
        """Figures of studies that were computed; it may be deleted at any time."""
        return self.path / "figures.db"

    @property
    def models_path(self) -> Path:
        """The file that lists the models."""
        return self.path / "models.toml"

    @property
    def command(self) -> str:
        """How the command is called on this workspace, to be copied."""
        return f"concord --workspace {shlex.quote(str(self.path))}"

    def folders(self, kind: str) -> tuple[Path, ...]:
        """Where to look for `prompts` or `data`: the workspace first, then what ships."""
        return (self.path / kind, SHIPPED / kind)

    def read(self) -> AbstractContextManager[Database]:
        """One consistent view of the store."""
        return database.reading(self.db_path)

    def write(self) -> AbstractContextManager[Database]:
        """One transaction on the store."""
        return database.writing(self.db_path)

    def change(self, change: Callable[[Database], T]) -> T:
        """Apply a change of a few milliseconds in this process's writing thread, together with others.

        Returns what it returns once it is on the disk, and raises what it raises.
        """
        return writer.shared(self.db_path).do(change)
