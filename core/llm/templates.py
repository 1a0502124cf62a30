"""Jinja templates that may come from anywhere: they read what they are given, in bounded memory and time.

The sandbox keeps them from everything else. What could grow without bound is either left out (macros,
includes, blocks that capture output, **, texts times numbers) or measured before it is done: every pass of a
loop, filter, call and operation is a step, and its operands are weighed.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import wraps
from inspect import isgenerator
from typing import Any

from jinja2 import StrictUndefined, Template, Undefined, nodes
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from concord.errors import not_found
from concord.files.limits import RENDERED, RENDERING_SECONDS, STEPS, TEMPLATE, WHOLE


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALLOWED = _words("""
    Template Output TemplateData If For Assign With
    Name NSRef Const Getattr Getitem Slice List Tuple Dict Pair Keyword CondExpr Compare Operand Test Filter
    Call And Or Not Add Sub Mul Div FloorDiv Mod Neg Pos Concat
""")
"""Nodes of Jinja's syntax tree that a template may have."""
FILTERS = _words("""
    abs capitalize count default dictsort first float indent int items join last length list lower map max min
    reject rejectattr replace reverse round select selectattr sort string title tojson trim truncate unique
    upper wordcount
""")
TESTS = _words("""
    boolean defined divisibleby even false float integer iterable mapping none number odd sequence string true
    undefined
""")
METHODS: Mapping[type, frozenset[str]] = {
    str: _words("""
        capitalize count endswith find isalpha isdigit islower isupper lower lstrip removeprefix removesuffix
        rstrip split splitlines startswith strip title upper
    """),
    Mapping: _words("get items keys values"),
    Sequence: _words("count index"),
}


class _Budget:
    """The steps and the time that a rendering has left."""

    def __init__(self) -> None:
        self.steps = STEPS
        self.end = time.monotonic() + RENDERING_SECONDS

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise SecurityError(f"it takes more than {STEPS:,} steps")
        if time.monotonic() > self.end:
            raise SecurityError(f"it takes longer than {RENDERING_SECONDS:g} seconds")


_budget: ContextVar[_Budget | None] = ContextVar("_budget", default=None)


def compiled(text: str) -> Template:
    """A template. Raises TemplateError where it is not valid or uses what a template may not."""
    if len(text) > TEMPLATE:
        raise SecurityError(f"it is longer than {TEMPLATE:,} characters")
    try:
        return _environment.from_string(_Weighed().visit(_environment.parse(text)))
    except (RecursionError, MemoryError, SyntaxError, ValueError) as error:
        raise TemplateSyntaxError("it is nested too deep, or holds too large a number", 1) from error


def uses(text: str, variable: str) -> bool:
    """Whether a valid template uses a variable."""
    return variable in find_undeclared_variables(_environment.parse(text))


def mistake(text: str, variables: Sequence[str]) -> str:
    """What is wrong with a template that may use these variables, as a sentence; “” where nothing is."""
    try:
        compiled(text)
    except TemplateError as error:
        line = f" in line {error.lineno}" if isinstance(error, TemplateSyntaxError) else ""
        return f"the template is not valid{line}: {error.message}."
    used = find_undeclared_variables(_environment.parse(text)) - _environment.globals.keys()
    unknown = sorted(used - set(variables))
    return str(not_found("variable", unknown[0], variables)) if unknown else ""


def rendered(template: Template, values: Mapping[str, Any]) -> str:
    """A template filled with values. Raises TemplateError, also where a limit is exceeded."""
    token = _budget.set(_Budget())
    try:
        parts, size = [], 0
        for part in template.generate(values):
            parts.append(part)
            size += len(part)
            if size > RENDERED:
                raise SecurityError(f"it writes more than {RENDERED:,} characters")
        return "".join(parts)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise TemplateError(str(error) or type(error).__name__) from error
    finally:
        _budget.reset(token)


