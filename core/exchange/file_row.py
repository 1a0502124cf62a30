"""One row of a file: its fields, where it stands, and what is wrong with it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from concord.errors import ImportRefused

AROUND = "^"
"""The name under which a row of such a document has what stands around the list."""


@dataclass(frozen=True)
class FileRow:
    """One row: the place as error messages begin, and its fields; None with the reason if it is broken.

    `size` are the bytes of a line of JSON Lines.
    """

    location: str
    fields: Mapping[str, Any] | None
    wrong: str = ""
    size: int = 0

    @property
    def complete(self) -> Mapping[str, Any]:
        """The fields. Raises ImportRefused for a row that is broken."""
        if self.fields is None:
            raise ImportRefused(f"{self.location}, {self.wrong}")
        return self.fields

    def cells(self, required: Sequence[str]) -> dict[str, str]:
        """The fields as texts, by names in lower case. Raises ImportRefused where a required one is empty."""
        cells = {
            name.strip().lower(): "" if value is None else str(value).strip()
            for name, value in self.complete.items()
        }
        if missing := [name for name in required if not cells.get(name)]:
            raise ImportRefused(
                f"{self.location}, has no {missing[0]}. Each row needs {', '.join(required)}."
            )
        return cells


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raises ImportRefused where the file cannot be read within this block."""
    try:
        yield
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror or error}.") from error
