"""A loopback provider whose model only talks, for tests of what is refused and what is not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from semantic_toolsearch.testing.loopback import LoopbackProvider, RequestView, Say, Step


def _talk(view: RequestView) -> Step:
    return Say("Understood.")


@pytest.fixture
def talking() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(_talk) as server:
        yield server
    assert server.failures == []
