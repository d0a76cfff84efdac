from __future__ import annotations

import re

import pytest

from semantic_toolsearch.config import SearchConfig, TransportForm
from semantic_toolsearch.errors import ConfigError
from semantic_toolsearch.support import MODELS, TRANSPORTS, infer_api, lookup

CLAUDE = [
    "claude-opus-5-5", "claude-opus-5", "claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6",
    "claude-haiku-5-5", "claude-haiku-4-5", "claude-fable-5-1", "claude-fable-5",
]  # fmt: skip


@pytest.mark.parametrize(
    "model",
    ["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-2026-03-05", "gpt-5.5", "gpt-5.5-pro", "gpt-5.6-sol", "gpt-5.6"],
)
def test_e15_o18_listed_gpt_models_are_hosted(model):
    found = lookup(model)
    assert (found.provider, found.hosted, found.variant) == ("openai", True, None)
    assert found.client_forms == ("output",)


@pytest.mark.parametrize(
    "model",
    [
        "gpt-5.3", "gpt-5", "gpt-4.1", "gpt-54", "o3", "my-gpt-5.4", "gpt-4o", "GPT-5.4", " gpt-5.4",
        "gpt-5.40", "ft:gpt-5.4:acme",
    ],
)  # fmt: skip
def test_e15_every_other_gpt_model_is_not(model):
    found = lookup(model, api="responses", assume_newer=model != "gpt-5.40")
    assert not found.hosted
    assert found.client_forms == ()


@pytest.mark.parametrize(
    "model", [*CLAUDE, "claude-opus-4-8", "claude-opus-4-5-20251101", "claude-opus-4-10"]
)
@pytest.mark.parametrize("date", ["", "-20251001", "@20251001"])
def test_e16_listed_claude_models_are_hosted_with_and_without_a_date(model, date):
    found = lookup(model + date)
    assert (found.provider, found.hosted, found.variant) == ("anthropic", True, "bm25")
    assert found.client_forms == ("reference",)
    assert found.warnings == ()


@pytest.mark.parametrize(
    "model",
    [
        "claude-3-5-haiku", "claude-3-7-sonnet-20250219", "claude-3-opus-20240229", "claude-2.1",
        "claude-sonnet-5-2025", "claude-sonnet-4", "claude-haiku-4-5-latest", "claude-sonnet-55",
        "claude-opus-45", "my-claude-opus-5", "Claude-Opus-5",
    ],
)  # fmt: skip
def test_e17_other_claude_models_are_not(model):
    found = lookup(model, api="anthropic")
    assert not found.hosted
    assert found.reason.startswith("model not supported")


@pytest.mark.parametrize(
    "model",
    [
        "anthropic.claude-sonnet-5-v1:0", "us.anthropic.claude-opus-5-v1:0", "anthropic/claude-sonnet-5",
        "openai/gpt-5.4", "openrouter/openai/gpt-5.5", "bedrock/anthropic.claude-opus-4-8",
    ],
)  # fmt: skip
@pytest.mark.parametrize("api", ["anthropic", "responses", "chat"])
@pytest.mark.parametrize("transport", [None, "first_party", "bedrock_invoke", "openrouter"])
def test_e18_e19_ids_with_a_prefix_do_not_match(model, api, transport):
    assert not lookup(model, api=api, transport=transport).hosted


def test_e20_every_sample_is_of_one_vendor_only_and_of_its_own_row():
    for row in MODELS:
        matching = [other for other in MODELS if re.fullmatch(other.pattern, row.sample)]
        assert {other.provider for other in matching} == {row.provider}
        assert matching[0] is row
        assert lookup(row.sample).provider == row.provider
    providers = [row.provider for row in MODELS]
    assert providers == sorted(providers, reverse=True)  # OpenAI's rows are asked first


@pytest.mark.parametrize("model", [None, "", "  "])
def test_e14_no_model_id_is_not_known(model):
    found = lookup(model, api="chat")
    assert (found.hosted, found.provider, found.reason) == (False, None, "model not known")


