"""Who looks at a task, and what waits in it."""

from __future__ import annotations

from typing import Protocol

from winnow.app.page import Page
from winnow.app.section import Section
from winnow.core.asking import human_query
from winnow.core.transcript.entries import Entry


class Viewer(Protocol):
    """Somebody who looks at a task; see ``task_page.py``."""

    @property
    def task(self) -> str:
        """The task's id."""

    @property
    def page(self) -> Page:
        """Where it is shown."""

    @property
    def ready(self) -> bool:
        """It shows what was said before, so a section may open in it."""

    def shown(self, entry: Entry) -> None:
        """The transcript goes on with this."""

    def status(self) -> None:
        """Something may have changed."""


def task_of(section: Section) -> str:
    """The task whose worker waits for it; empty: none does."""
    if section.way.routed:
        return human_query.query_of(section.request).task
    return section.request.worker
