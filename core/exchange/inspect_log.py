"""The samples of a log of Inspect, read by Inspect itself."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from concord.errors import ImportRefused
from concord.exchange.file_row import AROUND, FileRow

LARGEST_SAMPLE = 2**28
"""Bytes of a sample of an Inspect log, unpacked."""


def inspect_rows(path: Path) -> Iterator[FileRow]:
    """The samples of an Inspect log, read by Inspect itself, one after another."""
    try:
        from inspect_ai.log import read_eval_log, read_eval_log_samples
    except ImportError:
        raise ImportRefused(
            f"{path} is a log of Inspect. Install Concord with its extra “inspect”, or convert the log "
            "with `inspect log convert --to json`."
        ) from None
    try:
        with zipfile.ZipFile(path) as archive:
            for part in archive.infolist():
                if part.file_size > LARGEST_SAMPLE:
                    raise ImportRefused(f"{path}: {part.filename} takes {part.file_size:,} bytes unpacked.")
            samples = sum(part.filename.startswith("samples/") for part in archive.infolist())
        header = read_eval_log(str(path), header_only=True)
        if not samples:
            raise ImportRefused(f"{path}: the run of Inspect ({header.status}) has no samples. Run it again.")
        reason = header.error.message if header.error else ""
        around = {
            AROUND: {
                "status": header.status,
                "error": {"message": reason},
                "eval": {"model": header.eval.model, "task": header.eval.task},
            }
        }
        left_out = {"events", "store", "attachments"}
        listed = header.eval.dataset.sample_ids is not None  # older logs are not read sample by sample
        for number, sample in enumerate(
            read_eval_log_samples(str(path), all_samples_required=False, resolve_attachments=True)
            if listed
            else read_eval_log(str(path), resolve_attachments=True).samples or (),
            1,
        ):
            fields = json.loads(sample.model_dump_json(exclude=left_out))
            yield FileRow(f"{path}, sample {number}", {**fields, **around})
    except (OSError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile) as error:
        message = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise ImportRefused(
            f"{path} is not a log that Inspect can read: {message}. Copy or create the file again."
        ) from error