@pytest.mark.parametrize("model", ["gpt-5.4", "claude-sonnet-5", "gpt-5.7", "gemini-3-pro"])
@pytest.mark.parametrize("api", ["chat", "gemini"])
def test_e13_chat_and_gemini_interfaces_are_never_hosted(model, api):
    own = {model: True}
    assert not lookup(model, api=api, overrides=own, assume_newer=True).hosted
    if model == "gpt-5.4":
        assert f"the {api} interface" in lookup(model, api=api).reason


def test_a_model_over_the_other_vendors_interface_is_not_hosted():
    assert not lookup("gpt-5.4", api="anthropic").hosted
    assert not lookup("claude-sonnet-5", api="responses").hosted
    assert lookup("claude-sonnet-5", api="responses").client_forms == ()


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("gpt-5.4", "https://api.openai.com/v1"),
        ("gpt-5.4", "https://eu.api.openai.com/v1/"),
        ("gpt-5.4", "api.openai.com/v1"),
        ("gpt-5.4", "https://API.OpenAI.com:443/v1"),
        ("claude-sonnet-5", "https://api.anthropic.com"),
        ("claude-sonnet-5", ""),
        ("claude-sonnet-5", None),
    ],
)
def test_e21_a_first_party_address_is_not_masked(model, base_url):
    found = lookup(model, base_url=base_url)
    assert (found.hosted, found.masked, found.transport) == (True, False, "first_party")


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("gpt-5.4", "https://gw.example.test/v1"),
        ("gpt-5.4", "https://api.openai.com.example.test/v1"),
        ("gpt-5.4", "https://api.openai.com@gw.example.test/v1"),
        ("gpt-5.4", "https://notapi.openai.com/v1"),
        ("gpt-5.4", "https://api.anthropic.com"),
        ("gpt-5.4", "http://127.0.0.1:8080"),
        ("gpt-5.4", "http://[broken"),
        ("claude-sonnet-5", "https://gw.example.test/?host=api.anthropic.com"),
    ],
)
def test_e21_d12_any_other_address_masks_the_transport_until_declared(model, base_url):
    masked = lookup(model, base_url=base_url)
    assert (masked.hosted, masked.masked, masked.transport) == (False, True, "gateway")
    assert masked.client_forms == ()
    declared = lookup(model, base_url=base_url, transport="first_party")
    assert (declared.hosted, declared.masked) == (True, False)


def test_d12_the_reason_names_the_host_and_nothing_secret():
    found = lookup("gpt-5.4", base_url="https://user:secret@gw.example.test/v1?key=secret")
    assert "gw.example.test" in found.reason
    assert "secret" not in found.reason


def test_an_address_may_be_an_object_that_prints_as_one():
    class Url:
        def __init__(self, text):
            self.text = text

        def __str__(self):
            return self.text

    assert lookup("gpt-5.4", base_url=Url("https://api.openai.com/v1/")).hosted
    assert lookup("gpt-5.4", base_url=Url("https://gw.example.test/")).masked


def test_a_model_without_hosted_search_is_not_called_masked():
    assert not lookup("llama-4", base_url="https://gw.example.test/v1").masked


@pytest.mark.parametrize("transport", ["bedrock_converse", "openrouter", "gateway"])
@pytest.mark.parametrize("model", ["gpt-5.4", "claude-sonnet-5"])
def test_e55_some_transports_carry_no_hosted_search(transport, model):
    found = lookup(model, transport=transport)
    assert not found.hosted
    assert transport in found.reason


def test_x28_each_transport_has_its_own_form():
    bedrock = lookup("claude-sonnet-5", transport="bedrock_invoke")
    assert (bedrock.hosted, bedrock.variant, bedrock.client_forms) == (True, "regex", ())
    first = lookup("claude-sonnet-5", transport="first_party")
    assert (first.variant, first.betas) == ("bm25", ())
    assert lookup("claude-sonnet-5", transport="vertex").variant == "bm25"
    assert not lookup("gpt-5.4", transport="vertex").hosted
    assert lookup("gpt-5.4", transport="azure").hosted
    assert all(not form.betas for form in TRANSPORTS.values())


