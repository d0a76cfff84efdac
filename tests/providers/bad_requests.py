"""One request for each rule that breaks this rule and no other, with where it breaks it."""

from __future__ import annotations

from wire_requests import obj

# Anthropic


def plain(name="fx_rate", **fields):
    return {"name": name, "description": "d", "input_schema": obj(pair={"type": "string"}), **fields}


BM25 = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
REGEX = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
EPHEMERAL = {"type": "ephemeral"}
LATER = {"defer_loading": True}


def use(identity="toolu_1", name="fx_rate"):
    return {"type": "tool_use", "id": identity, "name": name, "input": {}}


def result(identity="toolu_1", content="0.92"):
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


def reference(name="fx_rate"):
    return {"type": "tool_reference", "tool_name": name}


def server_use(identity="srvtoolu_1"):
    return {"type": "server_tool_use", "id": identity, "name": BM25["name"], "input": {"query": "q"}}


def server_result(*names, identity="srvtoolu_1"):
    found = {"type": "tool_search_tool_search_result", "tool_references": [reference(name) for name in names]}
    return {"type": "tool_search_tool_result", "tool_use_id": identity, "content": found}


def talk(*turns):
    """User and assistant in turn."""
    roles = ("user", "assistant")
    return [{"role": roles[index % 2], "content": content} for index, content in enumerate(turns)]


TEXT = {"type": "text", "text": "and?"}

