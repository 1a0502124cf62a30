"""What is asked of judges about a lake, and the folder that holds what they answered.

A folder belongs to its files: `_plan.json` lists them. Each rubric has a folder in it, each judge one in
that, named with the hash of what was asked: another rubric or model is written beside, never over.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from concord.configuration import Configuration
from concord.errors import ConfigError, ImportRefused
from concord.files import VERSION, file_name, parse_json
from concord.lake.partitions import (
    ONE_SHARD,
    PLAN,
    LakeFile,
    LakeOptions,
    LakeReader,
    Partition,
    Shard,
    absolute,
    cut,
    listed,
    surveyed,
)
from concord.llm.models import Model, read_entry
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import Rubric
from concord.runs.benchmark import Way
from concord.runs.rubric_judge import ways

CONVERSATIONS = 1000
"""Conversations of a partition, about."""
NAME = "lake"
"""The name under which a workspace knows conversations of a lake, unless another is given."""


@dataclass(frozen=True)
class LakePlan:
    """Judges, a rubric, and the files whose conversations are judged: plain values that a worker is sent.

    `entries` are the judges as models.toml has them; keys stay in the environment of who calls. `keep` are
    the columns that are kept beside the answers, by name, with their paths in a row. `folder` is where
    programs that judge are looked for.
    """

    rubric: str
    body: Mapping[str, Any]
    entries: Mapping[str, Mapping[str, Any]]
    files: tuple[LakeFile, ...]
    answers: str
    name: str = NAME
    keep: Mapping[str, str] = field(default_factory=dict)
    mapping: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, Any] = field(default_factory=dict)
    shard: Shard = ONE_SHARD
    folder: str = "."
    version: str = VERSION
    functions: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Judges that are functions of this process, by name."""

    def __getstate__(self) -> dict[str, Any]:
        """What another process is sent: the fields, not what is made of them."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @cached_property
    def questions(self) -> Rubric:
        """The rubric."""
        return rubric_of(self.rubric, self.body, f"the rubric {self.rubric}")

    @cached_property
    def models(self) -> dict[str, Model]:
        """The judges. Addresses that models.toml leaves to the environment are those of this machine."""
        by_name = {name: read_entry(Path("models.toml"), name, entry) for name, entry in self.entries.items()}
        return by_name | {name: Model.calling(name, function) for name, function in self.functions.items()}

    @cached_property
    def ways(self) -> list[Way]:
        """How each judge is asked."""
        programs = {name: model.kind == "program" for name, model in self.models.items()}
        return ways(self.questions, self.rubric, programs)

    @cached_property
    def partitions(self) -> list[Partition]:
        """The partitions of the files."""
        return list(cut(self.files))

    def reader(self) -> LakeReader:
        """Reads the partitions."""
        return LakeReader(self.files, LakeOptions(self.name, self.mapping, self.roles), self.shard)

    @cached_property
    def rubric_folder(self) -> Path:
        """The folder of the rubric's answers."""
        return Path(self.answers) / f"{file_name(self.rubric)}-{self.questions.hash[:8]}"

    def judge_folder(self, judge: str) -> Path:
        """The folder of a judge's answers, by the entry that it has in models.toml."""
        return self.rubric_folder / f"{file_name(judge)}-{self.models[judge].configuration.hash[:8]}"

    def part(self, judge: str, number: int) -> Path:
        """The file of a judge's answers to a partition."""
        return self.judge_folder(judge) / f"part-{number:06}{self.shard.suffix}.parquet"

    def journal(self, number: int) -> Path:
        """The journal of a partition in progress."""
        return self.rubric_folder / f"part-{number:06}{self.shard.suffix}.journal"

    @property
    def inputs(self) -> dict[str, Any]:
        """What a folder belongs to: its files, how they are read and cut, and by how many shards."""
        values = {
            "files": [asdict(file) for file in self.files],
            "name": self.name,
            "keep": dict(self.keep),
            "mapping": dict(self.mapping),
            "roles": dict(self.roles),
            "shards": self.shard.total,
        }
        plain: dict[str, Any] = json.loads(json.dumps(values))
        return plain


def files_of(addresses: Sequence[str], conversations: int = CONVERSATIONS) -> tuple[LakeFile, ...]:
    """The files that addresses name, with their kinds. Raises ImportRefused naming the first that is none."""
    return tuple(surveyed(address, size, conversations) for address, size in listed(addresses))


