"""What words a text is found by."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch import tokens as tokens_module
from semantic_toolsearch.tokens import STOP_WORDS, fold, telling_tokens, tokenize


def shares(query, text):
    """Whether a query and a tool's name have a token in common."""
    return bool(set(tokenize(query)) & set(tokenize(text, keep_stop_words=True)))


@pytest.mark.parametrize(
    "name", ["renewLoan", "renew_loan", "renew-loan", "RenewLoan", "RENEW_LOAN", "renew.loan"]
)
def test_c15_a_name_is_found_by_each_word_in_any_case_style(name):
    assert {"renew", "loan"} <= set(tokenize(name))


def test_c15_words_numbers_and_acronyms_of_one_name():
    assert {"pars", "http", "header", "2"} <= set(tokenize("parseHTTPHeader2"))


@pytest.mark.parametrize("query", ["renew_loan", "renewLoan", "RENEWLOAN", "renewloan", "Renew-Loan"])
def test_c16_a_query_may_be_an_identifier_too(query):
    assert "renewloan" in tokenize(query)
    assert shares(query, "renewLoan")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("S3", "s3"),
        ("IPv6", "ipv6"),
        ("K8s", "k8s"),
        ("MP3", "mp3"),
        ("OAuth2", "oauth2"),
        ("Header2", "header2"),
        ("GitHub", "github"),
        ("H264", "h264"),
    ],
)
def test_c15_case_does_not_decide_what_a_word_with_digits_is(one, other):
    assert other in tokenize(one)
    assert other in tokenize(other)


@pytest.mark.parametrize(
    ("part", "name"), [("s3", "uploadS3File"), ("IPv6", "getIPv6Address"), ("k8s", "k8sPodList")]
)
def test_c15_a_word_with_digits_is_found_inside_a_name(part, name):
    assert part.lower() in tokenize(name)


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("scheduling", "schedule"),
        ("repositories", "repository"),
        ("pinned", "pin"),
        ("PDFs", "PDF"),
        ("VMs", "vm"),
        ("URLs", "url"),
        ("книги", "книгу"),
        ("العملة", "العملات"),
    ],
)
def test_s09_word_forms_meet(form, base):
    assert tokenize(form) == tokenize(base)


@pytest.mark.parametrize("word", ["class", "boss", "bus", "status", "CSS"])
def test_s09_an_ending_that_is_no_plural_stays_apart(word):
    assert set(tokenize(word)).isdisjoint(tokenize(word[:-2]))


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("C++", "c++"),
        ("(C#)", "c#"),
        ("the .env file.", ".env"),
        ("A/B", "a/b"),
        ("R&D,", "r&d"),
        ("Node.js.", "node.js"),
        ("C++を翻訳する", "c++"),
        ("编译C#项目", "c#"),
        ("C++를 컴파일", "c++"),
    ],
)
def test_bc20_punctuation_that_carries_meaning_is_kept(text, token):
    assert token in tokenize(text)


@pytest.mark.parametrize("text", ["hello", "hello.", "(hello)", '"hello",', "…hello!", "hello:"])
def test_bc20_punctuation_around_a_word_is_dropped(text):
    assert tokenize(text) == ["hello"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cafe", "café"),
        ("ＣＡＦＥ", "Café"),
        ("Strasse", "STRASSE"),
        ("naive", "naïve"),
        ("満潮", "港の満潮と干潮"),
        ("天气", "查询城市的天气预报"),
        ("погода", "Прогноз погоды"),
        ("배송", "배송을 조회합니다"),
        ("โรงแรม", "จองห้องพักโรงแรม"),
        ("مطعم", "البحث عن مطعم"),
        ("भुगतान", "बिल का भुगतान करें"),
        ("ギガ", "ｷﾞｶﾞ"),
    ],
)
def test_x18_words_of_any_script_meet(query, text):
    assert set(tokenize(query)) & set(tokenize(text))


@pytest.mark.parametrize(
    ("text", "other"),
    [("दूरी", "दर"), ("भुगतान", "भगतन"), ("ভাষা", "ভষ"), ("பணம்", "பண"), ("שָׁלוֹם", "שלם")],
)
def test_x18_a_vowel_sign_is_part_of_its_word(text, other):
    """Split at its signs, a word is single consonants, which stand in every other text of the language."""
    assert len(tokenize(text)) == 1
    assert not set(tokenize(text)) & set(tokenize(" ".join(other)))
    assert tokenize(f"{text}_{text}")[1:] == tokenize(text) * 2


