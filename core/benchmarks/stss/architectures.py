"""Agent architectures: each makes a resident's mind from models. Any callable that returns a Mind is one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from core.benchmarks.benchmark import Ask
from core.benchmarks.stss.generative import GenerativeMind
from core.benchmarks.stss.mind import Mind
from core.errors import ConfigError, not_found
from core.llm.prompts import Prompt


@dataclass(frozen=True)
class Making:
    """What a mind is made of: how to ask, the prompts, the evaluated model and the residents' model.

    For everybody but the performer the two models are the same, and `performer` is False.
    """

    ask: Ask
    prompts: Mapping[str, Prompt]
    high: str
    low: str
    performer: bool


class Architecture(Protocol):
    """Makes a mind."""

    def __call__(self, making: Making, /) -> Mind:
        """One mind for one resident of one simulation."""


def generative(making: Making) -> Mind:
    """The generative agent: the task is known to it through its persona only."""
    return GenerativeMind(making.ask, making.prompts, making.high, making.low)


def target_driven(making: Making) -> Mind:
    """The generative agent with target-driven planning for the performer."""
    return GenerativeMind(making.ask, making.prompts, making.high, making.low, tdp=making.performer)


ARCHITECTURES: dict[str, Architecture] = {"GA": generative, "GA+TDP": target_driven}


def find(name: str) -> Architecture:
    """An architecture by name, or your own as “module:callable”. Raises NotFound or ConfigError.

    It evaluates the performer only: everybody else is a generative agent, as in the paper.
    """
    if name in ARCHITECTURES:
        return ARCHITECTURES[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise not_found("architecture", name, ARCHITECTURES)
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"The architecture “{name}” cannot be imported: {error}.") from error
    if not callable(found):
        raise ConfigError(
            f"The architecture “{name}” must be a callable that takes a Making and gives a Mind."
        )
    made: Architecture = found
    return made
