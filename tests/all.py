"""Runs every test and says at the end, in one line, how they went: `make test`.

Those in a browser have processes of their own, because its driver keeps an event loop running. The others
wait for a third of their time: two cores have three processes of them. Options of pytest can be added.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from tests import warm

ROOT = Path(__file__).resolve().parents[1]
PARTS = (("-n", "3", "--ignore=tests/browser", "--ignore=tests/real"), ("-n", "2", "tests/browser"))
ROOM = 4 * 2**30
"""Bytes that the files of all tests need at most."""
PYTEST = (sys.executable, "-m", "pytest", "-q", "--dist", "loadfile", "--no-loadscope-reorder")


def main() -> int:
    """Run both parts, whatever the first says; 1 if a test failed, or pytest itself."""
    counted: Counter[str] = Counter()
    failed: list[str] = []
    broken = False
    began = time.monotonic()
    os.environ[warm.ADDRESS] = warm.nursery()
    with TemporaryDirectory(dir=memory()) as folder:
        for part in PARTS:
            report = Path(folder) / "report.xml"
            report.unlink(missing_ok=True)
            written = ("--junit-xml", report, "--basetemp", Path(folder) / "tests")
            broken |= bool(subprocess.call([*PYTEST, *written, *part, *sys.argv[1:]], cwd=ROOT))
            if report.exists():
                count(report, counted, failed)
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    sums = ", ".join(f"{number} {word}" for word, number in counted.items())
    print(f"\nAll tests: {sums or 'none ran'} in {minutes}:{seconds:02} minutes.", *failed, sep="\n")
    return int(broken)


def memory() -> str | None:
    """The folder of files in memory, where it has room: no commit of a test waits for a disk there."""
    folder = Path("/dev/shm")
    return str(folder) if folder.is_dir() and shutil.disk_usage(folder).free > ROOM else None


def count(report: Path, counted: Counter[str], failed: list[str]) -> None:
    """Add what a part's report in JUnit's form says."""
    for case in ElementTree.parse(report).iter("testcase"):
        ends = {child.tag for child in case}
        if ends & {"failure", "error"}:
            counted["failed"] += 1
            failed.append(f"  {case.get('classname')}::{case.get('name')}")
        else:
            counted["skipped" if "skipped" in ends else "passed"] += 1


if __name__ == "__main__":
    sys.exit(main())
