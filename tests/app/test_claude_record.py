"""What reaches a session of the real CLI, and what it has on record of that."""

from __future__ import annotations

from pathlib import Path

import pytest
from winnow import ports
from winnow.adapters.claude import session_file
from winnow.core import agent as a

from tests import api
from tests.app.stage import QUESTION, Stage, connected, picked

UUIDS = [f"00000000-0000-4000-8000-{number:012}" for number in range(20)]
COMMAND = "---\ndescription: Deploy\nallowed-tools: Bash\n---\nDeploying !`touch ran_it`\n"
ANSWERS = [
    "/deploy",
    "/deploy\n\nNote: now",
    "\n/deploy",
    "\ufeff/deploy",
    "@secret.txt",
    'My answer:\n- @secret.txt and @"secret.txt"',
    "!touch ran_it",
    "# remember",
]


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the CLI keeps its sessions."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))


def make_traps(folder: Path) -> None:
    """A command that leaves a file, and a file that must not be read."""
    commands = folder / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "deploy.md").write_text(COMMAND)
    (folder / "secret.txt").write_text("TOP SECRET")


async def test_an_answer_is_text(real: Stage) -> None:
    """Whatever it begins with or holds, all of it reaches Claude, and nothing else happens."""
    make_traps(real.folder)
    real.server.add(*[api.say("Ok.") for _ in ANSWERS])
    async with connected(real.claude(), real.user) as agent:
        for number, text in enumerate(ANSWERS):
            await agent.prompt(text, UUIDS[number], command=False)
            ended = await real.user.turn(number + 1)
            assert ended.answered == [UUIDS[number]]
            said = [message["content"] for message in real.server.requests[-1]["messages"]]
            assert text in [
                block.get("text") for blocks in said if isinstance(blocks, list) for block in blocks
            ]
    assert "TOP SECRET" not in str(real.server.requests)
    assert not (real.folder / "ran_it").exists()


@pytest.mark.parametrize("text", ["/deploy", "see @secret.txt"])
async def test_an_answer_in_a_turn_is_text(real: Stage, text: str) -> None:
    """It is folded into the turn that runs, and is on record as a prompt is."""
    make_traps(real.folder)
    real.server.add(api.say(api.ask("toolu_1", QUESTION)), api.say("Ok."))
    agent = real.claude()
    async with connected(agent, real.user):
        await agent.prompt("Hi", UUIDS[0])
        request, reply = await real.user.asked.get()
        await agent.prompt(text, UUIDS[1], command=False)
        reply.set_result(picked(request))
        assert set((await real.user.turn()).answered) == set(UUIDS[:2])
    assert text in str(real.server.requests[-1]["messages"][-1])
    assert "TOP SECRET" not in str(real.server.requests)
    assert not (real.folder / "ran_it").exists()
    assert await agent.heard() == {UUIDS[0]: "", UUIDS[1]: "", "toolu_1": "", **_others(agent)}


def _others(agent: ports.Agent) -> dict[str, str]:
    """The uuids that the CLI gave to results."""
    heard = session_file.heard(agent._translator.session)  # type: ignore[attr-defined]
    return {id: "" for id in heard or {} if id not in (*UUIDS, "toolu_1")}


async def test_a_refusal_is_on_record_with_its_words(real: Stage) -> None:
    """So that it can be told from that of another."""
    real.server.add(api.say(api.ask("toolu_1", QUESTION)), api.say("Ok."))
    agent = real.claude()
    async with connected(agent, real.user):
        await agent.prompt("Hi", UUIDS[0])
        _, reply = await real.user.asked.get()
        reply.set_result(a.Deny("The user wants to discuss this: why?"))
        await real.user.turn()
    heard = await agent.heard()
    assert heard is not None
    assert "wants to discuss this: why?" in heard["toolu_1"]


async def test_a_session_that_never_was_has_no_record(real: Stage) -> None:
    """A new one knows nothing; one to be resumed is missed."""
    assert await real.claude().heard() == {}
    missing = real.claude(session=UUIDS[0])
    assert await missing.heard() is None
    await missing.close()  # without having been connected
    assert await real.claude(session="../../etc/passwd").heard() is None


def test_a_damaged_record_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    """Half a line, other types, and lines of another version cost only themselves."""
    folder = tmp_path / "config" / "projects" / "x"
    folder.mkdir(parents=True)
    lines = [
        '{"type":"user","uuid":"u1","message":{"content":"Hi"}}',
        '{"type":"user","uuid":7,"message":{"content":"Hi"}}',
        '{"type":"user","uuid":"u2","message":null}',
        '{"type":"user"',
        '["user"]',
        '{"type":"user","uuid":"u3","message":{"content":[7,{"type":"tool_result"}]}}',
        "[" * 100_000 + '"user"',
        '{"type":"attachment","attachment":{"type":"queued_command","source_uuid":"u4"}}',
    ]
    (folder / f"{UUIDS[0]}.jsonl").write_text("\n".join(lines))
    assert session_file.heard(UUIDS[0]) == {"u1": "", "u3": "", "u4": ""}
