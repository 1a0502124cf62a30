"""What several tests take from `test_completions`: body."""

from __future__ import annotations

import json


def body(message, finish="stop", **more):
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], **more}).encode()
