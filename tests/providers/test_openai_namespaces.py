"""Where each tool stands among OpenAI's namespaces, and the way back, for any catalog."""

from __future__ import annotations

import gc
import re
import weakref

from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.loaded import Resolver
from semantic_toolsearch.providers.openai_namespaces import Namespaces, namespaces_of

LABELS = [
    None,
    "CRM",
    "crm",
    "CRM_2",
    "CRM 2",
    "File Operations",
    "File/Operations",
    "a",
    "ä",
    "x" * 64,
    "x" * 80,
    "日本",
]
NAMES = [
    "get",
    "Get",
    "get_item",
    "get.item",
    "CRM",
    "a",
    "tool_search",
    "CRM__get",
    "x" * 64,
    "x" * 90,
    "öffnen",
]
IDENTITIES = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(NAMES)), unique=True, max_size=60)


def catalog_of(identities):
    return Catalog([{"name": name, "namespace": label, "description": "d"} for label, name in identities])


@given(IDENTITIES, st.sampled_from([None, 1, 2, 9]))
def test_o05_o06_o17_every_tool_has_a_legal_place_of_its_own_and_is_found_there(identities, most):
    catalog = catalog_of(identities)
    spaces = Namespaces(catalog, most)
    places = [spaces.address(position) for position in range(len(catalog))]
    assert len({(space and space.lower(), name.lower()) for space, name in places}) == len(places)
    for position, (space, name) in enumerate(places):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
        assert space is None or re.fullmatch(r"[A-Za-z0-9_-]{1,64}", space)
        assert (space is None) == (catalog[position].namespace is None)
        assert spaces.position(space, name) == position
        assert spaces.position(space, catalog.wire_names[position]) == position
        assert spaces.position(None, catalog.wire_names[position]) == position
        assert spaces.position(catalog.wire_names[position], catalog.wire_names[position]) == position
    names = [group.name.lower() for group in spaces.groups]
    assert len(set(names)) == len(names)
    assert not set(names) & {name.lower() for name in catalog.wire_names}
    assert all(len(group.positions) <= (most or len(catalog)) for group in spaces.groups)
    held = [position for group in spaces.groups for position in group.positions]
    assert sorted(held) == [at for at, found in enumerate(catalog) if found.namespace is not None]


@given(IDENTITIES, st.randoms())
def test_e39_x08_names_do_not_depend_on_the_order_of_tools(identities, random):
    shuffled = list(identities)
    random.shuffle(shuffled)
    found = []
    for order in (identities, shuffled):
        catalog = catalog_of(order)
        spaces = Namespaces(catalog, None)
        found.append({tool.identity: spaces.address(at) for at, tool in enumerate(catalog)})
    assert found[0] == found[1]


@given(IDENTITIES)
def test_o07_a_tool_that_is_added_at_the_end_moves_no_other(identities):
    before = Namespaces(catalog_of(identities), 2)
    after = Namespaces(catalog_of([*identities, ("CRM", "brand_new")]), 2)
    labels = {label for label, _ in identities}
    if "CRM" in labels:
        for position in range(len(identities)):
            assert after.address(position) == before.address(position)


@given(IDENTITIES, st.sampled_from([None, 2, 9]))
def test_x25_a_conversation_is_read_back_with_the_names_that_were_sent(identities, most):
    catalog = catalog_of(identities)
    spaces, read = Namespaces(catalog, most), Resolver(catalog)
    for position in range(len(catalog)):
        assert read(spaces.address(position)) == position


def test_d19_an_older_split_is_still_understood_and_other_names_are_not_guessed():
    catalog = Catalog([{"name": f"deal_{i:02}", "namespace": "CRM"} for i in range(23)])
    spaces = namespaces_of(catalog, 9)
    assert spaces.address(20) == ("CRM_3", "deal_20")
    for space in ("CRM", "CRM_2", "CRM_3", "CRM_9"):
        assert spaces.position(space, "deal_20") == 20
    for space, name in (
        ("CRM_x", "deal_20"),
        ("CR", "deal_20"),
        ("CRM", "deal_99"),
        ("CRM_", "deal_20"),
        ("", "deal_20"),
    ):
        assert spaces.position(space, name) is None


def test_a_category_does_not_take_the_name_of_anothers_part():
    tools = [{"name": f"t{i}", "namespace": "CRM"} for i in range(12)] + [
        {"name": "t0", "namespace": "CRM_2"}
    ]
    spaces = namespaces_of(Catalog(tools), 9)
    assert [group.name for group in spaces.groups] == ["CRM", "CRM_3", "CRM_2"]
    assert spaces.position("CRM_2", "t0") == 12
    assert spaces.position("CRM", "t0") == 0


def test_o17_a_category_named_like_a_flat_tool_gets_another_name():
    catalog = Catalog([{"name": "lookup"}, {"name": "lookup", "namespace": "lookup"}])
    spaces = namespaces_of(catalog, 9)
    assert spaces.address(1) == ("lookup_tools", "lookup")
    assert spaces.position("lookup", "lookup") == 0
    assert spaces.position("lookup_tools", "lookup") == 1


def test_a_description_tells_parts_apart_and_is_bounded():
    catalog = Catalog([{"name": f"t{i}", "namespace": "Sales\nteam\u200b"} for i in range(11)])
    spaces = namespaces_of(catalog, 9)
    first, second = spaces.groups
    assert spaces.describe(first, ["t0"]) == "Sales team, part 1. Functions: t0."
    assert spaces.describe(second, ["t9", "t10"]) == "Sales team, part 2. Functions: t9, t10."
    long = Catalog(
        [{"type": "namespace", "name": "n" * 900, "description": "word " * 900, "tools": [{"name": "t"}]}]
    )
    spaces = namespaces_of(long, 9)
    text = spaces.describe(spaces.groups[0], ["t"])
    assert len(text) <= 1_024
    assert text.endswith(" [...]")


def test_namespaces_are_computed_once_and_forgotten_with_their_catalog():
    catalog = catalog_of([("CRM", "get")])
    assert namespaces_of(catalog, 9) is namespaces_of(catalog, 9)
    assert namespaces_of(catalog, 9) is not namespaces_of(catalog, None)
    gone = weakref.ref(catalog)
    del catalog
    gc.collect()
    assert gone() is None
