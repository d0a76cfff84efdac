"""Settings of all tests: random inputs are never judged by the time they take on a busy machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.load_profile("default")
