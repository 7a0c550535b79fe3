"""The tools of a run, as a model is told of them and as it calls them."""

from __future__ import annotations

import json

import pytest
from winnow.core.asking.question_tool import RESULT
from winnow.core.question import Malformed
from winnow.core.run import tools


def test_each_role_has_its_own() -> None:
    """Only a worker asks, and it does nothing else."""
    assert [tool.name for tool in tools.of("worker")] == [
        "ask_orchestrator",
        "answer_question",  # of another worker's, where the user has handed that over
    ]
    of = {tool.name: tool for tool in tools.of("orchestrator")}
    assert list(of) == [
        *("create_tasks", "list_tasks", "reply", "cancel_task", "read_transcript", "finish"),
    ]
    assert tools.of("") == []
    assert all(tool.description for tool in of.values())


def test_schemas_are_whole() -> None:
    """Models get no references to follow, and required is what has no default."""
    for role in ("orchestrator", "worker"):
        for tool in tools.of(role):
            assert "$" not in json.dumps(tool.schema)
            assert tool.schema["type"] == "object"
    of = {tool.name: tool.schema for tool in tools.of("orchestrator")}
    task = of["create_tasks"]["properties"]["tasks"]["items"]
    assert task["required"] == ["title", "prompt"]
    assert task["properties"]["title"]["description"]


def test_a_call_is_read() -> None:
    call = tools.read(
        "mcp__winnow__create_tasks",
        {"tasks": [{"title": "A", "prompt": "B", "waits_for": ["t1"], "budget": "2"}], "x": 1},
    )
    assert call == tools.CreateTasks((tools.NewTask("A", "B", ("t1",), budget=2),))
    assert tools.read("mcp__winnow__list_tasks", {RESULT: "x"}) == tools.ListTasks()
    assert tools.is_ours("mcp__winnow__reply")
    assert not tools.is_ours("mcp__winnow__question")
    assert not tools.is_ours("mcp__other__reply")
    assert not tools.is_ours("reply")


@pytest.mark.parametrize("input", [{}, {"task": "t1"}, {"task": 1, "text": None}])
def test_a_call_that_makes_no_sense_is_told(input: dict[str, object]) -> None:
    found = tools.read("mcp__winnow__reply", input)
    assert isinstance(found, Malformed)
    assert found.reason.startswith("This call can't be understood: ")


def test_a_result_goes_with_the_input() -> None:
    assert tools.result({"task": "t1"}, "Said.").input == {"task": "t1", RESULT: "Said."}
