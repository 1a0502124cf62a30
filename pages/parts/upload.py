"""A file that was dropped on a page, on the disk as long as somebody looks at it."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from concord.errors import ConcordError
from concord.files import file_name

LARGEST = 256
"""Megabytes of a file that is read by page: it is kept in memory."""
TABLES = ["csv", "tsv", "xlsx", "parquet", "json", "jsonl"]
"""Endings of files that hold a table of labels."""


@dataclass(frozen=True)
class Upload:
    """A file that was dropped, on the disk as long as somebody looks at it."""

    folder: tempfile.TemporaryDirectory[str]
    path: Path

    def sentence(self, error: ConcordError) -> str:
        """An error with the file's name instead of its place on this machine."""
        return str(error).replace(f"{self.folder.name}/", "")


@st.cache_resource(max_entries=8, show_spinner=False)
def upload_of(number: str, _file: UploadedFile) -> Upload:
    """The file of an uploader, by its number."""
    folder = tempfile.TemporaryDirectory()
    stem, dot, ending = _file.name.rpartition(".")
    path = Path(folder.name) / (file_name(stem or ending) + (f".{ending}" if dot else ""))
    path.write_bytes(_file.getvalue())
    return Upload(folder, path)


def table_dropped(label: str, key: str) -> tuple[str, Upload] | None:
    """A table that was dropped on an uploader, and its number; None without one."""
    file = st.file_uploader(label, type=TABLES, max_upload_size=LARGEST, key=key)
    return (file.file_id, upload_of(file.file_id, file)) if file else None