ANTHROPIC = [
    ("tool_shape", "$.tools[0]", {"tools": [{"name": "a", "description": "d"}]}),
    ("tool_shape", "$.tools[0].input_schema.type", {"tools": [plain(input_schema={"type": "string"})]}),
    (
        "tool_shape",
        "$.tools[0].input_schema.anyOf",
        {"tools": [plain(input_schema={**obj(), "anyOf": [obj()]})]},
    ),
    ("tool_name", "$.tools[0].name", {"tools": [plain("calendar.respond")]}),
    ("tool_name", "$.tools[0].name", {"tools": [plain("x" * 129)]}),
    (
        "property_name",
        "$.tools[0].input_schema.properties.$filter",
        {"tools": [plain(input_schema=obj(**{"$filter": {"type": "string"}}))]},
    ),
    ("unique_names", "$.tools[1].name", {"tools": [plain(), plain()]}),
    ("all_deferred", "$.tools", {"tools": [plain(**LATER), plain("other", **LATER)]}),
    (
        "all_deferred",
        "$.tools",
        {
            "tools": [
                {"type": "mcp_toolset", "mcp_server_name": "gh", "default_config": {"defer_loading": True}}
            ]
        },
    ),
    ("deferred_limit", "$.tools", {"tools": [BM25, *(plain(f"t{i}", **LATER) for i in range(10_001))]}),
    ("search_deferred", "$.tools[0].defer_loading", {"tools": [{**BM25, **LATER}, plain()]}),
    ("search_identity", "$.tools[0].name", {"tools": [{**BM25, "name": "tool_search"}, plain()]}),
    ("search_identity", "$.tools[0].type", {"tools": [{**BM25, "type": "tool_search_tool_bm25_20990101"}]}),
    ("one_search", "$.tools[1]", {"tools": [BM25, REGEX, plain(**LATER)]}),
    (
        "deferred_cache_control",
        "$.tools[1].cache_control",
        {"tools": [BM25, plain(**LATER, cache_control=EPHEMERAL)]},
    ),
    ("cache_breakpoints", "$", {"tools": [plain(f"t{i}", cache_control=EPHEMERAL) for i in range(5)]}),
    (
        "cache_breakpoints",
        "$",
        {
            "tools": [plain(f"t{i}", cache_control=EPHEMERAL) for i in range(3)],
            "messages": talk([{**TEXT, "cache_control": EPHEMERAL}]),
            "settings": {"system": [{**TEXT, "cache_control": EPHEMERAL}]},
        },
    ),
    (
        "transport_fields",
        "$.tools[0]",
        {"tools": [plain(**LATER), plain("b")], "transport": "bedrock_converse"},
    ),
    ("transport_fields", "$.tools[1]", {"tools": [plain(), REGEX], "transport": "openrouter"}),
    ("bedrock_variant", "$.tools[0]", {"tools": [BM25, plain(**LATER)], "transport": "bedrock_invoke"}),
    (
        "beta_header",
        "$.betas[0]",
        {"tools": [BM25, plain(**LATER)], "settings": {"betas": ["advanced-tool-use-2025-11-20"]}},
    ),
    ("sampling_fields", "$.temperature", {"tools": [plain()], "settings": {"temperature": 0.2}}),
    (
        "choice_unknown",
        "$.tool_choice.name",
        {"tools": [plain()], "tool_choice": {"type": "tool", "name": "x"}},
    ),
    (
        "choice_deferred",
        "$.tool_choice.name",
        {"tools": [BM25, plain(**LATER)], "tool_choice": {"type": "tool", "name": "fx_rate"}},
    ),
    (
        "choice_deferred",
        "$.tool_choice.name",
        {"tools": [BM25, plain(**LATER)], "tool_choice": {"type": "tool", "name": BM25["name"]}},
    ),
    (
        "reference_unknown",
        "$.messages[2].content[0].content[0].tool_name",
        {"tools": [plain()], "messages": talk("q", [use()], [result(content=[reference("gone")])])},
    ),
    (
        "reference_unknown",
        "$.messages[1].content[1].content.tool_references[0].tool_name",
        {"tools": [BM25, plain(**LATER)], "messages": talk("q", [server_use(), server_result("gone")])},
    ),
    (
        "reference_unknown",
        "$.messages[1].content[0].tool.name",
        {
            "tools": [plain()],
            "messages": [
                *talk("q"),
                {
                    "role": "system",
                    "content": [
                        {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "gone"}}
                    ],
                },
            ],
        },
    ),
    (
        "transport_references",
        "$.messages[2].content[0].content[0].tool_name",
        {
            "tools": [plain()],
            "messages": talk("q", [use()], [result(content=[reference()])]),
            "transport": "bedrock_converse",
        },
    ),
    (
        "empty_tool_result",
        "$.messages[2].content[0].content",
        {"tools": [plain()], "messages": talk("q", [use()], [result(content=[])])},
    ),
    (
        "mixed_references",
        "$.messages[2].content[0].content",
        {"tools": [plain()], "messages": talk("q", [use()], [result(content=[TEXT, reference()])])},
    ),
    (
        "server_call_answered",
        "$.messages[2].content[0].tool_use_id",
        {"tools": [BM25, plain(**LATER)], "messages": talk("q", [server_use()], [result("srvtoolu_1")])},
    ),
    (
        "open_server_call",
        "$.messages[2]",
        {"tools": [BM25, plain()], "messages": talk("q", [server_use(), use()], [result(), TEXT])},
    ),
    (
        "open_server_call",
        "$.messages[2]",
        {"tools": [BM25, plain()], "messages": talk("q", [server_use()], "go on")},
    ),
    (
        "open_server_call",
        "$.messages[3]",
        {"tools": [BM25, plain()], "messages": talk("q", [server_use(), use()], [result()], [TEXT])},
    ),
    (
        "open_server_call",
        "$.messages[1].content[0]",
        {"tools": [plain()], "messages": talk("q", [server_use(), use()], [result()])},
    ),
    (
        "open_server_call",
        "$.messages[1].content[0]",
        {
            "tools": [REGEX, plain()],
            "messages": talk("q", [{**server_use(), "name": REGEX["name"]}, use()], [result()]),
            "transport": "bedrock_invoke",
        },
    ),
    (
        "server_result_orphan",
        "$.messages[1].content[0]",
        {"tools": [BM25, plain()], "messages": talk("q", [server_result("fx_rate")])},
    ),
    (
        "call_unanswered",
        "$.messages[1].content[1]",
        {"tools": [plain()], "messages": talk("q", [use(), use("toolu_2")], [result()])},
    ),
    (
        "call_unanswered",
        "$.messages[1].content[0]",
        {"tools": [plain()], "messages": talk("q", [use()], "never mind")},
    ),
    (
        "result_orphan",
        "$.messages[2].content[1]",
        {"tools": [plain()], "messages": talk("q", [use()], [result(), result("toolu_9")])},
    ),
    ("result_orphan", "$.messages[0].content[0]", {"tools": [plain()], "messages": talk([result()])}),
    (
        "result_duplicate",
        "$.messages[2].content[1]",
        {"tools": [plain()], "messages": talk("q", [use()], [result(), result()])},
    ),
    (
        "stream_fragment",
        "$.messages[1].content[0]",
        {"tools": [plain()], "messages": talk("q", [{"type": "input_json_delta", "partial_json": "{"}])},
    ),
    (
        "response_only_field",
        "$.messages[1].content[0].parsed_output",
        {"tools": [plain()], "messages": talk("q", [{**TEXT, "parsed_output": {}}])},
    ),
]