def _spend(*operands: Any) -> None:
    """Count a step, and the weight of its operands. Raises SecurityError past a limit."""
    size = elements = 0
    heap = list(operands)
    while heap:
        each = heap.pop()
        elements += 1
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, Mapping):
            heap += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple | set | frozenset):
            heap += each
        if size > RENDERED or elements + len(heap) > STEPS:
            raise SecurityError(f"it handles a value of more than {RENDERED:,} characters or {STEPS:,} parts")
    if budget := _budget.get():
        budget.spend(1 + size // 10_000 + elements // 1_000)


def _weighed(value: Any) -> Any:
    """The value, counted; what a generator yields is counted as it is taken."""
    if type(value) is str and len(value) < 10_000:
        _spend()
        return value
    if not isgenerator(value):
        _spend(value)
        return value

    def counted() -> Iterator[Any]:
        for each in value:
            _spend(each)
            yield each

    return counted()


def _taken(values: Iterable[Any]) -> list[Any]:
    """All that a generator yields. Raises SecurityError where that is more than RENDERED characters."""
    taken, size = [], 0
    for each in values:
        _spend(each)
        taken.append(each)
        size += len(each) if isinstance(each, str) else 1
        if size > RENDERED:
            raise SecurityError(f"it handles a value of more than {RENDERED:,} characters")
    return taken


def _passes(values: Iterable[Any]) -> Iterator[Any]:
    """What a loop goes through; each pass is a step."""
    for each in values:
        _spend()
        yield each


def _grown(name: str, value: Any, args: Sequence[Any], options: Mapping[str, Any]) -> int:
    """How many characters a filter would write that can write far more than it is given."""
    if name == "join":
        between = len(str(args[0] if args else options.get("d", "")))
        return sum(len(each) if isinstance(each, str) else 1 for each in value) + between * len(value)
    if name == "replace":
        old, new = (str(each) for each in [*args, *options.values()][:2])
        return len(str(value)) + str(value).count(old) * len(new)
    width = args[0] if args else options.get("width", 4)
    return (str(value).count("\n") + 1) * (width if isinstance(width, int) else len(str(width)))


def _limited(name: str, of: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that weighs what it is given and what it returns."""
    # Jinja passes some filters its context before the value.
    first = 1 if hasattr(of, "jinja_pass_arg") else 0

    @wraps(of)
    def limited(*given: Any, **options: Any) -> Any:
        passed, value, args = given[:first], given[first], given[first + 1 :]
        if isgenerator(value) or isinstance(value, range):
            value = _taken(value)
        _spend(value, *args, *options.values())
        if name in ("join", "replace", "indent") and _grown(name, value, args, options) > RENDERED:
            raise SecurityError(f"{name} writes more than {RENDERED:,} characters")
        return _weighed(of(*passed, value, *args, **options))

    return limited


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Numbers are counted with, texts and lists are added."""
        _spend(left, right)
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if operator != "+" and not numbers:
            raise SecurityError(f"{operator} is for numbers only")
        result = super().call_binop(context, operator, left, right)
        if isinstance(result, int) and abs(result) >= WHOLE:
            raise SecurityError("a number does not fit 64 bits")
        _spend(result)
        return result

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Only METHODS, `range`, `namespace` and what a loop offers can be called."""
        owner, name = getattr(__obj, "__self__", None), getattr(__obj, "__name__", "")
        known = any(isinstance(owner, kind) and name in names for kind, names in METHODS.items())
        known = known or isinstance(owner, LoopContext) or __obj in __self.globals.values()
        if not known and not isinstance(__obj, Undefined):
            raise SecurityError(f"a template cannot call {name or type(__obj).__name__}")
        _spend(owner, *args, *kwargs.values())
        return _weighed(super().call(__context, __obj, *args, **kwargs))


class _Weighed(NodeTransformer):
    """Refuses what a template may not use, and has operands that Jinja does not pass on weighed."""

    def generic_visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> nodes.Node:
        """Check a node, then its children."""
        kind = type(node).__name__
        if kind not in ALLOWED:
            raise TemplateSyntaxError(f"a template cannot use “{kind.lower()}”", node.lineno)
        for named, known in ((nodes.Filter, FILTERS), (nodes.Test, TESTS)):
            if isinstance(node, named) and node.name not in known:
                raise TemplateSyntaxError(f"a template has no {kind.lower()} “{node.name}”", node.lineno)
        node = super().generic_visit(node, *args, **kwargs)
        if isinstance(node, nodes.Compare | nodes.Operand):
            node.expr = _filtered(node.expr, "_weighed")
        elif isinstance(node, nodes.For):
            if node.recursive:
                raise TemplateSyntaxError("a loop cannot be recursive", node.lineno)
            node.iter = _filtered(node.iter, "_passes")
        elif isinstance(node, nodes.Concat):
            return _filtered(nodes.List([_filtered(each, "string") for each in node.nodes]), "join")
        return node


def _filtered(node: Any, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


_environment = _Environment(
    undefined=StrictUndefined, keep_trailing_newline=False, optimized=False, finalize=_weighed
)
_environment.filters = {
    **{name: _limited(name, of) for name, of in _environment.filters.items() if name in FILTERS},
    "_weighed": _weighed,
    "_passes": _passes,
}
_environment.tests = {name: of for name, of in _environment.tests.items() if name in TESTS}
_environment.globals = {name: _environment.globals[name] for name in ("range", "namespace")}
