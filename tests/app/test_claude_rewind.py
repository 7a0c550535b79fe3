"""What Claude Code keeps of files, and how a session begins with a summary, with the real CLI."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from winnow import ports
from winnow.adapters.claude.sessions import ClaudeSessions

from tests import api
from tests.app.stage import Stage, User, connected

UUID = "00000000-0000-4000-8000-00000000000{}"


def text(copy: str | None) -> str | None:
    return copy and Path(copy).read_text()


def by_subagent(session: Path, number: int, path: Path) -> None:
    """A subagent has written a file long ago or, from 1 on, just now."""
    file = session.with_suffix("") / "subagents" / f"agent-{number}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    call = {"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": str(path)}}
    at = f"{'2999' if number else '1999'}-11-29T12:19:23.304Z"
    entry = {"type": "assistant", "timestamp": at, "message": {"content": [call]}}
    file.write_text(json.dumps(entry) + "\n")


async def test_files_as_a_prompt_has_found_them_and_a_summary_in_place_of_what_was_said(
    real: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the session, when it was resumed, and in a branch."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(real.folder / "config"))
    kept, made = real.folder / "kept.txt", real.folder / "made.txt"
    kept.write_text("one\ntwo\n")

    def edit(id: str, old: str, new: str) -> api.ToolUse:
        input = {"file_path": str(kept), "old_string": old, "new_string": new}
        return api.ToolUse("Edit", input, id)

    real.server.add(
        api.say(api.ToolUse("Read", {"file_path": str(kept)}, "t1")),
        api.say(edit("t2", "one", "ONE")),
        api.say("One."),
        api.say(
            edit("t3", "two", "TWO"),
            api.ToolUse("Write", {"file_path": str(made), "content": "made\n"}, "t4"),
        ),
        api.say("Two."),
        api.say("Three."),
        api.say("Four."),
    )
    async with connected(real.claude(mode="acceptEdits"), real.user) as agent:
        for number in (1, 2):
            await agent.prompt(f"prompt {number}", UUID.format(number))
            await real.user.turn(number)
    books = ClaudeSessions(tmp_path / "trash")
    [session] = await books.of(str(real.folder))
    kept.write_text("mine\n")
    real.user = User()
    async with connected(real.claude(session=session.id), real.user) as agent:
        await agent.prompt("prompt 3", UUID.format(3))
        await real.user.turn()

    async def files(id: str, prompt: str) -> dict[Path, str | None] | None:
        found = await books.checkpoint(id, prompt)
        if found is None:
            return None
        return {Path(path): text(copy) for path, copy in found.items()}

    assert await files(session.id, UUID.format(1)) == {kept: "one\ntwo\n", made: ""}
    assert await files(session.id, UUID.format(2)) == {kept: "ONE\ntwo\n", made: ""}
    assert await files(session.id, UUID.format(3)) == {kept: "mine\n", made: "made\n"}
    [path] = (real.folder / "config" / "projects").glob("*/*.jsonl")
    for number, name in enumerate(("before", "after")):
        by_subagent(path, number, real.folder / name)
    by_subagent(path, 2, kept)
    found = await files(session.id, UUID.format(3))
    assert found == {kept: "mine\n", made: "made\n", real.folder / "after": None}
    assert await files(session.id, UUID.format(4)) is None
    assert await files("not-an-id", UUID.format(1)) is None

    branch = await books.fork(session.id, "", "")
    prompts = [it.id for it in await books.messages(branch) if it.prompt]
    assert await files(branch, prompts[1]) == {kept: "ONE\ntwo\n", made: ""}

    cut = await books.cut(session.id, UUID.format(2), "In short.")
    real.user = User()
    async with connected(real.claude(session=cut), real.user) as agent:
        await agent.prompt("prompt 4", UUID.format(4))
        await real.user.turn()
    said = str(real.server.requests[-1]["messages"])
    assert all(words in said for words in ("In short.", "prompt 2", "Two."))
    assert not any(words in said for words in ("prompt 1", "One."))
    with pytest.raises(ports.LibraryError, match="does not hold"):
        await books.cut(session.id, UUID.format(9), "In short.")


async def test_nothing_is_written_before_it_is_known_what_was_there(real: Stage) -> None:
    """Neither by a tool nor by a command; what reads waits for nothing."""
    asked, waits = asyncio.Event(), asyncio.Event()
    made = [real.folder / name for name in ("by_tool", "by_command")]

    async def ready() -> None:
        asked.set()
        await waits.wait()

    real.server.add(
        api.say(api.ToolUse("Glob", {"pattern": "*"}, "t1")),
        api.say(
            api.ToolUse("Write", {"file_path": str(made[0]), "content": "x\n"}, "t2"),
            api.ToolUse("Bash", {"command": f"touch {made[1]}", "description": "d"}, "t3"),
        ),
        api.say("Done."),
    )
    options = {"mode": "bypassPermissions", "env": {"IS_SANDBOX": "1"}}
    async with connected(real.claude(before_writing=ready, **options), real.user) as agent:
        await agent.prompt("Go", UUID.format(1))
        await asyncio.wait_for(asked.wait(), 60)
        await asyncio.sleep(0.3)
        assert not any(file.exists() for file in made)
        waits.set()
        await real.user.turn()
    assert all(file.exists() for file in made)
