"""An uploaded file as a path, for readers that take one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from streamlit.runtime.uploaded_file_manager import UploadedFile

from concord.errors import ConcordError


@contextmanager
def on_disk(file: UploadedFile) -> Iterator[Path]:
    """The file on the disk, as long as it is read; errors name it as the reader does, without its folder."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / Path(file.name).name
        path.write_bytes(file.getvalue())
        try:
            yield path
        except ConcordError as error:
            raise type(error)(str(error).replace(f"{folder}/", "")) from error
