"""Python processes forked from one that has imported Concord: a start takes 0.1 s of CPU instead of 2 to 5.

`Popen` and `run` are called as those of `subprocess` are, with a command that begins with `sys.executable`
and `-m` or `-c`. The first call starts the process that is forked; it ends with the tests, and
`python -m tests.all` starts one for all of its processes. Where imports depend on the environment (HOME,
sitecustomize), or other code is imported than this checkout's, `subprocess` is right. Passphrases are hashed
cheaply, a server looks for no components in installed packages, and a run that it starts is forked too.
test_wheel.py installs Concord and starts it cold.
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import importlib.util
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[1]
CHEAP = {"n": 2**4, "r": 8, "p": 1}
"""Parameters of scrypt for tests, in place of those that take half a second and 128 MiB."""
ADDRESS = "CONCORD_TEST_WARM"
"""The environment variable that names the socket of a process to be forked that runs already."""
_ONE = threading.Lock()


class Popen:
    """A process that runs: the part of `subprocess.Popen` that tests need, with text for what it prints."""

    def __init__(
        self,
        command: Sequence[object],
        *,
        stdin: int | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | Path = ROOT,
        text: bool = True,
        start_new_session: bool = False,
    ) -> None:
        assert stdin in (None, subprocess.DEVNULL)  # it has no other
        python, *words = (word for word in map(str, command) if word != "-P")
        assert python == sys.executable
        assert words[0] in ("-c", "-m")
        self.returncode: int | None = None
        self.stdout: IO[str] | None = None
        own: list[int] = []
        out, kept = _file(stdout, 1, own)
        error = out if stderr == subprocess.STDOUT else _file(stderr, 2, own)[0]
        if kept is not None:
            self.stdout = os.fdopen(kept, encoding="utf-8")
        request = {
            "words": words,
            "env": dict(os.environ if env is None else env),
            "cwd": str(cwd),
            "session": start_new_session,
        }
        self._watcher, theirs = socket.socketpair()
        with _ONE:
            address = nursery()
        with theirs, socket.socket(socket.AF_UNIX) as asked:
            asked.connect(address)
            _send(asked, request, [theirs.fileno(), out, error])
        for each in own:
            os.close(each)
        self._reports = self._watcher.makefile("r")
        self.pid = int(self._reports.readline())
        self._waiting = threading.Lock()

    def poll(self) -> int | None:
        """The exit code, or minus the signal that ended it; None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; returns what `poll` does. Raises TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._watcher], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("python", timeout or 0)
            with self._waiting:
                if self.returncode is None:
                    self.returncode = os.waitstatus_to_exitcode(int(self._reports.readline()))
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Read to the end what it prints, and wait for its end."""
        text = ""
        if self.stdout is not None and not self.stdout.closed:
            with self.stdout:
                text = self.stdout.read()
        self.wait(timeout)
        return text, None

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a power failure does."""
        self.send_signal(signal.SIGKILL)


FORKING = SimpleNamespace(**{**vars(subprocess), "Popen": Popen})
"""The module `subprocess` with this `Popen`."""


