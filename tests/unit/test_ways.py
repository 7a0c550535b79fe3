"""Which way a call asks, and what is different about it."""

from __future__ import annotations

from typing import Any

import pytest
from winnow.core.agent import Request
from winnow.core.asking import choices, merging, question_tool, trust, ways
from winnow.core.asking.way import FileError
from winnow.core.proposal.merge import FileChange
from winnow.core.section.form import Form

QUESTIONS: dict[str, Any] = {"questions": [{"question": "Q?", "options": ["A", "B"]}]}
CHOICE = choices.read('{"type": "user_choice", "question": "Q?", "options": ["A", "B"]}')
TRUST = trust.asked("shop", ["a hook"])
MERGE = merging.asked("t1", "Cart", (FileChange("a", "a\n", "b\n"),), ())


def locked(path: str) -> str | None:
    raise FileError(f"{path} can't be read.")


assert isinstance(CHOICE, choices.Choice)
IN_TEXT = choices.asked(CHOICE)


@pytest.mark.parametrize(
    ("tool", "input", "way", "kind"),
    [
        ("AskUserQuestion", QUESTIONS, "AskUserQuestion", "question"),
        (question_tool.TOOL, {"questions": [{"prompt": "Q?"}]}, "QuestionTool", "question"),
        (IN_TEXT.tool, IN_TEXT.input, "ChoicesInText", "question"),
        (TRUST.tool, TRUST.input, "ProjectTrust", "trust"),
        (MERGE.tool, MERGE.input, "Merging", "patch"),
        ("ExitPlanMode", {"plan": "1. a"}, "PlanApproval", "plan"),
        ("ExitPlanMode", {"plan": " "}, "Permission", "permission"),
        ("ExitPlanMode", {}, "Permission", "permission"),
        ("Write", {"file_path": "/f", "content": "a"}, "Permission", "patch"),
        ("Bash", {"command": "ls"}, "Permission", "permission"),
    ],
)
def test_a_call_asks_one_way(tool: str, input: dict[str, Any], way: str, kind: str) -> None:
    found = ways.of(tool, input)
    form = found.read("ab", Request(tool, input, agent_id="a1"), lambda _: None)
    assert type(found).__name__ == way
    assert isinstance(form, Form)
    assert form.kind == kind
    assert form.refusal == (0 if kind == "question" else len(form.questions[0].options))


def test_a_file_that_can_not_be_read_is_written_unseen() -> None:
    """The section says so, and shows the arguments."""
    form = ways.of("Write", {}).read(
        "ab", Request("Write", {"file_path": "/f", "content": "a"}), locked
    )
    assert isinstance(form, Form)
    assert form.kind == "permission"
    assert "/f can't be read." in form.questions[0].question


def test_what_a_rule_may_settle() -> None:
    """Such as a call, but neither a plan nor a question."""
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    settled = []
    for tool, input in (("Bash", {}), ("ExitPlanMode", {"plan": "a"}), ("AskUserQuestion", {})):
        request = Request(tool, input, suggestions=[mode])
        settled.append(ways.of(tool, input).covered(request, [mode]))
    assert settled == [True, False, False]
