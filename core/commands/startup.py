"""Imports that are made faster, so that a command starts quickly."""

import sys


def import_sqlite_utils() -> None:
    """Import sqlite-utils without pandas.

    sqlite-utils imports pandas, where it is installed, for one type of column that Concord has none of. That
    takes three tenths of a second, half the time of a command. For a process with one thread only: an import
    of pandas at the same time would fail.
    """
    if {"pandas", "sqlite_utils"} & {*sys.modules}:
        return
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        import sqlite_utils  # noqa: F401
    finally:
        del sys.modules["pandas"]
