"""What many tests stand on: a workspace whose models are served by a mock server on this machine."""

from __future__ import annotations

import gc
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, settings
from sqlite_utils import Database

from concord.cli import main
from concord.demo import workspace as demo
from concord.runs import launching
from concord.store import access, database
from concord.workspace import Workspace
from tests import warm
from tests.filled import fill
from tests.mock.faults import Faults
from tests.mock.server import running

# Speed depends on the machine and is measured in bench/. `make mutants` runs a test several times in one
# process, each time on a new instance of its class, which Hypothesis would refuse.
# Half as many examples are drawn as Hypothesis draws by default, others each time.
settings.register_profile(
    "concord", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.differing_executors]
)
settings.load_profile("concord")


LONG = (
    "tests/browser/test_desk.py",
    "tests/browser/test_study_pages.py",
    "tests/browser/test_trust_pages.py",
    "tests/browser/test_every_page.py",
    "tests/browser/test_whole_study.py",
    "tests/browser/test_three_files.py",
    "tests/browser/test_spot_check.py",
    "tests/browser/test_main_job.py",
    "tests/browser/test_town.py",
    "tests/browser/test_compare_desk.py",
    "tests/browser/test_lab.py",
    "tests/browser/test_rubric_desk.py",
    "tests/browser/test_access.py",
    "tests/browser/test_settle_desk.py",
    "tests/browser/test_side_by_side.py",
    "tests/security/test_hostile_files.py",
    "tests/runs/test_store_matrix.py",
    "tests/runs/test_store_lost.py",
    "tests/security/test_attack.py",
    "tests/security/test_sign_in.py",
    "tests/test_contributing.py",
    "tests/exchange/test_report.py",
    "tests/pages/test_agreement.py",
    "tests/runs/test_runs.py",
    "tests/stss/test_run.py",
    "tests/runs/test_twins.py",
    "tests/test_at_once.py",
    "tests/runs/test_batches.py",
    "tests/runs/test_launching.py",
    "tests/pages/test_statements.py",
    "tests/commands/test_study.py",
    "tests/pages/test_navigation.py",
    "tests/runs/test_budget.py",
    "tests/commands/test_quickstart_ends.py",
)
"""Files that take ten seconds or more, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files come first, so that at the end no process has one of them alone."""
    places = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.location[0], len(LONG)))


@pytest.fixture(scope="session", autouse=True)
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A new database begins as a copy of one that the schema made: it takes 40 ms of CPU."""
    made = tmp_path_factory.mktemp("migrated") / "concord.db"
    database.prepare(made)
    content, one = made.read_bytes(), threading.Lock()

    def connect(path: Path, *, create: bool = True, name: Path | None = None) -> Database:
        with one:  # of several threads that make the same database
            if create and path.is_file() and not path.stat().st_size:  # `prepare` makes it, for its owner
                path.write_bytes(content)
        return opened(path, create=create, name=name)

    opened = database.connect
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(database, "connect", connect)
        yield


@pytest.fixture(scope="session", autouse=True)
def frozen() -> Iterator[None]:
    """What is there before the first test is never searched for garbage: a fifth of the CPU."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(gc, "unfreeze", gc.freeze)  # which a run calls when it ends
        gc.collect()
        gc.freeze()
        yield


@pytest.fixture(scope="session", autouse=True)
def cheap_hashing() -> Iterator[None]:
    """Passphrases are hashed in a millisecond; security/test_sign_in.py tests the real cost."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(access, "_SCRYPT", warm.CHEAP)
        yield


@pytest.fixture(scope="session", autouse=True)
def forked_runs() -> Iterator[None]:
    """A run that a page starts is forked, as one of a server is; runs/test_launching.py starts one cold."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(launching, "subprocess", warm.FORKING)
        yield


@pytest.fixture(scope="session")
def mock() -> Iterator[str]:
    """The address of a mock server without latency or faults."""
    with running(seed=3) as url:
        yield url


def toml(url: str, **names: str) -> str:
    """A models.toml: each name with the rest of its table, such as `player='model = "mock-vivid"'`."""
    return "\n".join(
        f'[models.{name}]\nbase_url = "{url}"\nseed = true\n{rest}\n' for name, rest in names.items()
    )


FIXED = 'model = "mock-fixed"'


@pytest.fixture
def workspace(tmp_path, mock) -> Workspace:
    """A workspace with a player, a user, and three judges that answer at once."""
    made = Workspace.open(tmp_path / "workspace")
    made.models_path.write_text(toml(mock, player=FIXED, user=FIXED, a=FIXED, b=FIXED, c=FIXED))
    return made


@pytest.fixture
def fresh(tmp_path) -> Workspace:
    """A workspace that holds nothing."""
    return Workspace.open(tmp_path / "fresh")


@pytest.fixture(scope="session")
def filled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `filled` copies."""
    made = Workspace.open(tmp_path_factory.mktemp("filled"))
    with made.write() as db:
        fill(db)
    return made.path


@pytest.fixture
def filled(tmp_path: Path, filled_once: Path) -> Workspace:
    """A workspace of its own, with the conversations, ratings and study of `tests.filled`."""
    return Workspace(shutil.copytree(filled_once, tmp_path / "filled"))


@pytest.fixture(scope="session")
def demo_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `demo_workspace` copies."""
    made = Workspace.open(tmp_path_factory.mktemp("demo"))
    demo.load(made)
    return made.path


@pytest.fixture
def demo_workspace(tmp_path: Path, demo_once: Path) -> Workspace:
    """A workspace of its own, with the recorded demo."""
    return Workspace(shutil.copytree(demo_once, tmp_path / "demo"))


@pytest.fixture
def run() -> Callable[..., Result]:
    """The command line on a workspace, without a terminal: run(workspace, "export", "ratings")."""

    def invoke(workspace: Workspace, *args: object) -> Result:
        return CliRunner(env={"COLUMNS": None}).invoke(
            main, ["--workspace", str(workspace.path), *map(str, args)]
        )

    return invoke


@pytest.fixture
def faulty(tmp_path) -> Iterator[Callable[..., Workspace]]:
    """Makes a workspace whose server misbehaves as told: faulty(rate_limit=3)."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def make(latency: float = 0.0, **faults: object) -> Workspace:
            url = stack.enter_context(running(latency=latency, faults=Faults(**faults)))  # type: ignore[arg-type]
            made = Workspace.open(tmp_path / "workspace")
            made.models_path.write_text(toml(url, player=FIXED, user=FIXED, a=FIXED, b=FIXED, c=FIXED))
            return made

        yield make
