"""Saving and loading a search: the same answers, only what changed is embedded, and damage has a name."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty_parts import Moody
from semantic_toolsearch import Catalog, SearchConfig, ToolDefinition, ToolSearch, saved_tools
from semantic_toolsearch.errors import (
    CatalogError,
    EmbedderError,
    IndexCorruptError,
    IndexFormatError,
    IndexMismatchError,
)
from semantic_toolsearch.synthetic import synthetic_queries, synthetic_tools
from semantic_toolsearch.testing import HashingEmbedder

RANKERS = ("hybrid", "semantic", "bm25", "keyword", "regex")
TOOLS = synthetic_tools(60)
QUERIES = [
    *synthetic_queries(15), "", "*", "unfindable gibberish", "`create_invoice`", TOOLS[7]["name"], "招待状"
]  # fmt: skip


class Dead:
    """An embedder that must not be asked for anything but its name."""

    id, dimension = HashingEmbedder().id, HashingEmbedder().dimension

    def encode_document(self, texts):
        raise AssertionError("documents were embedded")

    encode_query = encode_document


def build(tools=TOOLS, **options):
    return ToolSearch(tools, **{"embedder": HashingEmbedder(), "cache": False, **options})


def load(path, tools=None, **options):
    return ToolSearch.load(path, tools, **{"embedder": HashingEmbedder(), "cache": False, **options})


def answers(search, queries=QUERIES):
    """Everything a caller sees, scores to the last bit, save the number of the generation."""
    results = [search.search(query) for query in queries]
    results += [search.search(query, visible={TOOLS[3]["name"], TOOLS[9]["name"]}) for query in queries[:5]]
    results.append(search.search(names=[TOOLS[5]["name"], "no such tool"]))
    return [
        (
            result.as_dict(),
            [(hit.score, hit.position, hit.tool) for hit in (*result.tools, *result.hints)],
        )
        for result in results
    ]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "index"


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("given_tools", [False, True], ids=["saved tools", "same tools"])
def test_s21_a_loaded_search_answers_as_the_saved_one(folder, ranker, given_tools):
    search = build(ranker=ranker)
    search.save(folder)
    loaded = load(folder, TOOLS if given_tools else None, ranker=ranker)
    assert answers(loaded) == answers(search)
    assert loaded.stats().registered == loaded.stats().indexed == len(TOOLS)


def test_s21_the_shipped_model_answers_the_same_after_loading(folder, model):
    tools = synthetic_tools(30)
    search = ToolSearch(tools, embedder=model)
    search.save(folder)
    assert answers(ToolSearch.load(folder)) == answers(search)


@settings(max_examples=40)
@given(query=st.text(max_size=40))
def test_s21_any_query_gets_the_same_scores_after_loading(pair, query):
    search, loaded = pair
    assert answers(loaded, [query]) == answers(search, [query])


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pair")
    search = build()
    search.save(folder)
    return search, load(folder)


@pytest.mark.parametrize("given_tools", [False, True], ids=["saved tools", "same tools"])
def test_s21_loading_embeds_nothing(folder, given_tools):
    build().save(folder)
    embedder = HashingEmbedder()
    loaded = load(folder, TOOLS if given_tools else None, embedder=embedder)
    loaded.search("plan a meeting")
    assert (embedder.documents, embedder.queries) == (0, 1)
    assert loaded.stats().embedded == 0


def test_s21_names_and_lexical_rankers_need_no_model_after_loading(folder):
    build().save(folder)
    loaded = load(folder, embedder=Dead())
    assert loaded.search(names=[TOOLS[0]["name"]]).tools[0].tool.name == TOOLS[0]["name"]
    assert len(loaded.search("").names) == len(TOOLS)
    lexical = load(folder, ranker="bm25", embedder=Dead())
    assert answers(lexical) == answers(build(ranker="bm25"))


def test_s21_what_was_saved_is_not_worked_out_again(folder, monkeypatch):
    """Neither words nor texts are made anew, which would take longer than all the rest of loading."""
    search = build()
    search.save(folder)
    expected = answers(search)

    def again(*args):
        raise AssertionError("worked out again")

    monkeypatch.setattr("semantic_toolsearch.rankers.bm25.lexical_tokens", again)
    monkeypatch.setattr("semantic_toolsearch.snapshot.dense_text", again)
    monkeypatch.setattr("semantic_toolsearch.catalog.wire_names", again)
    assert answers(load(folder)) == expected


@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25"])
def test_s21_only_definitions_that_an_answer_shows_are_read(folder, ranker, monkeypatch):
    """Reading all of them takes a third of a second at 10,000 tools, for an answer that shows ten."""
    build(ranker=ranker).save(folder)
    loaded = load(folder, ranker=ranker)
    read = []
    tool = saved_tools._tool
    monkeypatch.setattr(saved_tools, "_tool", lambda line, place: read.append(place) or tool(line, place))
    shown = set()
    for query in QUERIES:
        result = loaded.search(query)
        shown |= {hit.position for hit in (*result.tools, *result.hints)}
        assert set(read) <= shown
    assert len(read) == len(set(read)), "each one once"


def test_s21_x13_a_replacement_after_loading_keeps_every_vector_with_its_text(folder):
    search, embedder = build(), HashingEmbedder()
    search.save(folder)
    loaded = load(folder, embedder=embedder)
    new = [{"name": "brand_new", "description": "Do something that nobody did."}]
    for each in (search, loaded):
        each.replace("fresh", new)
    assert answers(loaded) == answers(search)
    assert embedder.documents == 1


def changed(tools, place):
    return [
        {**tool, "description": "Entirely new."} if number == place else tool
        for number, tool in enumerate(tools)
    ]


EDITS = {
    "one changed": (changed(TOOLS, 50), 1),
    "one removed": (TOOLS[:50] + TOOLS[51:], 0),
    "one added": ([*TOOLS, {"name": "brand_new", "description": "Do something that nobody did."}], 1),
    "all but two removed": (TOOLS[40:42], 0),
    "shuffled": (TOOLS[30:] + TOOLS[29::-1], 0),
    "only a policy changed": ([{**TOOLS[0], "defer": "always"}, *TOOLS[1:]], 0),
}


@pytest.mark.parametrize(("tools", "fresh"), EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25"])
def test_s21_loading_with_other_tools_embeds_only_the_changed(folder, tools, fresh, ranker):
    build(ranker=ranker).save(folder)
    embedder = HashingEmbedder()
    loaded = load(folder, tools, ranker=ranker, embedder=embedder)
    assert answers(loaded) == answers(build(tools, ranker=ranker))
    assert embedder.documents == (0 if ranker == "bm25" else fresh)
    assert len(loaded.catalog) == len(tools)


def test_s21_malformed_tools_are_reported_after_loading_and_strict_raises(folder):
    build().save(folder)
    broken = [*TOOLS, {"description": "No name at all."}]
    loaded = load(folder, broken)
    assert [entry.position for entry in loaded.report.quarantined] == [len(TOOLS)]
    assert loaded.stats().quarantined == 1
    assert loaded.stats().registered == len(TOOLS)
    with pytest.raises(CatalogError):
        load(folder, broken, strict=True)


RICH = [
    {
        "type": "namespace",
        "name": "wiki",
        "description": "Everything about the wiki.",
        "tools": [
            {"type": "function", "name": "search", "description": "Search pages.", "defer_loading": True},
            {"type": "function", "name": "edit", "description": "Edit a page.", "strict": True},
        ],
    },
    ToolDefinition(
        name="tile",
        description="Make a tile.",
        aliases=("dashboard tile",),
        tags=("bi", "数据"),
        defer="never",
        registered=False,
        parameters={
            "type": "object",
            "properties": {"größe": {"type": "integer", "maximum": 10**18, "default": 1.5e-7}},
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        },
        provider_fields={"cache_control": {"type": "ephemeral"}, "title": "Tile ✨"},
    ),
    {"name": "zero\u200bwidth", "description": "line\u2028separator\x85and\nnewline"},
    {"name": "emoji 😀 name", "description": "\ud83d cut in half", "inputSchema": {"type": "object"}},
    {"name": "a" * 200, "description": "Long name."},
]


def test_s21_every_field_of_a_definition_survives_in_order(folder):
    catalog = Catalog(RICH)
    assert not catalog.report.quarantined
    build(catalog).save(folder)
    loaded = load(folder).catalog
    assert tuple(loaded) == loaded.tools == catalog.tools
    assert [tool.model_dump() for tool in loaded] == [tool.model_dump() for tool in catalog]
    assert loaded.wire_names == catalog.wire_names
    assert loaded.identities == catalog.identities
    assert loaded.fingerprint == catalog.fingerprint
    assert loaded.namespaces == catalog.namespaces == {"wiki": "Everything about the wiki."}
    assert loaded["wiki__search"].defer == "always"
    assert loaded["tile"].registered is False
    assert len(loaded.report.ok) == len(catalog)
    assert loaded[1:3] == catalog[1:3]
    assert loaded.tools[0] in loaded


def test_s21_a_loaded_catalog_is_used_like_any_other(folder):
    build(RICH).save(folder)
    search = load(folder)
    search.replace("wiki", [{"name": "purge", "description": "Purge the cache of a page."}])
    assert search.search("purge the page cache").tools[0].name == "wiki__purge"
    assert search.catalog.identities[0] == ("wiki", "purge")
    assert "wiki__edit" not in search.catalog.wire_names
    assert [tool.defer for tool in load(folder).catalog.with_policy("tile", "always")][2] == "always"
    again = Catalog([*load(folder).catalog, *search.catalog.tools[:1]])
    assert not again.report.quarantined
    assert tuple(again)[:-1] == Catalog(RICH).tools


def test_s21_definitions_loaded_share_nothing_that_can_be_changed(folder):
    build([{"name": "a_b"}, {"name": "c_d"}]).save(folder)
    first, second = load(folder).catalog
    first.provider_fields["x"] = 1
    first.parameters["x"] = 1
    assert second.provider_fields == {}
    assert "x" not in second.parameters


def test_s21_a_second_save_replaces_the_first_and_a_loaded_search_can_be_saved(folder, tmp_path):
    search = build()
    search.save(folder)
    search.replace("billing", [])
    search.save(folder)
    loaded = load(folder)
    assert answers(loaded) == [(({**shown, "generation": 0}), hits) for shown, hits in answers(search)]
    loaded.save(tmp_path / "copy")
    assert answers(load(tmp_path / "copy", embedder=HashingEmbedder())) == answers(loaded)


@pytest.mark.parametrize("ranker", RANKERS)
def test_s21_an_empty_catalog_is_saved_and_loaded(folder, ranker):
    build([], ranker=ranker, embedder=Dead()).save(folder)
    for other in RANKERS:
        loaded = load(folder, ranker=other, embedder=Dead())
        assert loaded.search("anything").outcome == "no_match"
        assert loaded.search("").outcome == "browse"
    filled = load(folder, TOOLS, ranker=ranker)
    assert answers(filled) == answers(build(ranker=ranker))


@pytest.mark.parametrize("saved", RANKERS)
@pytest.mark.parametrize("wanted", RANKERS)
def test_s21_an_index_serves_any_ranker_whatever_it_was_saved_with(folder, saved, wanted):
    """What the folder lacks is built, what it has is used, what the ranker does not need is left alone."""
    build(ranker=saved).save(folder)
    embedder = HashingEmbedder()
    loaded = load(folder, ranker=wanted, embedder=embedder)
    assert answers(loaded) == answers(build(ranker=wanted))
    dense = ("hybrid", "semantic")
    assert embedder.documents == (len(TOOLS) if wanted in dense and saved not in dense else 0)
    assert loaded.stats().indexed == len(TOOLS)


def test_s21_a_custom_ranker_is_made_from_the_saved_catalog(folder):
    from semantic_toolsearch.rankers.keyword import KeywordRanker

    build(ranker=KeywordRanker).save(folder)
    loaded = load(folder, ranker=KeywordRanker, embedder=Dead())
    assert answers(loaded) == answers(build(ranker="keyword"))


def test_s21_config_of_the_load_counts(folder):
    build().save(folder)
    loaded = load(folder, config=SearchConfig(ranker="bm25", default_limit=2, band=0))
    assert loaded.ranker.name == "bm25"
    assert len(loaded.search("export or import").tools) == 2


def test_s21_another_embedder_is_refused_and_named(folder):
    build().save(folder)
    for ranker in ("hybrid", "semantic"):
        with pytest.raises(IndexMismatchError, match=r"hashing-256.*hashing-32"):
            load(folder, ranker=ranker, embedder=HashingEmbedder(32))
        with pytest.raises(IndexMismatchError):
            load(folder, TOOLS[:3], ranker=ranker, embedder=HashingEmbedder(32))
    assert load(folder, ranker="bm25", embedder=HashingEmbedder(32)).search(TOOLS[0]["name"]).tools


def test_s21_loading_does_not_ask_a_remote_embedder_for_its_length(folder):
    class Remote(HashingEmbedder):
        def __init__(self):
            super().__init__()
            self.lengths = 0

        @property
        def dimension(self):
            self.lengths += 1
            return 256

        @dimension.setter
        def dimension(self, value):
            pass

    build().save(folder)
    remote = Remote()
    load(folder, embedder=remote)
    assert remote.lengths == 0


def test_s21_another_recipe_is_refused_where_it_matters(folder, monkeypatch):
    build().save(folder)
    monkeypatch.setattr("semantic_toolsearch.saved.RECIPE", "of another version")
    with pytest.raises(IndexMismatchError, match="recipe"):
        load(folder)
    assert answers(load(folder, ranker="bm25")) == answers(build(ranker="bm25"))


def data_files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.parent != folder)


def test_s21_a_flipped_byte_in_any_file_is_found_before_anything_is_used(folder):
    build(TOOLS[:20]).save(folder)
    files = data_files(folder)
    assert {path.name for path in files} >= {"documents.jsonl", "names.json", "vectors.faiss", "words.json"}
    for path in files:
        whole = path.read_bytes()
        for place in (0, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            for ranker in ("hybrid", "bm25"):
                with pytest.raises(IndexCorruptError, match=path.name):
                    load(folder, ranker=ranker)
        path.write_bytes(whole)
    assert load(folder).search("meeting").outcome


def test_s21_a_missing_file_and_a_missing_index_have_names(folder, tmp_path):
    with pytest.raises(IndexFormatError):
        load(tmp_path / "nothing")
    build(TOOLS[:20]).save(folder)
    next(path for path in data_files(folder) if path.name == "names.json").unlink()
    with pytest.raises(IndexCorruptError, match=r"names\.json"):
        load(folder)


def rewritten(folder, name, change):
    """Change a file as somebody would who also mends the manifest; only such bytes pass the hashes."""
    import hashlib

    path = next(path for path in data_files(folder) if path.name == name)
    path.write_bytes(change(path.read_bytes()))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = {
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("names.json", lambda data: b"[]"),
        ("names.json", lambda data: b"{not json"),
        ("names.json", lambda data: json.dumps({**json.loads(data), "texts": []}).encode()),
        ("documents.jsonl", lambda data: data + data),
        ("documents.jsonl", lambda data: b"{}\n" * data.count(b"\n")),
        ("documents.jsonl", lambda data: b"no json\n" * data.count(b"\n")),
    ],
)
def test_s21_files_that_were_edited_by_hand_are_called_corrupt(folder, name, change):
    build(TOOLS[:20]).save(folder)
    rewritten(folder, name, change)
    with pytest.raises(IndexCorruptError):
        load(folder).search(TOOLS[0]["name"])


def test_s21_nothing_is_saved_while_the_model_fails_and_the_old_index_stays(folder):
    embedder = Moody(failing=False)
    search = build(embedder=embedder)
    search.save(folder)
    embedder.failing = True
    search.replace("fresh", [{"name": "brand_new", "description": "Never seen."}])
    with pytest.raises(EmbedderError, match="the endpoint is away"):
        search.save(folder)
    assert len(load(folder).catalog) == len(TOOLS)
    embedder.failing = False
    search.save(folder)
    assert len(load(folder).catalog) == len(TOOLS) + 1


def test_s21_progress_is_told_while_saving(folder):
    steps = []
    build(numbered := synthetic_tools(130)).save(
        folder, progress=lambda done, total: steps.append((done, total))
    )
    assert steps[0] == (0, len(numbered))
    assert steps[-1] == (len(numbered), len(numbered))
    assert steps == sorted(steps)
