"""Whatever servers offer, in any order: what is in use is what was accepted, and every other content is told once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from library_tools import t
from semantic_toolsearch import Catalog, SearchConfig
from semantic_toolsearch.pins import content_hash
from semantic_toolsearch.review import Review

NAMES = ("a", "b", "A", "x__a")
"""Two of them differ in case only, and one may get the wire name of another server's tool."""

SERVERS = (None, "x", "y")
LISTS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["one", "two", "three"]), max_size=4)
STEPS = st.lists(
    st.tuples(st.sampled_from(SERVERS), LISTS) | st.tuples(st.just("approve"), st.integers(0, 5)), max_size=12
)


def offered(server, contents):
    return [t(name, content, server=server) for name, content in contents.items()]


def by_name(catalog):
    return dict(zip(catalog.wire_names, map(content_hash, catalog), strict=True))


class Model:
    """What ought to be accepted: content by wire name."""

    def __init__(self, config, pins):
        self.config = config
        self.pins = dict(pins or {})
        self.accepted = dict(self.pins)
        self.trusting = pins is None
        self.before = {}

    def known(self, name, found):
        """The accepted content of an offered tool; a name that nobody holds back is accepted as it comes."""
        if name not in self.accepted and (self.trusting or self.config.new_tools == "use"):
            self.accepted[name] = found
        return self.accepted.get(name)

    def check(self, catalog, review, told):
        expected, held, reported = {}, set(), {}
        for name, found in by_name(catalog).items():
            known = self.known(name, found)
            if known == found:
                continue
            if self.before.get(name) != found:
                expected[name] = (known, found)
            if known is None or self.config.changed_tools == "hold":
                held.add(name)
            elif name not in self.pins:
                reported[name] = found
        self.accepted.update(reported)
        assert sorted((event.name, event.accepted, event.found) for event in told) == sorted(
            (name, *hashes) for name, hashes in expected.items()
        )
        assert set(review.held) == held
        used = {name: found for name, found in by_name(catalog).items() if name not in held}
        assert by_name(review.used) == used
        assert review.accepted() == self.accepted
        if self.config.changed_tools == "hold":
            assert used.items() <= self.accepted.items()
        self.before = by_name(catalog)
        self.trusting = False


@settings(max_examples=150, deadline=None)
@given(LISTS, STEPS, st.sampled_from(["use", "hold"]), st.booleans(), st.sampled_from(["report", "hold"]))
def test_what_is_in_use_is_what_was_accepted(first, steps, new_tools, pinned, changed_tools):
    config = SearchConfig(changed_tools=changed_tools, new_tools=new_tools)
    catalog = Catalog(offered("x", first))
    # Half of the first list was reviewed.
    half = {name: pin for place, (name, pin) in enumerate(catalog.pins().items()) if place % 2}
    model = Model(config, half if pinned else None)
    review, told = Review.first(config, half if pinned else None, has_hook=True).next(catalog)
    model.check(catalog, review, told)
    for server, what in steps:
        if server != "approve":
            catalog = review.offered.replace(server, offered(server, what))
            review, told = review.next(catalog)
            model.check(catalog, review, told)
        elif names := review.offered.wire_names:
            name = names[what % len(names)]
            review = review.approve([name])
            model.accepted[name] = model.pins[name] = by_name(review.offered)[name]
            assert by_name(review.used)[name] == model.pins[name]


@pytest.mark.parametrize("again", [False, True])
def test_an_opened_list_tells_what_an_earlier_process_was_told_only_when_asked(again):
    config = SearchConfig()
    saved = Catalog([t("a", "two")])
    pins = Catalog([t("a", "one")]).pins()
    _, told = Review.first(config, pins, has_hook=True, offered=saved).next(
        Catalog([t("a", "two")]), again=again
    )
    assert len(told) == again