def test_x28_rows_of_the_user_win_field_by_field():
    config = SearchConfig(
        transports={
            "bedrock_invoke": {"betas": ["some-beta"]},
            "our_proxy": {"hosted": ["anthropic"], "variant": "regex"},
        }
    )
    bedrock = lookup("claude-sonnet-5", transport="bedrock_invoke", transports=config.transports)
    assert (bedrock.hosted, bedrock.variant, bedrock.betas) == (True, "regex", ("some-beta",))
    again = SearchConfig(**config.model_dump())
    assert lookup("claude-sonnet-5", transport="bedrock_invoke", transports=again.transports) == bedrock
    proxy = lookup("claude-sonnet-5", transport="our_proxy", transports=config.transports)
    assert (proxy.hosted, proxy.variant) == (True, "regex")
    assert not lookup("gpt-5.4", transport="our_proxy", transports=config.transports).hosted
    gateway = {"gateway": TransportForm(hosted=("openai",))}
    assert lookup("gpt-5.4", base_url="https://gw.example.test", transports=gateway).hosted


def test_an_unknown_transport_names_the_known_ones():
    with pytest.raises(ConfigError, match=r"'bedrock_converze'.*openrouter.*Nearest: bedrock_converse"):
        lookup("claude-sonnet-5", transport="bedrock_converze")


@pytest.mark.parametrize(
    "model", ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-fable-5-2", "claude-mythos-preview",
              "claude-mythos-5-1"],
)  # fmt: skip
def test_d13_ids_that_the_vendor_documents_are_hosted(model):
    assert lookup(model).hosted


@pytest.mark.parametrize("model", ["gpt-5.7", "gpt-6.1-sol", "gpt-6", "gpt-5.10", "gpt-10.1"])
def test_d13_a_gpt_newer_than_the_table_waits_for_the_word(model):
    found = lookup(model)
    assert not found.hosted
    assert found.reason.endswith("newer than the table")
    assert found.client_forms == ()
    assert lookup(model, assume_newer=True).hosted


@pytest.mark.parametrize(
    "model", ["claude-opus-4", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-20250514",
              "claude-opus-4-1-20250805"],
)  # fmt: skip
def test_d13_disputed_models_are_hosted_with_a_warning(model):
    found = lookup(model)
    assert found.hosted
    assert len(found.warnings) == 1
    assert "disputed" in found.warnings[0]


def test_d13_rows_of_the_user_win():
    assert not lookup("claude-opus-4-1", overrides={"claude-opus-4-1": False}).hosted
    assert not lookup("claude-opus-4-1-20250805", overrides={"claude-opus-4-1": False}).hosted
    assert lookup("claude-opus-4-8", overrides={"claude-opus-4-1": False}).hosted
    settled = lookup("claude-opus-4-1", overrides={"claude-opus-4-1": True})
    assert settled.hosted
    assert settled.warnings == ()
    tuned = lookup("ft:gpt-5.4:acme", api="responses", overrides={"ft:gpt-5.4:*": True})
    assert (tuned.hosted, tuned.provider) == (True, "openai")
    bedrock = {"anthropic.claude-sonnet-5-v1:0": True}
    found = lookup(
        "anthropic.claude-sonnet-5-v1:0", api="anthropic", transport="bedrock_invoke", overrides=bedrock
    )
    assert (found.hosted, found.variant) == (True, "regex")


def test_d13_an_id_wins_over_patterns_and_a_longer_pattern_over_a_shorter():
    rows = {"*": False, "gpt-*": True, "gpt-5.4-mini": False}
    assert lookup("gpt-5.4", overrides=rows).hosted
    assert not lookup("gpt-5.4-mini", overrides=rows).hosted
    assert not lookup("claude-sonnet-5", overrides=rows).hosted
    assert lookup("gpt-5.4", overrides=dict(reversed(rows.items()))).hosted


def test_the_interface_follows_from_a_bare_id():
    guessed = {
        "gpt-5.4": "responses", "o3": "responses", "claude-sonnet-5": "anthropic", "gemini-3-pro": "gemini",
        "llama-4": "chat", "anthropic/claude-sonnet-5": "chat", "oracle": "chat", "": "chat",
    }  # fmt: skip
    assert {model: infer_api(model) for model in guessed} == guessed
    assert infer_api(None) == "chat"
