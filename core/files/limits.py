"""What a file, a text and a prompt may hold at most. docs/formats.md lists these limits.

What exceeds one is refused in a sentence before it can exhaust memory or time. A limit is far above what any
real study needs.
"""

FILE_BYTES = 2**30
"""A file of records, one a line: CSV and JSON Lines. It is read line by line."""
DOCUMENT_BYTES = 32 * 2**20
"""A file that is one value: a JSON document, a text."""
RECORD = 16 * 2**20
"""One record: characters of a record of CSV, which may have many lines, bytes of a line of JSON Lines."""
IMAGE_BYTES = 4 * 2**20
"""An image in a message that is kept."""
IMAGES_OF_ONE = 16
"""Images of one conversation that are kept; the others are named."""
KEY_PARTS = 64
"""Parts of a dotted key in TOML: a.b.c has three."""
TOML_BYTES = 4 * 2**20
"""A TOML file: models.toml, prompts.toml, data."""
NESTING = 64
"""Lists and objects inside each other in JSON and TOML."""
COLUMNS = 1_000
"""Columns of a CSV file or a sheet of Excel."""
SHEET_CELLS = 2_000_000
"""Cells of all sheets of an Excel file; reading so many takes fifteen seconds."""
SHEET_BYTES = 2**28
"""All parts of an Excel file, unpacked; characters of its rows, as a text may stand in many cells."""
NAME = 500
"""Characters of a name: of a study, criterion, rater, model, item, conversation or column."""
WHOLE = 2**63
"""A whole number lies below this, and not below its negative: SQLite keeps 64 bits."""

FILE_NAME = 100
"""Characters of a file's name that is made of another name, without its ending."""
FILE_NAME_BYTES = 200
"""Bytes of the same; file systems allow 255 with the ending."""

SHOWN = 2_000
"""Characters of a line that commands print of an error."""

TEMPLATE = 100_000
"""Characters of a prompt's template."""
RENDERED = 4_000_000
"""Characters of a rendered prompt, and of what a filter or an operation makes on the way to it."""
RENDERING_SECONDS = 5.0
"""The time of one rendering, looked at in each pass of a loop and after each filter."""