def check_folder(plan: LakePlan) -> None:
    """Make the folder, or check that it is the plan's. Raises ConfigError, before any call."""
    folder = Path(plan.answers)
    if "://" in plan.answers:
        raise ConfigError(
            f"{plan.answers}: a partition in progress has a journal beside it, which needs a folder of this "
            "machine or a network file system. Name one, and copy the files when they are complete."
        )
    if folder.is_file():
        raise ConfigError(f"{folder} is a file. Name a folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        present = read_plan(folder)
        if present is None:
            if siblings := [path.name for path in folder.iterdir() if not path.name.startswith("_")]:
                raise ConfigError(f"{folder} holds other files ({siblings[0]}). Name a folder of its own.")
        elif (changed := _changed(present, plan.inputs)) and _has_answers(folder):
            raise ConfigError(f"{folder} holds judgements of another plan: {changed}. Name another folder.")
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _has_answers(folder: Path) -> bool:
    """Whether anything was asked, so that the folder holds answers."""
    return any(True for _ in folder.glob("*/*/part-*.parquet")) or any(
        True for _ in folder.glob("*/part-*.journal")
    )


def prepared(plan: LakePlan) -> None:
    """Make the folders of a plan's answers, and write what is asked into them. Raises ConfigError."""
    folder = Path(plan.answers)
    try:
        for judge in plan.models:
            plan.judge_folder(judge).mkdir(parents=True, exist_ok=True)
            _describe(plan, judge)
        present = read_plan(folder)
        if present is None or _changed(present, plan.inputs):
            write_json(folder / PLAN, {"version": plan.version, **plan.inputs})
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror or error}.") from error


def _changed(present: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What differs between two plans, in words; “” for nothing."""
    before = {str(file["address"]): file for file in present.get("files", [])}
    files = {str(file["address"]): file for file in now["files"]}
    if missing := before.keys() - files.keys():
        return f"its files are others, such as {min(missing)}"
    if new := files.keys() - before.keys():
        return f"its files do not include {min(new)}"
    for address, file in files.items():
        if any(file[name] != before[address].get(name) for name in ("kind", "size", "groups")):
            return f"{address} has changed"
        if file != before[address]:
            return f"{address} is cut otherwise, by another --partition"
    names = {"shards": "the number of shards", "keep": "--keep", "mapping": "--map", "roles": "--role"}
    names |= {"name": "--name"}
    differing = next((name for name in names if present.get(name) != now[name]), "")
    if not differing:
        return ""
    return f"{names[differing]} was {_words(present.get(differing))} and is {_words(now[differing])}"


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(map(str, value)) or "empty"
    return str(value)


def _describe(plan: LakePlan, judge: str) -> None:
    """Say beside a judge's answers what was asked."""
    path = plan.judge_folder(judge) / PLAN
    if not path.exists():
        facts = {
            "version": plan.version,
            "judge": judge,
            "entry": dict(plan.entries.get(judge, {})),
            "rubric": plan.rubric,
            "rubric_hash": plan.questions.hash,
            "body": plan.body,
        }
        write_json(path, facts)


def read_plan(folder: Path) -> dict[str, Any] | None:
    """What was asked in a folder; None where it does not say. Raises ConfigError for a broken file."""
    path = folder / PLAN
    try:
        value = parse_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path} is not a plan of Concord.")
    return value


def write_json(path: Path, value: Any) -> None:
    """Write a file of JSON under another name, then rename it: nobody reads half of it. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def configuration_of(folder: Path) -> Configuration | None:
    """The configuration of a judge's answers in its folder; None before the first."""
    try:
        values = parse_json((folder / CONFIGURATION).read_text(encoding="utf-8"))
        return Configuration(**values)
    except (OSError, ValueError, TypeError):
        return None


CONFIGURATION = "_configuration.json"


def settle(folder: Path, configuration: Configuration) -> None:
    """Note the configuration of a judge's answers. Raises OSError."""
    if configuration_of(folder) != configuration:
        write_json(folder / CONFIGURATION, asdict(configuration))


_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


def shard_of(text: str) -> Shard:
    """The shard that “3/40” names. Raises ConfigError."""
    parts = _SHARD.fullmatch(text.strip())
    if not parts or not 1 <= int(parts[1]) <= int(parts[2]):
        raise ConfigError(f"“{text}” is not a shard. Write --shard 3/40 for the third of forty.")
    return Shard(int(parts[1]), int(parts[2]))


def named_columns(keep: Sequence[str]) -> dict[str, str]:
    """The columns that --keep names: NAME, or NAME=PATH. Raises ConfigError."""
    columns = {}
    for text in keep:
        name, _, path = text.partition("=")
        name = name.strip()
        if not re.fullmatch(r"[^\W\d]\w{0,59}", name) or name in ANSWER_COLUMNS:
            raise ConfigError(
                f"--keep {text}: a column name has letters only, and must not be a name of an answer column."
            )
        columns[name] = path.strip() or name
    return columns


