"""What Neovim and the host say to each other.

Lua pushes facts in (`Event`); Python pushes edits out (`Effect`). Python never reads from
Neovim, so neither side ever waits for the other. Both unions are tagged by ``type``: the tags of
`Event` are what Lua sends with ``lua/winnow/host.lua``, the tags of `Effect` are the keys of
``lua/winnow/dispatch.lua``, and a test holds the two sides equal. Rows count from 0.
"""

from winnow.protocol.base import *  # noqa: F403
from winnow.protocol.editor import *  # noqa: F403
from winnow.protocol.effects import *  # noqa: F403
from winnow.protocol.events import *  # noqa: F403
from winnow.protocol.lists import *  # noqa: F403
from winnow.protocol.review import *  # noqa: F403
from winnow.protocol.rewind import *  # noqa: F403
from winnow.protocol.work import *  # noqa: F403
