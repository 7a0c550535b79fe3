"""``python -m winnow clarify``: the loop on a terminal, or for a script."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from winnow import ports
from winnow.adapters.claude import credentials, sdk
from winnow.adapters.clock import WallClock
from winnow.adapters.files import DiskFiles, DiskTemplates
from winnow.adapters.store import SqliteStore
from winnow.app.clarify.loop import Loop
from winnow.app.clarify.paper import Paper
from winnow.cli import give, state_folder, tell
from winnow.cli.answers import Answers, FromFile, FromTerminal, Nobody
from winnow.core.asking.way import FileError
from winnow.core.clarify.clarification import Clarification, Given, problem
from winnow.core.folder import Folder
from winnow.core.text.encoding import to_json
from winnow.core.text.text import clean
from winnow.core.transcript import progress

DONE, FAILED, USAGE, NO_LOGIN, NO_FILE, INTERRUPTED = 0, 1, 2, 3, 4, 130

_PATIENCE = 10  # seconds for the store to write what is left

EPILOG = """\
Progress goes to stderr, one JSON object to stdout: "state" ("done", or "asking" where nobody
answers), "id", "questions", "areas", "log", "spec" (the file) and "text" (what it holds). A
terminal gets the name of the file instead.

Each answer is kept at once. One that was interrupted, has failed, or asks with nobody to answer,
goes on with --resume and its id, which is the "id" of the JSON, and in a line on stderr;
nothing is asked twice that was answered. Of a list of --answers those are left out then that it
has had.

exit codes:
  0    done, or there are questions
  1    Claude Code failed
  2    wrong arguments, or no request
  3    nothing to log in with
  4    the specification can't be written; "text" has it all the same
  130  interrupted

Claude Code gets the key in CLAUDE_CODE_API_KEY; without it, or where it is empty,
ANTHROPIC_API_KEY counts, then Claude Code's own login."""


class Usage(Exception):
    """It can't begin; the text says why."""


class Shell:
    """Implements `winnow.app.clarify.loop.Front`: where the answers come from, and the draft."""

    def __init__(self, answers: Answers, paper: Paper, kept: ports.Clarified) -> None:
        self._answers = answers
        self._paper = paper
        self._kept = kept

    async def ask(self, known: Clarification) -> tuple[list[Given | None], str] | None:
        """See `Front.ask`."""
        given = self._answers.to(known.open)
        return None if given is None else (given, f"round-{known.rounds}")

    async def keep(self, known: Clarification) -> Clarification:
        """See `Front.keep`."""
        if not known.open and not known.log:
            tell("There is nothing to ask: the specification follows.")
        known = await self._save(known)
        return await self._save(self._paper.draft(known)) if known.log else known

    async def _save(self, known: Clarification) -> Clarification:
        try:
            return await self._kept.save(known)
        except ports.Overtaken as error:
            raise ports.AgentError(error.sentence) from error
        except ports.StoreError as error:  # it goes on without
            tell(error.sentence)
            return known


