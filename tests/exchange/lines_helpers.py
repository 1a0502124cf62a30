"""Files of JSON Lines, and what a survey of them finds."""

import json

from concord.exchange import conversations_file
from concord.exchange.conversations_file import FileOptions


def lines(path, *rows):
    """Write rows as JSON Lines; returns the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def survey(path, **options):
    """The survey of a file in which nothing is wrong."""
    found = conversations_file.survey(path, FileOptions("b", **options))
    assert found.wrong == []
    return found
