"""Words and meaning together, and meaning alone: scores, confidence, exactness, other scripts and failure."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from library_tools import LIB, hashed, t
from made_up_rankers import FILES
from semantic_toolsearch import ToolSearch
from semantic_toolsearch.rankers.hybrid import HEAD, HybridRanker
from semantic_toolsearch.testing import HashingEmbedder

TOOLS = [
    t(f"{verb}_{thing}", f"{verb.capitalize()} every {thing} of the {owner}", server=owner)
    for owner in ("wiki", "shop", "clinic")
    for verb in ("copy", "move", "count", "print", "share")
    for thing in ("file", "mail", "page", "disk", "photo", "report", "invoice", "patient")
]
QUERIES = [
    "copy the files",
    "print an invoice",
    "patients",
    "share photos of the clinic",
    "wiki",
    "move",
    "夜の天気",
]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("ranker", ["hybrid", "semantic", "bm25"])
def test_d23_scores_have_a_zero_and_the_best_stands_first(model, ranker, query):
    ranking = ToolSearch(TOOLS, ranker=ranker, embedder=model).ranker.rank(query, limit=len(TOOLS))
    assert (ranking.scores > 0).all()
    assert (ranking.scores <= 1).all()
    assert (np.diff(ranking.scores) <= 1e-6).all()


class Arbitrary(HashingEmbedder):
    """Its meanings have nothing to do with words, so that the two arms disagree as much as they can."""

    def _encode(self, texts):
        seeds = [zlib.crc32(text.encode()) for text in texts]
        rows = np.abs([np.random.default_rng(seed).standard_normal(8) for seed in seeds])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("query", QUERIES)
def test_s12_a_small_pool_gives_the_exact_answer(query, monkeypatch):
    """However few are looked at first, the best come out as if all had been looked at."""
    ranker = hashed(TOOLS, embedder=Arbitrary(8)).ranker
    assert isinstance(ranker, HybridRanker)
    visible = np.arange(len(TOOLS)) % 3 > 0
    monkeypatch.setattr("semantic_toolsearch.rankers.hybrid.HEAD", 10)
    full = ranker.rank(query, limit=10, visible=visible)
    monkeypatch.setattr("semantic_toolsearch.rankers.hybrid._POOL", 1)
    small = ranker.rank(query, limit=10, visible=visible)
    assert small.positions.tolist() == full.positions.tolist()
    assert np.allclose(small.scores, full.scores, atol=1e-6)


@pytest.mark.parametrize("query", QUERIES)
def test_x05_a_larger_limit_changes_neither_order_nor_confidence(model, query):
    ranker = ToolSearch(TOOLS, embedder=model).ranker
    everything = ranker.rank(query, limit=len(TOOLS))
    for limit in (1, 5, HEAD):
        some = ranker.rank(query, limit=limit)
        assert some.positions.tolist() == everything.positions[:limit].tolist()
        assert some.strong.tolist() == everything.strong[:limit].tolist()


class SetCosines(HashingEmbedder):
    """Every text has a set cosine with "alpha beta"."""

    def _encode(self, texts):
        cosines = np.array(
            [1 if text in ("alpha beta", "alphabeta") else 0.33 if "gamma" in text else 0.1 for text in texts]
        )
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)


def test_x05_a_rare_word_makes_its_own_tool_sure_and_no_other():
    """The nearest tool stays unsure where another one holds the word that is the query."""
    word = t("word", " ".join(f"word{number}" for number in range(300)) + " alphabeta")
    search = hashed([t("near", "gamma delta"), word], embedder=SetCosines(2))
    result = search.search("alphabeta")
    assert [hit.name for hit in result.tools] == ["word"]
    ranking = search.ranker.rank("alphabeta", limit=2)
    assert (ranking.positions.tolist(), ranking.strong.tolist()) == ([1, 0], [True, False])
    alone = search.search("alphabeta", visible=["near"])
    assert (alone.tools, [hit.name for hit in alone.hints]) == ((), ["near"])


def test_x05_one_sure_tool_makes_the_query_answered():
    """What the band leaves is loaded: a near sibling of the answer is no less of one for its own cosine."""
    search = hashed([t("near", "gamma delta"), t("beside", "alpha"), t("far")], embedder=SetCosines(2))
    result = search.search("alpha beta")
    assert [hit.name for hit in result.tools] == ["near", "beside"]
    assert search.explain("alpha beta", "far").verdict == "banded"


@pytest.mark.parametrize("query", QUERIES)
def test_x05_no_unsure_tool_ranks_above_a_sure_one(model, query):
    strong = ToolSearch(TOOLS, embedder=model).ranker.rank(query, limit=HEAD).strong
    assert (np.diff(strong.astype(int)) <= 0).all()


def test_x05_a_tool_with_every_word_of_the_query_is_a_sure_answer(model):
    tools = [
        *FILES,
        t("zoo", "Runs the zoo. " + "Long reference text about anything. " * 40 + "Feeds quaggas."),
    ]
    result = ToolSearch(tools, embedder=model).search("quagga")
    assert [hit.name for hit in result.tools] == ["zoo"]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("keep a book longer", "renewLoan"),
        ("identify a library member", "find_reader"),
        ("money that visitors owe us", "fee-report"),
        ("put a novel aside for me", "reserve_title"),
    ],
)
@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
def test_s03_a_tool_is_found_by_meaning(model, ranker, query, name):
    result = ToolSearch(LIB, ranker=ranker, embedder=model).search(query)
    assert name in [hit.name for hit in (*result.tools, *result.hints)][:3]


@pytest.mark.parametrize(
    ("tools", "query", "name"),
    [
        (
            [("tide_table", "港の満潮と干潮の時刻"), ("ferry", "フェリーの出発時刻"), ("berth", "係留場所")],
            "満潮",
            "tide_table",
        ),
        ([("a", "查询天气预报"), ("b", "预订火车票"), ("c", "查找酒店")], "我想订一张火车票", "b"),
        ([("a", "Прогноз погоды"), ("b", "Заказать такси"), ("c", "Перевести текст")], "вызвать такси", "b"),
        ([("a", "주문을 취소"), ("b", "배송을 조회"), ("c", "환불을 요청")], "배송", "b"),
        ([("a", "ค้นหาเที่ยวบิน"), ("b", "จองโรงแรม"), ("c", "แปลงสกุลเงิน")], "โรงแรม", "b"),
        ([("a", "حجز رحلة"), ("b", "البحث عن مطعم"), ("c", "تحويل العملات")], "مطعم", "b"),
        ([("a", "Réserver un café"), ("b", "Louer un vélo"), ("c", "Trouver un hôtel")], "cafe", "a"),
        ([("a", "Κράτηση τραπεζιού"), ("b", "Πρόγνωση καιρού"), ("c", "Μετάφραση")], "καιρού", "b"),
    ],
)
def test_x18_a_word_in_another_script_is_not_drowned_by_an_english_model(model, tools, query, name):
    noise = [
        (f"english_{number}", text)
        for number, text in enumerate(["Send a mail", "Read a file", "Play music"])
    ]
    search = ToolSearch([t(*tool) for tool in [*noise, *tools]], embedder=model)
    assert search.search(query).tools[0].name == name


JAPANESE = {
    "天気取得": "指定した都市の天気予報を取得します",
    "予定追加": "予定をカレンダーに追加します",
    "予定削除": "カレンダーから予定を削除します",
    "送金": "口座から相手にお金を送ります",
    "残高照会": "口座の残高を確認します",
    "写真編集": "写真の明るさを変えます",
    "音楽再生": "曲を再生します",
    "宿予約": "ホテルの部屋を予約します",
    "病院検索": "近くの病院を探します",
    "会議作成": "会議の案内を作って送ります",
    "請求書": "請求書を作成します",
    "在庫確認": "商品の在庫を確認します",
}


@pytest.mark.parametrize(
    ("query", "name"),
    [("来週の予定を削除して", "予定削除"), ("請求書を送って", "請求書"), ("在庫はありますか", "在庫確認")],
)
def test_x18_noise_of_an_english_model_loads_nothing_beside_the_match(model, query, name):
    tools = [t(own, text) for own, text in JAPANESE.items()]
    result = ToolSearch(tools, embedder=model).search(query)
    assert [hit.tool.name for hit in result.tools][:1] == [name]
    assert len(result.tools) <= 3


class Failing(HashingEmbedder):
    def encode_query(self, texts):
        raise RuntimeError("CUDA out of memory")


@pytest.mark.parametrize("ranker", ["hybrid", "semantic"])
def test_s19_words_alone_decide_while_the_model_fails(ranker, caplog):
    search = hashed(ranker=ranker, embedder=Failing())
    result, words = search.search("extend the loan"), hashed(ranker="bm25").search("extend the loan")
    assert [hit.name for hit in result.tools] == [hit.name for hit in words.tools]
    assert "CUDA out of memory" in result.degraded
    explained = search.explain("extend the loan", "renewLoan")
    assert explained.degraded is not None
    assert "cosine" not in explained.arms
    assert explained.arms["bm25"] > 0


def test_s15_semantic_ranks_by_cosine_alone(model):
    search = ToolSearch(FILES, ranker="semantic", embedder=model)
    ranking = search.ranker.rank("run a program", limit=6)
    documents = model.encode_document(
        [f"{tool['name'].replace('_', ' ')}: {tool['description']}" for tool in FILES]
    )
    exact = documents @ model.encode_query(["run a program"])[0]
    expected = [place for place in np.argsort(-exact) if exact[place] > 0]
    assert ranking.positions.tolist() == expected
    assert np.allclose(ranking.scores, exact[expected], atol=1e-3)
