"""A column of a table: its cells as numbers of distinct values, so that each value is read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

SAMPLED = 20_000
"""So many cells tell whether a long column has few distinct values."""
MOST_DISTINCT = 50_000
"""A column of more distinct texts than this holds no answers: its texts are read one by one on demand."""


@dataclass(frozen=True, eq=False)
class SourceColumn:
    """A named column, row by row.

    `cells` are a list, an array of numbers or an Arrow array; None and nan are missing. `ordered` are the
    categories of a column that states their order, from the least.
    """

    name: str
    cells: Any  # a list, an array, or pyarrow.ChunkedArray
    ordered: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.cells)

    def cell(self, row: int) -> Any:
        """The cell of a row; None where it is missing."""
        cell = self.cells[row]
        if hasattr(cell, "as_py"):
            cell = cell.as_py()
        elif isinstance(cell, np.generic):
            cell = cell.item()
        return None if cell is None or cell != cell else cell

    @cached_property
    def coded(self) -> tuple[Codes, list[Any]]:
        """The number of each row's value, −1 where it is missing, and the distinct values as they first
        come.
        """
        if isinstance(self.cells, np.ndarray):
            return _coded_numbers(self.cells)
        if hasattr(self.cells, "dictionary_encode"):
            encoded = self.cells.combine_chunks().dictionary_encode()
            codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
            return codes, encoded.dictionary.to_pylist()
        numbers: dict[Any, int] = {}
        codes = np.fromiter(
            (_number(numbers, cell) for cell in self.cells), dtype=np.int32, count=len(self.cells)
        )
        return codes, [value for _, value in numbers]

    @cached_property
    def distinct(self) -> int:
        """How many distinct values there are; of Arrow's columns counted without reading them."""
        if "coded" not in self.__dict__ and hasattr(self.cells, "dictionary_encode"):
            import pyarrow.compute as pc

            return int(pc.count_distinct(self.cells, mode="only_valid").as_py())
        return len(self.coded[1])

    @cached_property
    def all_different(self) -> bool:
        """Whether no two rows have one value. Texts are compared in parts, by their last sign: memory holds
        one part.
        """
        if not hasattr(self.cells, "dictionary_encode") or self.is_numeric:
            return self.distinct == len(self)
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = self.cells.cast(pa.large_string()).cast(pa.large_binary())
        last = pc.binary_slice(texts, -1).combine_chunks().dictionary_encode()
        return all(
            pc.count_distinct(part).as_py() == len(part)
            for number in range(len(last.dictionary))
            for part in (texts.filter(pc.equal(last.indices, number)),)
        )

    @cached_property
    def is_numeric(self) -> bool:
        """Whether the cells are numbers by type, not text."""
        if isinstance(self.cells, np.ndarray):
            return self.cells.dtype.kind in "iuf"
        kind = str(getattr(self.cells, "type", ""))
        return kind.startswith(("int", "uint", "float", "double", "halffloat", "decimal"))

    @cached_property
    def long(self) -> bool:
        """Whether there are too many distinct values to read each of them."""
        if len(self) <= MOST_DISTINCT:
            return False
        sample = (
            self.cells[:: max(1, len(self) // SAMPLED)] if isinstance(self.cells, list | np.ndarray) else None
        )
        if sample is None:
            places = np.arange(0, len(self), max(1, len(self) // SAMPLED))
            sample = self.cells.take(places).to_pylist()
        different = len({*(sample.tolist() if isinstance(sample, np.ndarray) else sample)})
        if different > SAMPLED / 2:
            return True
        return different > SAMPLED / 100 and self.distinct > MOST_DISTINCT

    @cached_property
    def numbers(self) -> Floats | None:
        """The cells of a long column as numbers, nan where they are missing; None where one is none."""
        if not self.long:
            return None
        if self.is_numeric:
            return np.asarray(self.cells, dtype=np.float64)
        try:
            if hasattr(self.cells, "dictionary_encode"):
                import pyarrow as pa

                return np.asarray(self.cells.cast(pa.float64()).to_numpy(), dtype=np.float64)
            return np.array([np.nan if cell is None else float(cell) for cell in self.cells])
        except (ValueError, TypeError):
            return None

    def rows(self, places: npt.NDArray[np.integer]) -> list[Any]:
        """The cells of some rows."""
        if isinstance(self.cells, list):
            return [self.cells[place] for place in places.tolist()]
        cells: Any = self.cells.take(places)
        return list(cells.to_pylist() if hasattr(cells, "to_pylist") else cells.tolist())


def _number(numbers: dict[Any, int], cell: Any) -> int:
    """The number of a cell's value. 1, 1.0 and True are three values, as they are written."""
    if cell is None or cell != cell:
        return -1
    try:
        return numbers.setdefault((type(cell), cell), len(numbers))
    except TypeError:
        return numbers.setdefault((str, str(cell)), len(numbers))


def _coded_numbers(cells: npt.NDArray[Any]) -> tuple[Codes, list[Any]]:
    if cells.dtype.kind in "iu" and len(cells) and int(cells.max()) - int(cells.min()) < MOST_DISTINCT:
        low = int(cells.min())
        offsets = (cells.astype(np.int64) - low).astype(np.int32)
        occurs = np.bincount(offsets) > 0
        place = (np.cumsum(occurs) - 1).astype(np.int32)
        return place[offsets], (np.flatnonzero(occurs) + low).tolist()
    present = ~np.isnan(cells) if cells.dtype.kind == "f" else np.ones(len(cells), dtype=bool)
    values, codes = np.unique(cells[present], return_inverse=True)
    codes_of_rows = np.full(len(cells), -1, dtype=np.int32)
    codes_of_rows[present] = codes
    return codes_of_rows, values.tolist()