@pytest.mark.parametrize(
    ("text", "tokens"), [("مُحَمَّد", tokenize("محمد")), ("❤️ 1️⃣ 👍🏽", ["1"]), ("\u0301", [])]
)
def test_x18_signs_without_a_letter_are_no_words(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("query", "text"),
    [("किताबें", "किताब"), ("κρατήσεις", "κράτηση"), ("புத்தகங்கள்", "புத்தகம்")],
)
def test_x18_endings_of_languages_that_their_script_tells(query, text):
    assert set(tokenize(query)) & set(tokenize(text))


@pytest.mark.parametrize(
    ("query", "text"), [("猫", "查找猫的图片"), ("薬について", "薬の飲み方"), ("雨", "明日の雨量")]
)
def test_x18_a_word_may_be_one_ideograph(query, text):
    assert query[0] in set(tokenize(query)) & set(tokenize(text))


def test_x18_an_ideograph_tells_something_only_where_it_is_all_there_is():
    assert telling_tokens("猫") == ["猫"]
    assert telling_tokens("查找猫") == ["查找", "找猫"]
    assert telling_tokens("vitamin c") == tokenize("vitamin c")


@pytest.mark.parametrize(("one", "other"), [("パス", "バス"), ("か", "が"), ("й", "и")])
def test_x18_marks_that_make_another_letter_are_kept(one, other):
    assert fold(one) != fold(other)


def test_x18_hidden_characters_neither_split_nor_join_words():
    assert tokenize("in\u200bvoice") == tokenize("invoice")
    assert tokenize("pay\ud800 bill") == tokenize("pay bill")


def test_function_words_are_dropped_from_text_and_kept_in_names():
    assert tokenize("turn the light off, don’t wait") == ["turn", "light", "wait"]
    assert tokenize("turn_off", keep_stop_words=True)[-2:] == ["turn", "off"]
    assert all(tokenize(word) == [] for word in STOP_WORDS - {"id"})


def test_an_id_is_a_word_and_i_would_is_none():
    assert tokenize("I'd like the user ID") == ["user", "id"]
    assert tokenize("I’d") == []
    assert "id" in tokenize("get_user_id")
    assert "id" in tokenize("userId")


def test_a_repeated_word_counts_again():
    assert tokenize("report report") == tokenize("report") * 2
    assert tokenize("GitHub").count("github") == 1


@given(st.text(max_size=60))
def test_any_text_gives_tokens_without_white_space(text):
    for keep in (False, True):
        tokens = tokenize(text, keep_stop_words=keep)
        assert all(token and not any(map(str.isspace, token)) for token in tokens)
    assert set(tokenize(text)) <= set(tokenize(text, keep_stop_words=True))


@given(st.lists(st.sampled_from(["read", "file", "http", "v2", "map", "s3"]), min_size=2, max_size=4))
def test_c15_styles_of_one_name_share_their_words(words):
    snake, kebab = "_".join(words), "-".join(words)
    camel = words[0] + "".join(map(str.capitalize, words[1:]))
    assert set(tokenize(snake)) == set(tokenize(kebab))
    for word in set(words) - {"v2", "s3"}:
        assert set(tokenize(word)) <= set(tokenize(camel))


@pytest.mark.parametrize(
    ("letters", "last"),
    [("r", "r"), ("aB", "ab"), ("a1", "a1"), ("日", "日日"), ("ab-", "abab")],
    ids=["letters", "capitals", "digits", "ideographs", "hyphens"],
)
def test_a_word_of_a_hundred_thousand_characters_is_read_in_one_pass(letters, last):
    tokens = tokenize(letters * (100_000 // len(letters)))
    assert any(token.endswith(last) for token in tokens)


@given(st.text(alphabet="aBCé1٣_-'.日b2 ", max_size=20))
def test_identifiers_and_numbered_words_are_those_of_the_plain_patterns(text):
    joined = re.findall(r"[^\W_]+(?:[_\-][^\W_]+)+", text)
    assert tokens_module._JOINED.findall(text) == joined
    numbered = re.findall(r"[A-Z]*[a-z]*\d+[a-z]*", text)
    assert tokens_module._NUMBERED.findall(text) == numbered
