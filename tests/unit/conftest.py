"""How many examples a property gets: enough to notice at a desk, more where nobody waits."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("desk", max_examples=200, deadline=None)
settings.register_profile("ci", max_examples=2000, deadline=None, print_blob=True)
settings.register_profile("soak", max_examples=50_000, deadline=None, print_blob=True)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "desk")
)
