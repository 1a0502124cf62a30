"""The rows of a Parquet file, decoded a few at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from concord.errors import ImportRefused
from concord.exchange.file_row import FileRow, readable
from concord.files import extras
from concord.files.limits import RECORD

BATCH = 32
"""Rows of a Parquet file that are decoded at once."""
ROW_GROUP = 2**30
"""Bytes of a row group of a Parquet file, unpacked."""


def check_parquet(path: Path, file: Any) -> None:
    """Raise ImportRefused for a Parquet file that unpacks to far more than it takes."""
    total = file.metadata.num_rows
    size = path.stat().st_size
    if total > size:  # equal rows are packed into almost nothing, and take minutes to be read
        raise ImportRefused(
            f"{path} has {total:,} rows in {size:,} bytes. Concord reads at most one row per byte."
        )
    for group in range(file.metadata.num_row_groups):
        if (size := file.metadata.row_group(group).total_byte_size) > ROW_GROUP:
            raise ImportRefused(
                f"{path}: the row group {group + 1} takes {size:,} bytes unpacked. Write it with "
                "smaller row groups."
            )


def parquet_rows(path: Path) -> Iterator[FileRow]:
    """The rows of a Parquet file. Raises ImportRefused for one that is cut or too large."""
    extras.require("pyarrow", purpose=f"{path} is Parquet: reading it")
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with readable(path), parquet.ParquetFile(path, pre_buffer=False) as file:
            check_parquet(path, file)
            number = 0
            for batch in file.iter_batches(BATCH, use_threads=False):
                if batch.nbytes > BATCH * RECORD:
                    raise ImportRefused(f"{path}: the rows after row {number} are too large to be read.")
                for fields in batch.to_pylist():
                    number += 1
                    yield FileRow(f"{path}, row {number}", fields)
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        raise ImportRefused(
            f"{path} is not a complete Parquet file: {str(error).splitlines()[0][:200]}. Copy or create "
            "the file again."
        ) from error
