from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest

from semantic_toolsearch import Catalog, ToolDefinition, ToolSearch
from semantic_toolsearch.evaluation.arms.flat_bm25 import FlatBm25Ranker, flat_words
from semantic_toolsearch.testing import check_ranker


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Find the cities", ["find", "cit"]),
        ("Booking bookings booked books book", ["book"] * 5),
        ("servers and a server", ["serv", "server"]),
        ("Can you please get me 3 x 12 invoices?", ["invoic"]),
        ("Don't tell the server's owner", ["server'", "owner"]),
        ("createInvoice", ["createinvoic"]),
        ("create_invoice", ["creat", "invoic"]),
        ("ＣＡＦＥ", ["caf"]),
        ("查询天气 API", ["查询", "询天", "天气", "api"]),
        ("猫", ["猫"]),
        ("", []),
    ],
)
def test_words_of_running_text(text, words):
    assert flat_words(text) == words


def test_names_are_split_at_capitals():
    assert flat_words("createInvoice", identifiers=True) == ["creat", "invoic"]


def a_catalog():
    return Catalog(
        [
            ToolDefinition(name="createInvoice", description="Bills a customer.", namespace="billing"),
            ToolDefinition(
                name="list_customers",
                description="Lists all customers, newest first.",
                parameters={
                    "type": "object",
                    "properties": {
                        "filter": {
                            "type": "object",
                            "properties": {"country": {"type": "string", "enum": ["Sweden"]}},
                        }
                    },
                },
            ),
            ToolDefinition(
                name="get_weather", description="Forecast of a city; customers love it, customers do."
            ),
        ]
    )


def test_scores_are_those_of_the_textbook_formula():
    ranker = FlatBm25Ranker(a_catalog())
    documents = [  # "customers" is stemmed and "customer" is not: light stems are that rough
        ["creat", "invoic", "bill", "bill", "customer"],
        ["list", "custom", "list", "custom", "newest", "first", "filter", "countr"],
        ["weather", "forecast", "cit", "custom", "lov", "custom"],
    ]
    query = ["custom", "bill", "unknown"]
    length = sum(map(len, documents)) / 3

    def score(document):
        total, counts = 0.0, Counter(document)
        for word in query:
            having = sum(word in each for each in documents)
            idf = log(1 + (3 - having + 0.5) / (having + 0.5))
            total += idf * counts[word] / (counts[word] + 1.2 * (0.25 + 0.75 * len(document) / length))
        return total

    ranking = ranker.rank("Customers: bills, bills and bills, unknown", limit=3)
    expected = [score(document) for document in documents]
    assert ranking.positions.tolist() == sorted(range(3), key=lambda place: -expected[place])
    # The library divides by the weight of the query, the same for all tools.
    ratios = [
        float(each) / expected[place] for place, each in zip(ranking.positions, ranking.scores, strict=True)
    ]
    assert ratios == pytest.approx([ratios[0]] * 3, rel=1e-5)


def test_nested_parameters_count_and_enum_values_do_not():
    ranker = FlatBm25Ranker(a_catalog())
    assert ranker.rank("countries", limit=5).positions.tolist() == [1]
    assert ranker.rank("Sweden", limit=5).positions.tolist() == []
    assert ranker.rank("billing", limit=5, visible=np.array([False, True, True])).positions.tolist() == []


def test_it_keeps_the_contract_of_rankers_and_searches():
    check_ranker(FlatBm25Ranker)
    found = ToolSearch(a_catalog(), ranker=FlatBm25Ranker).search("bill somebody")
    assert [hit.tool.name for hit in found.tools] == ["createInvoice"]
