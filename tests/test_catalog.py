"""The catalog: order, identity, names, look-up, policies, replacement and report."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.definitions import ToolDefinition
from semantic_toolsearch.errors import (
    CatalogError,
    ConfigError,
    DuplicateToolError,
    InvalidToolError,
    UnknownToolError,
)

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


def t(name, description="", **fields):
    return {"name": name, "description": description, "parameters": SCHEMA, **fields}


def named(catalog):
    return [(tool.namespace, tool.name) for tool in catalog]


SHOP = [t("search", server="wiki"), t("search", server="shop"), t("search"), t("addToCart", server="shop")]


class TestSources:
    def test_forms_and_pages_mix_in_one_iterable(self):
        catalog = Catalog(
            iter([
                t("one"),
                {"tools": [t("two"), t("three")], "nextCursor": "x"},
                {"type": "namespace", "name": "crm", "description": "Customers\u200b", "tools": [t("four")]},
                {"result": {"tools": [t("five")]}},
                {"server": "wiki", "tools": [t("six", server="own"), t("seven")]},
                len,
            ]),
            strict=True,
        )  # fmt: skip
        assert named(catalog) == [
            (None, "one"), (None, "two"), (None, "three"), ("crm", "four"), (None, "five"), ("own", "six"),
            ("wiki", "seven"), (None, "len"),
        ]  # fmt: skip
        assert [entry.where for entry in catalog.report.entries][:4] == [
            "[0]",
            "[1].tools[0]",
            "[1].tools[1]",
            "[2].tools[0]",
        ]
        assert [entry.position for entry in catalog.report.entries] == [0, 1, 1, 2, 3, 4, 4, 5]
        assert dict(catalog.namespaces) == {"crm": "Customers", "own": "", "wiki": ""}

    def test_a_mapping_of_servers(self):
        catalog = Catalog({"wiki": [t("a"), 7], "shop": {"tools": [t("a")]}, "empty": ()})
        assert named(catalog) == [("wiki", "a"), ("shop", "a")]
        assert [(e.where, e.namespace, e.status) for e in catalog.report.entries] == [
            ("wiki[0]", "wiki", "ok"),
            ("wiki[1]", "wiki", "quarantined"),
            ("shop[0]", "shop", "ok"),
        ]

    @pytest.mark.parametrize(
        "source",
        [
            {"tools": [t("a"), t("b")]},
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [t("a"), t("b")]}},
            (t(name) for name in "ab"),
            (t("a"), t("b")),
        ],
    )
    def test_whole_results(self, source):
        assert named(Catalog(source, strict=True)) == [(None, "a"), (None, "b")]

    def test_mcp_sdk_results(self):
        types = pytest.importorskip("mcp.types")
        tools = [types.Tool.model_validate({"name": name, "inputSchema": SCHEMA}) for name in "ab"]
        page = types.ListToolsResult(tools=tools)
        for source in (page, [page], tools):
            assert named(Catalog(source, strict=True)) == [(None, "a"), (None, "b")]
        assert named(Catalog({"wiki": page})) == [("wiki", "a"), ("wiki", "b")]
        assert named(
            Catalog([types.ListToolsResult(tools=tools[:1]), types.ListToolsResult(tools=tools[1:])])
        ) == [
            (None, "a"),
            (None, "b"),
        ]

    @pytest.mark.parametrize(
        "source",
        [
            None,
            "tool",
            b"tool",
            3,
            2.5,
            True,
            object(),
            len,
            t("a"),
            {"a": 5},
            {1: []},
            ToolDefinition(name="a"),
            {"tools": None},
        ],
    )
    def test_a_wrong_collection_raises_at_once(self, source):
        with pytest.raises(CatalogError):
            Catalog(source)

    def test_a_coroutine_is_told_to_be_awaited(self):
        async def list_tools():
            """List."""

        pending = list_tools()
        with pytest.raises(CatalogError, match="Await"):
            Catalog(pending)
        pending.close()

    def test_a_failing_iterator_is_told(self):
        def broken():
            yield t("a")
            raise OSError("pipe")

        with pytest.raises(CatalogError, match="after 1"):
            Catalog(broken())

    def test_empty(self):
        for source in ((), [], {}, {"tools": []}):
            catalog = Catalog(source)
            assert len(catalog) == 0
            assert catalog.wire_names == ()
            assert catalog.find("x") == ()


class TestSequence:
    def test_it_is_an_ordered_sequence(self):
        catalog = Catalog(SHOP)
        assert len(catalog) == 4
        assert list(catalog) == list(catalog.tools)
        assert catalog[0] is catalog.tools[0]
        assert catalog[-1].name == "addToCart"
        assert catalog[1:3] == catalog.tools[1:3]
        assert catalog["shop.search"] is catalog[1]
        assert "shop__search" in catalog
        assert "nothing" not in catalog
        assert catalog[0] in catalog
        assert 3 not in catalog
        with pytest.raises(IndexError):
            catalog[4]

    def test_ready_definitions_are_taken_as_they_are(self):
        catalog = Catalog(SHOP)
        again = Catalog(catalog)
        assert all(new is old for new, old in zip(again, catalog, strict=True))
        assert again.fingerprint == catalog.fingerprint

    def test_it_survives_pickling_and_copying(self):
        catalog = Catalog(SHOP)
        for twin in (pickle.loads(pickle.dumps(catalog)), copy.deepcopy(catalog)):  # noqa: S301 - our own bytes
            assert list(twin) == list(catalog)
            assert twin.fingerprint == catalog.fingerprint
            assert twin.find("add to cart") == (3,)


class TestDuplicates:
    def test_x08_nothing_is_overwritten(self):
        catalog = Catalog([t("a", "first"), t("a", "second"), t("a", "first"), t("a", server="s")])
        assert [tool.description for tool in catalog] == ["first", ""]
        reasons = [entry.problems[-1].reason for entry in catalog.report.quarantined]
        assert "another definition" in reasons[0]
        assert "identical" in reasons[1]

    def test_strict_raises_for_what_cannot_be_used_and_not_for_repairs(self):
        with pytest.raises(DuplicateToolError, match=r"\[1\]"):
            Catalog([t("a"), t("a")], strict=True)
        with pytest.raises(InvalidToolError, match=r"\[1\].*'b'.*\$\.parameters"):
            Catalog([t("a"), t("b") | {"parameters": {"type": "string"}}], strict=True)
        assert len(Catalog([{"name": "a", "parameters": None}], strict=True)) == 1


class TestReport:
    def test_x09_the_report_lists_each_position(self):
        catalog = Catalog([t("a"), {"name": "b", "parameters": None}, 7, t("a")])
        report = catalog.report
        assert [entry.status for entry in report.entries] == ["ok", "repaired", "quarantined", "quarantined"]
        assert [e.position for e in report.ok] == [0]
        assert [e.position for e in report.repaired] == [1]
        assert [e.position for e in report.quarantined] == [2, 3]
        text = str(report)
        assert text.startswith("4 tool definition(s): 1 ok, 1 repaired, 2 quarantined")
        assert "quarantined [2]" in text
        assert "$.parameters" in text

    def test_the_printed_report_is_bounded(self):
        report = Catalog([7] * 500).report
        assert str(report).count("\n") < 60
        assert "450 more" in str(report)


class TestFind:
    TOOLS = (
        t("addGuest", server="hotel"),
        t("addGuest", server="Hostel"),
        t("mcp__plugin_lab_x__ask_oracle"),
        t("mcp__plugin_lab_x__job_start"),
        t("calendar.respondToEvent"),
        t("users/profile"),
        t("datei öffnen", server="büro"),
        t("天気_予報", server="jp"),
        t("search"),
        t("SEARCH"),
        t("mcp__one__list"),
        t("mcp__two__list"),
    )
    CATALOG = Catalog(TOOLS)

    @pytest.mark.parametrize(
        ("spelling", "positions"),
        [
            ("hotel__addGuest", (0,)),
            ("hotel.addGuest", (0,)),
            ("hotel/addGuest", (0,)),
            ("hotel:addGuest", (0,)),
            ("hotel::addGuest", (0,)),
            ("hotel add guest", (0,)),
            ("HOTEL.ADD_GUEST", (0,)),
            ("hostel-add-guest", (1,)),
            ("addGuest", (0, 1)),
            ("add guest", (0, 1)),
            (" add_guest ", (0, 1)),
            ("mcp__plugin_lab_x__ask_oracle", (2,)),
            ("ask_oracle", (2,)),
            ("Ask Oracle", (2,)),
            ("plugin_lab_x.ask_oracle", (2,)),
            ("respondToEvent", (4,)),
            ("respond-to-event", (4,)),
            ("profile", (5,)),
            ("users.profile", (5,)),
            ("datei öffnen", (6,)),
            ("DateiÖffnen", (6,)),
            ("büro/datei öffnen", (6,)),
            ("天気予報", (7,)),
            ("search", (8,)),
            ("SEARCH", (9,)),
            ("Search", (8, 9)),
            ("list", (10, 11)),
            ("one__list", (10,)),
            ("guest", ()),
            ("oracle", ()),
            ("", ()),
            ("+++", ()),
            ("x" * 5_000, ()),
            (None, ()),
            (7, ()),
        ],
    )
    def test_x08_a_spelling_finds_all_that_it_may_mean(self, spelling, positions):
        assert self.CATALOG.find(spelling) == positions

    def test_x08_raw_and_wire_names_are_both_found_exactly(self):
        for position, tool in enumerate(self.CATALOG):
            wire = self.CATALOG.wire_names[position]
            assert position in self.CATALOG.find(tool.name)
            assert self.CATALOG.find(wire) == (position,)
            assert self.CATALOG.raw(wire) == (tool.namespace, tool.name)
            assert self.CATALOG.position(wire) == position

    def test_position_wants_an_exact_and_unique_name(self):
        catalog = Catalog(SHOP)
        assert catalog.position("search") == 2  # the wire name of the one without a namespace
        assert catalog.position("shop.search") == catalog.position("shop__search") == 1
        assert catalog.position("addToCart") == 3
        with pytest.raises(UnknownToolError, match="shop__addToCart"):
            catalog.position("add_to_cart")
        with pytest.raises(UnknownToolError, match="Nearest: addToCart, shop__addToCart"):
            catalog.position("addToKart")
        with pytest.raises(UnknownToolError, match=r"2 tools.*a__x, b__x"):
            Catalog([t("x", server="a"), t("x", server="b")]).position("x")
        with pytest.raises(UnknownToolError):
            catalog.position(None)
        with pytest.raises(UnknownToolError):
            catalog.raw("shop.nothing")


NAMES = st.one_of(
    st.sampled_from(["get-item", "get_item", "get.item", "search", "a__b", "mcp__s__x"]), st.text(max_size=30)
)
DEFINITIONS = st.lists(
    st.builds(
        lambda name, space: t(name, namespace=space),
        NAMES,
        st.one_of(st.none(), st.sampled_from("ab"), NAMES),
    ),
    max_size=12,
)


@given(DEFINITIONS, st.randoms(use_true_random=False))
def test_x08_names_do_not_depend_on_the_order_of_registration(definitions, rng):
    catalog = Catalog(definitions)
    shuffled = list(catalog)
    rng.shuffle(shuffled)
    other = Catalog(shuffled)
    assert {tool.identity: other.wire_names[i] for i, tool in enumerate(other)} == {
        tool.identity: catalog.wire_names[i] for i, tool in enumerate(catalog)
    }
    for position, wire in enumerate(catalog.wire_names):
        assert catalog.raw(wire) == catalog[position].identity
        assert position in catalog.find(wire)
        assert position in catalog.find(catalog[position].name)


class TestPolicy:
    TOOLS = (
        t("search", server="wiki"),
        t("edit", server="wiki"),
        t("search", server="shop"),
        t("search"),
        t("wiki/x"),
    )

    @pytest.mark.parametrize(
        ("pattern", "positions"),
        [
            ("wiki/*", [0, 1, 4]),
            ("wiki/search", [0]),
            ("search", [0, 2, 3]),
            ("*/search", [0, 2]),
            ("s*", [0, 2, 3]),
            ("[!w]*/*", [2]),
            ("*", [0, 1, 2, 3, 4]),
        ],
    )
    def test_c02_a_pattern_flags_its_tools_only(self, pattern, positions):
        catalog = Catalog(self.TOOLS)
        flagged = catalog.with_policy(pattern, "always")
        assert [i for i, tool in enumerate(flagged) if tool.defer == "always"] == positions
        assert {tool.defer for tool in catalog} == {"automatic"}
        assert flagged.wire_names == catalog.wire_names

    def test_c02_only_that_server(self):
        catalog = Catalog([t("a", server="wiki"), t("b", server="wiki2"), t("wiki/c", server="shop")])
        assert [tool.defer for tool in catalog.with_policy("wiki/*", "always")] == [
            "always",
            "automatic",
            "automatic",
        ]

    def test_c02_what_matches_nothing_raises(self):
        with pytest.raises(ConfigError, match=r"wiki/\*"):
            Catalog(self.TOOLS).with_policy("wikki/*", "always")
        with pytest.raises(ConfigError, match="never, automatic, always"):
            Catalog(self.TOOLS).with_policy("wiki/*", "later")
        with pytest.raises(ConfigError, match="text"):
            Catalog(self.TOOLS).with_policy(None, "always")

    def test_a_flagged_catalog_keeps_its_report(self):
        flagged = Catalog([*self.TOOLS, 7]).with_policy("*", "never")
        assert len(flagged.report.quarantined) == 1
        assert [tool.defer for tool in Catalog(flagged)] == ["never"] * 5


class TestReplace:
    def test_x13_one_namespace_is_swapped_in_place(self):
        old = Catalog([t("a"), t("x", server="s"), t("b", server="r"), t("y", server="s"), t("c")])
        new = old.replace("s", [t("z"), t("x", "newer"), 7])
        assert named(new) == [(None, "a"), ("s", "z"), ("s", "x"), ("r", "b"), (None, "c")]
        assert new["s.x"].description == "newer"
        assert named(old) == [(None, "a"), ("s", "x"), ("r", "b"), ("s", "y"), (None, "c")]
        assert new[0] is old[0]
        assert [entry.where for entry in new.report.quarantined] == ["[2]"]
        assert len(new.report.ok) == 5

    def test_x13_new_namespaces_go_to_the_end_and_empty_ones_vanish(self):
        old = Catalog([t("a"), t("x", server="s")])
        assert named(old.replace("new", [t("n")])) == [(None, "a"), ("s", "x"), ("new", "n")]
        assert named(old.replace("s", [])) == [(None, "a")]
        assert named(old.replace(None, [t("b")])) == [(None, "b"), ("s", "x")]

    def test_x13_another_namespaces_tool_is_refused(self):
        new = Catalog([t("x", server="s")]).replace("s", [t("y", server="r"), ToolDefinition(name="z")])
        assert named(new) == [("s", "z")]
        assert new.report.quarantined[0].problems[-1].path == "$.namespace"

    def test_strict_and_wrong_calls(self):
        catalog = Catalog(SHOP)
        with pytest.raises(InvalidToolError):
            catalog.replace("shop", [7], strict=True)
        with pytest.raises(DuplicateToolError):
            catalog.replace("shop", [t("a"), t("a")], strict=True)
        with pytest.raises(CatalogError):
            catalog.replace(7, [])
        with pytest.raises(CatalogError):
            catalog.replace("shop", None)

    def test_namespace_descriptions_follow(self):
        catalog = Catalog([{"type": "namespace", "name": "s", "description": "old", "tools": [t("a")]}])
        page = {"type": "namespace", "name": "s", "description": "new", "tools": [t("b")]}
        assert dict(catalog.replace("s", [page]).namespaces) == {"s": "new"}
        assert dict(catalog.replace("r", [t("c")]).namespaces) == {"s": "old", "r": ""}


class TestFingerprint:
    def test_equal_definitions_have_equal_fingerprints(self):
        one = Catalog([{"name": "a", "description": "d", "parameters": {"type": "object", "properties": {}}}])
        two = Catalog(
            [{"inputSchema": {"properties": {}, "type": "object"}, "description": "d", "name": "a"}]
        )
        assert one.fingerprint == two.fingerprint
        assert len(one.fingerprint) == 64

    @pytest.mark.parametrize(
        "change",
        [
            {"name": "b"},
            {"description": "e"},
            {"server": "s"},
            {"aliases": ["x"]},
            {"defer": "never"},
            {"strict": True},
        ],
    )
    def test_every_field_counts(self, change):
        base = Catalog([t("a", "d"), t("last")])
        other = Catalog([t("a", "d") | change, t("last")])
        assert base.fingerprint != other.fingerprint
        assert base.fingerprints[0] != other.fingerprints[0]
        assert base.fingerprints[1] == other.fingerprints[1]

    def test_order_counts(self):
        assert Catalog([t("a"), t("b")]).fingerprint != Catalog([t("b"), t("a")]).fingerprint


@pytest.mark.parametrize("name", ["add_guest", "createInvoice", "x", "lire-fichier"])
def test_x08_a_name_without_a_prefix_has_no_bare_name(name):
    catalog = Catalog([{"name": name}])
    assert catalog.find(name) == (0,)
    assert catalog.find(name[1:]) == ()
