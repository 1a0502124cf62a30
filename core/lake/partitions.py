"""Files of conversations and their partitions: what one piece of a large job reads.

A partition is a stretch of a file: bytes of JSON Lines, rows of a row group of Parquet. Other forms that
`concord import conversations` reads are one partition a file. Nothing is read whole.
"""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from concord.conversation import Conversation
from concord.errors import ImportRefused
from concord.exchange import conversations_file, entries, json_rows, parquet_rows, records, rows
from concord.exchange.conversations_file import FileOptions
from concord.exchange.conversations_jsonl import OWN_FORM
from concord.exchange.dialogue import Roles
from concord.exchange.entries import Entry
from concord.exchange.file_row import FileRow
from concord.exchange.parquet_rows import BATCH
from concord.exchange.row_paths import value_at
from concord.exchange.row_reader import Reading
from concord.files.limits import FILE_BYTES, NAME, RECORD

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

HEAD = 65536
"""Bytes at the beginning of a file by which its kind and the length of its lines are known."""
LEAST_STEP = 4096
"""Bytes of JSON Lines that a partition has at least."""
PLAN = "_plan.json"
"""The file of a folder of answers that says what was asked."""
CUT = ("JSON Lines", "Parquet")
"""The kinds of files that are cut into partitions."""
BUFFER = 2**20


@dataclass(frozen=True)
class LakeFile:
    """A file of conversations: its address, kind and size in bytes.

    `step` is how many bytes (JSON Lines) or rows (Parquet) a partition has; 0: the file is one partition.
    `groups` are the rows of each row group of Parquet.
    """

    address: str
    kind: str
    size: int
    step: int = 0
    groups: tuple[int, ...] = ()


class Partition(NamedTuple):
    """A stretch of a file: from `first` up to, not including, `last`, in bytes or rows; of Parquet in a row
    group. `number` names it in the whole job.
    """

    number: int
    file: int
    first: int = 0
    last: int = 0
    group: int = 0


class Shard(NamedTuple):
    """One of several parts of a job, by hash of the key: `number` counts from 1."""

    number: int
    total: int

    def has(self, key: str) -> bool:
        """Whether a key belongs to it."""
        return key_hash(key) % self.total == self.number - 1

    @property
    def suffix(self) -> str:
        """What the names of its files end with."""
        return f"-{self.number}of{self.total}" if self.total > 1 else ""


ONE_SHARD = Shard(1, 1)


class LakeRow(NamedTuple):
    """One row of a file: where it stands, what its file says of it, and its conversations."""

    place: str
    fields: Mapping[str, Any]
    entry: Entry


