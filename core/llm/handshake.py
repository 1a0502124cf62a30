"""The handshake: what an endpoint takes of a request, found out once, before other requests of its kind.

The real request is sent; where the endpoint refuses a part of it, the next weaker form of that part, until it
is answered. What was settled on are settings of models.toml, and part of the model's configuration.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

from concord import messages
from concord.codes import Failure, RequestPart
from concord.llm import refusals
from concord.llm.api_errors import AttemptFailed
from concord.llm.models import UNSET, Model
from concord.llm.refusals import LIMITS, Body
from concord.llm.schemas import Feature, features

ASKS = 16
"""Requests of one handshake at most. A refused request costs nothing."""
QUOTED_CHARACTERS = 300
"""Characters of an endpoint's complaint in a sentence."""
SETTINGS = ("params", "rename", "at_most", "at_least", "system", "replies", "schema_without", "seed")
"""What a handshake may change in an entry."""
T = TypeVar("T")

Shape = Mapping[str, Any]
"""What a request has: its parameters, features of the reply's schema, whether it has a system role."""


async def settle(
    model: Model, body: Callable[[Model], Body], ask: Callable[[Model], Awaitable[T]]
) -> tuple[Model, T]:
    """The model as its endpoint takes a request, and what was answered.

    `body` is what is sent for a model, `ask` sends it. Raises what `ask` raises where that is no refusal of a
    part of the request. If no form is left, and after ASKS requests, it raises AttemptFailed: of code
    FORM_REFUSED where the endpoint named what it refuses, else BAD_REQUEST, as it may be about what is said.
    """
    candidate: Model = model
    forms: Iterator[Model] = iter(())
    tried: set[str] = set()
    guessing = False
    weakened: set[RequestPart] = set()
    first: AttemptFailed | None = None
    for _ in range(ASKS):
        request_body = body(candidate)
        tried.add(_text(request_body))
        try:
            return candidate, await ask(candidate)
        except AttemptFailed as failure:
            weaker = refused_forms(candidate, request_body, failure)
            if weaker is None:
                raise
            first = first or failure
            part = refused_part(candidate, request_body, failure)
            if part is not None:
                weakened.add(part)
                forms = chain(weaker, forms)
            elif refusals.mentioned(failure.raw) not in weakened and not guessing:
                # A guess that is refused leads to no further guesses.
                guessing = True
                forms = chain(weaker, forms)
        following = _next(forms, body, tried)
        if following is None:
            break
        candidate = following
    assert first is not None
    raise exhausted(model, first, len(tried), Failure.BAD_REQUEST if guessing else Failure.FORM_REFUSED)


_MAY_REFUSE = (
    Failure.BAD_REQUEST,
    Failure.UNKNOWN_MODEL,
    Failure.SERVER,
    Failure.FOREIGN_BODY,
    Failure.CONTEXT_EXCEEDED,
)
"""Failures that may be the refusal of a part of a request."""


def refused_forms(model: Model, request_body: Body, failure: AttemptFailed) -> Iterator[Model] | None:
    """The weaker forms after a failure; None where it refuses no part of the request."""
    if failure.code not in _MAY_REFUSE:
        return None
    if failure.code is Failure.CONTEXT_EXCEEDED:
        # Only of a limit of tokens: “must be at most 8192, less than the context window”.
        part = refusals.named_part(model, request_body, refusals.objection(failure.raw))
        if part is None or part.part is not RequestPart.LIMIT:
            return None
    return refusals.weaker(model, request_body, failure.status or 200, failure.raw)


def refused_part(model: Model, request_body: Body, failure: AttemptFailed) -> RequestPart | None:
    """The part of a request that a failure names as refused; None where it names none."""
    if refused_forms(model, request_body, failure) is None:
        return None
    part = refusals.named_part(model, request_body, refusals.objection(failure.raw))
    return part.part if part else None


def _next(forms: Iterator[Model], body: Callable[[Model], Body], tried: set[str]) -> Model | None:
    return next((form for form in forms if _text(body(form)) not in tried), None)


def _text(body: Body) -> str:
    return json.dumps(body, sort_keys=True, ensure_ascii=False)


def exhausted(model: Model, failure: AttemptFailed, asks: int, code: Failure) -> AttemptFailed:
    """The failure of a handshake that found no form."""
    sentence = messages.forms_refused(
        model.base_url, model.name, failure.reason, _quotation(failure), asks=asks
    )
    return _refusal(failure, sentence, code)


def changed_mind(model: Model, failure: AttemptFailed) -> AttemptFailed:
    """The failure of a request that the endpoint refuses now and took before."""
    sentence = messages.refused_now(model.base_url, model.name, failure.reason, _quotation(failure))
    return _refusal(failure, sentence, Failure.FORM_REFUSED)


def _refusal(failure: AttemptFailed, sentence: str, code: Failure) -> AttemptFailed:
    return AttemptFailed(sentence, code=code, raw=failure.raw, reason=failure.reason, status=failure.status)


def _quotation(failure: AttemptFailed) -> str:
    return refusals.objection(failure.raw).text[:QUOTED_CHARACTERS].rstrip(".")


