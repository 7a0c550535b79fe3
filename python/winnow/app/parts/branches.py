"""Which chats were forked from this one, and where: shown at the message that they begin before."""

from __future__ import annotations

from winnow import protocol as p
from winnow.app.parts.part import Around, Part
from winnow.core import sessions


class Branches(Part):
    """Looks when the chat is opened, and when it was forked here; a new chat has none."""

    def __init__(self, around: Around) -> None:
        super().__init__(around)
        if around.opened.session:
            around.session.spawn(self._show())

    def takes(self, event: p.ChatEvent) -> bool:
        """See `Part.takes`."""
        if isinstance(event, p.FindBranches):
            self.around.session.spawn(self._show())
            return True
        return False

    async def _show(self) -> None:
        library, page, path = self.around.world.library, self.around.page, self.around.opened.path
        if library is None:
            return
        found = sessions.items(await library.chats())
        branches, origin = sessions.forked(found, path)
        forks = [p.Branch(it.at, it.title, it.path, it.changed) for it in branches if it.at >= 0]
        own = next((it for it in found if it.path == path), None)
        if origin is not None and own is not None and own.here >= 0:
            it = origin
            forks.append(p.Branch(own.here, it.title, it.path, it.changed, origin=True))
        if forks:
            page.apply(p.Branches(page.chat, forks))