ANSWER_COLUMNS = {
    "key": "string",
    "turn": "int32",
    "judge": "string",
    "criterion": "string",
    "score": "float64",
    "reason": "string",
    "failure": "string",
    "failure_class": "string",
    "refused": "bool",
    "raw": "string",
    "calls": "int32",
    "input_tokens": "int64",
    "output_tokens": "int64",
    "cost": "float64",
    "configuration": "string",
    "rubric": "string",
    "prompt": "string",
    "model": "string",
    "simulated": "bool",
    "chars": "int64",
    "turns": "int32",
}
"""The columns of answers with their types; docs/scale.md says what each holds."""


def parts_of(folder: Path) -> Iterator[Path]:
    """The files of answers in a judge's folder, in their order."""
    yield from sorted(folder.glob("part-*.parquet"))


def check_files(plan: LakePlan) -> None:
    """Raise ImportRefused where the files hold nothing to be judged."""
    if not plan.partitions:
        raise ImportRefused("The files hold no rows. Name others.")


def planned(
    addresses: Sequence[str],
    rubric: Rubric,
    judges: Mapping[str, Mapping[str, Any]],
    answers: str,
    *,
    conversations: int = CONVERSATIONS,
    **options: Any,
) -> LakePlan:
    """A plan for the files that addresses name. `options` are other fields of `LakePlan`.

    Raises ImportRefused for files and ConfigError for a rubric that cannot be used; nothing is written.
    """
    if not rubric.criteria:
        raise ConfigError(
            f"The rubric “{rubric.name}” has only pairwise questions. Files need questions about one "
            "conversation."
        )
    files = files_of(addresses, conversations)
    plan = LakePlan(rubric.name, rubric.body, judges, files, absolute(answers), **options)
    if not plan.models:
        raise ConfigError("Give at least one judge: --judges NAME.")
    for name, model in plan.models.items():
        if model.kind == "embeddings":
            raise ConfigError(f"“{name}” is an embeddings model and cannot judge. Choose another model.")
    plan.reader().forms()
    return plan


@dataclass(frozen=True)
class JudgeFolder:
    """The answers of a judge to a rubric: where they lie, and what was asked."""

    path: Path
    judge: str
    entry: Mapping[str, Any]
    rubric: Rubric

    @property
    def configuration(self) -> Configuration | None:
        """The configuration of the judge; None before its first answer."""
        return configuration_of(self.path)

    @property
    def parts(self) -> list[Path]:
        """Its files of answers."""
        return list(parts_of(self.path))


def judge_folders(folder: Path) -> list[JudgeFolder]:
    """The answers that a folder holds, by rubric and judge. Raises ConfigError where it is no such folder."""
    if read_plan(folder) is None:
        raise ConfigError(
            f"{folder} holds no judgements of files. Create some with `concord judge FILES --out DIR`."
        )
    folders = []
    for path in sorted(folder.glob(f"*/*/{PLAN}")):
        facts = read_plan(path.parent) or {}
        try:
            rubric = rubric_of(str(facts["rubric"]), facts["body"], f"the rubric {facts['rubric']}")
            folders.append(JudgeFolder(path.parent, str(facts["judge"]), facts["entry"], rubric))
        except KeyError as error:
            raise ConfigError(f"{path} is not a plan of Concord: it lacks {error}.") from error
    return folders


def newest(folders: Sequence[JudgeFolder]) -> list[JudgeFolder]:
    """One folder for each judge, the one begun last: another entry in models.toml has another folder."""
    by_judge = {one.judge: one for one in sorted(folders, key=lambda one: (one.path / PLAN).stat().st_mtime)}
    return [one for one in folders if by_judge[one.judge] is one]


def reopened(folder: Path) -> LakePlan:
    """The files of a folder's plan, to be read again; it has no judges. Raises ConfigError."""
    values = read_plan(folder)
    if values is None:
        raise ConfigError(
            f"{folder} holds no judgements of files. Create some with `concord judge FILES --out DIR`."
        )
    try:
        files = tuple(LakeFile(**{**file, "groups": tuple(file["groups"])}) for file in values["files"])
        return LakePlan(
            "",
            {},
            {},
            files,
            str(folder),
            name=values["name"],
            keep=values["keep"],
            mapping=values["mapping"],
            roles=values["roles"],
        )
    except (KeyError, TypeError) as error:
        raise ConfigError(f"{folder / PLAN} is not a plan of Concord: {error}.") from error


_PART = re.compile(r"part-(\d+)")


def part_number(part: Path) -> int:
    """The number of the partition whose answers a file holds."""
    match = _PART.match(part.name)
    return int(match[1]) if match else -1
