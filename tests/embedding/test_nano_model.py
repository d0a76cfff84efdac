"""The shipped static model: its papers, its size, the contract, and what it finds."""

from __future__ import annotations

import json

import numpy as np
import pytest

from semantic_toolsearch import ToolSearch
from semantic_toolsearch.embedding import StaticEmbedder, resolve_embedder, shipped_model
from semantic_toolsearch.testing import check_embedder

FOLDER = shipped_model("nano")


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder(FOLDER)


def test_s18_the_shipped_static_model_keeps_the_contract(embedder: StaticEmbedder) -> None:
    check_embedder(embedder)
    assert resolve_embedder("nano").id == embedder.id


def test_its_manifest_states_licence_recipe_and_size() -> None:
    manifest = json.loads((FOLDER / "manifest.json").read_text())
    assert (manifest["kind"], manifest["license"]) == ("static", "Apache-2.0")
    assert manifest["id"].startswith("toolsearch-nano")
    assert (FOLDER / manifest["recipe"]).is_file()
    assert "Apache License" in (FOLDER / "LICENSE").read_text()
    assert "all-MiniLM-L6-v2" in (FOLDER / "NOTICE").read_text()
    assert sum(stated["bytes"] for stated in manifest["files"].values()) <= 8 * 2**20


def test_its_tokenizer_leaves_padding_and_truncation_to_the_code() -> None:
    tokenizer = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
    assert (tokenizer["padding"], tokenizer["truncation"]) == (None, None)


def test_texts_that_say_nothing_to_it_are_near_to_nothing(embedder: StaticEmbedder) -> None:
    known = [
        "create invoice: Bill a customer.",
        "git reset: Unstage changes.",
        "Weather of the next days at a place.",
    ]
    assert np.abs(embedder.encode_document(known) @ embedder.encode_query([""])[0]).max() < 0.3
    assert np.abs(embedder.encode_query(known) @ embedder.encode_document([""])[0]).max() < 0.3


def test_s18_it_is_one_short_name_away() -> None:
    tools = [
        {"name": "createInvoice", "description": "Create an invoice for an order."},
        {"name": "send_email", "description": "Send an e-mail message."},
        {"name": "get_forecast", "description": "Weather of the next days at a place."},
    ]
    result = ToolSearch(tools, embedder="nano", cache=False).search("bill a customer")
    assert [hit.name for hit in (*result.tools, *result.hints)][:1] == ["createInvoice"]
