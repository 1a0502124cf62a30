"""Images in messages: copied from data URLs and from files beside the one imported; no network is asked."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from concord.conversation import IMAGES, Conversation, Message
from concord.exchange.entries import Entry
from concord.files.limits import IMAGE_BYTES, IMAGES_OF_ONE

_BEGINS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}
"""How files of the known types begin; the ending names the type."""


def copied(entry: Entry, folder: Path) -> Entry:
    """What a row holds with the images of its messages, and why others are only named in the text.

    Paths lead from the folder of the imported file and do not leave it.
    """
    if not any(IMAGES in message.meta for c in entry.conversations for message in c.messages):
        return entry
    bodies = dict[str, bytes]()
    missing_images = list[str]()
    conversations = (
        replace(c, messages=tuple(_copied(c, folder, bodies, missing_images))) for c in entry.conversations
    )
    return replace(entry, conversations=tuple(conversations), images=bodies, missing_images=missing_images)


def _copied(
    conversation: Conversation, folder: Path, bodies: dict[str, bytes], missing_images: list[str]
) -> Iterator[Message]:
    count = 0
    for message in conversation.messages:
        meta = dict(message.meta)
        names = dict[str, str]()
        sources = meta.pop(IMAGES, None)
        for text, source in sources.items() if isinstance(sources, Mapping) else ():
            try:
                if count == IMAGES_OF_ONE:
                    raise ValueError(f"only {IMAGES_OF_ONE} of a conversation are kept")
                body = _body(str(source), folder)
                names[str(text)] = f"{sha256(body).hexdigest()}.{_type(body)}"
                bodies[names[str(text)]] = body
                count += 1
            except (ValueError, OSError) as error:
                missing_images.append(f"{text}: {error.strerror if isinstance(error, OSError) else error}")
        yield message if sources is None else replace(message, meta=meta | ({IMAGES: names} if names else {}))


def _body(source: str, folder: Path) -> bytes:
    """The bytes of an image. Raises ValueError and OSError."""
    if source.startswith("data:"):
        head, _, text = source.partition(",")
        if not head.endswith(";base64"):
            raise ValueError("it is not written in Base64")
        if len(text) > IMAGE_BYTES * 4 // 3 + 4:
            raise ValueError(f"it is larger than {IMAGE_BYTES:,} bytes")
        try:
            return base64.b64decode(text, validate=True)
        except binascii.Error:
            raise ValueError("it is not written in Base64") from None
    if "://" in source:
        raise ValueError("it is a remote address, and Concord fetches nothing")
    path = (folder / source).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError("it is outside the folder of the file")
    if path.stat().st_size > IMAGE_BYTES:
        raise ValueError(f"it is larger than {IMAGE_BYTES:,} bytes")
    return path.read_bytes()


def _type(body: bytes) -> str:
    """The type of an image by how it begins. Raises ValueError for any other file."""
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "webp"
    kind = next((kind for begin, kind in _BEGINS.items() if body.startswith(begin)), "")
    if not kind:
        raise ValueError("it is not a PNG, JPEG, WebP or GIF file")
    return kind
