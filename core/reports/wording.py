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
    low, high = [end(value, signed=signed) for value in figure.interval]
    if low == high:
        low, high = [_digits(value, 4, signed) for value in figure.interval]
    return f" (95% CI {low} to {high})"


def end(value: float, *, signed: bool = False) -> str:
    """Two digits, or as many more, up to six, as show on which side of 0 it lies."""
    for digits in range(2, 7):
        if round(value, digits):
            return _digits(value, digits, signed)
    return _digits(value, 2, signed)


def _digits(value: float, digits: int, signed: bool) -> str:
    sign = "+" if signed else ""
    return f"{value:{sign}z.{digits}f}"


def listed(words: Iterable[str], last_word: str = "and") -> str:
    """“a, b and c”; “” of nothing."""
    *first, last = list(words) or [""]
    if not first:
        return last
    return f"{', '.join(first)} {last_word} {last}"


def capital(text: str) -> str:
    """Text with a first letter that begins a sentence, where it is a panel's; a judge's name stays as it
    is.
    """
    if text.startswith("the "):
        return f"The{text[3:]}"
    return text


def count_words(number: int, singular: str, plural: str = "") -> str:
    """“1 item”, “3 items”."""
    if number == 1:
        return f"1 {singular}"
    return f"{number:,} {plural or f'{singular}s'}"
