"""Read and write files within limits: text, TOML, JSON, CSV cells, names of files.

An error is one sentence that names the file.
"""

from __future__ import annotations

import csv
import json
import math
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from concord.errors import ConcordError, ConfigError
from concord.files import limits

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound="BaseModel")

VERSION = "0.1.0"
"""The version of Concord; the package takes it from here."""
Refusal = type[ConcordError]

PACKAGE = Path(__file__).resolve().parents[1]


def shipped() -> Path:
    """The folder that holds Concord's own app.py, `pages/`, `prompts/` and `data/`.

    A wheel has them in the package, in a folder `shipped`; a checkout has them beside it.
    """
    packed = PACKAGE / "shipped"
    return packed if packed.is_dir() else PACKAGE.parent


SHIPPED = shipped()


def read_text(path: Path, refusal: Refusal = ConfigError, *, most: int = limits.DOCUMENT_BYTES) -> str:
    """The text of a UTF-8 file of at most `most` bytes, without a byte order mark. Raises `refusal`."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise refusal(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    if len(data) > most:
        raise refusal(f"{path} is larger than {most:,} bytes. Split it, or remove something.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refusal(f"{path} is not UTF-8 text. Save it as UTF-8.") from error
    if "\0" in text:
        raise refusal(f"{path} contains a NUL byte, so it is not text. Save it as UTF-8 text.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: Path, refusal: Refusal = ConfigError) -> dict[str, Any]:
    """The tables of a TOML file. Raises `refusal`."""
    text = read_text(path, refusal, most=limits.TOML_BYTES)
    try:
        if _LONG_KEY.search(text):
            # tomllib takes memory with the square of a key's parts.
            raise ValueError(f"a key has more than {limits.KEY_PARTS} parts")
        tables: dict[str, Any] = _parsed(tomllib.loads, text)
    except ValueError as error:
        raise refusal(f"{path} is not valid TOML: {error}.") from error
    return tables


_LONG_KEY = re.compile(rf"(?<![\w'\"-])(?:[\w'\"-]++[ \t]*+\.[ \t]*+){{{limits.KEY_PARTS},}}")


def kept_toml(path: Path) -> Mapping[str, Any]:
    """`read_toml`, parsed again only where the file has changed; {} where there is none."""
    return _kept(path, path.stat().st_mtime_ns) if path.is_file() else {}


@lru_cache(maxsize=512)
def _kept(path: Path, _changed: int) -> Mapping[str, Any]:
    return read_toml(path)


def as_toml(table: Mapping[str, Any]) -> str:
    """A table of texts, numbers, lists and tables as lines of TOML; inner tables are written inline."""
    return "".join(f"{toml_key(key)} = {_value(value)}\n" for key, value in table.items())


def toml_key(key: str) -> str:
    """A key as TOML writes it: in quotes only where it needs them."""
    return key if _BARE_KEY.fullmatch(key) else _value(key)


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_key(str(key))} = {_value(of)}" for key, of in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    # A JSON string is a TOML basic string, but for the DEL character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_json(path: Path, refusal: Refusal = ConfigError) -> Any:
    """The value that a JSON file holds. Raises `refusal`."""
    text = read_text(path, refusal)
    try:
        return parse_json(text)
    except ValueError as error:
        raise refusal(f"{path} is not valid JSON: {error}.") from error


def parse_json(text: str) -> Any:
    """The value of a JSON text that everything here can keep. Raises ValueError.

    Refused are values nested deeper than NESTING, numbers that are not finite or do not fit 64 bits, and
    halves of surrogate pairs.
    """
    flat = text.count("[") + text.count("{") <= limits.NESTING
    value = _DECODER.decode(text) if flat else _parsed(json.loads, text)
    if "\\ud" in text.lower() and has_half_characters(json.dumps(value, ensure_ascii=False)):
        raise ValueError("a text has an incomplete character (a lone surrogate), which cannot be stored")
    return value


def _integer(digits: str) -> int:
    """A whole number of JSON. Raises ValueError for one that does not fit."""
    number = int(digits) if len(digits) <= _DIGITS else limits.WHOLE
    if not -limits.WHOLE <= number < limits.WHOLE:
        raise ValueError(_TOO_LARGE)
    return number


def _finite(digits: str) -> float:
    """A number of JSON with a point or an exponent, or NaN. Raises ValueError for one that is not finite."""
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{number} cannot be stored as a number")
    return number


_DIGITS = 20
"""Characters of the longest whole number that fits 64 bits, with its sign."""
_DECODER = json.JSONDecoder(parse_float=_finite, parse_int=_integer, parse_constant=_finite)


def has_half_characters(text: str) -> bool:
    """Whether a text holds half of a surrogate pair, as truncated JSON escapes do."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _parsed(parse: Callable[[str], Any], text: str) -> Any:
    try:
        value = parse(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except ValueError as error:
        if "int_max_str_digits" in str(error):
            raise ValueError(_TOO_LARGE) from None
        raise
    level = [value]
    for _ in range(limits.NESTING + 1):
        for each in level:
            if isinstance(each, float) and not math.isfinite(each):
                raise ValueError(f"{each} cannot be stored as a number")
            if isinstance(each, int) and not -limits.WHOLE <= each < limits.WHOLE:
                raise ValueError(_TOO_LARGE)
        holding = [each for each in level if isinstance(each, dict | list)]
        if not holding:
            return value
        level = [inner for each in holding for inner in (each.values() if isinstance(each, dict) else each)]
    raise ValueError(_TOO_DEEP)


_TOO_DEEP = f"lists and objects are nested deeper than {limits.NESTING}"
_TOO_LARGE = "a whole number does not fit 64 bits"


def listed_tables(path: Path, name: str) -> list[Mapping[str, Any]]:
    """The [[name]] tables of a TOML file; none where there is no file. Raises ConfigError."""
    entries = kept_toml(path).get(name, [])
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ConfigError(f"{path} must list its {name} as [[{name}]] tables.")
    return entries


def valid(kind: type[M], fields: Any, where: object, refusal: Refusal = ConfigError) -> M:
    """The value that a table of a file describes. Raises `refusal`, which says where it stands."""
    from pydantic import ValidationError

    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise refusal(f"{where}: {first_problem(error)}.") from error


def first_problem(error: ValidationError) -> str:
    """The first thing that pydantic found wrong: where, and what."""
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where + ': ' if where else ''}{first['msg'].removeprefix('Value error, ')}"


