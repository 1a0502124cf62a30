"""Images of conversations in the store: each once, under a name that is its hash."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace

from sqlite_utils import Database

from concord.conversation import IMAGES, Conversation, Message
from concord.store import conversations


def save(db: Database, images: Mapping[str, bytes]) -> None:
    """Keep images by name; one that is there stays."""
    db.conn.executemany("INSERT OR IGNORE INTO images (name, body) VALUES (?, ?)", images.items())


def load(db: Database, conversation_id: int) -> Conversation:
    """A stored conversation as it is shown and sent. Raises NotFound."""
    return shown(db, conversations.load(db, conversation_id))


def shown(db: Database, conversation: Conversation) -> Conversation:
    """A conversation as it is shown and sent: its images as data URLs."""
    names = [name for message in conversation.messages for name in message.images.values()]
    if not names:
        return conversation
    sql = "SELECT name, body FROM images WHERE name IN (SELECT value FROM json_each(?))"
    return with_images(conversation, dict(db.execute(sql, [json.dumps(names)])))


def with_images(conversation: Conversation, bodies: Mapping[str, bytes]) -> Conversation:
    """A conversation with its images as data URLs, as far as they are there."""
    messages: list[Message] = []
    for message in conversation.messages:
        if message.images:
            urls: dict[str, str] = {}
            for token, name in message.images.items():
                if name in bodies:
                    urls[token] = _data_url(name, bodies[name])
            message = replace(message, meta={**message.meta, IMAGES: urls})
        messages.append(message)
    return replace(conversation, messages=tuple(messages))


def _data_url(name: str, body: bytes) -> str:
    image_type = name.rpartition(".")[2]
    return f"data:image/{image_type};base64,{b64encode(body).decode()}"
