"""The parts that every chat has."""

from __future__ import annotations

from winnow.app.parts.aside import Aside
from winnow.app.parts.branches import Branches
from winnow.app.parts.context import Context
from winnow.app.parts.engine import Engine
from winnow.app.parts.mending import Mending
from winnow.app.parts.named import Named
from winnow.app.parts.neovim import Neovim
from winnow.app.parts.part import Part
from winnow.app.parts.review import Reviewing
from winnow.app.parts.rewind import Rewind
from winnow.app.parts.rules import Rules
from winnow.app.parts.servers import Servers
from winnow.app.parts.todo import Todo
from winnow.app.parts.touched import Touched
from winnow.app.parts.tree import Tree
from winnow.app.parts.usage import Usage
from winnow.app.parts.work import Work
from winnow.app.parts.written import Written

PARTS: tuple[type[Part], ...] = (
    Aside,
    Usage,
    Engine,
    Mending,
    Named,
    Neovim,
    Rewind,
    Branches,
    Rules,
    Servers,
    Written,
    Work,
    Todo,
    Touched,
    Context,
    Tree,
    Reviewing,
)
