"""Have judges rate the conversations of files, from a notebook or a program."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from concord.errors import ConfigError
from concord.files import read_toml
from concord.lake import engines, plan
from concord.lake.coordinator import LakeHow, LakeProgress
from concord.lake.partitions import ONE_SHARD
from concord.llm.models import load_models, pick
from concord.rubrics.reading import read


def judge_files(
    files: str | Path | Sequence[str | Path],
    rubric: str | Path,
    judges: Sequence[str] | Mapping[str, Mapping[str, Any] | Callable[..., Any]],
    out: str | Path,
    *,
    workspace: str | Path = "workspace",
    keep: Sequence[str] = (),
    name: str = plan.NAME,
    mapping: Mapping[str, str] | None = None,
    roles: Mapping[str, str] | None = None,
    workers: int = 0,
    cluster: str = "",
    shard: str = "",
    max_cost: float | None = None,
    retry_failed: bool = False,
    partition: int = plan.CONVERSATIONS,
    batch: bool = False,
    wait: bool = False,
) -> LakeProgress:
    """Have judges rate the conversations of files of any size, and write the answers as Parquet.

    - `files`: files, folders, patterns or addresses of Parquet and JSON Lines.
    - `rubric`: a file, or the name of a rubric in the workspace.
    - `judges`: names of models in the workspace's models.toml; or a mapping from names to functions or to
      settings of a model.
    - `out`: the folder or address for the answers. The same call continues where it stopped.
    - `workspace`: the folder with models.toml and rubrics.

    The other arguments are the options of `concord judge --out` with the same names; docs/scale.md explains
    them. A failed judgement is counted and never raised. Raises ConcordError, before anything is paid, for
    files, rubrics or judges that cannot be used.
    """
    folder = Path(workspace).expanduser().resolve()
    addresses = [files] if isinstance(files, str | os.PathLike) else list(files)
    path = Path(rubric) if str(rubric).endswith(".toml") else folder / "rubrics" / f"{rubric}.toml"
    entries, functions = _judges(folder / "models.toml", judges)
    work = plan.planned(
        [str(address) for address in addresses],
        read(path),
        entries,
        str(out),
        conversations=partition,
        name=name,
        keep=plan.named_columns(keep),
        mapping=mapping or {},
        roles=roles or {},
        shard=plan.shard_of(shard) if shard else ONE_SHARD,
        folder=str(folder),
        functions=functions,
    )
    options = LakeHow(workers, cluster, max_cost, retry_failed, batch, wait)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return engines.execute(work, options)
    with ThreadPoolExecutor(1) as pool:  # a notebook runs an event loop already
        return pool.submit(engines.execute, work, options).result()


def _judges(
    models: Path, judges: Sequence[str] | Mapping[str, Any]
) -> tuple[dict[str, Mapping[str, Any]], dict[str, Callable[..., Any]]]:
    """The entries of judges, and those that are functions."""
    if isinstance(judges, Mapping):
        functions = {name: judge for name, judge in judges.items() if callable(judge)}
        return {name: judge for name, judge in judges.items() if name not in functions}, functions
    if isinstance(judges, str):
        raise ConfigError(f"Give judges as a list: [“{judges}”].")
    known_models = load_models(models)
    for name in judges:
        pick(known_models, name, None)
    tables = read_toml(models)["models"] if models.exists() else {}
    return {name: tables[name] for name in judges}, {}
