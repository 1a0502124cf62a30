"""The rows of CSV; a row of promptfoo's table has the replies of several models."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from concord.errors import ImportRefused
from concord.exchange.cells import by_column
from concord.exchange.file_row import FileRow
from concord.messages import equal_names
from concord.reading.delimited import form_of, named_records, renaming


def csv_rows(path: Path) -> Iterator[FileRow]:
    """The rows of a file of CSV. Raises ImportRefused for an empty one, and for two columns of one name."""
    numbered = named_records(path)
    number, header = next(numbered, (1, []))
    if not any(header):
        raise ImportRefused(f"{path} is empty. Its first line must name the columns.")
    columns = header
    outputs = [place for place, name in enumerate(columns) if _OUTPUT.fullmatch(name)]
    for name in filter(None, columns[: outputs[0]] if outputs else columns):
        if columns.count(name) > 1:
            command = renaming(path, form_of(path))
            raise ImportRefused(equal_names(f"{path}, line {number}", name, command))
    for number, cells in numbered:
        location = f"{path}, line {number}"
        try:
            if outputs and len(cells) == len(columns):
                variables = by_column(location, columns[: outputs[0]], cells[: outputs[0]])
                yield FileRow(
                    location, {**variables, OUTPUTS: list(_outputs(columns, cells, outputs, variables))}
                )
            else:
                yield FileRow(location, by_column(location, columns, cells))
        except ImportRefused as error:
            yield FileRow(location, None, str(error).removeprefix(location).lstrip(", "))


OUTPUTS = "promptfoo outputs"
"""The name under which a row of promptfoo's table has what its models replied."""
_OUTPUT = re.compile(r"\[([^\]]+)\] (.*)", re.S)
_REPLY = re.compile(
    r"\[(PASS|FAIL|ERROR)\] (?:\((-?[\d.]+)[^)\n]*\)\n\n)?(.*?)(?:\n\n(?:Pass|Fail) Reason: (.*))?", re.S
)
"""What a cell holds where the table has no columns for the score and its reasons."""


FILLED_PROMPT = "filled prompt"
"""The name under which a reply in it has its prompt, with the row's variables in the template."""
_VARIABLE = re.compile(r"\{\{-?\s*([\w.-]+?)\s*-?\}\}")


def _outputs(
    columns: list[str], cells: list[str], places: list[int], variables: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """The replies in a row of promptfoo's table: a column each, followed by what is said of it."""
    for place, end in zip(places, [*places[1:], len(cells)], strict=True):
        head = _OUTPUT.fullmatch(columns[place])
        text = cells[place]
        details = dict(zip(columns[place + 1 : end], cells[place + 1 : end], strict=True))
        if "Status" not in details and (parts := _REPLY.fullmatch(text)):
            text = parts[3]
            reason = parts[4] or details.get("Grader Reason", "")
            details |= {"Status": parts[1], "Score": parts[2] or "", "Grader Reason": reason}
        if head is not None and text:
            filled_prompt = _VARIABLE.sub(lambda variable: variables.get(variable[1], variable[0]), head[2])
            yield {
                "player": head[1],
                "prompt": head[2],
                FILLED_PROMPT: filled_prompt,
                "text": text,
                **details,
            }