def key_hash(key: str) -> int:
    """A number below 2⁶⁴ that a key has on every machine."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")


def filesystem(address: str) -> tuple[FileSystem, str]:
    """The file system of an address, and the path on it. Raises ImportRefused where there is none."""
    import pyarrow as pa
    from pyarrow import fs

    if "://" not in address:
        return fs.LocalFileSystem(), str(Path(address).expanduser().absolute())
    try:
        match: tuple[FileSystem, str] = fs.FileSystem.from_uri(address)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ImportRefused(f"{address} cannot be opened: {_reason(error)}.") from error
    return match


def _reason(error: Exception) -> str:
    return " ".join((getattr(error, "strerror", None) or str(error) or type(error).__name__).split())[:200]


def listed(addresses: Iterable[str]) -> list[tuple[str, int]]:
    """The files that addresses name, with their sizes in bytes: files, all files of folders, and patterns.

    Raises ImportRefused for an address that leads to nothing or cannot be reached.
    """
    files: dict[str, int] = {}
    for address in map(absolute, addresses):
        batch = _pattern(address) if glob.has_magic(address) else _files_at(address)
        if not batch:
            raise ImportRefused(f"{address} names no file. Name a file, a folder or a pattern.")
        files |= batch
    return sorted(files.items())


def absolute(address: str) -> str:
    """An address that means the same to processes in other folders."""
    return address if "://" in address else os.path.abspath(os.path.expanduser(address))


def _files_at(address: str) -> dict[str, int]:
    from pyarrow.fs import FileType

    system, path = filesystem(address)
    with _reached(address):
        info = system.get_file_info(path)
        if info.type == FileType.NotFound:
            raise ImportRefused(f"{address} does not exist.")
        if info.type == FileType.File:
            return {address: info.size or 0}
    return _inside(address, system, path)


def _inside(address: str, system: FileSystem, path: str) -> dict[str, int]:
    """The files below a folder, but for those whose names begin with “_” or “.”, and answers of judges."""
    from pyarrow.fs import FileSelector

    with _reached(address):
        infos = system.get_file_info(FileSelector(path, recursive=True))
    answers = {PurePosixPath(info.path).parent for info in infos if info.base_name == PLAN}
    files = {}
    for info in infos:
        place = PurePosixPath(info.path)
        inner = place.relative_to(PurePosixPath(path))
        hidden = any(part.startswith(("_", ".")) for part in inner.parts)
        if info.is_file and not hidden and answers.isdisjoint(place.parents):
            files[f"{address.rstrip('/')}/{inner}"] = info.size or 0
    return files


def _pattern(address: str) -> dict[str, int]:
    """The files that a pattern fits."""
    if "://" not in address:
        paths = [path for path in glob.glob(address, recursive=True) if os.path.isfile(path)]
        if not paths and os.path.exists(address):
            return _files_at(address)  # a name that has signs of a pattern
        folders = {parent for path in paths for parent in Path(path).parents}
        answers = {folder for folder in folders if (folder / PLAN).exists()}
        return {path: os.path.getsize(path) for path in paths if answers.isdisjoint(Path(path).parents)}
    scheme, _, rest = address.partition("://")
    parts = rest.split("/")
    fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    base = f"{scheme}://{'/'.join(parts[:fixed])}"
    system, path = filesystem(base)
    return {
        file: size
        for file, size in _inside(base, system, path).items()
        if fnmatch.fnmatch(file, address.replace("**/", "*"))
    }


@contextmanager
def _reached(address: str) -> Iterator[None]:
    """Raises ImportRefused where an address cannot be read in the block."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise ImportRefused(f"{address} cannot be read: {_reason(error)}.") from error


@contextmanager
def open_bytes(address: str) -> Iterator[io.BufferedReader]:
    """A file to be read by bytes. Raises ImportRefused, also where it cannot be read in the block."""
    system, path = filesystem(address)
    with _reached(address), system.open_input_file(path) as file:
        yield io.BufferedReader(file, BUFFER)


@contextmanager
def local(address: str) -> Iterator[Path]:
    """A file as one of this machine: itself, or a copy for the block."""
    if "://" not in address:
        yield Path(address)
        return
    with tempfile.TemporaryDirectory(prefix="concord-") as folder:
        copy = Path(folder) / PurePosixPath(address).name
        with open_bytes(address) as file, copy.open("wb") as target:
            shutil.copyfileobj(file, target, BUFFER)
        yield copy


def surveyed(address: str, size: int, conversations: int) -> LakeFile:
    """A file with its kind and how it is cut, into partitions of about so many conversations.

    Raises ImportRefused for a file that cannot be read, or is of no kind that is read.
    """
    kind = _kind(address)
    if kind == "Parquet":
        groups = _groups(address)
        return LakeFile(address, kind, size, conversations, groups)
    if kind == "JSON Lines":
        with open_bytes(address) as file:
            head = file.read(HEAD)
        lines = max(head.count(b"\n"), 1)
        length = len(head[: head.rfind(b"\n") + 1] or head) / lines
        return LakeFile(address, kind, size, max(int(length * conversations), LEAST_STEP))
    return LakeFile(address, kind, size)


def _kind(address: str) -> str:
    """The kind of a file by its beginning."""
    if "://" not in address and os.path.getsize(address) < FILE_BYTES:
        return rows.kind_of(Path(address))
    with open_bytes(address) as file, tempfile.TemporaryDirectory(prefix="concord-") as folder:
        head = Path(folder) / PurePosixPath(address).name
        head.write_bytes(file.read(HEAD))
        try:
            return rows.kind_of(head)
        except ImportRefused as error:
            raise ImportRefused(str(error).replace(str(head), address)) from None


def _groups(address: str) -> tuple[int, ...]:
    with _parquet(address) as file:
        facts = file.metadata
        return tuple(facts.row_group(number).num_rows for number in range(facts.num_row_groups))


