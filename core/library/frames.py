"""Frames of ratings as the library gives them, and the workspace that it works in."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from concord.workspace import Workspace

NAMES = {"unit": "item_id", "kind": "rater_type"}
"""Columns of frames, and of files."""
OF_RATINGS = ("unit", "turn", "criterion", "rater", "kind", "variant", "repeat", "score", "explanation")


@contextmanager
def working(path: str | Path | None) -> Iterator[Workspace]:
    """The workspace in a folder, which is made; without one a temporary one."""
    if path is not None:
        yield Workspace.open(path)
        return
    with TemporaryDirectory(prefix="concord-") as folder:
        yield Workspace.open(folder)


def ratings_frame(rows: Iterable[Mapping[str, Any]], prefix: str = "") -> pd.DataFrame:
    """Stored ratings as a frame; `prefix` is taken from the names of units."""
    found = [
        {"unit": str(row["item_id"]).removeprefix(prefix), "kind": row["rater_type"], **row} for row in rows
    ]
    return pd.DataFrame(found, columns=list(OF_RATINGS)).astype({"turn": "Int64"})
