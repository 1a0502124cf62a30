"""A workspace: one folder with the database, the models, and own prompts and data. Nothing is global."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sqlite_utils import Database

from core.errors import WorkspaceError
from core.store import database, writer

T = TypeVar("T")

SHIPPED = Path(__file__).resolve().parent.parent
"""The folder of Concord's own `prompts/` and `data/`."""

MODELS_TEMPLATE = """\
# The models of this workspace. Any endpoint that speaks the OpenAI protocol will do. Keys never stand here:
# `api_key_env` is the NAME of an environment variable. `concord doctor` makes one tiny call to every model.
#
# [models.gpt-4o]
# base_url = "https://api.openai.com/v1"   # left out: the openai library's default
# api_key_env = "OPENAI_API_KEY"
# model = "gpt-4o-2024-08-06"              # left out: the name above
# params = { temperature = 0.6 }           # overrides the prompt's own sampling parameters
# system = "native"                        # or "merge": for models without a system role
# replies = "json_schema"                  # or "json_object", or "text": what the endpoint supports
# max_concurrency = 16                     # models on one endpoint share the smallest limit stated
# price = { input = 2.5, output = 10.0 }   # per million tokens, for estimates and spending limits
#
# [models.embedder]                        # finds relevant memories by meaning instead of by words
# kind = "embeddings"                      # its endpoint is asked for vectors; it can neither talk nor judge
# model = "text-embedding-3-small"
# params = { dimensions = 256 }            # short vectors keep memory and journal small
# price = { input = 0.02, output = 0 }
"""


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
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not workspace.models_path.exists():
                workspace.models_path.write_text(MODELS_TEMPLATE, encoding="utf-8")
        except OSError as error:
            raise WorkspaceError(
                f"The workspace {folder} cannot be written: {error.strerror}. Choose another folder."
            ) from error
        database.prepare(workspace.db_path)
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
    def models_path(self) -> Path:
        """The file that lists the models."""
        return self.path / "models.toml"

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
