"""Who acts: a value of the context, set where somebody comes in (a command, a page)."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ACTOR = ContextVar("actor", default="researcher")


def actor() -> str:
    """The name of who acts; “researcher” where nobody said otherwise."""
    return _ACTOR.get()


@contextmanager
def acting(name: str) -> Iterator[None]:
    """Store what is done within this block under a name."""
    before = _ACTOR.set(" ".join(name.split()))
    try:
        yield
    finally:
        _ACTOR.reset(before)
