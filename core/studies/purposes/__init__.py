"""What belongs to each purpose beside its row in `core/store/purposes.py`: a file of its name.

Such a file has what its purpose needs of three functions: `lay(db, study, gone, strictly=…)` puts items on
desks whenever a study is dealt, `after(db, study, rater, items)` follows what somebody reported of these
items, and `tables(db, study)` gives the figures in which its answers count.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from sqlite_utils import Database

from concord.store.database import once
from concord.store.purposes import PURPOSES
from concord.table import Table

_FILES = {path.stem for path in Path(__file__).parent.glob("*.py")}


def _every(function: str) -> Iterator[Callable[..., Any]]:
    """The functions with this name, in the order of the purposes."""
    for purpose in PURPOSES:
        if purpose in _FILES:
            module = import_module(f"{__name__}.{purpose}")
            if hasattr(module, function):
                yield getattr(module, function)


def lay(db: Database, study: str, gone: Collection[str], *, strictly: bool = False) -> None:
    """Put on desks what lies beside the rated items; those in `gone` get nothing.

    Raises StudyError where `strictly` as much as was asked for is to fit, and does not.
    """
    for function in _every("lay"):
        function(db, study, gone, strictly=strictly)


def after(db: Database, study: str, rater: int, items: Collection[int]) -> None:
    """Do what follows when somebody has submitted or skipped these items."""
    for function in _every("after"):
        function(db, study, rater, items)


@once
def tables(db: Database, study: str) -> list[Table]:
    """The figures in which answers to unannounced items count; those that a study has."""
    return [table for function in _every("tables") for table in function(db, study)]


def hidden_in_words(hidden: Mapping[str, Mapping[str, int]]) -> str:
    """How many unannounced items everybody has, in words."""
    return ", ".join(
        f"{person} {' and '.join(f'{n} {purpose} items' for purpose, n in counts.items())}"
        for person, counts in hidden.items()
    )