# OpenAI Responses


def flat(name="fx_rate", **fields):
    parameters = obj(pair={"type": "string"})
    return {
        "type": "function",
        "name": name,
        "description": "d",
        "parameters": parameters,
        "strict": False,
        **fields,
    }


def closed(**properties):
    return {**obj(**properties), "required": list(properties), "additionalProperties": False}


def space(*tools, name="crm", **fields):
    return {"type": "namespace", "name": name, "description": "Customers.", "tools": list(tools), **fields}


SEARCH = {"type": "tool_search"}
CLIENT = {"type": "tool_search", "execution": "client", "description": "d", "parameters": obj()}
USER = {"role": "user", "content": "q"}


def call(name="fx_rate", identity="call_1", **fields):
    return {"type": "function_call", "call_id": identity, "name": name, "arguments": "{}", **fields}


def output(identity="call_1"):
    return {"type": "function_call_output", "call_id": identity, "output": "0.92"}


def search_pair(*tools, identity="call_s"):
    shared = {"call_id": identity, "execution": "client", "status": "completed"}
    return [
        {"type": "tool_search_call", **shared, "arguments": {"query": "q"}},
        {"type": "tool_search_output", **shared, "tools": list(tools)},
    ]


HOSTED_PAIR = [
    {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {"paths": ["crm"]}},
    {
        "type": "tool_search_output",
        "call_id": None,
        "execution": "server",
        "tools": [space(flat("find", **LATER))],
    },
]
NESTED = {"type": "function", "function": {"name": "a", "parameters": obj()}}
DEFERRED = [space(flat("find", **LATER)), flat(**LATER), SEARCH]