# The signs with which a formula begins, also in full width, and those that spreadsheets skip before them
# (OWASP, “CSV Injection”).
_FORMULA = re.compile("'*[=+\\-@\t\r\n\0＝＋－＠]")
_MARKED = re.compile("''*[=+\\-@\t\r\n\0＝＋－＠]")


def marked(text: str) -> str:
    """Text as a cell that no spreadsheet runs as a formula: an apostrophe before a sign that begins one."""
    return "'" + text if _FORMULA.match(text) else text


def unmarked(cell: str) -> str:
    """The text of a cell that `marked` made."""
    return cell[1:] if cell.startswith("'") and _MARKED.match(cell) else cell


def write_csv(out: TextIO, lines: Iterable[Sequence[Any]]) -> int:
    """Write lines of cells as every CSV file of Concord is written; returns how many.

    Texts are `marked`, the names of columns too; numbers are written as they are, None as an empty cell.
    """
    writer = csv.writer(_Lines(out), lineterminator="\r\n")
    count = 0
    for cells in lines:
        writer.writerow([marked(cell) if isinstance(cell, str) else cell for cell in cells])
        count += 1
    return count


class _Lines:
    """What the csv module writes to. It quotes carriage returns only where lines end in one."""

    def __init__(self, out: TextIO) -> None:
        self.out = out

    def write(self, line: str) -> int:
        return self.out.write(line.removesuffix("\r\n") + "\n")


_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)", re.IGNORECASE)


def file_name(name: str) -> str:
    """A name as that of a file, without its ending: never a path, hidden, reserved by Windows, or empty.

    Letters, marks and digits of every script stay, all else becomes a hyphen. Names that are distinct may
    become the same: `file_names` keeps them apart.
    """
    signs = unicodedata.normalize("NFC", name[: limits.NAME])
    kept = "".join(sign if sign in "_." or unicodedata.category(sign)[0] in "LMN" else "-" for sign in signs)
    kept = re.sub(r"-{2,}", "-", kept)[: limits.FILE_NAME]
    kept = kept.encode()[: limits.FILE_NAME_BYTES].decode(errors="ignore").strip("-.")
    return f"_{kept}" if _RESERVED.match(kept) else kept or "unnamed"


def file_names(names: Iterable[str]) -> dict[str, str]:
    """The `file_name` of each name, distinct also where a file system ignores case and Unicode forms."""
    by_name: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        number = 1
        free = file_name(name)
        while _folded(free) in taken:
            number += 1
            free = f"{file_name(name)}-{number}"
        taken.add(_folded(free))
        by_name[name] = free
    return by_name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
