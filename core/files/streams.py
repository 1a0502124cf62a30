"""Standard output and error take any text: whatever their encoding is, and where they are closed."""

import codecs
import io
import os
import sys
from contextlib import suppress

ESCAPES = "concord-escapes"
"""The name of the error handler."""
_DRAWN = {"─": "-", "│": "|"}
"""Lines of tables; an escape for each sign of a line would be unreadable."""


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What an encoding lacks, as JSON escapes it: two of them for a sign beyond U+FFFF."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_DRAWN.get(sign) or _escape(sign) for sign in lacking), error.end


def _escape(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


codecs.register_error(ESCAPES, _escaped)


def prepare() -> None:
    """Have standard output and error escape what their encoding lacks; open closed ones on nothing.

    A file that is opened later would get the number of a closed one, and whatever is printed.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            _lead_nowhere(number)
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - stays open
        elif isinstance(stream, io.TextIOWrapper) and mode == "w":
            with suppress(OSError):  # raised where it became a pipe since it was opened, after the change
                stream.reconfigure(errors=ESCAPES)


def output_is_closed() -> bool:
    """Whether nobody can read what is printed: `prepare` found standard output closed."""
    return getattr(sys.stdout, "name", "") == os.devnull


def output_error() -> str:
    """Why standard output takes no line, such as a full disk; “” where it takes one.

    Where it takes none it leads nowhere afterwards.
    """
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError as error:
        _lead_nowhere(1)  # else what waits to be written fails again at exit
        return error.strerror or str(error)
    return ""


def _lead_nowhere(number: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)