RESPONSES = [
    ("flat_shape", "$.tools[0]", {"tools": [NESTED | {"name": "a"}]}),
    ("flat_shape", "$.tools[0]", {"tools": [{"type": "function", "name": "a", "parameters": obj()}]}),
    ("schema_object", "$.tools[0].parameters", {"tools": [flat(parameters={"type": "string"})]}),
    (
        "schema_object",
        "$.tools[0].parameters.anyOf",
        {"tools": [flat(parameters={**obj(), "anyOf": [obj()]})]},
    ),
    (
        "schema_properties",
        "$.tools[0].parameters.properties",
        {"tools": [flat(parameters={"type": "object"})]},
    ),
    (
        "schema_items",
        "$.tools[0].parameters.properties.a",
        {"tools": [flat(parameters=obj(a={"type": "array"}))]},
    ),
    (
        "strict_schema",
        "$.tools[0].parameters",
        {"tools": [flat(strict=True, parameters={**obj(), "additionalProperties": True})]},
    ),
    (
        "strict_schema",
        "$.tools[0].tools[0].parameters.properties.a",
        {"tools": [space(flat(strict=True, parameters=closed(a=obj())))]},
    ),
    (
        "strict_schema",
        "$.tools[0].parameters",
        {"tools": [flat(strict=True, parameters={**closed(a={"type": "string"}), "required": []})]},
    ),
    ("flat_shape", "$.tools[0].tools[0]", {"tools": [space({**NESTED, "name": "a"})]}),
    ("foreign_field", "$.tools[0].cache_control", {"tools": [flat(cache_control=EPHEMERAL)]}),
    ("foreign_field", "$.tools[0].tools[0].input_schema", {"tools": [space(flat(input_schema=obj()))]}),
    ("tool_name", "$.tools[0].name", {"tools": [flat("datei öffnen")]}),
    ("tool_name", "$.tools[0].name", {"tools": [space(flat(), name="File Operations")]}),
    ("tool_name", "$.tools[0].tools[0].name", {"tools": [space(flat("users/profile"))]}),
    ("unique_names", "$.tools[1].name", {"tools": [flat(), flat()]}),
    ("unique_names", "$.tools[0].tools[1].name", {"tools": [space(flat(), flat())]}),
    ("deferred_needs_search", "$.tools", {"tools": [flat(**LATER)]}),
    ("deferred_needs_search", "$.tools", {"tools": [space(flat(**LATER))]}),
    ("search_needs_deferred", "$.tools[1]", {"tools": [flat(), SEARCH]}),
    ("one_search", "$.tools[2]", {"tools": [flat(**LATER), SEARCH, SEARCH]}),
    ("client_search_fields", "$.tools[0].description", {"tools": [{**CLIENT, "description": ""}]}),
    (
        "client_search_fields",
        "$.tools[0].parameters",
        {"tools": [{key: value for key, value in CLIENT.items() if key != "parameters"}]},
    ),
    ("search_fields", "$.tools[0].execution", {"tools": [{**CLIENT, "execution": "local"}]}),
    ("search_fields", "$.tools[1].description", {"tools": [flat(**LATER), {**SEARCH, "description": "d"}]}),
    ("namespace_fields", "$.tools[0].description", {"tools": [{**space(flat()), "description": " "}]}),
    ("namespace_fields", "$.tools[0].tools", {"tools": [space()]}),
    ("namespace_deferred", "$.tools[0].defer_loading", {"tools": [space(flat(**LATER), **LATER), SEARCH]}),
    ("namespace_members", "$.tools[0].tools[0]", {"tools": [space(space(flat()))]}),
    (
        "namespace_size",
        "$.tools[0].tools",
        {"tools": [space(*(flat(f"f{i}", **LATER) for i in range(10))), SEARCH]},
    ),
    ("namespace_clash", "$.tools", {"tools": [flat("crm", **LATER), space(flat()), SEARCH]}),
    (
        "defer_unsupported",
        "$.tools[0].defer_loading",
        {"tools": [{"type": "web_search", "defer_loading": False}]},
    ),
    ("defer_unsupported", "$.tools[0].defer_loading", {"tools": [flat(defer_loading="yes")]}),
    ("defer_unsupported", "$.tools[0].tools[0].defer_loading", {"tools": [space(flat(defer_loading=1))]}),
    ("flat_deferral_dropped", "$.tools[0]", {"tools": [flat(**LATER), SEARCH], "transport": "openrouter"}),
    ("choice_search", "$.tool_choice", {"tools": DEFERRED, "tool_choice": "tool_search"}),
    ("choice_search", "$.tool_choice", {"tools": DEFERRED, "tool_choice": {"type": "tool_search"}}),
    (
        "choice_search",
        "$.tool_choice.name",
        {"tools": DEFERRED, "tool_choice": {"type": "function", "name": "tool_search"}},
    ),
    (
        "choice_deferred",
        "$.tool_choice.name",
        {"tools": DEFERRED, "tool_choice": {"type": "function", "name": "fx_rate"}},
    ),
    (
        "choice_namespace",
        "$.tool_choice.name",
        {"tools": DEFERRED, "tool_choice": {"type": "function", "name": "crm"}},
    ),
    (
        "choice_namespace",
        "$.tool_choice.name",
        {"tools": DEFERRED, "tool_choice": {"type": "function", "name": "find"}},
    ),
    (
        "choice_unknown",
        "$.tool_choice.name",
        {"tools": [flat()], "tool_choice": {"type": "function", "name": "x"}},
    ),
    ("choice_unreachable", "$.tool_choice", {"tools": [], "tool_choice": "required"}),
    (
        "choice_allowed",
        "$.tool_choice.tools",
        {
            "tools": [flat("now"), *DEFERRED],
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "auto",
                "tools": [{"type": "function", "name": "now"}],
            },
        },
    ),
    ("model_too_old", "$.model", {"tools": DEFERRED, "settings": {"model": "gpt-5.3-codex"}}),
    ("model_too_old", "$.model", {"tools": [CLIENT], "settings": {"model": "gpt-4.1"}}),
    (
        "missing_namespace",
        "$.input[1].namespace",
        {"tools": DEFERRED, "messages": [USER, call(), output()]},
    ),
    (
        "missing_namespace",
        "$.input[3].namespace",
        {"tools": DEFERRED, "messages": [USER, *HOSTED_PAIR, call("find"), output()]},
    ),
    (
        "missing_namespace",
        "$.input[3].namespace",
        {"tools": [CLIENT], "messages": [USER, *search_pair(flat(**LATER)), call(), output()]},
    ),
    (
        "namespace_unknown",
        "$.input[1].namespace",
        {"tools": DEFERRED, "messages": [USER, call("x", namespace="gone"), output()]},
    ),
    (
        "arguments_type",
        "$.input[1].arguments",
        {"tools": [flat()], "messages": [USER, call(arguments={}), output()]},
    ),
    (
        "arguments_type",
        "$.input[1].arguments",
        {"tools": [CLIENT], "messages": [USER, {**search_pair()[0], "arguments": "{}"}, search_pair()[1]]},
    ),
    ("output_without_call", "$.input[1]", {"tools": [flat()], "messages": [USER, output()]}),
    ("output_without_call", "$.input[1]", {"tools": [CLIENT], "messages": [USER, search_pair(flat())[1]]}),
    ("output_duplicate", "$.input[3]", {"tools": [flat()], "messages": [USER, call(), output(), output()]}),
    ("call_unanswered", "$.input[1]", {"tools": [flat()], "messages": [USER, call()]}),
    ("call_unanswered", "$.input[1]", {"tools": [CLIENT], "messages": [USER, search_pair()[0]]}),
    ("hosted_pair_broken", "$.input[1]", {"tools": DEFERRED, "messages": [USER, HOSTED_PAIR[1]]}),
    ("hosted_pair_broken", "$.input[1]", {"tools": DEFERRED, "messages": [USER, HOSTED_PAIR[0]]}),
    (
        "search_output_fields",
        "$.input[2].tools",
        {"tools": [CLIENT], "messages": [USER, search_pair()[0], {**search_pair()[1], "tools": None}]},
    ),
    (
        "search_output_fields",
        "$.input[2].tools[0]",
        {"tools": [CLIENT], "messages": [USER, *search_pair(NESTED)]},
    ),
]

