"""Claude Code elsewhere: through a wrapper that is as odd as a cluster's, and a real OpenSSH."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import claude_agent_sdk
import pytest
from winnow import ports
from winnow import protocol as p
from winnow.core import agent as a

from tests import api
from tests.app.fakes import CHAT
from tests.app.running import RUN
from tests.app.stage import Stage, connected
from tests.app.test_claude_runs import Real, calls

CLI = str(Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude")
PROMPT = str(uuid4())


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """The home of the user there."""
    home = tmp_path / "there"
    (home / "src/my shop's").mkdir(parents=True)
    return home


def place(real: Stage, there: Path, *command: str, **more: str) -> ports.Place:
    env = {**real.server.env(there / "config"), "HOME": str(there)}
    fields: dict[str, Any] = {"cli": CLI, "cwd": f"{there}/src/my shop's", **more}
    return ports.Place("big", command, env=env, **fields)


def wrapper(folder: Path, text: str) -> str:
    """A program that runs its arguments, after this."""
    path = folder / "wrapper"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@contextmanager
def ssh(folder: Path) -> Iterator[tuple[str, ...]]:
    """An OpenSSH server on loopback, and the command that gives a shell there."""
    server = shutil.which("sshd") or "/usr/sbin/sshd"
    if not Path(server).exists() or not shutil.which("ssh-keygen"):
        pytest.skip("there is no OpenSSH server on this machine")
    for name in ("host", "user"):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(make, check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "sshd.conf").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nUsePAM no\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nPidFile none\n"
        f"SetEnv HOME={Path.home()}\n"
    )
    Path("/run/sshd").mkdir(exist_ok=True)
    process = subprocess.Popen([server, "-D", "-e", "-f", str(folder / "sshd.conf")])
    try:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        options = (
            "StrictHostKeyChecking=no",
            f"UserKnownHostsFile={folder}/known",
            "LogLevel=ERROR",
        )
        flags = [part for option in options for part in ("-o", option)]
        key = ("-i", str(folder / "user"), "-p", str(port))
        yield ("ssh", "-F", "none", *flags, *key, f"{getpass.getuser()}@127.0.0.1")
    finally:
        process.terminate()
        process.wait()


async def works_there(real: Stage, elsewhere: ports.Place, there: Path) -> str:
    """One turn with a permission; returns the session's id."""
    user, command = real.user, {"command": "touch made-here"}
    real.server.add(api.say("hello ", api.ToolUse("Bash", command, "toolu_a")))
    real.server.add(api.say("done"))
    async with connected(real.claude(place=elsewhere), user) as agent:
        await agent.prompt("hi", PROMPT)
        request, reply = await user.asked.get()
        assert request.input["command"] == "touch made-here"
        reply.set_result(a.Allow(request.input))
        await user.turn()
        heard = await agent.heard()
    assert user.text == "hello done"
    assert (there / "src/my shop's/made-here").exists()
    assert heard
    assert {PROMPT, "toolu_a"} <= set(heard)
    return user.every(a.Started)[0].session


async def test_a_worker_works_where_a_wrapper_says(
    real: Stage, there: Path, tmp_path: Path
) -> None:
    """Whatever a login there prints, and however often words pass a shell; it can go on there."""
    odd = wrapper(tmp_path, 'echo "Welcome!"; echo "{}"; eval "exec $*"')
    elsewhere = place(real, there, odd, "nice", "-n", "0")
    session = await works_there(real, elsewhere, there)
    real.server.add(api.say("again"))
    async with connected(real.claude(place=elsewhere, session=session), real.user) as agent:
        assert PROMPT in (await agent.heard() or {})
        await agent.prompt("and", str(uuid4()))
        await real.user.turn(2)
    assert real.user.text == "hello doneagain"
    assert not (tmp_path / "config/projects").exists()  # nothing of it is here


