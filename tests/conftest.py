"""How many examples a property gets: enough for every run, many more where nobody waits."""

from __future__ import annotations

from hypothesis import settings

# Of our own making throughout: the default of Hypothesis in CI is the same examples every time.
_PARENT = settings(settings.get_profile("default"), deadline=None, print_blob=True)

settings.register_profile("ci", _PARENT, max_examples=500)
settings.register_profile("soak", _PARENT, max_examples=5000)
settings.load_profile("ci")  # another one: pytest --hypothesis-profile soak
