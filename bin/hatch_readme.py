"""A hook of Hatch: the README as an index shows it, with links and pictures that lead to the repository."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)]+)\)")


def with_addresses(text: str, repository: str) -> str:
    """Markdown whose relative links lead to a repository; its pictures are the files themselves."""

    def address(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({repository}/{kind}/main/{target})"

    return LINK.sub(address, text)


class ReadmeHook(MetadataHookInterface):
    """Sets the field `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md of the checkout."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        address = self.config.get("repository") or metadata["urls"]["Repository"]
        metadata["readme"] = {"content-type": "text/markdown", "text": with_addresses(text, address)}
