"""Call a function of the user's own as a judge: `python -m concord.runs.function module:callable FOLDER…`.

It reads a JSON object from standard input, and prints what the function returns as one. What the function
itself prints goes to standard error.
"""

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

from concord.files.callables import bring


def main(named: str, *folders: str) -> None:
    """Call the function with the object on standard input, and print what it returns."""
    with redirect_stdout(sys.stderr):
        reply = bring(named, "judge", [Path(folder) for folder in folders])(json.load(sys.stdin))
    sys.stdout.write(json.dumps(reply, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
