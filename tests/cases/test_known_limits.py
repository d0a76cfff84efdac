"""Cases that are right and not reached yet; a change that reaches one turns its test red, and it moves to its kind."""

from __future__ import annotations

import pytest

from semantic_toolsearch import ToolSearch

MACHINES = [
    {
        "name": "vm-create",
        "description": "Create a virtual machine. A virtual machine can later be stopped, started, resized, stopped "
        "again and deleted; create virtual machines for stopping, starting and resizing.",
    },
    {
        "name": "vm-stop",
        "description": "Halt a virtual machine. "
        + "State the exact name of the machine and wait until its disks are flushed. " * 12
        + "Use it to save cost at night.",
    },
    {"name": "vm-resize", "description": "Resize a virtual machine."},
]
SHOP = [
    {"name": "wanneng", "description": "邮件 日历 退款 订单 发票 搜索 文件 客户 " * 200},
    {"name": "refund_order", "description": "把订单的钱退还"},
    {"name": "send_mail", "description": "发送邮件"},
]


@pytest.mark.parametrize(
    ("tools", "query", "right"),
    [
        pytest.param(
            MACHINES,
            "stop a virtual machine",
            "vm-stop",
            marks=pytest.mark.xfail(
                reason="a dense sibling still beats a right tool whose description is long"
            ),
            id="bc10-wordy-tool-against-dense-sibling",
        ),
        pytest.param(
            SHOP,
            "客户订单退款",
            "refund_order",
            marks=pytest.mark.xfail(reason="a stuffed description alone holds a word of the request"),
            id="bc50-word-that-only-the-stuffed-tool-has",
        ),
    ],
)
def test_known_limits_of_ranking(tools, query, right):
    result = ToolSearch(tools, cache=False).search(query)
    assert next(iter((*result.tools, *result.hints))).name == right
