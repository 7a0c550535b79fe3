"""How tasks read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from winnow.core.listing import Row, key
from winnow.core.tasks.tasks import Task, Tasks
from winnow.core.text import grammar
from winnow.core.text.duration import duration
from winnow.core.text.text import clean

WIDE = 120  # characters of what a task says
ENDED = 20  # that have ended are listed
_WORDS = {
    "done": "done",
    "failed": "failed",
    "stopped": "stopped",
    "gone": "ended, nobody knows how",
    "lost": "ended with its session",
}
NONE = "Nothing runs in the background."


def amount(tokens: int) -> str:
    """So many tokens."""
    if tokens < 1_000:
        return f"{tokens} tokens"
    return f"{tokens / 1000:.0f}k tokens" if tokens < 1_000_000 else f"{tokens / 1e6:.1f}M tokens"


def short(text: str, width: int = WIDE) -> str:
    """A text on one line."""
    shown = clean(" ".join(text.split()))
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def model_name(model: str) -> str:
    """A model's name without what all of them have in common."""
    return clean(model.removeprefix("claude-"))


def name(task: Task) -> str:
    """What a task is for."""
    return short(task.what) or clean(task.id)


def live(task: Task) -> str:
    """What stands behind the line of a call as long as it runs, but for the time."""
    parts = [amount(task.tokens)] if task.tokens else []
    if task.is_agent:
        parts += [part for part in (clean(task.type), model_name(task.model)) if part]
    elif task.background:
        parts.append("in background")
    return " · ".join([*parts, *([short(task.doing, 60)] if task.doing else [])])


def spent(task: Task) -> str:
    """What stands in the line of a call for good."""
    parts = [clean(task.type), model_name(task.model)] if task.is_agent else []
    if task.calls:
        parts.append("1 call" if task.calls == 1 else f"{task.calls} calls")
    if task.tokens:
        parts.append(amount(task.tokens))
    parts.append(duration(task.ended - task.began))
    return " · ".join(part for part in parts if part)


def told(task: Task) -> str:
    """That it has ended, as a line of the chat without its sign and state."""
    how = f"{_how(task)} after {duration(task.ended - task.began)}"
    return f"Background {name(task)} · {how}"


def rows(chat: int, title: str, tasks: Tasks, now: float, output: dict[str, str]) -> list[Row]:
    """The lines of a chat in the list of tasks; empty: it has none.

    Args:
        chat: its number.
        title: what it is called.
        output: the last line that a command has said, by its id.
    """
    all_ = list(tasks)
    shown = [task for task in all_ if task.runs]
    over = sorted((t for t in all_ if t.end), key=lambda task: -task.ended)[:ENDED]
    found = [*_tree(chat, shown, now, output)]
    found += [Row(_line(task, now, output), row_key(chat, task.id)) for task in over]
    return [Row(f"{grammar.RULE * 2} {title}"), *found] if found else []


def row_key(chat: int, id: str) -> str:
    """What says which task of which chat a line is."""
    return key(f"{chat}.{id}")


def _tree(chat: int, tasks: list[Task], now: float, output: dict[str, str]) -> Iterator[Row]:
    """Each below the one that has started it."""
    ids = {task.id for task in tasks}

    def below(parents: Iterable[Task], depth: int) -> Iterator[Row]:
        for task in parents:
            yield Row("  " * depth + _line(task, now, output), row_key(chat, task.id))
            yield from below([t for t in tasks if t.parent == task.id != t.id], depth + 1)

    roots = [task for task in tasks if task.parent not in ids or task.parent == task.id]
    yield from below(roots, 0)


def _line(task: Task, now: float, output: dict[str, str]) -> str:
    time = duration((task.ended or now) - task.began if task.end else now - task.began)
    parts = [name(task), time]
    if task.tokens:
        parts.append(amount(task.tokens))
    parts += [part for part in (clean(task.type), model_name(task.model)) if part]
    if task.end:
        parts.append(_how(task))
    elif not task.background:
        parts.append("awaited")
    if said := task.summary if task.end else task.doing or output.get(task.id, ""):
        parts.append(short(said))
    return f"{sign(task)} {' · '.join(parts)}"


def _how(task: Task) -> str:
    """How it has ended, in words; in those of Claude Code where we have none."""
    return (task.end == "gone" and short(task.status, 40)) or _WORDS.get(task.end, task.end)


def sign(task: Task) -> str:
    """How its state reads."""
    if task.runs:
        return grammar.TOOL
    return grammar.KEPT if task.end == "done" else grammar.REFUSED
