"""``python -m winnow run``: a run that nobody watches. Its events go to stdout, one JSON a line."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import secrets
import string
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from winnow import ports
from winnow import protocol as p
from winnow.adapters.claude import credentials
from winnow.adapters.claude.projects import DiskProjects
from winnow.adapters.clock import WallClock
from winnow.adapters.files import DiskFiles, DiskTemplates
from winnow.adapters.git.worktrees import GitWorktrees
from winnow.adapters.store import SqliteStore
from winnow.agents import Agents, Chosen
from winnow.app.chats import Chats
from winnow.cli import give, state_folder, tell
from winnow.core.ledger import ledger
from winnow.core.run import events as e
from winnow.core.run.events import Limits, RunEvent, WorkerOptions
from winnow.core.run.places import Place
from winnow.core.run.run import Run
from winnow.core.text.text import strip_markers

DONE, FAILED, USAGE, UNANSWERED, BUDGET, INTERRUPTED = 0, 1, 2, 3, 4, 130
EPILOG = f"""\
exit codes: {DONE} the run is finished; {FAILED} it can't go on; {USAGE} wrong arguments;
{UNANSWERED} a question, or a permission, has no recorded answer (it is the last line);
{BUDGET} the budget is spent; {INTERRUPTED} interrupted. A run that has ended in any of the last
three ways goes on with --run and its id.

