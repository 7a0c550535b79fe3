"""Where workers run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

HERE = "here"
_MANY = 999  # slots, where nothing else is said


class Place(msgspec.Struct, frozen=True):
    """Where agents may run: here, or wherever a command gives a shell with its pipes."""

    name: str = HERE
    command: tuple[str, ...] = ()  # such as ("ssh", "big"); empty: here
    cwd: str = ""  # the folder there; ``~`` is the home there
    cli: str = ""  # Claude Code there; empty: what is found
    env: dict[str, str] = {}  # for Claude Code there
    slots: int = 3  # how many at a time


def known(given: Iterable[Place]) -> tuple[Place, ...]:
    """The places that there are: `HERE` first, which there is in any case."""
    places = sorted(given, key=lambda place: place.name != HERE)
    if any(place.name == HERE for place in places):
        return tuple(places)
    return (Place(HERE, slots=_MANY), *places)


def find(places: Sequence[Place], name: str) -> Place | None:
    """The place of this name; an empty one is here."""
    return next((place for place in places if place.name == (name or HERE)), None)


def names(places: Sequence[Place]) -> str:
    """What there is to choose from."""
    return ", ".join(place.name for place in places)