@contextmanager
def _parquet(address: str) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import parquet

    system, path = filesystem(address)
    try:
        with system.open_input_file(path) as source, parquet.ParquetFile(source, pre_buffer=False) as file:
            if "://" not in address:
                parquet_rows.check_parquet(Path(address), file)
            yield file
    except FileNotFoundError:
        raise ImportRefused(f"{address} does not exist.") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ImportRefused(
            f"{address} is not a complete Parquet file: {_reason(error)}. Copy or create the file again."
        ) from error


def cut(files: Sequence[LakeFile]) -> Iterator[Partition]:
    """The partitions of files, in their order."""
    number = 0
    for place, file in enumerate(files):
        groups = file.groups if file.kind == "Parquet" else (file.size,)
        for group, length in enumerate(groups):
            step = file.step or max(length, 1)
            for first in range(0, length, step):
                yield Partition(number, place, first, min(first + step, length), group)
                number += 1


@dataclass(frozen=True)
class LakeOptions:
    """How rows are read: `name` is that under which a workspace knows the conversations.

    `mapping` and `roles` are those of `concord import conversations`.
    """

    name: str
    mapping: Mapping[str, str]
    roles: Roles

    def reading(self, file: LakeFile) -> Reading:
        """The form of a file. Raises ImportRefused where it is not known."""
        options = FileOptions(self.name, self.mapping, self.roles)
        path = Path(file.address)
        try:
            return conversations_file.recognized(path, file.kind, _first_rows(file), options).reading
        except ImportRefused as error:
            # A path writes the address of a bucket with one slash.
            raise ImportRefused(str(error).replace(str(path), file.address)) from None


def _first_rows(file: LakeFile) -> Iterator[FileRow]:
    if file.kind not in CUT:
        with local(file.address) as path:
            yield from rows.read(path, file.kind)
    else:
        last = file.groups[0] if file.groups else file.size
        yield from raw_rows(file, Partition(0, 0, 0, last))


def raw_rows(file: LakeFile, partition: Partition) -> Iterator[FileRow]:
    """The rows of a partition as its file has them. Raises ImportRefused."""
    if file.kind == "Parquet":
        return rows.unpacked_spans(_of_group(file.address, partition))
    return rows.unpacked_spans(_of_bytes(file.address, partition))


def _of_bytes(address: str, partition: Partition) -> Iterator[FileRow]:
    """The lines that begin in a stretch of JSON Lines."""
    with open_bytes(address) as file:
        place = partition.first
        if place:
            file.seek(place - 1)
            place += len(file.readline(RECORD + 2)) - 1
        while place < partition.last and (raw := file.readline(RECORD + 1)):
            places = f"{address}, byte {place:,}"
            if len(raw) > RECORD:
                raise ImportRefused(f"{places}: the line is longer than {RECORD:,} characters. Shorten it.")
            row = json_rows.of_line(raw, places, first=place == 0)
            place += len(raw)
            if row is not None:
                yield row


