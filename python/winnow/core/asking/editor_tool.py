"""May Claude do this in the user's Neovim? A permission that says what would happen."""

from __future__ import annotations

from msgspec.structs import replace

from winnow.core.agent import Request
from winnow.core.asking.permission import Permission, sentences, why
from winnow.core.asking.way import Answered, ReadFile
from winnow.core.editor import tools
from winnow.core.proposal.proposal import Call
from winnow.core.section.form import Form


class EditorTool(Permission):
    """See the module."""

    def asks(self, tool: str, input: dict[str, object]) -> bool:
        """See `Way`."""
        return tools.name_of(tool) in tools.ASKING

    def read(self, id: str, request: Request, file: ReadFile) -> Form:
        """See `Way`."""
        form = super().read(id, request, file)
        if not request.would:
            return form
        wish, *more = request.would
        call = Call(request.tool, request.input)
        text = sentences(request.asker, wish, (*more, *why(request)), call)
        title = tools.TITLES[tools.name_of(request.tool)]
        return replace(form, questions=(replace(form.questions[0], question=text, header=title),))

    def refusal(self, answered: Answered) -> str:
        """See `Permission`."""
        return super().refusal(answered).replace(tools.PREFIX, "")
