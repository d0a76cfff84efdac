"""Files of tool definitions that cannot be read are refused by their name."""

from __future__ import annotations

import pytest

from semantic_toolsearch.errors import CatalogError
from semantic_toolsearch.tool_files import catalog_of_json

TOO_LONG = b"1" * 5_000


@pytest.mark.parametrize(
    "data", [b"[" + TOO_LONG + b"]", b'{"name": "a"}\n' + TOO_LONG + b"\n", b"[" * 100_000]
)
def test_a_file_with_a_value_beyond_all_use_is_refused_by_name(data):
    with pytest.raises(CatalogError, match=r"tools\.json"):
        catalog_of_json(data, "tools.json")


def test_a_report_can_be_printed_whatever_servers_are_called():
    report = catalog_of_json(
        b'{"\\ud83d": [{"name": "a"}, {"name": 5}, {"name": "\\ud83d"}]}', "tools.json"
    ).report
    assert len(report.entries) == 3
    str(report).encode()
