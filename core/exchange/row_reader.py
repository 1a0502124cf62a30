"""How a row is read: its form, the roles of speakers, and a reader that notes what each path was taken as."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from concord.codes import Scorer
from concord.exchange.dialogue import SPEAKERS, Roles
from concord.exchange.embedded_text import parsed
from concord.exchange.file_row import AROUND
from concord.exchange.row_paths import Paths, absent, value_at
from concord.exchange.shapes import ENTRY, ROWS, Shape

FACET = 80
"""Characters of the value of a facet."""


@dataclass
class RowReader:
    """Reads the conversations of a row, and notes what each path was taken as.

    What is not taken is excluded. Each of several entries has a reader of its own, where it is “@”; they
    share the notes, in which the same paths in all entries are one.
    """

    fields: Mapping[str, Any]
    shape: Shape
    uses: dict[str, str] = field(default_factory=dict)
    """Paths with what they were taken as, “@” by the path to the entries."""
    left: dict[str, None] = field(default_factory=dict)
    """Paths of what is not kept of what was taken."""
    spoken: set[str] = field(default_factory=set)

    def entry(self, inside: Any) -> "RowReader":
        """The reader of one of several entries."""
        return RowReader({**self.fields, ENTRY: inside}, self.shape, self.uses, self.left)

    @property
    def place(self) -> str:
        """Where several entries lie."""
        paths = self.shape.several.entries if self.shape.several is not None else ()
        return next((path for path in paths if value_at(self.fields, path) is not None), "")

    @property
    def threads(self) -> bool:
        """Whether the entries are ways through a tree of messages."""
        return self.shape.several is not None and bool(self.shape.several.threads)

    def column(self, path: str) -> str:
        """A path of the form as one of the row: “@” is where the entries lie, and a tree is all one."""
        if not path.startswith(ENTRY):
            return path
        return self.place if self.threads else self.place + path.removeprefix(ENTRY)

    def first(self, paths: Paths, use: str) -> Any:
        """What the first of the paths leads to that leads to something, which is taken; None if none does."""
        if absent(self.fields, paths):
            return None
        for path in paths:
            if (value := value_at(self.fields, path)) is not None:
                self.take(path, use)
                return value
        return None

    def take(self, path: str, use: str) -> None:
        """Note that what lies at a path is taken."""
        before = self.uses.get(column := self.column(path), "")
        self.uses[column] = before if use in before else ", ".join(filter(None, (before, use)))

    def leave(self, path: str, inside: Iterable[str] = (), reason: str = "") -> None:
        """Note that what lies inside of what was taken at a path is not kept; or the path, and why."""
        column = self.column(path)
        self.left |= dict.fromkeys(
            [f"{column} ({reason})"] if reason else [f"{column}.{name}" for name in inside]
        )

    def metadata(self, meta: Mapping[str, Any], *, around: bool = False) -> tuple[list[str], list[str]]:
        """The names of the row's fields that are metadata only, and the paths of what is not kept.

        `meta` is the row's metadata; with `around`, what stands around the rows is looked at too.
        """
        fields = self.fields
        turns = self.shape.turns
        visible = {n: value for n, value in fields.items() if n not in meta and (around or n != AROUND)}
        left_out = [*unused_paths(visible, self.uses, self.place)]
        left_out += [name for name in self.left if name not in self.uses]
        if turns is not None:  # what is equal in all rows is metadata, and some say where the rows belong
            ordering = {*turns.conversation, *turns.order}
            ordering |= {n for n in fields if all(row.get(n) == fields[n] for row in fields[ROWS])}
            left_out = [name for name in left_out if name.removeprefix(f"{ROWS}.") not in ordering]
        used_names = {path.partition(".")[0] for path in self.uses}
        return [name for name in meta if name not in used_names], list(dict.fromkeys(left_out))


@dataclass(frozen=True)
class Reading:
    """How rows are read: their form, the benchmark they belong to, and the roles of speakers by name."""

    shape: Shape
    benchmark: str
    roles: Roles = field(default_factory=dict)
    folder: Path = Path()
    """Where the file lies, and images beside it."""
    scorers: Mapping[str, Scorer] = field(default_factory=dict)
    """Who gave the scores on a criterion, where the file does not say it; “*” on any other."""
    show_system_prompt: bool = False
    """Whether the system prompt of a conversation is context, too, so that annotators and judges see it."""

    @cached_property
    def speakers(self) -> Roles:
        """The role of each speaker who is known."""
        return {**SPEAKERS, **self.shape.roles, **self.roles}


def unused_paths(value: Any, paths: Collection[str], entries: str = "", path: str = "") -> Iterator[str]:
    """The paths of what lies beside the used paths, as far as it is not empty; the same in all `entries`."""
    items = dict(value) if isinstance(value, Mapping) else dict(enumerate(value))
    for name, inner in items.items():
        if path and path == entries and (isinstance(name, int) or isinstance(inner, Mapping)):
            yield from unused_paths(inner, paths, "", path) if isinstance(inner, Mapping) else (f"{path}.…",)
            continue
        item_path = f"{path}.{name}" if path else str(name)
        last = f"{path}.{name - len(items)}" if isinstance(name, int) else item_path
        if item_path in paths or last in paths:
            continue
        inner = parsed(inner)
        is_parent = item_path == AROUND or any(
            used_path.startswith((f"{item_path}.", f"{last}.")) for used_path in paths
        )
        if is_parent and isinstance(inner, Mapping | list):
            yield from unused_paths(inner, paths, entries, item_path)
        elif inner not in (None, "", [], {}):
            yield f"{path}.…" if isinstance(name, int) else item_path


def short_text(value: Any) -> str:
    """A value as that of a facet."""
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return "" if value is None or isinstance(value, Mapping) else " ".join(str(value).split())[:FACET]
