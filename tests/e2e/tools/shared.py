"""One editor with the real Claude Code CLI for many tests: each gets a chat of its own.

Neovim, the host and its imports start once; only the CLI starts anew, as for any new chat.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.api import ScriptedAPI
from tests.e2e.editor import Editor
from tests.e2e.sandbox import Sandbox

CLI = "_bundled/claude"


class Shared:
    """The editor, and the API that all its chats talk to.

    Args:
        folder: an empty one.
        options: of the plugin.
    """

    def __init__(self, folder: Path, api: ScriptedAPI, **options: object) -> None:
        self.api = api
        self._folder = folder
        self._options = options
        self._editor: Editor | None = None
        self._count = 0

    @contextmanager
    def fresh(self) -> Iterator[Editor]:
        """An editor with an empty chat, and an empty project; no error may be shown in it.

        After a test that fails, the next one gets another editor.
        """
        if self._editor is None:
            self._count += 1
            env = self.api.env(self._folder / "claude")
            self._editor = Editor(Sandbox(self._folder / f"{self._count}", self._options, env))
        editor = self._editor
        try:
            editor.command("Winnow new")
            yield editor
            editor.assert_no_errors()
            self._clear(editor)
        except BaseException:
            with suppress(Exception):
                self.close()
            self._editor = None
            raise

    def close(self) -> None:
        """End the editor."""
        editor, self._editor = self._editor, None
        if editor is not None:
            editor.close()

    def _clear(self, editor: Editor) -> None:
        editor.keys("<C-Bslash><C-n>")
        editor.command("silent tabonly | silent only | enew")
        editor.command("silent %bwipeout! | messages clear")
        # One that still spoke would take what the next test scripts.
        editor.wait(lambda: CLI not in str(editor.sandbox.processes()), "the end of the CLI")
        editor.keys(":Winnow trust revoke<CR>")  # what it has allowed for the project
        editor.wait(lambda: "is forgotten" in editor.messages(), "rules that are gone")
        editor.command("messages clear")
        editor.forget()
        for path in editor.sandbox.project.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
