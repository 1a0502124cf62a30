"""The demo workspace: real runs against the mock server, a drawn study, and simulated annotators, all of it marked mock."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from sqlite_utils import Database

from core.benchmarks.plans import PlayPlan
from core.benchmarks.simulbench import demo as demo_simulbench
from core.benchmarks.stss import demo as demo_stss
from core.conversation import Unit
from core.demo.mock.annotators import rate
from core.demo.part import Told
from core.errors import ConcordError
from core.llm.models import load_models
from core.rating import Annotation, Rating
from core.runs import engine, planning
from core.store import access, conversations, ratings, studies
from core.store.conversations import Filter
from core.store.runs import Progress
from core.store.studies import Study
from core.studies.guidelines import default_guidelines
from core.studies.studies import deal_study, draw_study
from core.workspace import Workspace

PORT = 8601
PLAYERS = ("mock-vivid", "mock-bland", "mock-refuser", "mock-typist")
JUDGES = ("mock-judge-strict", "mock-judge-lenient", "mock-judge-noisy")
INTERROGATOR = "mock-user"
LANGUAGES = ("en", "ru")
STUDY, TRIAL = "demo", "try-the-desk"
UNITS, TRIAL_UNITS = 250, 12
STRATA = ("player", "character", "situation")
VISITOR = "You"
ANNOTATORS = ("Ada (simulated)", "Ben (simulated)", "Cleo (simulated)", "Dov (simulated)", "Eva (simulated)")
SEED = 7

PARTS = (demo_simulbench, demo_stss)
"""The other benchmarks' part of the demo: each has `build`, `is_complete` and the MODELS it needs."""


def is_complete(workspace: Workspace) -> bool:
    """Whether the demo was built to its end."""
    with workspace.read() as db:
        built = TRIAL in studies.names(db)
    return built and all(part.is_complete(workspace) for part in PARTS)


def build(workspace: Workspace, told: Told) -> None:
    """Bring the workspace to its full state; what an interrupted build stored is kept and not made again."""
    if not load_models(workspace.models_path):
        workspace.models_path.write_text(_models(_free_port()), encoding="utf-8")
    with serving(workspace):
        for language in LANGUAGES:
            _run(workspace, language, told)
        for part in PARTS:
            part.build(workspace, told)
    _study(workspace, told)
    _trial(workspace)


@contextmanager
def serving(workspace: Workspace) -> Iterator[bool]:
    """The mock server the workspace's models name, for as long as the block lasts; one that is up already is used.

    Gives whether it is somebody else's, and goes when they stop it.
    """
    models = load_models(workspace.models_path)
    address = next((m.base_url for m in models.values() if m.simulated and m.base_url), None)
    if address is None or _answers(address):
        yield address is not None
        return
    port = str(urlsplit(address).port)
    process = subprocess.Popen(
        [sys.executable, "-m", "core.demo.mock", "--port", port, "--seed", str(SEED)],
        cwd=Path(__file__).resolve().parents[2], stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise ConcordError(
                f"The mock server cannot use port {port}. Free it, or name another port in {workspace.models_path} and start again."
            )
        yield False
    finally:
        process.terminate()
        process.wait()


def _answers(address: str) -> bool:
    try:
        with urlopen(f"{address}/models", timeout=2) as reply:
            return b"mock-" in reply.read()
    except (URLError, OSError):
        return False


def _free_port() -> int:
    """The usual port, or the next one that nobody has: another demo's server would stop with that demo."""
    for port in range(PORT, PORT + 50):
        with socket.socket() as probe:
            # A port that was only just given back is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ConcordError(
        f"The ports {PORT} to {PORT + 49} are all taken; the mock server needs one of them. Free one."
    )


def _models(port: int) -> str:
    names = [
        *PLAYERS,
        "mock-parrot",
        INTERROGATOR,
        *JUDGES,
        "mock-judge-erratic",
        *(name for part in PARTS for name in part.MODELS),
    ]
    entry = f'base_url = "http://127.0.0.1:{port}/v1"\nmax_concurrency = 32\nseed = true\nprice = {{ input = 0.0, output = 0.0 }}\n'
    head = "# Mock models: they follow rules and are no language models. Replace them with your own to measure anything real.\n\n"
    embedder = f'[models.mock-embeddings]\nkind = "embeddings"\n{entry}'
    return head + "\n".join([*(f"[models.{name}]\n{entry}" for name in names), embedder])


def _run(workspace: Workspace, language: str, told: Told) -> None:
    plan = PlayPlan(
        "pingpong",
        {"players": PLAYERS, "interrogator": (INTERROGATOR,), "judges": JUDGES},
        {"language": language},
    )

    def watch(progress: Progress) -> None:
        told(
            f"Conversations and judgements ({language})",
            (progress.stored + progress.done) / max(1, progress.planned),
        )

    ended = engine.execute(workspace, planning.job(workspace, plan), watch=watch)
    if ended.state != "finished" or ended.failed:
        raise ConcordError(
            f"The demo's run {ended.id} ended {ended.state}, {ended.failed} failed. {ended.message} Start it again."
        )


def _study(workspace: Workspace, told: Told) -> None:
    with workspace.write() as db:
        if STUDY not in studies.names(db):
            for name in ANNOTATORS:
                access.invite(db, name, simulated=True)
            _draw(db, workspace, STUDY, UNITS, SEED, "Demo: 250 English dialogues")
            deal_study(db, STUDY, ANNOTATORS, overlap=0)
    with workspace.read() as db:
        study, units = studies.get(db, STUDY), studies.units(db, STUDY)
        done = {a.name for a in access.annotators(db, STUDY) if a.done}
    for index, name in enumerate(ANNOTATORS):
        if name not in done:
            given = _rated(workspace, study, units, index, name)
            with workspace.write() as db:
                studies.import_annotations(db, STUDY, given)
        told("A study, rated by simulated annotators", (index + 1) / len(ANNOTATORS))


def _rated(
    workspace: Workspace, study: Study, units: list[dict[str, Any]], index: int, name: str
) -> list[Annotation]:
    pace = random.Random(f"{SEED} {name}")
    given = []
    with workspace.read() as db:
        for unit in units:
            conversation = conversations.load(db, unit["conversation_id"])
            for criterion in study.criteria:
                rating = Rating(
                    Unit(conversation.key), criterion.name, rate(conversation, criterion.name, index, SEED)
                )
                given.append(Annotation(rating, name, seconds=pace.uniform(4, 20)))
    return given


def _trial(workspace: Workspace) -> None:
    """A dozen dialogues that nobody has rated, for whoever wants to try the desk."""
    with workspace.write() as db:
        access.invite(db, VISITOR)
        _draw(db, workspace, TRIAL, TRIAL_UNITS, SEED + 1, "Try the desk: a dozen dialogues")
        deal_study(db, TRIAL, [VISITOR], overlap=1)


def _draw(db: Database, workspace: Workspace, name: str, n: int, seed: int, title: str) -> None:
    criteria = [c for c in ratings.criteria(db, "pingpong") if c.counted]
    text = default_guidelines(workspace.folders("data"), "pingpong", criteria, language="en")
    draw_study(
        db, name, n, wanted=Filter("pingpong", "en"), by=STRATA, seed=seed, title=title, guidelines=text
    )
