"""Have judges rate conversations by a rubric, from a notebook or a program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from concord.errors import ConfigError, ImportRefused
from concord.exchange import conversations_file, conversations_import
from concord.library.study import ratings_frame
from concord.llm.models import Model, load_models, read_entry
from concord.rubrics import rubric_store, writing
from concord.runs import engine, planning
from concord.runs.plans import JudgePlan
from concord.runs.status import sentence
from concord.store import ratings, runs
from concord.store.runs import Progress
from concord.workspace import Workspace

Judges = Iterable[str | Callable[..., Any]] | Mapping[str, Callable[..., Any] | Mapping[str, Any]]
"""Names of models.toml and functions; or by name functions and settings as models.toml has them."""


@dataclass(frozen=True)
class Judged:
    """The ratings and the failed judgements of judges.

    - `ratings`: a frame in the form that `agreement` takes; add annotators' ratings of the same units.
    - `failed`: a frame of judgements without a usable reply: `unit`, `rater`, `failure` (a code) and `raw`,
      the reply.
    - `run`: the state of the run and its cost.
    """

    ratings: pd.DataFrame
    failed: pd.DataFrame
    run: Progress

    def __repr__(self) -> str:
        return f"{len(self.ratings)} ratings, {len(self.failed)} failed judgements. {sentence(self.run)}"


def judge(
    conversations: str | Path | pd.DataFrame | Iterable[Mapping[str, Any]],
    rubric: str | Path | Mapping[str, Any],
    judges: Judges,
    *,
    workspace: str | Path | None = None,
    name: str = "conversations",
    repeats: int = 1,
    max_cost: float | None = None,
    retry_failed: bool = False,
) -> Judged:
    """Have judges rate conversations by a rubric.

    - `conversations`: a file that `concord import conversations` reads, a frame, or mappings with `id` and
      `messages`.
    - `rubric`: a file (docs/rubrics.md), its content as a mapping, or the name of a rubric in the
      workspace.
    - `judges`: names of models in the workspace's models.toml and Python functions; or a mapping from names
      to functions or to settings of a model, as in models.toml.
    - `workspace`: a folder that stores everything, so that you pay for each answer once. Without it,
      nothing is stored.
    - `name`: the name under which conversations are stored; for a file, the file's name.
    - `repeats`: how often each judge rates an item.
    - `max_cost`: the spending limit at which the run stops; None is no limit.
    - `retry_failed`: try judgements again that failed before.

    A failed judgement is counted in `failed` and never raised. Raises ImportRefused for conversations that
    cannot be read or are empty, ConfigError for a wrong rubric or judge and without judges, and NotFound
    for unknown names; all of them are ConcordErrors.
    """
    with working(workspace) as opened:
        benchmark = _stored(opened, conversations, name)
        asked, entries = _entries(opened, judges)
        plan = JudgePlan(benchmark, asked, judge_repeats=repeats, rubric=_kept(opened, rubric))
        job = planning.job(opened, plan, programs=entries)
        run = _run(opened, job, max_cost, retry_failed)
        assert job.rubric is not None
        return _judged(opened, benchmark, asked, job.rubric.variant, run)


@contextmanager
def working(path: str | Path | None) -> Iterator[Workspace]:
    """The workspace in a folder, which is made; without one a temporary one."""
    if path is not None:
        yield Workspace.open(path)
        return
    with TemporaryDirectory(prefix="concord-") as folder:
        yield Workspace.open(folder)


def _stored(workspace: Workspace, given: Any, name: str) -> str:
    """Import conversations, which may be there already; returns under which name they are kept."""
    with TemporaryDirectory(prefix="concord-") as folder:
        file = Path(folder) / "conversations.jsonl"
        if isinstance(given, str | Path):
            file = Path(given)
            name = Path(given).stem
        else:
            rows = given.to_dict("records") if isinstance(given, pd.DataFrame) else given
            lines = (json.dumps(dict(row), ensure_ascii=False, default=str) for row in rows)
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        try:
            survey = conversations_file.survey(file, conversations_file.FileOptions(name))
            if survey.benchmarks and name not in survey.benchmarks:
                others = ", ".join(sorted(survey.benchmarks))
                raise ImportRefused(f"{file} names other benchmarks: {others}. Remove the field.")
            conversations_import.store(workspace, survey)
        except ImportRefused as error:
            raise ImportRefused(
                str(error).replace(f"{folder}/{file.name}", "the list of conversations")
            ) from None
    return name


def _kept(workspace: Workspace, rubric: str | Path | Mapping[str, Any]) -> str:
    """The name of a rubric, which is put into the workspace if it is a file or a mapping."""
    if isinstance(rubric, Mapping):
        with TemporaryDirectory(prefix="concord-") as folder:
            file = Path(folder) / f"{rubric.get('name', 'rubric')}.toml"
            content = {name: value for name, value in rubric.items() if name != "name"}
            file.write_text(writing.toml(content), encoding="utf-8")
            return rubric_store.put(workspace, file)
    return rubric_store.put(workspace, Path(rubric)) if str(rubric).endswith(".toml") else str(rubric)


def _entries(workspace: Workspace, judges: Judges) -> tuple[tuple[str, ...], dict[str, Model]]:
    """The names of judges, and the models of those that are not in models.toml."""
    if isinstance(judges, Mapping):
        given: list[tuple[str, Any]] = [*judges.items()]
    else:
        given = [
            (one, None) if isinstance(one, str) else (getattr(one, "__name__", ""), one) for one in judges
        ]
    names = tuple(name for name, _ in given)
    known = load_models(workspace.models_path)
    entries = {}
    for name, of in given:
        if of is None:
            continue
        if not name or name in known or names.count(name) > 1:
            raise ConfigError(f"The judge “{name}” needs a name of its own: judges={{NAME: …}}.")
        entries[name] = Model.calling(name, of) if callable(of) else read_entry(Path("judges"), name, of)
    return names, entries


def _run(workspace: Workspace, job: planning.Job, max_cost: float | None, retry_failed: bool) -> Progress:
    """Carry a job out: in a thread of its own where this one runs an event loop already, as in a notebook."""
    number: list[int] = []

    def work() -> Progress:
        return engine.execute(
            workspace,
            job,
            max_cost=max_cost,
            retry_failed=retry_failed,
            watch=lambda progress: number.append(progress.id),
        )

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            # Calls in flight are finished and kept.
            if number and not future.done():
                with workspace.write() as db:
                    runs.ask_to_stop(db, number[-1])
            raise


def _judged(
    workspace: Workspace, benchmark: str, judges: Sequence[str], variant: str, run: Progress
) -> Judged:
    start = f"{benchmark}/"
    names = set(judges)
    with workspace.read() as db:
        given = ratings.exported(db, benchmark=benchmark, variant=variant)
        rows = [row for row in given if row["rater"] in names]
        failed = [
            {**one, "unit": one["item_id"].removeprefix(start)}
            for one in ratings.unusable(db, benchmark, variant)
            if one["rater"] in names
        ]
    return Judged(
        ratings_frame(rows, start),
        pd.DataFrame(failed, columns=["unit", "rater", "repeat", "failure", "raw"]),
        run,
    )