# Chat Completions and Gemini


def nested(name="fx_rate", **fields):
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": obj(), **fields}}


ASKED = {
    "role": "assistant",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "fx_rate", "arguments": "{}"}}],
}
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "0.92"}

CHAT = [
    ("nested_shape", "$.tools[0]", {"tools": [flat()]}),
    ("schema_object", "$.tools[0].function.parameters", {"tools": [nested(parameters={"type": "array"})]}),
    (
        "schema_properties",
        "$.tools[0].function.parameters.properties",
        {"tools": [nested(parameters={"type": "object", "additionalProperties": True})]},
    ),
    (
        "schema_items",
        "$.tools[0].function.parameters.properties.a",
        {"tools": [nested(parameters=obj(a={"type": "array"}))]},
    ),
    ("strict_schema", "$.tools[0].function.parameters", {"tools": [nested(strict=True)]}),
    ("search_field", "$.tools[0].function.defer_loading", {"tools": [nested(**LATER)]}),
    ("search_field", "$.tools[0].defer_loading", {"tools": [{**nested(), **LATER}]}),
    ("search_field", "$.tools[0].type", {"tools": [SEARCH]}),
    ("tool_name", "$.tools[0].function.name", {"tools": [nested("a.b")]}),
    ("unique_names", "$.tools[1].function.name", {"tools": [nested(), nested()]}),
    ("tool_limit", "$.tools", {"tools": [nested(f"t{i}") for i in range(129)]}),
    (
        "choice_unknown",
        "$.tool_choice.function.name",
        {"tools": [nested()], "tool_choice": {"type": "function", "function": {"name": "x"}}},
    ),
    ("call_unanswered", "$.messages[0].tool_calls[0]", {"tools": [nested()], "messages": [ASKED, USER]}),
    ("call_unanswered", "$.messages[0].tool_calls[0]", {"tools": [nested()], "messages": [ASKED]}),
    ("result_orphan", "$.messages[1]", {"tools": [nested()], "messages": [USER, TOLD]}),
    ("result_duplicate", "$.messages[2]", {"tools": [nested()], "messages": [ASKED, TOLD, TOLD]}),
]


