"""What is a secret in a text that others may see: keys, tokens, passwords.

In its place stands a digest, by which one can tell that it is another one now, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

_WORDS = "token|secret|passw|passphrase|credential|authorization"
_NAME = rf"[\w.-]{{0,40}}(?:api.?key|{_WORDS})[\w.-]{{0,40}}"
_NAMED = re.compile(rf"(?i){_WORDS}|auth|pwd|(?:^|_)pw(?:_|$)|(?:^|[a-z_-])key$")
# No command, path or address: that they are looked at matters more.
_VALUE = re.compile(r"(?![~./]|https?:)[\w.+/=:-]{4,}")
_KNOWN = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}-----)?"
    r"|\b(?:sk|pk|rk)-[\w-]{16,}"
    r"|\b(?:gh[oprsu]|github_pat|glpat|npm|hf|xox[a-z])[_-][\w-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{30,}"
    r"|\beyJ(?:(?!-eyJ)[\w-]){8,}\.[\w-]{8,}\.[\w-]*"  # each begins once: no word is read twice
)
_SAID = re.compile(  # by what stands before it
    rf"""(?ix) ( \bbearer\s{{1,3}} | --{_NAME}\s
    | \b{_NAME}["']?\s{{0,3}}[:=]\s{{0,3}}(?:bearer\s{{1,3}}|basic\s{{1,3}})?["']? )
    ( (?!(?:\d+|bearer|basic)\b) [^\s"',;‹]{{6,}} )"""
)
_IN_ADDRESS = re.compile(r"(://[^\s/:@]{0,80}:)([^\s/@]{1,200})(?=@)")


def hidden(text: str, known: Iterable[str] = ()) -> str:
    """A text without the secrets in it; ``known``: some that could not be told by their looks."""
    for secret in known:
        text = text.replace(secret, digest(secret))
    text = _KNOWN.sub(lambda found: digest(found[0]), text)
    for pattern in (_IN_ADDRESS, _SAID):
        text = pattern.sub(lambda found: found[1] + digest(found[2]), text)
    return text


def value(name: str, text: str) -> str:
    """The value of a variable or a header of this name."""
    return digest(text) if is_one(name, text) else text


def is_one(name: str, text: str) -> bool:
    """Whether the value of this name is a secret."""
    return bool(_NAMED.search(name) and _VALUE.fullmatch(text))


def digest(secret: str) -> str:
    """What stands in the place of one."""
    if secret.startswith("‹secret "):
        return secret
    return f"‹secret {sha256(secret.encode(errors='replace')).hexdigest()[:12]}›"