async def test_a_worker_works_over_ssh(real: Stage, there: Path, tmp_path: Path) -> None:
    """Questions, permissions and text come as from here."""
    with ssh(tmp_path) as command:
        await works_there(real, place(real, there, *command, cwd="~/src/my shop's"), there)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cwd": "/nowhere"}, "^big has no folder /nowhere; put that right"),
        ({"cli": "no-such-cli"}, "big has no Claude Code"),
    ],
)
async def test_what_is_missing_there_is_said(
    real: Stage, there: Path, tmp_path: Path, fields: dict[str, str], said: str
) -> None:
    elsewhere = place(real, there, wrapper(tmp_path, 'exec "$@"'), **fields)
    with pytest.raises(ports.AgentError, match=said):
        await real.claude(place=elsewhere).connect()


async def test_another_version_there_is_said(real: Stage, there: Path, tmp_path: Path) -> None:
    """One that is too old for what it is started with."""
    (there / "old").write_text("#!/bin/sh\necho \"error: unknown option '--new'\" >&2; exit 1\n")
    (there / "old").chmod(0o755)
    odd = wrapper(tmp_path, 'exec "$@"')
    elsewhere = place(real, there, odd, cli=str(there / "old"))
    with pytest.raises(ports.AgentError, match=r"does not know the option --new.*claude update"):
        await real.claude(place=elsewhere).connect()


@pytest.mark.parametrize("command", ["exit 255", "exec no-such-program"])
async def test_a_place_that_can_not_be_reached(
    real: Stage, there: Path, tmp_path: Path, command: str
) -> None:
    """Nor does it know then what was heard."""
    elsewhere = place(real, there, wrapper(tmp_path, command))
    with pytest.raises(ports.AgentError, match="big can't be reached"):
        await real.claude(place=elsewhere).connect()
    with pytest.raises(ports.AgentError, match="big can't be reached"):
        await real.claude(place=elsewhere, session=str(uuid4())).heard()


async def test_a_lost_connection_is_told(real: Stage, there: Path, tmp_path: Path) -> None:
    """And nothing stays here of it."""
    elsewhere = place(real, there, wrapper(tmp_path, f'echo $$ > {tmp_path}/pid; exec "$@"'))
    user = real.user
    agent = real.claude(place=elsewhere)
    await agent.connect()
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    with pytest.raises(ports.AgentError, match="ended"):
        await user.listen(agent)
    await agent.close()


async def test_a_worker_works_elsewhere_and_goes_on_there(
    real: Stage, there: Path, tmp_path: Path
) -> None:
    """All comes home as from here; a lost connection blocks, and its session goes on."""
    pids = tmp_path / "pids"
    through = wrapper(tmp_path, f'echo $$ >> {pids}; exec "$@"')
    server, room = real.server, Real(real)
    room.places = [place(real, there, through)]
    task = {"title": "One", "prompt": "Task One: do it.", "place": "big"}
    server.on(
        "You lead a run",
        calls("create_tasks", "toolu_c", tasks=[task]),
        api.say("Made."),
        calls("reply", "toolu_r", task="t1", text="SQLite"),
        *[api.say("I see.")] * 9,
    )
    bash = {"command": "touch made-here", "description": "d"}
    server.on(
        "Task One: do it.",
        api.say(api.ToolUse("Bash", bash, "toolu_b")),
        calls("ask_orchestrator", "toolu_q", question="Which?"),
        api.say("I go on: ", api.Gate()),
        api.say("One is done."),
    )
    await room.lead()
    await room.until(lambda: room.editor.state == "idle")
    await room.send("Do it")
    await room.until(lambda: room.editor.section is not None)
    await room.do(p.Grant(CHAT, room.shown().section, "allow"))
    await room.until(lambda: room.run.queries and room.run.queries["q1"].state == "delivered")
    assert room.run.queries["q1"].node == "big"
    await room.until(lambda: "I go on" in room.chat.live[RUN, "t1"].saying)
    os.kill(int(pids.read_text().split()[-1]), signal.SIGKILL)
    await room.until(lambda: room.states == {"One": "blocked(place)"})
    server.release()
    session = room.run.tasks["t1"].session
    await room.do(p.GoOn(RUN))
    await room.until(lambda: room.states == {"One": "done"})
    assert room.run.tasks["t1"].session == session
    assert (there / "src/my shop's/made-here").exists()
    said = [turn.content for turn in room.store.turns[RUN, "t1"]]
    assert said[-1] == "One is done."
    assert str(server.requests).count("SQLite") > 0
    await room.chats.close()
