"""Which credentials are found, and that their values stay where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from winnow.adapters.claude.credentials import Credentials, find

pytestmark = pytest.mark.skipif("sys.platform == 'darwin'", reason="a Mac has a real keychain")


@pytest.mark.parametrize(
    ("variable", "kind"),
    [
        ("ANTHROPIC_API_KEY", "API key"),
        ("ANTHROPIC_AUTH_TOKEN", "auth token"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "subscription token"),
        ("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"),
        ("CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"),
        ("CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"),
        ("CLAUDE_CODE_USE_ANTHROPIC_AWS", "Claude Platform on AWS"),
        ("CLAUDE_CODE_USE_MANTLE", "Amazon Bedrock (Mantle)"),
    ],
)
def test_a_variable_is_named_without_its_value(variable: str, kind: str, tmp_path: Path) -> None:
    """The user learns which variable counts."""
    assert find({variable: "sk-secret"}, tmp_path) == Credentials(kind, variable)


def test_nothing_is_found_on_a_fresh_machine(tmp_path: Path) -> None:
    """Switches that are off and empty variables are no credentials."""
    off = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_USE_BEDROCK": "0"}
    assert find(off, tmp_path) is None


def test_the_login_of_claude_code_is_found(tmp_path: Path) -> None:
    """Its file lies in the home folder."""
    login = tmp_path / ".claude" / ".credentials.json"
    login.parent.mkdir()
    login.write_text('{"claudeAiOauth": {"accessToken": "secret"}}')
    assert find({}, tmp_path) == Credentials("subscription login", str(login))


def test_the_config_dir_replaces_the_home_folder(tmp_path: Path) -> None:
    """With CLAUDE_CONFIG_DIR, ~/.claude does not count."""
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / ".credentials.json").write_text('{"claudeAiOauth": {}}')
    elsewhere = tmp_path / "elsewhere"
    assert find({"CLAUDE_CONFIG_DIR": str(elsewhere)}, tmp_path) is None
    elsewhere.mkdir()
    settings = elsewhere / "settings.json"
    settings.write_text('{"apiKeyHelper": "/bin/secret"}')
    found = find({"CLAUDE_CONFIG_DIR": str(elsewhere)}, tmp_path)
    assert found == Credentials("API key helper", str(settings))


def test_the_user_s_settings_add_variables(tmp_path: Path) -> None:
    """They count more than the environment, as in Claude Code; also to switch something off."""
    (tmp_path / "settings.json").write_text(
        '{"env": {"ANTHROPIC_AUTH_TOKEN": "sk-secret", "CLAUDE_CODE_USE_BEDROCK": 0}}'
    )
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path), "CLAUDE_CODE_USE_BEDROCK": "1"}
    assert find(env, tmp_path) == Credentials("auth token", "ANTHROPIC_AUTH_TOKEN")


@pytest.mark.parametrize("text", ["{", "[]", '{"env": 5}', '{"env": {"ANTHROPIC_API_KEY": null}}'])
def test_broken_settings_are_no_credentials(text: str, tmp_path: Path) -> None:
    """They are skipped, too."""
    (tmp_path / "settings.json").write_text(text)
    assert find({"CLAUDE_CONFIG_DIR": str(tmp_path)}, tmp_path) is None


@pytest.mark.parametrize("text", ["{", "[]", "null", "{}"])
def test_a_broken_file_is_no_login(text: str, tmp_path: Path) -> None:
    """It is skipped, not raised."""
    (tmp_path / ".credentials.json").write_text(text)
    assert find({"CLAUDE_CONFIG_DIR": str(tmp_path)}, tmp_path) is None