class _Group:
    """An open row group of Parquet, read forward: the next partition goes on where the last one ended."""

    def __init__(self, address: str, group: int):
        self._open = _parquet(address)
        self._batches = self._open.__enter__().iter_batches(BATCH, row_groups=[group], use_threads=False)
        self.place = 0
        self._rest: list[Mapping[str, Any]] = []

    def rows(self, first: int, last: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The rows from `first` on, with their places in the group."""
        while self.place < last:
            if not self._rest:
                batch = next(self._batches, None)
                if batch is None:
                    return
                if self.place + batch.num_rows <= first:
                    self.place += batch.num_rows
                    continue
                self._rest = batch.to_pylist()[::-1]
            place = self.place
            fields = self._rest.pop()
            self.place += 1
            if place >= first:
                yield place, fields

    def close(self) -> None:
        """Close its file."""
        self._open.__exit__(None, None, None)


_open_groups: dict[tuple[str, int], _Group] = {}
"""The row groups that this process reads, of which some partitions are still to come."""
MOST_OPEN = 4


def _of_group(address: str, partition: Partition) -> Iterator[FileRow]:
    import pyarrow as pa

    key = (address, partition.group)
    group = _open_groups.pop(key, None)
    if group is not None and group.place > partition.first:
        group.close()
        group = None
    try:
        group = group or _Group(address, partition.group)
        for place, fields in group.rows(partition.first, partition.last):
            yield FileRow(f"{address}, row group {partition.group + 1}, row {place + 1}", fields)
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError) as error:
        raise ImportRefused(
            f"{address} is not a complete Parquet file: {_reason(error)}. Copy or create the file again."
        ) from error
    _open_groups[key] = group
    while len(_open_groups) > MOST_OPEN:
        _open_groups.pop(next(iter(_open_groups))).close()


class LakeReader:
    """Reads the partitions of some files; it knows the form of each file once it has read of it."""

    def __init__(self, files: Sequence[LakeFile], options: LakeOptions, shard: Shard = ONE_SHARD):
        self.files = tuple(files)
        self.options = options
        self.shard = shard
        self._reading = lru_cache(maxsize=1024)(lambda place: options.reading(self.files[place]))

    def forms(self) -> None:
        """Find the form of every file. Raises ImportRefused naming the first that has none."""
        for place in range(len(self.files)):
            self._reading(place)

    def rows(self, partition: Partition, wrong: list[str] | None = None) -> Iterator[LakeRow]:
        """The rows of a partition with their conversations, of the shard.

        A row that holds none is added to `wrong`, in a sentence; without it ImportRefused is raised.
        """
        reading: Reading = self._reading(partition.file)
        for row in self._rows(partition, reading):
            try:
                if self._elsewhere(row, reading):
                    continue
                entry = conversations_file.read_row(reading, row)
                if not self._in_shard(entry):
                    continue
            except ImportRefused as error:
                if wrong is None:
                    raise
                wrong.append(str(error))
                continue
            if entry.conversations:
                yield LakeRow(row.location, row.complete, entry)

    def keys(self, partition: Partition) -> Iterator[str]:
        """The keys of the conversations of a partition; rows are read no further than needed."""
        reading = self._reading(partition.file)
        several = reading.shape.several is not None or len(reading.shape.sides) > 1 or reading.shape.votes
        for row in self._rows(partition, reading):
            key = "" if several or row.fields is None else row_key(row.fields, reading)
            if key:
                yield key.removeprefix(f"{self.options.name}/")
                continue
            entry = conversations_file.read_row(reading, row)
            yield from map(self.key, entry.conversations)

    def _rows(self, partition: Partition, reading: Reading) -> Iterator[FileRow]:
        file = self.files[partition.file]
        shape = reading.shape
        if file.kind in CUT and shape.turns is None and not shape.spans:
            yield from records.shaped(raw_rows(file, partition), shape)
        elif not partition.first and not partition.group:
            # Turns that belong together may lie anywhere in the file: it is one partition.
            with local(file.address) as path:
                yield from records.read(path, file.kind, shape)

    def _elsewhere(self, row: FileRow, reading: Reading) -> bool:
        """Whether a row names a key that belongs to another shard."""
        if self.shard.total == 1 or row.fields is None:
            return False
        key = row_key(row.fields, reading)
        return bool(key) and not self.shard.has(key)

    def _in_shard(self, entry: Entry) -> bool:
        """Whether a row without a key of its own belongs to the shard."""
        if self.shard.total == 1 or not entry.conversations:
            return True
        by_name = entry.reader.shape is not OWN_FORM and "key" in entry.reader.uses.values()
        return by_name or entry.line is not None or self.shard.has(self.key(entry.conversations[0]))

    def key(self, conversation: Conversation) -> str:
        """A conversation's key in the lake: without the name that a workspace puts before it."""
        return conversation.key.removeprefix(f"{self.options.name}/")


def row_key(fields: Mapping[str, Any], reading: Reading) -> str:
    """The key that a row names, without reading its conversations; “” where it names none."""
    if reading.shape is OWN_FORM:
        key = fields.get("key", fields.get("id"))
        return str(key) if isinstance(key, str | int) else ""
    return entries.key_of(fields, reading.shape)


def column(row: LakeRow, conversation: Conversation, path: str) -> str | None:
    """What a row says at a path, else the facet, language or player of its conversation; None for nothing."""
    value = value_at(row.fields, path)
    if value is None:
        facets = {"language": conversation.language, "player": conversation.player, **conversation.facets}
        value = facets.get(path)
    if value is None or isinstance(value, list | dict):
        return None
    return str(value)[:NAME]
