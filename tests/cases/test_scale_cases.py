"""Failures of other tool searches, from public reports: a needle in a very large catalog (BC-56)."""

from __future__ import annotations

import numpy as np
import pytest
from case_tools import found, t

from semantic_toolsearch import Catalog, SearchConfig, ToolSearch
from semantic_toolsearch.testing import HashingEmbedder

SERVICES = (
    lambda i: t(f"svc{i % 700}_op_{i}", f"Operation {i} of service {i % 700}"),
    [
        t("aurora_forecast", "Chance of northern lights tonight"),
        t("zz_last_tool", "Polish brass instruments"),
    ],
    {"northern lights": 0, "polish brass": 1},
)
STATIONS = (
    lambda i: t(f"駅{i % 300}.処理{i}", f"{i % 300}番駅の処理{i}を行う"),
    [t("オーロラ.予報", "今夜の極光の見込み"), t("楽器.手入れ", "真鍮の楽器を磨く")],
    {"極光の見込み": 0, "真鍮を磨く": 1},
)
SHELVES = (
    lambda i: t(f"Полка{i}", f"Состояние полки {i} склада {i % 90}", server=f"склад-{i % 90}"),
    [t("Сияние", "Вероятность северного сияния ночью"), t("яяПоследний", "Полировать медные трубы")],
    {"северное сияние": 0, "полировать трубы": 1},
)
LARGE = {
    "reported": (SERVICES, 20_000),
    "japanese dotted": (STATIONS, 2_000),
    "cyrillic servers": (SHELVES, 2_000),
}


def haystack(kind, count, places):
    """Fillers with the needles at these places."""
    filler, needles, _ = kind
    tools = [filler(i) for i in range(count)]
    for place, needle in sorted(zip(places, needles, strict=True), key=lambda pair: pair[0]):
        tools.insert(place, needle)
    return tools


@pytest.fixture(scope="module", params=LARGE.values(), ids=list(LARGE))
def large(request):
    """A catalog with two needles, one first and one last, read once; what finds each of them."""
    kind, count = request.param
    _, needles, wanted = kind
    expected = {query: needles[place]["name"] for query, place in wanted.items()}
    return Catalog(haystack(kind, count, (0, count + 1))), expected


@pytest.mark.parametrize("ranker", ["bm25", "keyword"])
def test_bc56_needles_are_found_by_words(large, ranker):
    """Kind: scale. Among thousands of tools, at the first place and at the last, and any other by its name."""
    catalog, expected = large
    search = ToolSearch(catalog, ranker=ranker, cache=False)
    for query, needle in expected.items():
        asked = (
            query if ranker == "bm25" or query.isascii() else needle
        )  # the keyword ranker splits at spaces only
        assert found(search, asked)[0] == needle
    assert search.stats().registered == search.stats().indexed == len(catalog)
    last = len(catalog) - 1
    for place in {0, 1, min(4_095, last), min(4_096, last), min(16_384, last), last - 1, last}:
        assert search.search(f"`{catalog[place].name}`").tools[0].position == place


class WordSums(HashingEmbedder):
    """Quick enough for 20,000 texts: a word's vector is looked up, and a text's is the sum of its words'."""

    def __init__(self):
        super().__init__(64)
        self.id = "word-sums"
        self._words = {}

    def _encode(self, texts):
        matrix = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(":", " ").split():
                if word not in self._words:
                    self._words[word] = super()._encode([word])[0]
                matrix[row] += self._words[word]
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["reported", "cyrillic servers"])
def test_bc56_needles_are_found_by_vectors(name):
    """Kind: scale. Registered is indexed, and each text is embedded once."""
    kind, count = LARGE[name]
    catalog = Catalog(haystack(kind, count, (0, count + 1)))
    embedder = WordSums()
    search = ToolSearch(catalog, ranker="semantic", embedder=embedder, cache=False).prepare()
    assert search.stats().registered == search.stats().indexed == embedder.documents == count + 2
    for query, place in kind[2].items():
        assert (
            found(search, kind[1][place]["description"] if name != "reported" else query)[0]
            == kind[1][place]["name"]
        )


@pytest.mark.parametrize("ranker", ["semantic", "hybrid"])
def test_bc56_needles_are_found_in_a_graph_and_after_loading_it(ranker, tmp_path):
    """Kind: scale. The approximate index finds what is unlike all others, now and after a restart."""
    search = ToolSearch(
        haystack(SERVICES, 4_000, (0, 4_001)),
        ranker=ranker,
        embedder=WordSums(),
        cache=False,
        config=SearchConfig(hnsw_from=1_000),
    )
    search.save(tmp_path / "index")
    loaded = ToolSearch.load(tmp_path / "index", ranker=ranker, embedder=WordSums(), cache=False)
    for query, place in SERVICES[2].items():
        assert found(search, query)[0] == found(loaded, query)[0] == SERVICES[1][place]["name"]
    assert search.stats().registered == search.stats().indexed == loaded.stats().indexed == 4_002
    assert {each._snapshot.dense.index().kind for each in (search, loaded)} == {"hnsw"}


@pytest.mark.parametrize("places", [(0, 1), (500, 300), (0, 1_001), (1_001, 1_000)])
@pytest.mark.parametrize("kind", [SERVICES, STATIONS, SHELVES], ids=list(LARGE))
def test_bc56_needles_are_found_wherever_they_stand_by_the_default_ranker(kind, places):
    """Kind: scale. No page, no batch and no block of an index hides a place."""
    search = ToolSearch(haystack(kind, 1_000, places), embedder=HashingEmbedder(), cache=False)
    for query, place in kind[2].items():
        assert found(search, query)[0] == kind[1][place]["name"]


def test_bc56_tools_beyond_any_page_of_a_long_result_are_reached():
    """Kind: scale. Hundreds of equally good tools stand before the one that this caller may see."""
    tools = [t(f"report_{n:03}", "Write the monthly report") for n in range(900)]
    for ranker in ("bm25", "hybrid", "semantic", "keyword"):
        search = ToolSearch(tools, ranker=ranker, embedder=HashingEmbedder(), cache=False)
        for last in ("report_899", "report_450"):
            assert found(search, "monthly report", visible={last}) == [last]
