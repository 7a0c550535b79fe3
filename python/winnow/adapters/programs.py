"""Where programs are: on the absolute entries of the PATH.

Any other entry means the folder that a program is started in, and with it what a project has put
there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping


def path(environ: Mapping[str, str] = os.environ) -> str:
    """The PATH without the entries that mean something else in each folder."""
    entries = environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if os.path.isabs(entry))  # noqa: PTH117


def find(name: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """A program by its name or its path, as `shutil.which`."""
    return shutil.which(name, path=path(environ))
