"""What there is of chats and sessions, and how a list of them reads and is edited.

A chat is a file of ours; a session is what the agent has kept of a conversation, maybe one that
was never a chat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from winnow.core import listing
from winnow.core.listing import Row
from winnow.core.text import grammar
from winnow.core.text.duration import age
from winnow.core.text.text import clean, strip_markers

HEAD = 4096  # bytes of a file in which all stands that is read here
LONGEST = 80  # characters of a title that nobody chose
LONGEST_CHOSEN = 200
UNTITLED = "(nothing said yet)"
_MAX_LINES = 30  # of frontmatter, as ``frontmatter.lua`` has it
_BETWEEN = " · "
_DIGITS = 7  # fewer than so many has the number of a message
_KEYS = frozenset(grammar.KEYS)
_YOU = f"\n{grammar.YOU}\n"


class Head(msgspec.Struct, frozen=True):
    """What the start of a chat's file says."""

    values: Mapping[str, str]  # its frontmatter
    first: str  # the first line that the user wrote


class Kept(msgspec.Struct, frozen=True):
    """A chat's file."""

    path: str
    head: Head
    changed: float  # seconds since the epoch
    elsewhere: bool = False  # another Neovim has it


class Session(msgspec.Struct, frozen=True):
    """A session in the agent's own books."""

    id: str
    cwd: str
    changed: float  # seconds since the epoch
    title: str = ""  # the user's, or one that the agent has made
    first: str = ""  # the first prompt
    foreign: bool = True  # begun by another program than this


class Trashed(msgspec.Struct, frozen=True):
    """Something in the trash, by the name that brings it back."""

    name: str
    at: float  # seconds since the epoch
    title: str


class Live(msgspec.Struct, frozen=True):
    """A chat that is open here."""

    state: str
    waits: Sequence[str] = ()  # what for, in words
    cost: float = 0.0  # US dollars

    @property
    def busy(self) -> bool:
        """Something in it would be cut short."""
        return self.state in ("working", "waiting")


class Item(msgspec.Struct, frozen=True):
    """A line of the list: a chat, or a session that was never one."""

    key: str
    title: str
    cwd: str
    changed: float
    path: str = ""  # empty: no chat
    session: str = ""
    fork: str = ""  # the name of the file that it was forked from
    elsewhere: bool = False
    branch: str = ""  # of the worktree that it works in
    at: int = -1  # before which of that one's messages, of the user's and from 0; -1: not known
    branches: int = 0  # chats that were forked from it
    here: int = -1  # which of its own messages that is


def head(text: str) -> Head:
    """Read the start of a chat's file, which anybody may have written."""
    lines = text.split("\n", _MAX_LINES)
    values: dict[str, str] = {}
    end = 0
    if lines[0] == "---":
        for row, line in enumerate(lines[1:_MAX_LINES], 1):
            if line == "---":
                end = row
                break
            key, colon, value = line.partition(":")
            if colon and key in _KEYS:
                values.setdefault(key, value.strip())
    _, _, said = ("\n".join(("", *lines[end:], ""))).partition(_YOU)
    first = said.lstrip().partition("\n")[0].rstrip()
    first = "" if first.startswith("## ") else first
    return Head(values if end else {}, strip_markers(first))


def key(name: str) -> str:
    """The key of a line of the list, from a path or a session's id."""
    return listing.key(name)


def derived(text: str) -> str:
    """A title that nobody chose, from what was said."""
    line = " ".join(clean(text).split())
    if len(line) <= LONGEST:
        return line
    return line[:LONGEST].rpartition(" ")[0].rstrip(" ,;:.") + "…"


def chosen(text: str) -> str:
    """A title as the user wrote it, as it can stand on one line of any file."""
    return " ".join(clean(strip_markers(text, fragments=True)).split())[:LONGEST_CHOSEN].rstrip()


def items(
    chats: Iterable[Kept], sessions: Iterable[Session] = (), hidden: Iterable[str] = ()
) -> list[Item]:
    """All chats, and the sessions that are none, the newest first.

    Args:
        chats: the files.
        sessions: what the agent has kept.
        hidden: the ids of those whose chats were deleted.
    """
    known = {session.id: session for session in sessions}
    chats = list(chats)
    branches = Counter(kept.head.values.get("fork", "") for kept in chats)
    seen, found = set(hidden), []
    for kept in chats:
        values = kept.head.values
        if "task" in values:
            continue
        id = values.get("session", "")
        seen.add(id)
        count = branches[kept.path.rpartition("/")[2]]
        found.append(_chat(kept, known.get(id), count))
    found += [
        Item(key(one.id), _title("", one, one.first), one.cwd, one.changed, session=one.id)
        for one in known.values()
        if one.id not in seen and one.foreign
    ]
    return sorted(found, key=lambda item: item.changed, reverse=True)


