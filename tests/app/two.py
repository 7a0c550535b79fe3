"""Two chats: what is asked in one may be shown in the other."""

from __future__ import annotations

from winnow import protocol as p
from winnow.app.chats import Chats

from tests.app.fakes import CHAT, FakeEditor, Room

OTHER = 8  # the chat that shows what `CHAT` asks


class Two(Room):
    """A room with a chat that asks, and another one: each with an editor of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.other = FakeEditor()
        screens = {CHAT: self.editor, OTHER: self.other}

        class Screens:
            """Hands each effect to the editor of its chat."""

            def apply(self, *effects: p.Effect) -> None:
                for effect in effects:
                    if isinstance(effect, p.ChatMessage):
                        screens[effect.chat].apply(effect)

        self.world = self.world._replace(editor=Screens())
        self.chats = Chats(self.world)

    async def show(self, section: str = "s1") -> bool:
        """Show it in the other chat, too."""
        shown = self.chats.show(CHAT, section, OTHER)
        await self.settle()
        return shown

    async def confirm(self, chat: int, lines: list[str]) -> None:
        """`<CR>` at the foot of the section, which has these lines."""
        await self.do(p.Confirm(chat, "s1", lines, len(lines) - 1))

    async def open_other(self) -> None:
        """Open the other chat."""
        await self.do(p.Open(OTHER, "/other.md", "/", eager=False))
