"""Records every host that a Python process asks for or connects to, in the file named by CONCORD_RECORD.

Python imports a module of this name when it starts, if its folder is in PYTHONPATH.
"""

import os
import sys

_FILE = os.environ.get("CONCORD_RECORD")


def _note(event: str, args: tuple) -> None:  # type: ignore[type-arg]
    if event == "socket.getaddrinfo":
        _write(args[0])
    elif event == "socket.connect" and isinstance(args[1], tuple):
        _write(args[1][0])


def _write(host: object) -> None:
    line = os.fsdecode(host) if isinstance(host, str | bytes) else str(host)
    descriptor = os.open(_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


if _FILE:
    sys.addaudithook(_note)
