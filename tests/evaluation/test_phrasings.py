"""A user's own catalog and what its users say, as a dataset."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_toolsearch import Catalog
from semantic_toolsearch.errors import DatasetError
from semantic_toolsearch.evaluation.data.phrasings import Phrasing, dataset_from_phrasings, read_phrasings

CATALOG = Catalog(
    {
        "shop": [
            {"name": "track_shipment", "description": "Where a parcel is."},
            {"name": "refund_payment", "description": "Give money back."},
            {"name": "search"},
            {"name": "broken", "parameters": {"properties": 3}},
        ],
        "wiki": [{"name": "search"}],
    }
)
TEXT = """\
# What our support desk hears
my parcel has not come -> track_shipment
where is it, and can I get my money back? -> shop.track_shipment , shop__refund_payment
sing me a song -> nothing
turn a -> b into b -> a → -

[ misspelt ]
were is my parsel->track_shipment
  \\#parcels are late -> track_shipment
who wrote this?
"""


def written(tmp_path, text):
    path = tmp_path / "phrasings.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_s31_lines_are_read_as_they_are_typed(tmp_path):
    path = written(tmp_path, TEXT)
    hashes = {}
    assert read_phrasings(path, hashes) == [
        Phrasing(2, "my parcel has not come", ("track_shipment",), None, path),
        Phrasing(
            3,
            "where is it, and can I get my money back?",
            ("shop.track_shipment", "shop__refund_payment"),
            None,
            path,
        ),
        Phrasing(4, "sing me a song", (), None, path),
        Phrasing(5, "turn a -> b into b -> a", (), None, path),
        Phrasing(8, "were is my parsel", ("track_shipment",), "misspelt", path),
        Phrasing(9, "#parcels are late", ("track_shipment",), "misspelt", path),
        Phrasing(10, "who wrote this?", None, "misspelt", path),
    ]
    assert list(hashes) == ["phrasings.txt"]


def test_s31_a_catalog_and_phrasings_are_a_dataset(tmp_path):
    phrasings = read_phrasings(written(tmp_path, TEXT))[:-1]
    dataset = dataset_from_phrasings(CATALOG, phrasings, "desk")
    assert dataset.ids == dataset.catalog.wire_names == CATALOG.wire_names
    assert [(query.text, query.split, query.kind, query.answerable) for query in dataset.queries] == [
        ("my parcel has not come", "test", None, True),
        ("where is it, and can I get my money back?", "test", None, True),
        ("sing me a song", "test", None, False),
        ("turn a -> b into b -> a", "test", None, False),
        ("were is my parsel", "test", "misspelt", True),
        ("#parcels are late", "test", "misspelt", True),
    ]
    assert [
        [dataset.tools[place].name for place in dataset.gold_places(query.id)] for query in dataset.queries
    ] == [
        ["track_shipment"],
        ["track_shipment", "refund_payment"],
        [],
        [],
        ["track_shipment"],
        ["track_shipment"],
    ]


def test_queries_keep_their_ids_when_lines_move(tmp_path):
    before = dataset_from_phrasings(CATALOG, read_phrasings(written(tmp_path, "a -> refund_payment")), "x")
    moved = "# new\n\n[kind]\nb -> nothing\na -> refund_payment\n"
    after = dataset_from_phrasings(CATALOG, read_phrasings(written(tmp_path, moved)), "x")
    assert before.queries[0].id == after.queries[1].id
    assert before.queries[0].id != after.queries[0].id


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "holds no phrasing"),
        ("# nothing yet\n\n[kind]\n", None, "holds no phrasing"),
        (b"caf\xe9 -> search\n", 1, "not UTF-8"),
        ("a -> b\n -> search\n", 2, "nothing stands before the arrow"),
        ("a ->\n", 1, "no tool stands behind the arrow"),
        ("a -> ,\n", 1, "no tool stands behind the arrow"),
        ("a -> nothing, search\n", 1, "says that nothing fits"),
        ("a -> x\n\na -> y\n", 3, "on line 1 already"),
    ],
)
def test_s31_a_bad_line_is_named(tmp_path, text, line, words):
    path = written(tmp_path, text)
    with pytest.raises(DatasetError, match=words) as caught:
        read_phrasings(path)
    assert (caught.value.path, caught.value.line) == (path, line)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a -> track_shipmnt", "Nearest: track_shipment, shop__track_shipment"),
        ("a -> search", "the name of 2 tools; use one of: shop__search, wiki__search"),
        ("a -> broken", "the definition of 'broken' cannot be used"),
        ("a", "says no tool. Write: what a user says -> tool_name"),
    ],
)
def test_s31_a_tool_that_is_not_in_the_catalog_is_named(tmp_path, text, words):
    path = written(tmp_path, f"fine -> refund_payment\n{text}\n")
    with pytest.raises(DatasetError, match=words) as caught:
        dataset_from_phrasings(CATALOG, read_phrasings(path), "desk")
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_an_empty_catalog_or_file_is_refused(tmp_path):
    phrasings = read_phrasings(written(tmp_path, "a -> search"))
    with pytest.raises(DatasetError, match="no usable tool"):
        dataset_from_phrasings(Catalog(), phrasings, "desk")
    with pytest.raises(DatasetError, match="no phrasing"):
        dataset_from_phrasings(CATALOG, [], "desk")
    with pytest.raises(DatasetError, match=r"is missing\. Expected is one phrasing a line"):
        read_phrasings(tmp_path / "absent.txt")


_SAID = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).map(str.strip).filter(bool)


@given(st.lists(_SAID, min_size=1, unique=True))
def test_whatever_is_said_is_read_as_it_was_typed(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("said") / "phrasings.txt"
    lines = [("\\" if text[0] in "#[" else "") + f"{text} -> nothing" for text in texts]
    path.write_bytes("\n".join(lines).encode())
    assert [phrasing.text for phrasing in read_phrasings(path)] == texts
