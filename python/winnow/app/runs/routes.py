"""What a run asks the user in its chat, and to whom the answers go."""

from __future__ import annotations

from collections.abc import Callable

from winnow.app.runs.crew import Crew
from winnow.app.section import Section
from winnow.app.sections.sections import Sections
from winnow.core import agent as a
from winnow.core.asking import human_query, merging
from winnow.core.run import query
from winnow.ports import Kept

OVER = "This question is over: nobody waits for its answer."


class RunSections:
    """Implements `winnow.app.sections.delivery.Routes`.

    Args:
        sections: the chat's.
        crew: the run's workers.
        note: tells the user something about the run.
    """

    def __init__(self, sections: Sections, crew: Crew, note: Callable[[str], None]) -> None:
        self._sections = sections
        self._crew = crew
        self._note = note
        sections.route(self)

    def find(self, id: str) -> Section | None:
        """What is asked about a question, or about the change of a task."""
        return next((one for one in self._sections.routed() if _id(one.request) == id), None)

    def withdraw(self, id: str) -> None:
        """Nobody needs the answer to it any more."""
        if (section := self.find(id)) is not None:
            self._sections.withdraw(section)

    def reconcile(self) -> None:
        """What waits on record is asked, and nothing else: a host may have ended in between."""
        waiting = {one.id: one for one in query.with_human(self._crew.run.queries.values())}
        asked = set()
        for section in self._sections.routed():
            id, merge = _id(section.request), _is_merge(section.request)
            if self._crew.merges.waits(section.request) if merge else id in waiting:
                asked.add(id)
            else:
                self._sections.withdraw(section)
        for id in waiting.keys() - asked:
            self._crew.questions.show(waiting[id])
        self._crew.merges.restart(asked)

    # --- answered -------------------------------------------------------------------------------

    def answered(self, request: a.Request, reply: a.Reply, text: str) -> list[Kept]:
        """See `Routes.answered`."""
        if _is_merge(request):
            return self._crew.merges.answered(request, reply)
        asked = self._crew.run.queries.get(_id(request))
        if asked is None or not asked.pending:
            self._note(OVER)
            return []
        return self._crew.questions.answered(asked.id, text, human=True)

    def returned(self, request: a.Request, reason: str) -> list[Kept]:
        """See `Routes.returned`."""
        if _is_merge(request):
            return self._crew.merges.returned(request)
        return self._crew.questions.returned(_id(request), reason)

    def discussed(self, request: a.Request, text: str) -> list[Kept]:
        """See `Routes.discussed`."""
        if _is_merge(request):
            return self._crew.merges.answered(request, a.Deny(text))
        return self._crew.questions.returned(_id(request), text)


def is_question(section: Section) -> bool:
    """It is a question of the run's, which a message may answer."""
    return section.way.tool == human_query.TOOL


def _is_merge(request: a.Request) -> bool:
    return request.tool == merging.TOOL


def _id(request: a.Request) -> str:
    if _is_merge(request):
        return merging.of(request).task
    return human_query.query_of(request).query
