"""Several thoughts at once: what residents think in one step, and the calls that this takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def together(thoughts: Iterable[Awaitable[T]]) -> list[T]:
    """What several think at the same time, in the order given.

    Where one fails the others are waited for: what is under way is paid for.
    """
    found: list[T] = []
    for result in await asyncio.gather(*thoughts, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        found.append(result)
    return found
