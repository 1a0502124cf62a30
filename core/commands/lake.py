"""Commands on files of conversations: judge them, draw a sample that people rate, estimate."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from concord.commands.printing import echo
from concord.commands.progress import PLAIN_SECONDS, estimated
from concord.errors import ConcordError, ConfigError, check_known
from concord.files import read_toml
from concord.files.plain import plain
from concord.lake import engines, plan
from concord.lake.engines import LakeHow, LakeProgress
from concord.lake.partitions import WHOLE
from concord.lake.plan import LakePlan
from concord.llm.models import currency, load_models, pick
from concord.rubrics.reading import read as read_rubric
from concord.rubrics.rubric import Rubric
from concord.runs import status

STORED_ONLY = {
    "benchmark": "--benchmark",
    "facets": "--where",
    "study": "--study",
    "version": "--version",
}
"""Options of `concord judge` that are about stored conversations."""


def judge(folder: str, files: tuple[str, ...], own: Mapping[str, Any], how: Mapping[str, Any]) -> None:
    """Have judges rate the conversations of files, and say how it ended.

    Exits with 1 if it broke, 128 and the signal if one stopped it, 3 if it stopped otherwise or work is left,
    2 if judgements failed.
    """
    for name, option in STORED_ONLY.items():
        if how[name]:
            raise ConcordError(f"{option} is for stored conversations. Leave it out, or leave out --out.")
    if how["judge_repeats"] != 1:
        raise ConcordError("--judge-repeats is for stored conversations. Leave it out.")
    workspace = Path(folder).expanduser().resolve()
    if not own["rubric"]:
        raise ConcordError("Say what is asked: --rubric NAME, or a file.")
    of = plan.planned(
        files,
        rubric_of(workspace, own["rubric"]),
        entries(workspace / "models.toml", how["judges"]),
        own["out"],
        conversations=own["partition"] or plan.CONVERSATIONS,
        name=own["name"] or plan.NAME,
        keep=plan.named_columns(own["keep"]),
        mapping=own["mapping"],
        roles=own["roles"],
        shard=plan.shard_of(own["shard"]) if own["shard"] else WHOLE,
        folder=str(workspace),
    )
    paid_in = currency(workspace / "models.toml")
    if how["estimate"]:
        echo(estimated(engines.expected(of), paid_in))
        return
    chosen = LakeHow(
        own["workers"] or 0, how["cluster"], how["max_cost"], how["retry_failed"], how["batch"], how["wait"]
    )
    with _watching(paid_in) as watch:
        ended = engines.execute(of, chosen, watch)
    _say(ended, of, paid_in)


def _say(ended: LakeProgress, of: LakePlan, paid_in: str) -> None:
    echo(f"{ended.state.capitalize()}: {sentence(ended, paid_in)}")
    broken = ended.state == "broken"
    if ended.message:
        echo(ended.message, err=broken)
    for problem in ended.problems[:10]:
        echo(problem, err=True)
    for reason, count in sorted(ended.reasons.items(), key=lambda pair: -pair[1])[:10]:
        echo(f"  {count:,} × {reason}", err=True)
    if ended.state != "finished":
        echo("The same command goes on where it was.", err=True)
    elif ended.failed:
        echo("What had no usable reply is asked again with --retry-failed.", err=True)
    else:
        echo(f"Next: concord estimate {of.out} --study NAME")
    if broken:
        raise SystemExit(1)
    if ended.signal:
        raise SystemExit(128 + ended.signal)
    if ended.state != "finished":
        raise SystemExit(3)
    if ended.failed:
        raise SystemExit(2)


def sentence(progress: LakeProgress, paid_in: str = "") -> str:
    """Where a job stands, in one line."""
    done = progress.stored + progress.judged
    rate = progress.judged / progress.seconds if progress.seconds > 0 else 0.0
    parts = [
        f"{done:,} of {progress.planned:,} judgements of {progress.conversations:,} conversations",
        f"{progress.partitions_done:,} of {progress.partitions:,} partitions committed",
    ]
    parts += [f"{progress.failed:,} failed"] if progress.failed else []
    parts += [f"{progress.put_off:,} asked again later"] if progress.put_off else []
    parts += [f"{progress.spent.calls:,} calls ({rate:.0f} judgements/s)", status.tokens(progress.spent)]
    parts.append(f"cost {progress.spent.price(paid_in)}")
    if progress.state == "running" and rate and (left := progress.planned - done) > 0:
        parts.append(f"{status.duration(left / rate)} left")
    return " · ".join(parts)


@contextmanager
def _watching(paid_in: str) -> Iterator[Callable[[LakeProgress], None]]:
    """Shows where a job stands: in place on a terminal, elsewhere as a line every few seconds."""
    last = time.monotonic()

    def show(progress: LakeProgress) -> None:
        nonlocal last
        with suppress(OSError):
            line = sentence(progress, paid_in)
            line += f" · {progress.message}" if progress.message else ""
            if live is not None:
                live.update(Text(plain(line)))
            elif time.monotonic() - last >= PLAIN_SECONDS:
                last = time.monotonic()
                echo(line)

    terminal = Live(console=Console(), refresh_per_second=4, transient=True)
    with terminal if sys.stdout.isatty() else nullcontext() as live:
        if live is not None:
            live.console.show_cursor(True)
        yield show


def rubric_of(workspace: Path, name: str) -> Rubric:
    """A rubric: a file, or one of the workspace by its name. Raises ConfigError or NotFound."""
    if name.endswith(".toml"):
        return read_rubric(Path(name))
    folder = workspace / "rubrics"
    check_known("rubric", name, sorted(path.stem for path in folder.glob("*.toml")))
    return read_rubric(folder / f"{name}.toml")


def entries(path: Path, judges: tuple[str, ...]) -> dict[str, Mapping[str, Any]]:
    """What models.toml says of judges. Raises ConfigError or NotFound."""
    known = load_models(path)
    if len(set(judges)) < len(judges):
        raise ConfigError("A judge is named twice.")
    for name in judges:
        pick(known, name, None)
    tables = read_toml(path)["models"] if path.exists() else {}
    return {name: tables[name] for name in judges}
