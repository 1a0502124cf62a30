"""A hook of Hatch: an editable installation finds the package by a link, which some checkouts lack."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NO_LINK = (
    "This checkout has no symbolic links, as after unpacking a ZIP: `concord` must be a link to the "
    "folder `core`. Run `rm concord && ln -s core concord` (with Git: `git config core.symlinks true && git "
    "checkout -- concord`), and install again."
)


class CheckoutHook(BuildHookInterface):  # type: ignore[type-arg]
    """Refuses an editable installation that could not be imported."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Look at the link before anything is built."""
        if version == "editable" and not (Path(self.root) / "concord" / "__init__.py").is_file():
            sys.exit(NO_LINK)
