"""A home for all tests, and how many examples a property gets."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile

from hypothesis import settings

# Claude Code asks a login shell for its tools' environment: one that reads this user's start-up
# files may wait for a minute (of those of pyenv, each waits for all others).
if "PYTEST_XDIST_WORKER" not in os.environ:  # which inherits it
    os.environ["HOME"] = tempfile.mkdtemp(prefix="winnow-home-")
    atexit.register(shutil.rmtree, os.environ["HOME"], ignore_errors=True)

# A shell has what it starts in the background ignore it, and all that is started from there.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Enough for every run, many more where nobody waits. Of our own making throughout: the default of
# Hypothesis in CI is the same examples every time.
_PARENT = settings(settings.get_profile("default"), deadline=None, print_blob=True)

settings.register_profile("ci", _PARENT, max_examples=200)
settings.register_profile("soak", _PARENT, max_examples=5000)
settings.load_profile("ci")  # another one: pytest --hypothesis-profile soak
