"""No secret of this machine in what is written down or said of it."""

from __future__ import annotations

import os

from winnow.core.text import secrets

_SHORTEST = 8  # characters; less may be a word of the text


def hidden(text: str) -> str:
    """A text without what looks like a secret, or is one in our environment."""
    known = (value for name, value in os.environ.items() if secrets.is_one(name, value))
    return secrets.hidden(text, [value for value in known if len(value) >= _SHORTEST])
