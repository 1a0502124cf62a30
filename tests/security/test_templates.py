"""A template reaches nothing outside it, and one that was written by mistake ends: by length, or by time.

Whoever wants to take all memory can: a template is its user's own file. SECURITY.md says so.
"""

import time
import tracemalloc

import pytest
from jinja2 import TemplateError

from concord.files.limits import RENDERED, RENDERING_SECONDS, TEMPLATE
from concord.llm import templates
from concord.llm.templates import compiled, mistake, rendered

LONG = "x" * 100_000
VALUES = {"text": LONG, "names": ["a", "b"], "many": list(range(1000)), "said": [("Bo", "Hi"), ("Al", "Ho")]}


def doubled(how: str, begin: str = "'lol'") -> str:
    """A text that is twice itself, sixty times over; `how` says it of A."""
    return f"{{% set a0 = {begin} %}}" + "".join(
        f"{{% set a{n + 1} = {how.replace('A', f'a{n}')} %}}" for n in range(60)
    )


HOSTILE = {
    "a loop in a loop": "{% for a in many %}{% for b in many %}{% for c in many %}" + "{% endfor %}" * 3,
    "ranges in ranges": "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    "a range too long": "{% for a in range(10**12) %}{% endfor %}",
    "a long range": "{{ range(1000000000) | join }}",
    "texts times numbers": "{{ 'x' * 10000000000 }}",
    "numbers times texts": "{{ 10000000000 * text }}",
    "a power": "{{ 9 ** 9 ** 9 }}",
    "squares": "{% set a = 99999 %}" + "{% set a = a * a %}" * 60,
    "billion laughs, joined": doubled("A ~ A"),
    "billion laughs, added": doubled("A + A"),
    "billion laughs of lists": doubled("A + A", "['lol']"),
    "lists of lists in a namespace": "{% set n = namespace(a=[1]) %}{% for b in many %}"
    "{% set n.a = [n.a, n.a] %}{% endfor %}{{ n.a }}",
    "texts in a namespace": "{% set n = namespace(a='lol') %}{% for b in many %}"
    "{% set n.a = n.a ~ n.a %}{% endfor %}",
    "a macro that calls itself": "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
    "a recursive loop": "{% for a in [[1]] recursive %}{{ loop(a) }}{% endfor %}",
    "an include": "{% include '/etc/passwd' %}",
    "an import": "{% import 'x' as x %}",
    "an extends": "{% extends 'x' %}",
    "a width": "{{ '%9999999999d' % 1 }}",
    "JSON of JSON": "{{ ('\\\\' * 1)" + " | tojson" * 60 + " }}",
    "quotes in quotes": "{{ text" + " | tojson | string | replace('x', '\\\\\\\\')" * 30 + " }}",
    "texts in a loop": "{% for a in many %}{{ text }}{% endfor %}",
    "lengths in a loop": "{% for a in range(99999) %}{{ text | upper | length }}{% endfor %}",
    "long numbers": "{{ " + "9" * 10_000 + " }}",
    "long numbers of text": "{{ ('9' | replace('9', text)) | int * 2 ** 3 }}",
    "brackets": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
    "lists": "{{ " + "[" * 20_000 + "]" * 20_000 + " }}",
    "signs": "{{ " + "-" * 50_000 + "1 }}",
    "nested ifs": "{% if 1 %}" * 3_000 + "{% endif %}" * 3_000,
    "nested loops": "{% for a in names %}" * 60 + "{% endfor %}" * 60,
    "filters": "{{ text" + " | upper" * 9_000 + " }}",
    "a long template": "x" * (TEMPLATE + 1),
    "a class": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "a generator's frame": "{{ (names | map('upper')).gi_frame.f_builtins }}",
    "an attribute by filter": "{{ names | map(attribute='__class__') | first }}",
    "a call by filter": "{{ ''.join.__self__ }}{{ names.append('c') }}",
    "globals": "{{ cycler.__init__.__globals__ }}",
    "a division by zero": "{{ 1 // 0 }}",
    "an index that is none": "{{ names.index('z') }}",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_template_is_refused_in_bounded_memory_and_time(text, monkeypatch):
    monkeypatch.setattr(templates, "RENDERING_SECONDS", 1.0)
    tracemalloc.start()
    begun = time.thread_time()
    try:
        with pytest.raises(TemplateError):
            rendered(compiled(text), VALUES)
    finally:
        spent, (_, peak) = time.thread_time() - begun, tracemalloc.get_traced_memory()
        tracemalloc.stop()
    # Measuring memory makes a rendering many times slower; its own limit is of real time.
    assert spent < 10 * RENDERING_SECONDS
    assert peak < 30 * RENDERED


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{% for a in many %}{{ text }}{% endfor %}", f"writes more than {RENDERED:,} characters"),
        ("{% for a in names %}{{ a.b() }}{% endfor %}", "has no attribute 'b'"),
        ("{% include 'a' %}", "cannot include, import or extend another"),
        ("{{ 'a' * 3 }}", r"\* can grow without bound"),
        ("{{ a | centred }}", "No filter named 'centred'"),
    ],
)
def test_a_refusal_says_why(text, says):
    with pytest.raises(TemplateError, match=says):
        rendered(compiled(text), VALUES)


