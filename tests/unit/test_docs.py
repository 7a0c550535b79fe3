"""What the documents name is there."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_every_promise_has_its_test() -> None:
    """A test that was renamed is named anew in SECURITY.md."""
    text = (REPOSITORY / "SECURITY.md").read_text()
    files = sorted((REPOSITORY / "tests").rglob("test_*.py"))
    defined = set(re.findall(r"def (test_\w+)\(", "".join(file.read_text() for file in files)))
    named = re.findall(r"`(test_\w+)`", text)
    assert len(named) > 30
    assert not set(named) - defined
    paths = re.findall(r"`(tests/\S+\.py)`", text)
    assert not [path for path in paths if not (REPOSITORY / path).exists()]


def test_every_threat_has_a_test() -> None:
    """One line for each: what could happen, what stops it in a sentence, and who tries it."""
    text = (REPOSITORY / "SECURITY.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    threats = [row for row in rows if not row.startswith(("| what", "| ---"))]
    assert len(threats) > 40
    for row in threats:
        _, what, promise, tests, _ = row.split("|")
        assert what.strip()
        assert promise.strip()
        assert "`test" in tests or "`make soak`" in tests, row
