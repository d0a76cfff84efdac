"""The file of stored responses: what it holds, and what it survives."""

from __future__ import annotations

import json
import threading

import pytest
from hosted_sets import ask, asked, searches_once, shop

from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.evaluation.hosted import live_arm
from semantic_toolsearch.evaluation.hosted.requests import HOSTED, Requests
from semantic_toolsearch.evaluation.hosted.store import ResponseStore, Stored, store_path

NAME = "anthropic-bm25"


def stored(key="k", response=None, **fields):
    defaults = {
        "arm": NAME, "task": "shop", "query": "q", "model": "m", "sdk": "anthropic 1", "time": "2026-01-01T00:00:00",
        "seconds": 0.5,
    }  # fmt: skip
    return Stored(key=key, response=response, **{**defaults, **fields})


def test_responses_are_stored_as_they_came(tmp_path):
    _, server = ask(NAME, searches_once, tmp_path)
    lines = (tmp_path / NAME / "shop.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    received = [exchange.response for exchange in server.exchanges]
    assert sorted(map(str, (record["response"] for record in records))) == sorted(map(str, received))
    assert {record["query"] for record in records} == {query.id for query in shop().queries}
    for record in records:
        assert set(record) == {
            "key", "arm", "task", "query", "model", "sdk", "time", "seconds", "response",
        }  # fmt: skip
        assert record["sdk"].startswith("anthropic ")
        assert record["time"].endswith("+00:00")


def test_the_tools_that_openai_gives_back_are_left_out(tmp_path):
    _, server = ask("openai-tool-search", searches_once, tmp_path, concurrency=1)
    lines = (tmp_path / "openai-tool-search" / "shop.jsonl").read_text().splitlines()
    for line, exchange in zip(lines, server.exchanges, strict=True):
        response = json.loads(line)["response"]
        assert len(exchange.response["tools"]) > 5
        assert isinstance(response.pop("tools"), str)
        assert response == {key: value for key, value in exchange.response.items() if key != "tools"}


@pytest.mark.parametrize("cut", [1, 40, 300])
def test_a_line_that_was_cut_off_is_passed_over_told_and_asked_again(cut, tmp_path):
    answers, _ = ask(NAME, searches_once, tmp_path, concurrency=1)
    path = tmp_path / NAME / "shop.jsonl"
    path.write_bytes(path.read_bytes()[: -cut - 1])
    arm = live_arm(NAME, store=tmp_path, replay=True)
    replayed = asked(arm, shop())
    assert replayed.pop("q8").failed == "not stored"
    assert replayed == {id_: answer for id_, answer in answers.items() if id_ != "q8"}
    assert "shop.jsonl holds lines that cannot be read and are passed over: 8." in arm.notes
    again, server = ask(NAME, searches_once, tmp_path)
    assert len(server.exchanges) == 1
    assert again["q8"].failed is None
    assert asked(live_arm(NAME, store=tmp_path, replay=True), shop()) == again


def test_a_whole_last_line_without_its_end_is_used(tmp_path):
    ask(NAME, searches_once, tmp_path, shop().only(shop().queries[:2]))
    path = tmp_path / NAME / "shop.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    _, server = ask(NAME, searches_once, tmp_path)
    assert len(server.exchanges) == 6
    assert len(path.read_text().splitlines()) == 8


def test_foreign_lines_are_passed_over(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"other": 1}\n[]\n\n\xff\xfe\nnull\n')
    store = ResponseStore(path)
    assert (store.broken, len(store), store.times) == ((1, 2, 4, 5), 0, None)
    store.add(stored("k", {"a": 1}))
    assert ResponseStore(path).find("k").response == {"a": 1}


def test_the_newest_response_of_a_request_counts(tmp_path):
    store = ResponseStore(tmp_path / "a.jsonl")
    store.add(stored("k", failed="HTTP 500"))
    store.add(stored("k", {"b": 2}, time="2026-02-01T00:00:00"))
    again = ResponseStore(tmp_path / "a.jsonl")
    assert (again.find("k").response, again.find("k").failed, len(again)) == ({"b": 2}, None, 1)
    assert again.find("other") is None


def test_many_threads_write_whole_lines(tmp_path):
    store = ResponseStore(tmp_path / "a.jsonl")

    def write(worker):
        for at in range(50):
            store.add(stored(f"{worker}-{at}", {"text": "x" * 5_000}))

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = ResponseStore(tmp_path / "a.jsonl")
    assert (len(again), again.broken) == (400, ())


def test_a_store_that_cannot_be_written_or_read_ends_in_a_clear_error(tmp_path):
    (tmp_path / NAME).write_text("a file where a folder should be")
    with pytest.raises(ConfigError, match="cannot be"):
        ask(NAME, searches_once, tmp_path)
    (tmp_path / "b.jsonl").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        ResponseStore(tmp_path / "b.jsonl")


def test_each_arm_and_task_has_a_file_of_its_own(tmp_path):
    names = ["shop", "hub:org/set", "hub_org_set", "..", "a b", "a_b", "工具", "x" * 300]
    paths = {store_path(tmp_path, arm, name) for arm in HOSTED for name in names}
    assert len(paths) == len(names) * len(HOSTED)
    assert all(path.parent.parent == tmp_path and len(path.name) < 120 for path in paths)


def test_a_request_is_known_by_all_that_is_in_it(tmp_path):
    catalog = shop().catalog
    requests = Requests(HOSTED[NAME], catalog, "claude-sonnet-5", "shop")
    key = requests.key(requests.first("text"))
    body = requests.first("text")
    assert requests.key(dict(reversed(body.items()))) == key
    assert requests.key(requests.first("other text")) != key
    assert requests.key({**body, "max_tokens": 1}) != key
    for other in (
        Requests(HOSTED[NAME], catalog, "claude-haiku-4-5", "shop"),
        Requests(HOSTED["anthropic-regex"], catalog, "claude-sonnet-5", "shop"),
        Requests(HOSTED[NAME], shop().with_tools(range(11)).catalog, "claude-sonnet-5", "shop"),
    ):
        assert other.key(other.first("text")) != key
