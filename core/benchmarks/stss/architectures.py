"""Agent architectures: callables that make a resident's mind from models."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.benchmarks.benchmark import Ask
from core.benchmarks.stss.generative import GenerativeMind
from core.benchmarks.stss.mind import Mind
from core.errors import ConfigError, not_found
from core.llm.prompts import Prompt


@dataclass(frozen=True)
class Making:
    """What a mind is made of: how to ask, the prompts, the evaluated model and the residents' model.

    `performer` is False for everybody else; then both models are the residents'.
    """

    ask: Ask
    prompts: Mapping[str, Prompt]
    high: str
    low: str
    performer: bool


Architecture = Callable[[Making], Mind]
"""Makes the mind of one resident of one simulation."""


def generative(making: Making) -> Mind:
    """The generative agent, which knows the task from its persona only."""
    return GenerativeMind(making.ask, making.prompts, making.high, making.low)


def target_driven(making: Making) -> Mind:
    """The generative agent with target-driven planning for the performer."""
    return GenerativeMind(making.ask, making.prompts, making.high, making.low, tdp=making.performer)


ARCHITECTURES: dict[str, Architecture] = {"GA": generative, "GA+TDP": target_driven}


def find(name: str) -> Architecture:
    """An architecture by name, or your own as “module:callable”. Raises NotFound or ConfigError.

    It is used for the performer; everybody else is a generative agent, as in the paper.
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
        raise ConfigError(f"The architecture “{name}” must be a callable that makes a Mind of a Making.")
    made: Architecture = found
    return made