def run(
    command: Sequence[object],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | Path = ROOT,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run to the end, as `subprocess.run` with `capture_output` and `text` does."""
    printed = []
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as error:
        code = Popen(command, stdout=out, stderr=error, env=env, cwd=cwd).wait()
        for file in (out, error):
            file.seek(0)
            printed.append(file.read())
    done = subprocess.CompletedProcess(command, code, *printed)
    if check:
        done.check_returncode()
    return done


def _file(wanted: int | IO[Any] | None, standard: int, own: list[int]) -> tuple[int, int | None]:
    """The descriptor to write to, and for PIPE the one to read from; `own` gets what the fork alone needs."""
    if wanted is None:
        return standard, None
    if wanted == subprocess.PIPE:
        kept, out = os.pipe()
        own.append(out)
        return out, kept
    if wanted == subprocess.DEVNULL:
        own.append(os.open(os.devnull, os.O_RDWR))
        return own[-1], None
    assert not isinstance(wanted, int)
    return wanted.fileno(), None


def _send(to: socket.socket, request: Mapping[str, Any], files: Sequence[int]) -> None:
    body = json.dumps(request).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
    to.sendmsg([len(body).to_bytes(4, "big")], rights)
    to.sendall(body)


@cache
def nursery() -> str:
    """The socket of the process that is forked, which is started when it is first needed."""
    if address := os.environ.get(ADDRESS):
        return address
    folder = tempfile.mkdtemp(prefix="concord-")
    address = os.path.join(folder, "warm")
    listener = socket.socket(socket.AF_UNIX)
    ours, theirs = socket.socketpair()
    with listener, theirs:
        listener.bind(address)
        listener.listen()
        files = [listener.fileno(), theirs.fileno()]
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm", address, *map(str, files)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            pass_fds=files,
        )

    def end() -> None:
        ours.close()
        process.wait()
        shutil.rmtree(folder)

    atexit.register(end)
    return address


def _import_everything() -> None:
    """What commands and pages import, but for the scripts that pages are."""
    from pages.parts.navigation import PAGES, SECTIONS

    scripts = {page.path for group in SECTIONS.values() for page in group}
    for folder, package in ((ROOT / "concord", "concord"), (PAGES, "pages")):
        for path in sorted(set(folder.rglob("*.py")) - scripts):
            parts = path.relative_to(folder).with_suffix("").parts
            with suppress(Exception):  # what cannot be imported fails where it is used
                importlib.import_module(".".join((package, *parts)).removesuffix(".__init__"))
    # Made anew by each server: what it is made of depends on the environment.
    del sys.modules["pages.parts.server"]
    from streamlit.components.v2 import manifest_scanner

    from concord.runs import launching
    from concord.store import access

    manifest_scanner.scan_component_manifests = lambda *_: []
    access._SCRYPT = CHEAP
    launching.subprocess = FORKING  # type: ignore[assignment]


def _receive(asked: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """A request with its files."""
    head, files, _, _ = socket.recv_fds(asked, 4, 3)
    size, body = int.from_bytes(head, "big"), b""
    while len(body) < size:
        body += asked.recv(size - len(body))
    return json.loads(body), files


def _serve(listener: socket.socket, starter: socket.socket) -> list[str]:
    """Fork for each request until the starter is gone; returns in the fork, with the words after `python`."""
    while starter not in select.select([listener, starter], [], [])[0]:
        with listener.accept()[0] as asked:
            wanted, (report, out, error) = _receive(asked)
        if not os.fork():
            listener.close()
            starter.close()
            _born(wanted, report, out, error)
            return list(wanted["words"])
        for each in (report, out, error):
            os.close(each)
        _bury(os.WNOHANG)
    _bury(0)
    os._exit(0)


def _born(wanted: Mapping[str, Any], report: int, out: int, error: int) -> None:
    """Return as the process that was wanted; its parent waits for it and reports, as only a parent can."""
    with socket.socket(fileno=report) as reports:
        begun, begins = os.pipe()
        if pid := os.fork():
            for each in (1, 2, out, error, begins):
                os.close(each)
            os.read(begun, 1)  # nobody hears of it before its session is its own
            reports.sendall(f"{pid}\n".encode())
            reports.sendall(f"{os.waitpid(pid, 0)[1]}\n".encode())
            os._exit(0)
    for each, standard in ((out, 1), (error, 2)):
        os.dup2(each, standard)
        os.close(each)
    if wanted["session"]:
        os.setsid()
    for each in (begun, begins):
        os.close(each)
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:1] = [wanted["cwd"], *paths]


def _bury(options: int) -> None:
    """Wait for the children that have ended, or with 0 for all."""
    try:
        while os.waitpid(-1, options)[0]:
            pass
    except ChildProcessError:
        pass


def _execute(option: str, target: str, *words: str) -> None:
    """What `python -m target` or `python -c target` does."""
    if option == "-m":
        spec = importlib.util.find_spec(target)
        assert spec is not None
        assert spec.origin is not None
        sys.argv, package = [spec.origin, *words], spec.parent
        code = compile(Path(spec.origin).read_bytes(), spec.origin, "exec")
    else:
        sys.argv, package = [option, *words], None
        code = compile(target, "<string>", "exec")
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__package__ = package
    exec(code, main.__dict__)


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl+C is for the tests
    with tempfile.TemporaryFile() as said:
        # Streamlit warns of what it misses outside of its server.
        error = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            _import_everything()
        except BaseException:
            traceback.print_exc()
            said.seek(0)
            os.write(error, said.read())
            raise
        finally:
            os.dup2(error, 2)
            os.close(error)
    gc.collect()
    gc.freeze()
    address, *files = sys.argv[1:]
    os.environ[ADDRESS] = address
    nursery()  # what is forked asks this process too
    words = _serve(*(socket.socket(fileno=int(each)) for each in files))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _execute(*words)


if __name__ == "__main__":
    _main()
