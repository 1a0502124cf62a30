"""A user's own code, named as `module:name`: the one place that imports it."""

import importlib
import sys
import traceback
from collections.abc import Sequence
from functools import reduce
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from concord.errors import ConfigError, NotFound, not_found


def bring(named: str, what: str, folders: Sequence[Path]) -> Any:
    """What `module:name` names. The module lies in one of the folders, or where Python finds it.

    The folders come last on Python's path and stay there, so that no file in them hides an installed module
    and the module may import what lies beside it. Nothing is imported again that was imported before. Raises
    NotFound for a missing name, ConfigError for whatever else cannot be imported.
    """
    name, colon, attribute = named.partition(":")
    parts = [*name.split("."), *attribute.split(".")]
    if not colon or not all(map(str.isidentifier, parts)):
        raise ConfigError(f"The {what} “{named}” is not written as module:name.")
    value = _module(name, what, folders)
    try:
        return reduce(getattr, attribute.split("."), value)
    except AttributeError:
        missing = not_found("name", attribute, [own for own in vars(value) if not own.startswith("_")])
        raise NotFound(f"{missing} The module is {value.__file__ or name}.") from None


def _module(name: str, what: str, folders: Sequence[Path]) -> ModuleType:
    for folder in map(str, folders):
        if folder not in sys.path:
            sys.path.append(folder)
    importlib.invalidate_caches()
    top = name.split(".")[0]
    theirs = PathFinder.find_spec(top, [*map(str, folders)])
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise ConfigError(_why(error, name, what, folders)) from error
    place = getattr(sys.modules[top], "__file__", None)
    if theirs is not None and theirs.origin and place != theirs.origin:
        raise ConfigError(
            f"The {what} “{name}” would be {theirs.origin}, but Python has a module “{top}” already "
            f"({place or 'built in'}). Rename the file."
        )
    return module


def _why(error: BaseException, name: str, what: str, folders: Sequence[Path]) -> str:
    if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
        looked = ", ".join(str(folder) for folder in folders)
        return f"The {what} needs a module “{error.name}”, which is neither in {looked} nor installed."
    last = traceback.extract_tb(error.__traceback__)[-1]
    file, line = (error.filename, error.lineno) if isinstance(error, SyntaxError) else last[:2]
    message = error.msg if isinstance(error, SyntaxError) else error
    reason = f"{type(error).__name__}: {message}".rstrip(": .")
    return f"The {what} cannot be imported: the module “{name}” raises {reason} ({file}, line {line})."