def add(subcommands: Any) -> None:
    """Add this subcommand to those of ``python -m winnow``."""
    parser = subcommands.add_parser(
        "clarify",
        help="from a rough request to answered questions and a specification",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("--request", metavar="FILE", help="what is wanted; - is stdin")
    option("--resume", default="", metavar="ID", help="go on with one that has not come to its end")
    option("--state", metavar="FOLDER", help="where that is kept; else where Neovim's Winnow does")
    option("--answers", metavar="FILE", help="JSON: texts in order, or an object by question")
    option("--out", metavar="FILE", help="the specification; else a new file in specs/")
    option("--plain", action="store_true", help="questions as bare strings")
    option("--model", default="", help="else Claude Code's default")
    option("--prompts", default="", metavar="FOLDER", help="of your system, questions, spec .md")
    parser.set_defaults(act=main)


def main(args: argparse.Namespace) -> int:
    """Do it; the exit code."""
    try:
        key = credentials.api_key(os.environ, Path.home())
        return asyncio.run(_kept(args, key))
    except credentials.Missing as missing:
        return _fail(missing.sentence, NO_LOGIN)
    except Usage as usage:
        return _fail(str(usage), USAGE)
    except ports.AgentError as error:
        return _fail(error.sentence, FAILED)
    except FileError as error:
        return _fail(error.sentence, NO_FILE)
    except KeyboardInterrupt:
        return _fail("Interrupted.", INTERRUPTED)


async def _kept(args: argparse.Namespace, key: str) -> int:
    """As `_run`, with the record of it; who ends it before its end is told how it goes on."""
    store = SqliteStore(state_folder(args.state) / "winnow.db", lambda sentence, _: tell(sentence))
    begun, code = "", INTERRUPTED
    try:
        known, answers = await _beginning(args, store.clarified)
        begun = known.id
        code = await _run(args, key, known, answers, store.clarified)
        return code
    finally:
        if begun and code != DONE and await _is_known(begun, store.clarified):
            tell(f"What was answered is kept, and it goes on with --resume {begun}.")
        await asyncio.to_thread(store.close, _PATIENCE)


async def _is_known(id: str, kept: ports.Clarified) -> bool:
    try:
        return await kept.load(id) is not None
    except ports.StoreError:
        return False


async def _beginning(
    args: argparse.Namespace, kept: ports.Clarified
) -> tuple[Clarification, Answers]:
    """What is asked for, or was, and who answers."""
    if bool(args.request) == bool(args.resume):
        raise Usage("say what is wanted: --request FILE, or what to go on with: --resume ID.")
    known = await _again(args.resume, kept) if args.resume else _new(args)
    if args.answers:
        try:
            answers = FromFile.of(_read(args.answers))
        except msgspec.MsgspecError as error:
            raise Usage(f"{args.answers} holds no answers: {error}.") from error
        answers.skip(len(known.questions))
        return known, answers
    alone = args.request == "-" or not sys.stdin.isatty()
    return known, Nobody() if alone else FromTerminal(tell, sys.stdin.readline, _forget)


def _new(args: argparse.Namespace) -> Clarification:
    request = _read(args.request)
    if why := problem(request):
        raise Usage(why)
    out = str(Path(args.out).absolute()) if args.out else ""
    if out and Path(out).exists():
        raise Usage(f"{out} exists: name a new file.")
    return Clarification(os.urandom(6).hex(), request, path=out)


async def _again(id: str, kept: ports.Clarified) -> Clarification:
    try:
        known = await kept.load(id)
    except ports.StoreError as error:
        raise Usage(error.sentence) from error
    if known is None:
        raise Usage(f"Nothing is known of {id}: --state says where it was kept.")
    return known


def _read(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.read()
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{name} can't be read: {error}.") from error


async def _run(
    args: argparse.Namespace,
    key: str,
    known: Clarification,
    answers: Answers,
    kept: ports.Clarified,
) -> int:
    sdk.load()
    from winnow.adapters.claude.client import Client  # noqa: PLC0415  takes a while

    folder = Folder(str(Path.cwd()), str(Path.home()))

    def show(message: Mapping[str, Any]) -> None:
        for line in progress.brief(message, folder):
            tell(line)

    paper = Paper(DiskFiles(), WallClock(), f"{folder.cwd}/specs")
    client = Client(key, folder.cwd, model=args.model)
    templates = DiskTemplates().clarify(args.prompts)
    front = Shell(answers, paper, kept)
    loop = Loop(known, client, templates, front, paper.now, on_event=show, plain=args.plain)
    spec = await loop.run()
    if spec is None:
        _give("asking", loop.known, "")
        return DONE
    text = paper.text(loop.known, spec)
    try:
        written = paper.write(loop.known, text, loop.known.written or None)
    except FileError as error:
        _give("done", loop.known, text)
        return _fail(error.sentence, NO_FILE)
    _give("done", written, text)
    return DONE


def _give(state: str, known: Clarification, text: str) -> None:
    """All of it, to a program; a person gets the name of the file."""
    if sys.stdout.isatty() and known.written and state == "done":
        print(f"\nThe specification is {clean(known.path)}.")
        return
    plain = all(asked.recommended is None for asked in known.open)
    told = {
        "state": state,
        "id": known.id,
        "questions": [asked.question for asked in known.open] if plain else known.open,
        "areas": known.areas,
        "log": known.log,
        "spec": known.path if known.written else None,
        "text": text or known.written,
    }
    give(to_json(told, indent=2))


def _forget() -> None:
    """What was typed so far, on a terminal."""
    with contextlib.suppress(ImportError, OSError):  # on Windows there is no such thing
        termios = importlib.import_module("termios")
        with contextlib.suppress(termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _fail(sentence: str, code: int) -> int:
    tell(sentence)
    return code
