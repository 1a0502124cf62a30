"""Runs every measurement that has an aim and prints one table: `make bench`, or `python -m bench [PART …]`.

A part is calls, tables, pages or a module. Values are kept in measured.json with the version.

Each measurement is a process of its own with its default options. A module that fails is named, and its aims
stay unmeasured; the exit code is then 1. An aim that is missed is no failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.aims import PARTS, RESULTS, keep, table

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run the parts or modules that are named, all without a name."""
    modules = [module for name in sys.argv[1:] or PARTS for module in PARTS.get(name, (name,))]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        results.touch()
        for module in modules:
            print(f"\n{module}", flush=True)
            environment = {**os.environ, RESULTS: str(results)}
            call = [sys.executable, "-m", f"bench.{module}"]
            if subprocess.run(call, cwd=ROOT, env=environment, check=False).returncode:
                failed.append(module)
        values = dict(json.loads(line) for line in results.read_text(encoding="utf-8").splitlines())
    print(f"\n{table(keep(values))}")
    if failed:
        print(f"\nNot measured, as they failed: {', '.join(failed)}.")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
