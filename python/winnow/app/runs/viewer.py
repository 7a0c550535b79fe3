"""Who looks at a task, and what waits in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from winnow.app.page import Page
from winnow.app.section import Section
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


class Viewers:
    """All of one run."""

    def __init__(self) -> None:
        self._all: list[Viewer] = []

    def add(self, viewer: Viewer) -> bool:
        """One comes; False: it is there."""
        new = viewer not in self._all
        if new:
            self._all.append(viewer)
        return new

    def remove(self, viewer: Viewer) -> None:
        """One goes."""
        self._all.remove(viewer)

    def shown(self, task: str, entry: Entry) -> None:
        """The transcript of a task goes on with this."""
        for viewer in self._all:
            if viewer.task == task:
                viewer.shown(entry)

    def look(self, waiting: list[Section], show: Callable[[str, Page], object]) -> None:
        """What waits for the user in a task stands there, too."""
        for viewer in self._all:
            if viewer.ready:
                for section in waiting:
                    if task_of(section) == viewer.task:
                        show(section.marker, viewer.page)
                viewer.status()


def task_of(section: Section) -> str:
    """The task whose worker waits for it; empty: none does."""
    if section.way.routed:
        return str(section.request.input.get("task", ""))
    return section.request.worker