# ── What is known of an endpoint ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Handshake:
    """What is known of the endpoint of an entry: the settings that were settled on, and the shapes of
    requests that were answered with them. `extends` are the hashes of configurations with the same requests.
    """

    settings: Mapping[str, Any]
    shapes: tuple[Shape, ...] = ()
    extends: tuple[str, ...] = ()

    def covers(self, shape: Shape) -> bool:
        """Whether a request of this shape was answered before, or one that has more."""
        return any(_covers(shape, known_shape) for known_shape in self.shapes)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the store."""
        return {
            "settings": dict(self.settings),
            "shapes": [dict(shape) for shape in self.shapes],
            "extends": list(self.extends),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Handshake:
        """What `as_dict` gave. Raises KeyError or TypeError for anything else."""
        return cls(dict(values["settings"]), tuple(values["shapes"]), tuple(values["extends"]))


def settled_model(entry: Model, handshake: Handshake | None) -> Model:
    """An entry with what a handshake settled on."""
    if handshake is None or not handshake.settings:
        return entry
    update: dict[str, Any] = {}
    for name, value in handshake.settings.items():
        if isinstance(value, Mapping):
            update[name] = {**getattr(entry, name), **value}
        else:
            update[name] = tuple(map(Feature, value)) if name == "schema_without" else value
    return entry.changed(**update)


def differences(entry: Model, model: Model) -> dict[str, Any]:
    """The settings of models.toml by which a settled model differs from its entry; of tables what is new."""
    changed: dict[str, Any] = {}
    for name in SETTINGS:
        before = getattr(entry, name)
        now = getattr(model, name)
        if before == now:
            continue
        if isinstance(now, dict):
            changed[name] = {key: value for key, value in now.items() if before.get(key) != value}
        else:
            changed[name] = [feature.value for feature in now] if name == "schema_without" else now
    return changed


def shape(body: Body, schema: Mapping[str, Any] | None) -> Shape:
    """The shape of a request as an entry asks for it; `schema` is that of the reply, unweakened."""
    plain = {name: value for name, value in body.items() if isinstance(value, int | float | str | bool)}
    del plain["model"]
    if "seed" in plain:
        plain["seed"] = True
    has = sorted(features(schema)) if schema is not None else []
    return plain | {
        "system": any(message["role"] == "system" for message in body["messages"]),
        "format": schema is not None,
        "features": has,
    }


def _covers(part: Shape, container: Shape) -> bool:
    """Whether a request of one shape is a part of one of another."""
    for name, value in part.items():
        other_values = container.get(name)
        if name == "features":
            if not set(value) <= set(other_values or ()):
                return False
        elif name in LIMITS:
            if other_values is None or other_values < value:
                return False
        elif name in ("system", "format"):
            if value and not other_values:
                return False
        elif other_values != value:
            return False
    return True


def extended(entry: Model, before: Handshake | None, model: Model, asked_shape: Shape) -> Handshake:
    """What is known after a request of this shape was answered with the settings of `model`.

    Where they are others than before, shapes whose requests they change were not answered with them.
    """
    settings = differences(entry, model)
    if before is None:
        return Handshake(settings, (asked_shape,))
    was = settled_model(entry, before)
    new = differences(was, model)
    if not new:
        return replace(before, shapes=(*before.shapes, asked_shape))
    valid_shapes = tuple(old_shape for old_shape in before.shapes if not touches(was, model, old_shape))
    unchanged = len(valid_shapes) == len(before.shapes)
    extends = (*before.extends, was.configuration.hash) if unchanged else ()
    return Handshake(settings, (*valid_shapes, asked_shape), extends)


def touches(was: Model, now: Model, known_shape: Shape) -> bool:
    """Whether the request of a shape is another under the settings of `now` than under those of `was`."""
    params = _changed(was.params, now.params)
    if any(now.params.get(name, UNSET) != UNSET for name in params):
        return True  # a parameter is added, or has another value
    names = params | _changed(was.rename, now.rename) | ({"seed"} if was.seed != now.seed else set())
    renamed = {
        entry_name
        for entry_name in names
        if entry_name in known_shape or was.rename.get(entry_name) in known_shape
    }
    lowered = [
        name
        for name in _changed(was.at_most, now.at_most)
        if known_shape.get(name, 0) > now.at_most.get(name, 0)
    ]
    raised = [
        name
        for name in _changed(was.at_least, now.at_least)
        if known_shape.get(name, 0) < now.at_least.get(name, 0)
    ]
    features_changed = set(was.schema_without) ^ set(now.schema_without)
    return (
        bool(renamed or lowered or [name for name in raised if name in known_shape])
        or (was.system != now.system and bool(known_shape.get("system")))
        or (was.replies != now.replies and bool(known_shape.get("format")))
        or bool(
            features_changed
            & {*known_shape.get("features", ()), Feature.STRICT if known_shape.get("format") else ""}
        )
    )


def _changed(one: Mapping[str, Any], second: Mapping[str, Any]) -> set[str]:
    return {name for name in one.keys() | second.keys() if one.get(name) != second.get(name)}