With --worktree each task has a git worktree and a branch of its own. What it has changed stays
there, and a line of the type "unmerged" at the end says where; the orchestrator is told, and tasks
that wait for it do not start. With --merge it is merged into the files here, nothing committed, if
--gate passes on the result; what conflicts, or does not pass, stays on its branch.
"""
_MODE = "permission mode of the workers: %(choices)s"
_MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
_CHAT = 1  # the number of the only chat
_PATIENCE = 10  # seconds for the store to write what is left


def add(subcommands: Any) -> None:
    """Add this subcommand to those of ``python -m winnow``."""
    parser = subcommands.add_parser(
        "run",
        help="reach a goal with several agents",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--goal", metavar="FILE", help="what is to be reached; - is stdin")
    parser.add_argument("--answers", metavar="LEDGER.json", help="recorded answers to questions")
    parser.add_argument("--max-workers", type=int, default=3, metavar="N", help="at a time")
    parser.add_argument("--budget", type=float, default=0.0, metavar="DOLLARS")
    parser.add_argument("--worktree", action="store_true", help="one for each task")
    parser.add_argument("--uncommitted", action="store_true", help="beginning with what is here")
    parser.add_argument("--merge", action="store_true", help="what a task has changed; see below")
    parser.add_argument("--gate", default="", metavar="COMMAND", help="must pass before that")
    parser.add_argument("--places", metavar="FILE.json", help="a list, as in :help winnow-places")
    parser.add_argument("--mode", default="", choices=_MODES, metavar="MODE", help=_MODE)
    parser.add_argument("--model", default="", help="of all agents")
    parser.add_argument("--run", default="", metavar="ID", help="go on with a run")
    parser.add_argument("--state", metavar="FOLDER", help="where runs are kept")
    parser.add_argument("--agent", default="claude", choices=("claude", "scripted"))
    parser.add_argument("--scenario", default="", help="what a scripted agent plays")
    parser.set_defaults(act=main)


def main(args: argparse.Namespace) -> int:
    """Do it; the exit code."""
    try:
        goal = _read(args.goal)
        answers = ledger.from_json(Path(args.answers).read_bytes()) if args.answers else {}
        places = _places(args.places)
        _check(args, goal)
        if args.agent == "claude":
            credentials.api_key(os.environ, Path.home())
    except OSError as error:
        return _refuse(f"{error.filename} can't be read: {error.strerror}")
    except (UnicodeError, msgspec.MsgspecError, ValueError) as error:
        return _refuse(str(error))
    except credentials.Missing as missing:
        return _refuse(missing.sentence, FAILED)
    try:
        return asyncio.run(_Watch(args, goal, answers, places).run())
    except KeyboardInterrupt:
        return INTERRUPTED


def _check(args: argparse.Namespace, goal: str) -> None:
    """See that the arguments make sense together.

    Raises:
        ValueError: they don't.
    """
    if not goal.strip() and not args.run:
        raise ValueError("there is no goal: --goal FILE, or - for stdin")
    if args.max_workers < 1 or args.budget < 0:
        raise ValueError("--max-workers must be at least 1, and --budget not negative")
    if (args.merge or args.gate or args.uncommitted) and not (args.worktree or args.run):
        raise ValueError("--merge, --gate and --uncommitted are about worktrees: add --worktree")


def _refuse(why: str, code: int = USAGE) -> int:
    tell(f"winnow run: {why}")
    return code


def _read(name: str | None) -> str:
    if not name:
        return ""
    return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")


def _places(name: str | None) -> list[Place]:
    """Where workers run.

    Raises:
        ValueError: the file has none that can be meant.
    """
    found = msgspec.json.decode(Path(name).read_bytes(), type=list[Place]) if name else []
    names = [place.name for place in found]
    if any(not place.name or place.slots < 1 for place in found) or len(set(names)) < len(names):
        raise ValueError(f"{name}: each place has a name of its own, and at least one slot")
    return found


class _Watch:
    """The user's place: sees what happens, answers nothing, and knows when it is over."""

    def __init__(
        self, args: argparse.Namespace, goal: str, answers: Any, places: list[Place]
    ) -> None:
        self._args = args
        self._places = places
        self._goal = goal
        self._answers = answers
        self._id = args.run or "".join(secrets.choice(string.ascii_lowercase) for _ in range(8))
        self._over: asyncio.Future[int]
        self._folder = state_folder(args.state)
        self._said = False  # the goal
        self._unanswered = ""
        self._status: p.Status | None = None  # of the chat, the last one
        self._chats: Chats | None = None

    async def run(self) -> int:
        """Lead the run until it ends, or can't go on."""
        self._over = asyncio.get_running_loop().create_future()
        store = _TellingStore(
            self._folder / "winnow.db", lambda sentence, _: self._complain(sentence), self._happened
        )
        agents = Agents(Chosen(self._args.agent, scenario=self._args.scenario))
        self._chats = Chats(self._world(agents, store), self._answers)
        try:
            if self._args.run and not await store.runs.events(self._id):
                return _refuse(f"there is no run {self._id}: --state says where it was kept")
            self._chats.handle(self._opened())
            return await self._over
        finally:
            agents.end()
            trees = self._trees()
            await self._chats.close()
            await asyncio.to_thread(store.close, _PATIENCE)
            await asyncio.sleep(0)  # what was written last is told
            for tree in trees:
                _print(tree)
            if self._unanswered:
                _print({"type": "unanswered", "run": self._id, "text": self._unanswered})
                self._complain(self._unanswered)

    def _world(self, agents: Agents, store: SqliteStore) -> ports.World:
        home = Path.home()
        return ports.World(
            agents.make,
            self,
            store,
            WallClock(),
            DiskFiles(),
            DiskProjects(os.environ, home),
            store.decided,
            store.runs,
            GitWorktrees(self._folder / "worktrees"),
            agents.make_querier,
            store.clarified,
            DiskTemplates(),
            at_once=max(2, os.cpu_count() or 2),
            home=str(home),
        )

    def _opened(self) -> p.Open:
        """The chat that leads it, which no buffer shows."""
        args = self._args
        return p.Open(
            _CHAT,
            f"run:{self._id}",
            str(Path.cwd()),
            agent=args.agent,
            model=args.model,
            headless=True,
            run=self._id,
            limits=Limits(
                args.max_workers,
                args.budget,
                WorkerOptions(mode=args.mode, worktree=args.worktree),
                args.gate,
                args.uncommitted,
                "all" if args.merge else "none",
            ),
            places=self._places,
        )

    # --- what happens ---------------------------------------------------------------------------

    def _happened(self, event: RunEvent) -> None:
        """It is on disk."""
        _print(event)
        if self._status is not None:
            self._look(self._status)  # what has ended may have been the last thing
        if isinstance(event, e.BudgetReached) and not event.task:
            self._end(BUDGET)

    def apply(self, *effects: p.Effect) -> None:
        """See `ports.Editor`: of what a chat shows, only this matters."""
        for effect in effects:
            match effect:
                case p.Status():
                    self._status = effect
                    self._look(effect)
                case p.Say(text=text, level="error"):  # a replay has no answer to it
                    self._stop_with(text)
                case p.Say(text=text) | p.Notify(text=text):
                    self._complain(text)
                case p.Happened(name="TurnEnd", data={"error": str(error)}) if error:
                    self._complain(error)
                case p.Section(lines=lines):
                    self._stop_with(strip_markers("\n".join(lines)))
                case p.Take():
                    self._send("")
                case _:
                    pass

    def _look(self, status: p.Status) -> None:
        """Say the goal when the orchestrator can hear it; see when it is through."""
        assert self._chats is not None
        led = self._chats.run(self._id)
        if led is None or self._over.done():
            return
        if status.state == "failed":
            self._end(FAILED)
        elif status.state == "idle" and not self._said:
            self._said = True
            asyncio.get_running_loop().call_soon(self._send, self._goal)
        elif status.state == "idle" and self._said:
            if led.run.state == "finished":
                self._end(DONE)
            elif led.run.goal and _is_stuck(led.run):
                self._complain("The orchestrator has ended its turn without finishing the run.")
                for task in led.run.tasks.values():
                    if not task.over:
                        self._complain(f"{task.id} “{task.title}” {task.state}: {task.reason}")
                self._end(FAILED)

    def _trees(self) -> list[dict[str, str]]:
        """Where something is left that is not merged."""
        led = self._chats.run(self._id) if self._chats is not None else None
        tasks = led.run.tasks.values() if led is not None else ()
        return [
            {
                "type": "unmerged",
                "run": self._id,
                "task": task.id,
                "branch": task.tree.branch,
                "path": task.tree.path,
            }
            for task in tasks
            if task.tree is not None
        ]

    def _send(self, text: str) -> None:
        if self._chats is not None and not self._over.done():
            self._chats.handle(p.Send(_CHAT, text, str(uuid4()) if text else ""))

    def _stop_with(self, text: str) -> None:
        """Nobody answers this."""
        self._unanswered = self._unanswered or text
        self._end(UNANSWERED)

    def _end(self, code: int) -> None:
        if not self._over.done():
            self._over.set_result(code)

    def _complain(self, text: str) -> None:
        tell(text)


def _is_stuck(run: Run) -> bool:
    """Nothing more will happen: nobody works or is asked, nothing starts or is merged."""
    waits = ("blocked(dependency)", "blocked(budget)")
    tasks = run.tasks.values()
    through = all((task.over and not task.merging) or task.state in waits for task in tasks)
    return through and not run.pending()


class _TellingStore(SqliteStore):
    """Tells of each event of a run as soon as it is on disk."""

    def __init__(
        self, path: Path, tell: Callable[[str, bool], None], told: Callable[[RunEvent], None]
    ) -> None:
        super().__init__(path, tell)
        self._told = told

    def save(self, *kept: ports.Kept) -> asyncio.Future[None]:
        """See `ports.Store.save`."""
        saved = super().save(*kept)
        events = [one for one in kept if isinstance(one, RunEvent)]
        if events:
            saved.add_done_callback(lambda _: [self._told(event) for event in events])
        return saved


def _print(what: object) -> None:
    with contextlib.suppress(BrokenPipeError):
        give(msgspec.json.encode(what).decode())