def test_time_is_limited(monkeypatch):
    moments = iter([0.0, 1.0, RENDERING_SECONDS + 1])
    monkeypatch.setattr(time, "monotonic", lambda: next(moments))
    with pytest.raises(TemplateError, match="longer than 5 seconds"):
        rendered(compiled("{% for a in many %}{{ a }}{% endfor %}"), VALUES)


USUAL = {
    "a loop": "{% for who, text in said %}{{ loop.index }} {{ who }}: {{ text }}{{ loop.last }}{% endfor %}",
    "a loop over nothing": "{% for a in [] %}x{% else %}none{% endfor %}",
    "loop.length": "{% for a in names %}{{ loop.length }}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "a loop with a condition": "{% for a in many if a > 997 %}{{ a }}{% endfor %}",
    "a dictionary": "{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% endfor %}{{ {'a': 1}.get('b', 2) }}",
    "filters": "{{ names | join(', ') | upper }} {{ text | length }} {{ said | map('first') | join(' ') }}",
    "more filters": "{{ 'a\nb' | indent(2) }} {{ names | tojson }} {{ 3.14159 | round(2) }}",
    "select": "{{ many | select('even') | list | length }} {{ said | map(attribute=1) | join('/') }}",
    "arithmetic": "{{ 1 + 2 * 3 - 4 // 2 }} {{ 7 % 4 }} {{ names | length / 4 }} {{ names + ['c'] }}",
    "concatenation": "{{ names[0] ~ 1 ~ none ~ 'x' }}",
    "comparison": "{{ 'a' in names }} {{ 1 < 2 <= 2 }} {{ names == ['a', 'b'] }} {{ x is defined }}",
    "set and with": "{% set a = 'x' %}{% with b = a ~ 'y' %}{{ b }}{% endwith %}{{ 'p' if a else 'q' }}",
    "methods": "{{ ' a '.strip() }} {{ 'a-b'.split('-')[1] }} {{ text.startswith('x') }}",
    "namespace": "{% set n = namespace(a=1) %}{% for b in names %}{% set n.a = 2 %}{% endfor %}{{ n.a }}",
    "white space": "a\n{%- for n in names %}\n- {{ n }}\n{%- endfor %}\n  {#- c -#}\n  b\n",
}


@pytest.mark.parametrize("text", USUAL.values(), ids=USUAL)
def test_what_a_template_may_use_is_what_jinja_makes_of_it(text):
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    assert rendered(compiled(text), VALUES) == ImmutableSandboxedEnvironment().from_string(text).render(
        VALUES
    )


def test_constants_are_not_computed_while_compiling():
    begun = time.thread_time()
    compiled("{{ ('x' | replace('x', 'xxxxxxxxxx'))" + " | replace('x', 'xxxxxxxxxx')" * 30 + " }}")
    assert time.thread_time() - begun < 5


def test_a_template_that_names_another_is_a_mistake_before_it_is_filled():
    said = mistake("{% include '/etc/passwd' %}", ["text"])
    assert said == "the template is not valid in line 1: a template cannot include, import or extend another."
