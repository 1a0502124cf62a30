"""Every reader answers every hostile file: read, or refused in a sentence, in bounded memory and time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.reading import CASES, MEMORY, NAMED, SECONDS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of each case, by file and reader."""
    folder = tmp_path_factory.mktemp("hostile")
    told = subprocess.run(
        [sys.executable, "-m", "tests.security.reading", str(folder)],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    cases = [json.loads(line) for line in told.stdout.splitlines()]
    return {(case["file"], case["reader"]): case for case in cases}


@pytest.mark.parametrize("reader", NAMED)
def test_each_hostile_file_is_read_or_refused(outcomes, reader):
    mine = {what: outcomes[what, name] for what, name in CASES if name == reader}
    wrong = {what: case for what, case in mine.items() if case["became"] not in ("read", "refused")}
    assert not wrong, json.dumps(wrong, indent=1)
    assert all(case["why"].strip() for case in mine.values() if case["became"] == "refused")
    assert max(case["seconds"] for case in mine.values()) < SECONDS
    assert max(case["megabytes"] for case in mine.values()) * 2**20 < MEMORY


def test_the_ceilings_hold(tmp_path):
    """A reader that takes too much fails its case."""
    code = (
        "import json, sys; from pathlib import Path; from tests.security import reading as r; "
        "r.SECONDS = 2; "
        "read = {b'memory': lambda: bytearray(3 * 2**30), b'endless': lambda: [None for _ in iter(int, 1)]}; "
        "folder = Path(sys.argv[1]); (folder / 'template').mkdir(); "
        "told = r.forked(lambda f, w: read[f.read_bytes()](), [*read], folder, folder / 'template'); "
        "print(*(outcome['became'] for outcome in told))"
    )
    told = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert told.stdout.split() in (["failed", "died"], ["failed", "failed"]), told.stderr
