"""The screen of a Neovim that is drawn here, from its ``redraw`` events (``:h ui-linegrid``)."""

from __future__ import annotations

from collections import deque
from typing import Any

Frame = tuple[str, ...]
"""The rows of a screen, without trailing blanks."""


class Grid:
    """What is on the screen.

    Attributes:
        frame: the screen at the last flush.
        frames: this one and those before, without repetitions.
    """

    def __init__(self, cols: int, rows: int) -> None:
        self.frame: Frame = ()
        self.frames: deque[Frame] = deque(maxlen=2000)
        self._styles: dict[int, dict[str, Any]] = {0: {}}
        self._resize(cols, rows)

    def redraw(self, events: list[Any]) -> None:
        """Take in a batch of events."""
        for name, *calls in events:
            for args in calls:
                match [name, *args]:
                    case ["grid_line", _, row, col, cells, *_]:
                        self._line(row, col, cells)
                    case ["grid_scroll", _, top, bottom, left, right, rows, _]:
                        self._scroll(top, bottom, left, right, rows)
                    case ["grid_resize", _, cols, rows]:
                        self._resize(cols, rows)
                    case ["grid_clear", _]:
                        self._resize(len(self._text[0]), len(self._text))
                    case ["hl_attr_define", number, style, *_]:
                        self._styles[number] = style
                    case ["flush"]:
                        self._flush()

    def style(self, text: str) -> dict[str, Any]:
        """How the first cell of ``text`` looks: ``foreground``, ``bold``, ``strikethrough``…

        Raises:
            ValueError: it isn't on the screen.
        """
        for cells, numbers in zip(self._text, self._style, strict=True):
            start = "".join(cells).find(text)
            if start >= 0:
                # Wide characters have an empty second cell, so cells and characters differ.
                widths = [len(cell) for cell in cells]
                return self._styles[
                    next(n for i, n in enumerate(numbers) if sum(widths[: i + 1]) > start)
                ]
        raise ValueError(f"{text!r} is not on the screen")

    def _resize(self, cols: int, rows: int) -> None:
        self._text = [[" "] * cols for _ in range(rows)]
        self._style = [[0] * cols for _ in range(rows)]

    def _line(self, row: int, col: int, cells: list[list[Any]]) -> None:
        style = 0
        for text, *more in cells:
            style = more[0] if more else style
            repeat = more[1] if len(more) > 1 else 1
            self._text[row][col : col + repeat] = [text] * repeat
            self._style[row][col : col + repeat] = [style] * repeat
            col += repeat

    def _scroll(self, top: int, bottom: int, left: int, right: int, rows: int) -> None:
        targets = range(top, bottom - rows) if rows > 0 else range(bottom - 1, top - rows - 1, -1)
        for row in targets:
            self._text[row][left:right] = self._text[row + rows][left:right]
            self._style[row][left:right] = self._style[row + rows][left:right]

    def _flush(self) -> None:
        frame = tuple("".join(cells).rstrip() for cells in self._text)
        if frame != self.frame:
            self.frame = frame
            self.frames.append(frame)