def _chat(kept: Kept, session: Session | None, branches: int) -> Item:
    values = kept.head.values
    at = [_number(word) for word in values.get("at", "").split()] or [-1]
    return Item(
        key(kept.path),
        _title(values.get("title", ""), session, kept.head.first),
        values.get("cwd", ""),
        kept.changed,
        kept.path,
        values.get("session", ""),
        values.get("fork", ""),
        kept.elsewhere,
        values.get("branch", ""),
        at[0],
        branches,
        at[-1],
    )


def _number(word: str) -> int:
    return int(word) if word.isdecimal() and len(word) < _DIGITS else -1


def _title(given: str, session: Session | None, first: str) -> str:
    """What the user chose, in either program; else what the agent made of it, or what was said."""
    made = session.title if session else ""
    return chosen(made or given) or derived(first) or UNTITLED


def row(item: Item, now: float, live: Live | None, home: str = "") -> Row:
    """Its line."""
    return Row(f"{item.title}{about(item, now, live, home)}", item.key, editable=True)


def about(item: Item, now: float, live: Live | None, home: str = "") -> str:
    """What stands behind its title."""
    where = item.cwd.rstrip("/").rpartition("/")[2] if item.cwd not in ("", home, "~") else "~"
    parts = [where, item.branch, age(max(0.0, now - item.changed))]
    if live and live.cost:
        parts.append(f"${live.cost:.2f}")
    if item.fork:
        parts.append("branch")
    if item.branches:
        parts.append("1 branch" if item.branches == 1 else f"{item.branches} branches")
    parts.append(_state(item, live))
    return "".join(f"{_BETWEEN}{clean(part)}" for part in parts if part)


def _state(item: Item, live: Live | None) -> str:
    if live and live.waits:
        return f"waits: {', '.join(live.waits)}"
    if live:
        return {"working": "working", "failed": "not connected"}.get(live.state, "open")
    if item.elsewhere:
        return "open in another Neovim"
    return "" if item.path else "Claude Code"


def retitled(item: Item, before: str, now: str) -> str | None:
    """The title that an edited line gives it; None: more than the title was edited."""
    rest = before[len(item.title) :] if before.startswith(item.title) else ""
    if now == rest.strip():
        return ""
    if not rest or not now.endswith(rest):
        return None
    return chosen(now[: len(now) - len(rest)])


def titled(item: Item, title: str) -> Item:
    """It with this title; empty: as it is."""
    return msgspec.structs.replace(item, title=title) if title else item


def says(title: str, text: str) -> bool:
    """Whether it holds a text; as with 'smartcase', capitals in that count."""
    return text in (title if text != text.lower() else title.lower())


def matching(found: Iterable[Item], about: str) -> list[Item]:
    """Those that a session's id, or its start, or a part of a title means."""
    wanted = about.strip().casefold()
    items = list(found)
    by_id = [item for item in items if len(wanted) >= 8 and item.session.startswith(wanted)]
    return by_id or [item for item in items if wanted in item.title.casefold()]


def forked(found: Iterable[Item], path: str) -> tuple[list[Item], Item | None]:
    """The branches of a chat, and the one that it is a branch of."""
    name, named = path.rpartition("/")[2], {it.path.rpartition("/")[2]: it for it in found}
    own = named.get(name)
    branches = [item for item in named.values() if item.fork == name and item is not own]
    return branches, named.get(own.fork) if own and own.fork != name else None


def family(found: Sequence[Item], path: str) -> list[Item]:
    """The chats that were forked from each other, and from this one."""
    names = {item.path.rpartition("/")[2]: item for item in found if item.path}

    def root(name: str) -> str:
        seen: set[str] = set()
        while name not in seen and (item := names.get(name)) and item.fork:
            seen.add(name)
            name = item.fork
        return name

    of = root(path.rpartition("/")[2])
    return [item for name, item in names.items() if root(name) == of]
