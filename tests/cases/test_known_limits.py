"""Cases that are right and not reached yet; a change that reaches one turns its test red, and it moves to its kind."""

from __future__ import annotations

import pytest
from case_tools import raw_names, t
from test_meaning_cases import PLANTS
from test_sibling_cases import REPORTS, USERS, VAULTS

from semantic_toolsearch import ToolSearch

MACHINES = [
    t(
        "vm-create",
        "Create a virtual machine. A virtual machine can later be stopped, started, resized, stopped again and "
        "deleted; create virtual machines for stopping, starting and resizing.",
    ),
    t(
        "vm-stop",
        "Halt a virtual machine. "
        + "State the exact name of the machine and wait until its disks are flushed. " * 12
        + "Use it to save cost at night.",
    ),
    t("vm-resize", "Resize a virtual machine."),
]
SHOP = [
    t("wanneng", "邮件 日历 退款 订单 发票 搜索 文件 客户 " * 200),
    t("refund_order", "把订单的钱退还"),
    t("send_mail", "发送邮件"),
]
TRAVEL = [
    t("universal", "translate weather currency flight hotel convert book cancel customer " * 300),
    t("flightCancel", "Cancel a booked flight"),
    t("hotelBook", "Reserve a hotel room"),
]
WARD = [
    t("Patient.Open", "Open the file of a patient", server="ward"),
    t("Patient.Merge", "Merge two files of one patient", server="ward"),
    t("Patient.Discharge", "Close the file and send the letter", server="ward"),
    *(t(f"Bed{i}.State", f"State of bed {i}", server="beds") for i in range(80)),
]
ORDERS = [
    t("pedido_crear", "Crear un pedido para un cliente"),
    t("pedido_enviar", "Enviar un pedido al cliente"),
    t("cliente_borrar", "Borrar un cliente"),
]

CITY = [
    t("трамвай.опоздание", "Задержки общественного транспорта"),
    t("мусор.вывоз", "Расписание вывоза отходов"),
    t("парк.дерево", "Посадить растение в сквере"),
    t("улица.свет", "Сообщить о неработающем фонаре"),
    t("дорога.яма", "Сообщить о повреждении покрытия"),
]

REPEATS = "BM25 counts a word that a longer name repeats, and has no idea of the thing itself"
FUNCTION_WORD = "BM25 knows no function words but English ones"
HALF_KNOWN = (
    "a request of two words, one of which the catalog has not, is too little where the model reads neither"
)
OTHER_LANGUAGE = (
    "the shipped model reads few words of other languages than English: there words have to be shared"
)
ONE_WORD = "the one word that request and tool share is so rare in the catalog that it passes for an answer"


@pytest.mark.parametrize(
    ("ranker", "tools", "query", "right", "within"),
    [
        pytest.param(*case, marks=pytest.mark.xfail(reason=reason), id=id_)
        for id_, reason, case in (
            ("bc04-vaults", REPEATS, ("bm25", VAULTS, "vaults", "get_vaults", 3)),
            ("bc04-list-vaults", REPEATS, ("bm25", VAULTS, "list vaults", "get_vaults", 3)),
            ("bc04-get-vaults-list", REPEATS, ("bm25", VAULTS, "get vaults list", "get_vaults", 3)),
            ("bc04-list-users", REPEATS, ("bm25", USERS, "list users", "GET /users", 3)),
            ("bc09-spanish", FUNCTION_WORD, ("bm25", REPORTS, "apagar la cafetera", "cafetera_apagar", 1)),
            (
                "bc10-wordy-tool-against-dense-sibling",
                "a dense sibling still beats a right tool whose description is long",
                ("hybrid", MACHINES, "stop a virtual machine", "vm-stop", 1),
            ),
            (
                "bc50-word-that-only-the-stuffed-tool-has",
                "a stuffed description alone holds a word of the request",
                ("hybrid", SHOP, "客户订单退款", "refund_order", 1),
            ),
            (
                "bc50-bm25",
                "for words alone a stuffed description that holds all words of the request is the answer",
                ("bm25", TRAVEL, "cancel the flight of a customer", "flightCancel", 1),
            ),
            (
                "bc57-russian-sofa",
                OTHER_LANGUAGE,
                ("hybrid", CITY, "когда заберут старый диван", "мусор.вывоз", 3),
            ),
            (
                "bc57-russian-bus",
                OTHER_LANGUAGE,
                ("hybrid", CITY, "почему автобуса до сих пор нет", "трамвай.опоздание", 3),
            ),
            ("bc58-half-known", HALF_KNOWN, ("hybrid", PLANTS, "notaus auslösen", "Equipment.Halt", 1)),
        )
    ],
)
def test_known_limits_of_ranking(model, embeddings, ranker, tools, query, right, within):
    result = ToolSearch(tools, ranker=ranker, embedder=model, cache=embeddings).search(query)
    assert right in raw_names((*result.tools, *result.hints))[:within]


@pytest.mark.parametrize(
    ("tools", "query"),
    [
        (WARD, "open the garage door"),
        (WARD, "merge two git branches"),
        (WARD, "make a bed from oak wood"),
        (ORDERS, "crear una película de animación"),
        (ORDERS, "enviar un cohete a la luna"),
    ],
)
@pytest.mark.xfail(reason=ONE_WORD)
def test_known_limits_bc17_a_query_that_nothing_answers(model, embeddings, tools, query):
    assert ToolSearch(tools, embedder=model, cache=embeddings).search(query).tools == ()
