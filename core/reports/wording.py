"""Figures, p-values and lists of names within a sentence."""

from collections.abc import Iterable

from concord.estimate import Estimate


def small(p: float) -> str:
    """A p-value with its sign: “< .001”, “= .012”."""
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".")


def two(figure: Estimate) -> str:
    """A figure's value with two digits; “undefined” without one."""
    return f"{figure:z.2f}"


def interval_words(figure: Estimate, *, signed: bool = False) -> str:
    """The interval of a figure behind a space, “ (95% CI 0.10 to 0.30)”, with four digits where two are the
    same; why it has none, else.
    """
    if figure.interval is None:
        return f" ({figure.reason or 'no interval'})"
    low, high = (end(one, signed=signed) for one in figure.interval)
    if low == high:
        low, high = (f"{one:+z.4f}" if signed else f"{one:z.4f}" for one in figure.interval)
    return f" (95% CI {low} to {high})"


def end(value: float, *, signed: bool = False) -> str:
    """Two digits, or as many more, up to six, as show on which side of 0 it lies."""
    digits = next((d for d in range(2, 7) if round(value, d)), 2)
    return f"{value:+z.{digits}f}" if signed else f"{value:z.{digits}f}"


def listed(words: Iterable[str], last_word: str = "and") -> str:
    """“a, b and c”; “” of nothing."""
    *first, last = [*words] or [""]
    return f"{', '.join(first)} {last_word} {last}" if first else last


def capital(text: str) -> str:
    """Text with a first letter that begins a sentence, where it is a panel's; a judge's name stays as it
    is.
    """
    return f"The{text[3:]}" if text.startswith("the ") else text


def count_words(number: int, one: str, several: str = "") -> str:
    """“1 item”, “3 items”."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"