def declared(*functions):
    return [{"functionDeclarations": list(functions)}]


def function(name="fx_rate", **fields):
    return {"name": name, "description": "d", "parametersJsonSchema": obj(), **fields}


MODEL = {"role": "model", "parts": [{"functionCall": {"name": "fx_rate", "args": {}}}]}
ANSWER = {"functionResponse": {"name": "fx_rate", "response": {"output": "0.92"}}}

GEMINI = [
    (
        "declaration_shape",
        "$.tools[0].functionDeclarations[0].description",
        {"tools": declared({"name": "a"})},
    ),
    (
        "declaration_shape",
        "$.tools[0].functionDeclarations[0]",
        {"tools": declared(function(parameters=obj(a={"type": "string"})))},
    ),
    (
        "declaration_shape",
        "$.tools[0].functionDeclarations[0].parametersJsonSchema",
        {"tools": declared(function(parametersJsonSchema={"type": "string"}))},
    ),
    (
        "empty_properties",
        "$.tools[0].functionDeclarations[0].parameters.properties",
        {
            "tools": declared(
                {"name": "a", "description": "d", "parameters": {"type": "OBJECT", "properties": {}}}
            )
        },
    ),
    (
        "search_field",
        "$.tools[0].functionDeclarations[0].defer_loading",
        {"tools": declared(function(**LATER))},
    ),
    ("tool_name", "$.tools[0].functionDeclarations[0].name", {"tools": declared(function("3d_print"))}),
    ("unique_names", "$.tools[0].functionDeclarations[1].name", {"tools": declared(function(), function())}),
    ("tool_limit", "$.tools", {"tools": declared(*(function(f"t{i}") for i in range(129)))}),
    (
        "choice_unknown",
        "$.toolConfig",
        {
            "tools": declared(function()),
            "tool_choice": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["x"]}},
        },
    ),
    ("result_count", "$.contents[0]", {"tools": declared(function()), "messages": [MODEL]}),
    (
        "result_count",
        "$.contents[1]",
        {"tools": declared(function()), "messages": [MODEL, {"role": "user", "parts": [ANSWER, ANSWER]}]},
    ),
    (
        "result_count",
        "$.contents[0]",
        {"tools": declared(function()), "messages": [MODEL, {"role": "user", "parts": [{"text": "and?"}]}]},
    ),
]

BAD = [
    (api, *case)
    for api, cases in (("anthropic", ANTHROPIC), ("responses", RESPONSES), ("chat", CHAT), ("gemini", GEMINI))
    for case in cases
]
