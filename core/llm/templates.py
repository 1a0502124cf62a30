"""Jinja templates of prompts, in Jinja's sandbox, within limits of time and length.

A template is its user's own file: what models and people said is data in it, and never a template itself. The
sandbox keeps it from files, from code and from changing what it is given. The limits end one that was written
by mistake: time is looked at in every pass of a loop, length after every filter, call, operation and part.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import lru_cache, wraps
from typing import Any

from jinja2 import StrictUndefined, Template, nodes
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.meta import find_referenced_templates, find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from concord.errors import not_found
from concord.files.limits import RENDERED, RENDERING_SECONDS, TEMPLATE, WHOLE

_end: ContextVar[float] = ContextVar("_end")
"""When the rendering under way has to be over."""


@lru_cache(256)
def compiled(text: str) -> Template:
    """A template. Raises TemplateError where it is not valid, or names another template."""
    if len(text) > TEMPLATE:
        raise SecurityError(f"it is longer than {TEMPLATE:,} characters")
    try:
        tree = _environment.parse(text)
        if any(True for _ in find_referenced_templates(tree)):
            raise TemplateSyntaxError("a template cannot include, import or extend another", 1)
        return _environment.from_string(_Limited().visit(tree))
    except (RecursionError, MemoryError, SyntaxError, ValueError) as error:
        raise TemplateSyntaxError("it is nested too deep, or holds too large a number", 1) from error


def mistake(text: str, variables: Sequence[str]) -> str:
    """What is wrong with a template that may use these variables, as a sentence; “” where nothing is."""
    try:
        compiled(text)
    except TemplateError as error:
        line = f" in line {error.lineno}" if isinstance(error, TemplateSyntaxError) else ""
        return f"the template is not valid{line}: {error.message}."
    variables_used = find_undeclared_variables(_environment.parse(text)) - _environment.globals.keys()
    unknown = sorted(variables_used - set(variables))
    return str(not_found("variable", unknown[0], variables)) if unknown else ""


def rendered(template: Template, values: Mapping[str, Any]) -> str:
    """A template filled with values. Raises TemplateError, also where a limit is exceeded."""
    token = _end.set(time.monotonic() + RENDERING_SECONDS)
    try:
        parts = []
        size = 0
        for part in template.generate(values):
            parts.append(part)
            size += len(part)
            if size > RENDERED:
                raise SecurityError(f"it writes more than {RENDERED:,} characters")
        return "".join(parts)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError) as error:
        raise TemplateError(str(error) or type(error).__name__) from error
    except (TypeError, ValueError) as error:
        raise TemplateError(str(error)) from error
    finally:
        _end.reset(token)


def _checked(value: Any) -> Any:
    """The value, where it is not too large and time is left. Raises SecurityError."""
    if time.monotonic() > _end.get():
        raise SecurityError(f"it takes longer than {RENDERING_SECONDS:g} seconds")
    if isinstance(value, str | list | tuple) and len(value) > RENDERED:
        raise SecurityError(f"it handles a value of more than {RENDERED:,} characters or parts")
    if isinstance(value, int) and abs(value) >= WHOLE:
        raise SecurityError("a number does not fit 64 bits")
    return value


def _passes(values: Iterable[Any]) -> Iterator[Any]:
    """What a loop goes through."""
    return map(_checked, values)


def _checking(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter whose value is checked."""

    @wraps(function)
    def checking(*arguments: Any, **options: Any) -> Any:
        return _checked(function(*arguments, **options))

    return checking


_safe: dict[tuple[type, str], bool] = {}


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "*", "%", "**"})

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """As Jinja says, which looks at the object's type and the name: it is asked once for both."""
        key = type(obj), attr
        if key not in _safe:
            _safe[key] = super().is_safe_attribute(obj, attr, value)
        return _safe[key]

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Texts and lists are added; numbers are counted with, but not raised to a power."""
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if operator == "**" or (operator != "+" and not numbers):
            raise SecurityError(f"{operator} can grow without bound")
        return _checked(super().call_binop(context, operator, left, right))


class _Limited(NodeTransformer):
    """Has checked what loops go through and what `~` makes."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja calls it by the node's name
        node = self.generic_visit(node)  # type: ignore[assignment]
        node.iter = _filtered(node.iter, "_passes")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        return _filtered(self.generic_visit(node), "_checked")


def _filtered(node: Any, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


_environment = _Environment(undefined=StrictUndefined, keep_trailing_newline=False, optimized=False)
_environment.filters = {
    name: _checking(filter_function) for name, filter_function in _environment.filters.items()
}
_environment.filters |= {"_checked": _checked, "_passes": _passes}
_environment.globals = {name: _environment.globals[name] for name in ("range", "namespace")}
