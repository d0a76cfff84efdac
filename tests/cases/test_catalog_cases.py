"""Failures of other tool searches, from public reports: catalogs and schemas (BC-21 to BC-30)."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.catalog import Catalog
from semantic_toolsearch.errors import InvalidToolError
from semantic_toolsearch.schemas import schema_fields, wire_projection

LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def obj(**props):
    return {"type": "object", "properties": props}


def t(name, description="", parameters=None, **kw):
    return {
        "name": name,
        "description": description,
        "parameters": obj() if parameters is None else parameters,
        **kw,
    }


def first(tools, query, **options):
    """Raw name of the best hit, loaded or hinted at, for the lexical and for the default ranker."""
    best = []
    for ranker in ("bm25", None):
        result = ToolSearch(tools, ranker=ranker, cache=False, **options).search(query)
        hits = result.tools or result.hints
        best.append((hits[0].tool.namespace, hits[0].tool.name) if hits else None)
    return best


def both(name, namespace=None):
    return [(namespace, name)] * 2


def wire(catalog, name):
    """The tool as a request carries it, after a trip through JSON."""
    projected, _ = wire_projection(catalog[name].parameters)
    return json.loads(json.dumps(projected, ensure_ascii=False).encode())


NODE = obj(
    label={"type": "string", "description": "caption of the branch"},
    children={"type": "array", "items": {"$ref": "#/$defs/Node"}},
)
OUTLINE = t(
    "outline_save",
    "Store an outline",
    {**obj(root={"$ref": "#/$defs/Node"}), "required": ["root"], "$defs": {"Node": NODE}},
)
THREAD = t(
    "postThread",
    "Publish a discussion",
    {
        **obj(opening={"$ref": "#/definitions/Post"}),
        "definitions": {
            "Post": obj(author={"$ref": "#/definitions/Person"}, text={"type": "string"}),
            "Person": obj(
                nickname={"description": "pseudonym shown beside the message"},
                replies={"$ref": "#/definitions/Post"},
            ),
        },
    },
)
PIPELINE = t(
    "パイプライン登録",
    "処理を登録する",
    {
        **obj(step={"anyOf": [{"type": "string"}, {"$ref": "#"}], "description": "次の工程の名前"}),
        "required": ["step"],
    },
)


@pytest.mark.parametrize(
    ("tool", "query", "good", "bad"),
    [
        (
            OUTLINE,
            "caption of the branch",
            {"root": {"label": "a", "children": [{"label": "b", "children": [{"label": "c"}]}]}},
            {"root": {"label": "a", "children": [{"label": "b", "children": [{"label": 3}]}]}},
        ),
        (
            THREAD,
            "pseudonym shown beside the message",
            {
                "opening": {
                    "author": {
                        "nickname": "x",
                        "replies": {"text": "y", "author": {"replies": {"text": "z"}}},
                    }
                }
            },
            {
                "opening": {
                    "author": {"nickname": "x", "replies": {"text": "y", "author": {"replies": {"text": 1}}}}
                }
            },
        ),
        (PIPELINE, "次の工程の名前", {"step": {"step": {"step": "終"}}}, {"step": {"step": {"step": 3}}}),
    ],
)
def test_bc21_recursive_schemas(tool, query, good, bad):
    """Kind: schema. A schema that refers to itself is searched, sent and validated, and ends."""
    other = t("note_add", "Add a note")
    catalog = Catalog([tool, other], strict=True)
    assert len(catalog.report.ok) == 2
    assert first([tool, other], query) == both(tool["name"])
    assert wire(catalog, tool["name"]) == tool["parameters"]
    validator = jsonschema.Draft202012Validator(catalog[tool["name"]].parameters)
    assert validator.is_valid(good)
    assert not validator.is_valid(bad)


def test_bc21_self_referring_objects_and_great_depth():
    """Kind: schema. Python objects in a circle and nesting of 3,000 levels cost their own tool only."""
    circle = obj(a={"type": "string"})
    circle["properties"]["again"] = circle
    deep = {"type": "string"}
    for _ in range(3_000):
        deep = {"type": "array", "items": deep}
    catalog = Catalog([t("circle", "", circle), t("deep", "", obj(a=deep)), t("good", "Add a note")])
    assert [tool.name for tool in catalog] == ["good"]
    assert [(e.position, e.name) for e in catalog.report.quarantined] == [(0, "circle"), (1, "deep")]
    assert all(e.problems[-1].path.startswith("$.parameters") for e in catalog.report.quarantined)
    assert catalog.fingerprint


@pytest.mark.parametrize(
    ("union", "other", "properties", "good", "bad"),
    [
        (
            t(
                "ticket_find",
                "Find a ticket",
                {"anyOf": [obj(id={"type": "string"}), obj(email={"type": "string"})]},
            ),
            t("ticket_close", "Close a ticket", obj(id={"type": "string"})),
            ["id", "email"],
            {"id": "7"},
            {"id": 7, "email": 7},
        ),
        (
            t(
                "mesurerDistance",
                "Mesurer la distance entre deux lieux",
                {
                    "oneOf": [
                        {
                            **obj(ville={"type": "string"}),
                            "required": ["ville"],
                            "additionalProperties": False,
                        },
                        {**obj(lat={"type": "number"}, lon={"type": "number"}), "required": ["lat", "lon"]},
                    ]
                },
            ),
            t("tracerCarte", "Tracer une carte"),
            ["ville", "lat", "lon"],
            {"lat": 1, "lon": 2},
            {"lat": 1},
        ),
        (
            t(
                "перевод-денег",
                "Перевести деньги на счёт",
                {
                    "$ref": "#/$defs/Both",
                    "$defs": {
                        "Both": {
                            "allOf": [
                                {"$ref": "#/$defs/From"},
                                {**obj(to={"type": "string"}), "required": ["to"]},
                            ]
                        },
                        "From": {**obj(amount={"type": "number"}), "required": ["amount"]},
                    },
                },
            ),
            t("история", "Показать историю"),
            ["amount", "to"],
            {"amount": 1, "to": "x"},
            {"amount": 1},
        ),
    ],
)
def test_bc22_top_level_unions(union, other, properties, good, bad):
    """Kind: schema. A top-level union travels as an object with all properties, validated as registered."""
    catalog = Catalog([union, other], strict=True)
    assert first([union, other], union["description"]) == both(union["name"])
    assert first([union, other], other["description"]) == both(other["name"])
    projected = wire(catalog, union["name"])
    assert projected["type"] == "object"
    assert list(projected["properties"]) == properties
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & projected.keys()
    registered = jsonschema.Draft202012Validator(catalog[union["name"]].parameters)
    assert catalog[union["name"]].parameters == union["parameters"]
    assert registered.is_valid(good)
    assert not registered.is_valid(bad)
    assert jsonschema.Draft202012Validator(projected).is_valid(good)


@pytest.mark.parametrize(
    "schema", [{"type": "string"}, {"type": "array", "items": {}}, {"oneOf": [{"type": "null"}]}]
)
def test_bc22_no_projection_means_quarantine(schema):
    """Kind: schema. Without an object form the tool is left out with a reason, the other untouched."""
    catalog = Catalog([t("ticket_find", "Find a ticket", schema), t("ticket_close", "Close a ticket")])
    assert [tool.name for tool in catalog] == ["ticket_close"]
    assert "object" in catalog.report.quarantined[0].problems[-1].reason


BC23 = [
    {"name": "scene_list", "description": "Open scenes", "parameters": None},
    {"name": "scene_save", "description": "Save the scene"},
    {
        "name": "scene_dir",
        "description": None,
        "parameters": {"type": "object", "properties": None, "required": None},
    },
    {
        "name": "scene_tag",
        "description": "Tag it",
        "parameters": {"$schema": "http://json-schema.org/draft-07/schema#"},
    },
    t("scene_open", "Open a scene", obj(path={"type": "string"})),
]


@pytest.mark.parametrize(
    ("tools", "repaired"),
    [
        (BC23, 4),
        (
            [
                {"name": "pump.start", "inputSchema": {}},
                {"name": "pump.stop", "inputSchema": {"type": "object", "properties": []}, "description": 5},
                {"name": "pump.read", "inputSchema": {"type": "object", "properties": {"unit": None}}},
                {"name": "pump.log", "inputSchema": {"type": "object"}},
            ],
            3,
        ),
        (
            [
                {"type": "function", "function": {"name": "汇率"}},
                {
                    "type": "function",
                    "function": {"name": "换算", "parameters": {"properties": {"额": {"enum": None}}}},
                },
            ],
            2,
        ),
    ],
)
def test_bc23_missing_and_null_parts(tools, repaired):
    """Kind: schema. What is missing or null becomes an empty legal part, and the report says so."""
    catalog = Catalog(tools)
    assert len(catalog) == len(tools)
    assert len(catalog.report.repaired) == repaired
    assert all(entry.problems for entry in catalog.report.repaired)
    for tool in catalog:
        projected, _ = wire_projection(tool.parameters)
        jsonschema.Draft202012Validator.check_schema(projected)
        assert projected["type"] == "object"
        assert isinstance(projected["properties"], dict)
        assert None not in projected.values()
        assert isinstance(tool.description, str)


ORDER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["cond"],
    "properties": {"cond": {"$ref": "#/$defs/Cond", "description": "filter"}},
    "$defs": {
        "Cond": {
            "type": "object",
            "required": ["id"],
            "properties": {"id": {"type": "integer", "minimum": 1}, "kind": {"enum": ["a", "b", None]}},
        }
    },
}
DOSE = {
    "required": ["patient"],
    "definitions": {"Dose": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}},
    "properties": {
        "patient": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
        "dosis": {"anyOf": [{"$ref": "#/definitions/Dose"}, {"type": "null"}], "default": None},
    },
    "type": "object",
    "dependentRequired": {"dosis": ["patient"]},
}
SEATS = {
    "type": "object",
    "properties": {
        "座席": {
            "type": "array",
            "items": {"type": "string", "const": "窓"},
            "minItems": 1,
            "uniqueItems": True,
        },
        "日付": {"type": "string", "format": "date", "examples": ["2025-01-02"]},
    },
    "patternProperties": {"^x-": {"type": "string"}},
    "propertyNames": {"maxLength": 8},
    "minProperties": 1,
}


@pytest.mark.parametrize("params", [ORDER, DOSE, SEATS])
def test_bc24_the_schema_is_complete(params):
    """Kind: schema. A legal schema reaches the wire as it was registered, byte for byte."""
    catalog = Catalog([t("order_query", "Query orders", params)], strict=True)
    assert catalog.report.ok
    projected, notes = wire_projection(catalog["order_query"].parameters)
    assert json.dumps(projected) == json.dumps(params)
    assert notes == ()


@pytest.mark.parametrize(
    ("tools", "query", "expected"),
    [
        (
            [
                t("search", "Search the wiki", server="wiki"),
                t("search", "Search the shop", server="shop"),
                t("search", "Local file search"),
            ],
            "search the shop",
            ("shop", "search"),
        ),
        (
            [
                t("crear", "Crear una factura", server="facturas"),
                t("crear", "Crear una cita", server="citas"),
                t("Crear", "Crear un cliente", server="citas"),
            ],
            "crear una factura",
            ("facturas", "crear"),
        ),
        (
            [
                t("取得", "天気を取得", server="天気"),
                t("取得", "株価を取得", server="株価"),
                t("取得", "地図を取得", server="地 図"),
                t("取得", "写真を取得", server="地/図"),
            ],
            "株価を取得",
            ("株価", "取得"),
        ),
    ],
)
def test_bc25_same_name_on_several_servers(tools, query, expected):
    """Kind: names. Equal names coexist under distinct legal wire names that lead back to their own owner."""
    catalog = Catalog(tools, strict=True)
    assert len({name.lower() for name in catalog.wire_names}) == len(tools)
    assert all(LEGAL.fullmatch(name) for name in catalog.wire_names)
    assert [catalog.raw(name) for name in catalog.wire_names] == [
        (tool.get("server"), tool["name"]) for tool in tools
    ]
    assert first(tools, query) == [expected] * 2


@pytest.mark.parametrize(
    "names",
    [
        ("get-item", "get_item", "get.item"),
        ("list/all", "list all", "list::all", "LIST_ALL"),
        ("naïve", "naive", "nai\u0308ve", "na\u200bive"),
        ("注文", "注 文", "注.文"),
    ],
)
def test_bc26_names_that_become_equal(names):
    """Kind: names. Names that cleaning would make equal stay apart, in any order of registration."""
    seen = []
    for order in (names, names[::-1], names[1:] + names[:1]):
        catalog = Catalog([t(name, server="s") for name in order], strict=True)
        assert len({wire.lower() for wire in catalog.wire_names}) == len(names)
        assert all(LEGAL.fullmatch(wire) for wire in catalog.wire_names)
        seen.append({tool.name: catalog.wire_names[i] for i, tool in enumerate(catalog)})
    assert seen[0] == seen[1] == seen[2]


LONG = "mcp__plugin_warehouse-automation_inventory__reconcile_stock_levels_for_region"


@pytest.mark.parametrize(
    "tools",
    [
        [
            t("calendar.respondToEvent", "Answer an invitation"),
            t("users/profile", "A profile"),
            t("datei öffnen", "Open a file"),
            t(LONG, "Reconcile stock"),
        ],
        [
            t("GET /loans/{loan_id}", "Read a loan", server="https://library.example"),
            t("renewLoan()", "Extend a loan", server="https://library.example"),
            t("f" * 128, "Something long", server="library" * 20),
        ],
        [
            t("прогноз погоды", "Weather"),
            t("天気予報", "天気を調べる"),
            t("🌦now", "Emoji"),
            t("1st_choice", "First"),
        ],
    ],
)
def test_bc27_characters_and_length_that_providers_reject(tools):
    """Kind: names. Any raw name gets a legal wire name; both spellings find the tool, and calls map back."""
    catalog = Catalog(tools, strict=True)
    search = ToolSearch(tools, ranker="bm25", cache=False)
    for position, tool in enumerate(tools):
        name = catalog.wire_names[position]
        assert LEGAL.fullmatch(name)
        assert catalog.raw(name) == (tool.get("server"), tool["name"])
        assert catalog.find(tool["name"]) == catalog.find(name) == (position,)
        assert search.search(name).tools[0].position == position
        assert search.search(f"`{tool['name']}`").tools[0].position == position


@pytest.mark.parametrize(
    ("tools", "tail", "short"),
    [
        (
            [
                t(
                    "sandbox_run",
                    "Runs code in the sandbox. "
                    + "helper reference text " * 4500
                    + " The function zebrafish lists aquaria.",
                ),
                t("fish_list", "List fish"),
                t("code_format", "Format code"),
            ],
            ("zebrafish", "sandbox_run"),
            ("list fish", "fish_list"),
        ),
        (
            [
                t(
                    "kb",
                    "Base de connaissances. "
                    + "article de référence interne " * 3500
                    + " Voir aussi ornithorynque.",
                ),
                t("animal_photo", "Photographier un animal"),
                t("article_write", "Rédiger un article"),
            ],
            ("ornithorynque", "kb"),
            ("photographier un animal", "animal_photo"),
        ),
        (
            [
                t("manual", "機械の説明書。" + "部品と手順の参照。" * 11_000 + "最後に蓄電池の交換。"),
                t("bolt_order", "ボルトを注文する"),
                t("photo_print", "写真を印刷する"),
            ],
            ("蓄電池", "manual"),
            ("ボルトを注文", "bolt_order"),
        ),
    ],
)
def test_bc28_a_description_of_100_000_characters(tools, tail, short):
    """Kind: size. A huge description is indexed to its end, wins nothing else, and is remarked on."""
    catalog = Catalog(tools, strict=True)
    told = [entry for entry in catalog.report.entries if entry.problems]
    assert [(entry.position, entry.status) for entry in told] == [(0, "ok")]
    assert told[0].problems[0].path == "$.description"
    assert catalog[0].description == tools[0]["description"]
    assert first(tools, tail[0]) == both(tail[1])
    assert first(tools, short[0]) == both(short[1])


BC29 = [
    t("photo_tag", "Tag a photo \ud83d with a label"),
    t("log_clear", "Clear\x00 the\x07 log\u202e"),
    t("mail\u200b_send", "Send\u200b a mail"),
    t("badge", "Set a badge", obj(icon={"enum": ["\udc00", "star"]})),
]


@pytest.mark.parametrize(
    ("tools", "query", "expected"),
    [
        (BC29, "send mail", "mail\u200b_send"),
        (
            [
                t("raum_bu\u2060chen", "Einen Raum re\u00adservieren\u200b"),
                t(
                    "tür\u200dcode",
                    "Code\x1f der Tür\ufeff",
                    obj(tür={"title": "T\u202dür", "const": "\ud83dA"}),
                ),
                t("plan", "\U000e0049\U000e0067Plan zeigen"),
            ],
            "Raum reservieren",
            "raum_bu\u2060chen",
        ),
        (
            [
                t("متن\u200bساده", "پاک\u202bکردن متن"),
                t("نامه", "فرستادن\u061c نامه", obj(گیرنده={"description": "نشانی\u2067 گیرنده"})),
                t("عکس", "گرفتن عکس \udfff"),
            ],
            "فرستادن نامه",
            "نامه",
        ),
    ],
)
def test_bc29_characters_that_break_json_or_hide_text(tools, query, expected):
    """Kind: unicode. All that is sent is UTF-8 JSON; hidden characters neither split nor join words."""
    catalog = Catalog(tools, strict=True)
    assert len(catalog.report.repaired) == len(tools)
    for position, tool in enumerate(catalog):
        sent = {
            "name": catalog.wire_names[position],
            "description": tool.description,
            "parameters": tool.parameters,
        }
        json.dumps(sent, ensure_ascii=False).encode("utf-8")
        assert LEGAL.fullmatch(sent["name"])
        assert not re.search(
            "[\x00-\x08\u200b\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]", tool.description
        )
        for field in schema_fields(tool.parameters):
            (field.description + "".join(field.values)).encode("utf-8")
    assert first(tools, query) == both(expected)


@pytest.mark.parametrize(
    ("tools", "good"),
    [
        (
            [
                t("", "No name"),
                t("   ", "Blank"),
                {"name": None, "description": "Null"},
                {"name": 7, "description": "Number"},
                {"description": "Missing"},
                "not a dict",
                t("ok_tool", "Fine"),
            ],
            "ok_tool",
        ),
        (
            [
                {"type": "function", "function": {"description": "Missing", "parameters": obj()}},
                {"type": "function", "function": {"name": ["liste"]}},
                {"type": "function", "function": "prêt"},
                {"type": "function"},
                {"type": "function", "function": {"name": "prêt", "description": "Va bien"}},
            ],
            "prêt",
        ),
        (
            [
                {"name": "\u200b\u2060", "inputSchema": obj()},
                {"name": "\u3000\t", "inputSchema": obj()},
                {"name": {"en": "x"}, "inputSchema": obj()},
                None,
                3.5,
                b"tool",
                {"name": "よい", "inputSchema": obj()},
            ],
            "よい",
        ),
    ],
)
def test_bc30_names_that_are_not_names(tools, good):
    """Kind: schema. What has no name is quarantined with position and reason; strict reading raises."""
    catalog = Catalog(tools)
    assert [tool.name for tool in catalog] == [good]
    assert [entry.position for entry in catalog.report.quarantined] == list(range(len(tools) - 1))
    assert all(entry.problems[-1].reason for entry in catalog.report.quarantined)
    with pytest.raises(InvalidToolError, match=r"\[0\]"):
        Catalog(tools, strict=True)
    for bad in tools[:-1]:
        with pytest.raises(InvalidToolError):
            Catalog([bad], strict=True)
